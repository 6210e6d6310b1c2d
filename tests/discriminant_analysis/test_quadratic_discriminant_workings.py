"""Quadratic discriminant analysis by hand: numbers, agreement with the programs, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis as Peer
from sympy import Rational

from pellucid.discriminant_analysis import QuadraticDiscriminantAnalysis
from pellucid.show import show_work

LINE = [[0], [1], [2], [4], [6], [8]], [0, 0, 0, 1, 1, 1]
PLANE = [[0, 0], [2, 0], [1, 3], [1, 1], [5, 5], [6, 7], [8, 5], [7, 9]], list("aaaabbbb")


def said(work):
    return " ".join(work.text().split())


def test_one_feature_by_hand():
    work = show_work(QuadraticDiscriminantAnalysis(), *LINE)
    # means 1 and 6, variances (1 + 0 + 1) / 3 and (4 + 0 + 4) / 3
    assert work.answer["means_"] == [[1], [6]]
    assert work.answer["covariance_"] == [[[Rational(2, 3)]], [[Rational(8, 3)]]]
    # -(3/4)(x - 1)^2 = -3/4 x^2 + 3/2 x - 3/4 and -(3/16)(x - 6)^2 = -3/16 x^2 + 9/4 x - 27/4; the logs of the
    # variances differ by log 4, half of it is log 2: 9/16 x^2 + 3/4 x - 6 - log 2 = 0
    assert "9 3 │ │ δ₂ − δ₁ = ── x² + ─ x + (-6 + log(1/2) ≈ −6.6931) = 0" in said(work)
    assert "6 of 6 rows are on the right side" in said(work)


def test_two_features_by_hand():
    work = show_work(QuadraticDiscriminantAnalysis(), *PLANE)
    # class a, centered: (-1, -1), (1, -1), (0, 2), (0, 0): squares 2 and 6, products 1 - 1 = 0, over 4 rows
    assert work.answer["covariance_"][0] == [[Rational(1, 2), 0], [0, Rational(3, 2)]]
    # class b, centered in halves: (-3, -3), (-1, 1), (3, -3), (1, 5): 20, 44 and 9 - 1 - 9 + 5 = 4, over 4 * 4
    assert work.answer["covariance_"][1] == [
        [Rational(5, 4), Rational(1, 4)],
        [Rational(1, 4), Rational(11, 4)],
    ]
    assert [float(v) for v in work.answer["scalings_"][0]] == [1.5, 0.5]


def test_reg_param_mixes_in_the_identity():
    work = show_work(QuadraticDiscriminantAnalysis(reg_param=0.25), *LINE)
    assert work.answer["covariance_"] == [[[Rational(3, 4)]], [[Rational(9, 4)]]]  # 3/4 of 2/3 and 8/3, and 1/4
    assert "more than rounding" not in work.text()


def test_equal_covariances_give_a_line():
    work = show_work(QuadraticDiscriminantAnalysis(), [[0], [2], [4], [6]], [0, 0, 1, 1])
    assert "a line or plane" in said(work)


@pytest.mark.parametrize("kind", [QuadraticDiscriminantAnalysis, Peer])
@pytest.mark.parametrize("seed", range(3))
def test_the_programs_find_the_same(kind, seed):
    rng = np.random.default_rng(seed)
    p = 1 + seed
    X, y = rng.standard_normal((12, p)).round(2), np.repeat([0, 1], 6)
    model = kind(store_covariance=True, priors=[0.25, 0.75]).fit(X, y)
    work = show_work(model, X, y)
    assert "covariance_" in work.text()
    assert "more than rounding" not in work.text()
    right = int((model.predict(X) == y).sum())
    assert f"{right} of 12 rows are on the right side" in said(work)


def test_every_printer_prints_it():
    for kind in ("text", "markdown", "latex", "html"):
        assert "boundary" in show_work(QuadraticDiscriminantAnalysis(), *PLANE, format=kind)


@pytest.mark.parametrize(
    ("model", "X", "y", "message"),
    [
        (QuadraticDiscriminantAnalysis(), np.ones((61, 1)), [0, 1] * 30 + [0], "at most 60 rows"),
        (QuadraticDiscriminantAnalysis(), [[1], [1], [2], [3]], [0, 0, 1, 1], "vary within class 0 in every direction"),
        (QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.1), *LINE, "shrinkage must be None to show"),
        (QuadraticDiscriminantAnalysis(priors=[0.5, 0.4]), *LINE, "priors must be 2 numbers that add up to 1"),
        (QuadraticDiscriminantAnalysis(), [[1], [2]], [0, 0], "between 2 and 4 classes"),
    ],
)
def test_refuses_what_cannot_be_worked_by_hand(model, X, y, message):
    with pytest.raises(ValueError, match=message):
        show_work(model, X, y)
