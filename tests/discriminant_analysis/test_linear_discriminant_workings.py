"""Linear discriminant analysis by hand agrees with the program, exactly where it can."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as PeerAnalysis
from sympy import Rational, log

from pellucid import show_work
from pellucid.discriminant_analysis import LinearDiscriminantAnalysis

X, Y = [[0], [1], [2], [4], [5], [6], [6], [5]], ["a"] * 3 + ["b"] * 5


def test_one_feature_by_hand():
    # means 1 and 26/5; scatter 2 + 14/5 = 24/5 over 8 rows: 3/5; w = (21/5) / (3/5) = 7, w_0 = -7 (31/10) + log(5/3)
    work = show_work(LinearDiscriminantAnalysis(), X, Y)
    assert work.answer["coef_"] == [[7]]
    assert work.answer["intercept_"] == [-Rational(217, 10) + log(Rational(5, 3))]
    assert "log" in work.text()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, PeerAnalysis])
def test_agrees_with_the_program(seed, kind):
    rng = np.random.default_rng(seed)
    rows, labels = rng.integers(-4, 5, (10, 2)), np.arange(10) % 2
    work = show_work(kind(priors=[0.25, 0.75]), rows, labels)
    model = kind(priors=[0.25, 0.75]).fit(rows, labels)
    np.testing.assert_allclose(np.array(work.answer["coef_"], dtype=float), model.coef_, rtol=1e-9)
    np.testing.assert_allclose([float(v) for v in work.answer["intercept_"]], model.intercept_, rtol=1e-9)


@pytest.mark.parametrize("format_", ["text", "markdown", "latex", "html"])
def test_three_classes_print_in_every_format(format_):
    rows = [[0, 0], [1, 0], [0, 2], [4, 0], [5, 1], [4, 2], [0, 5], [1, 6], [0, 7]]
    page = show_work(LinearDiscriminantAnalysis(), rows, [0] * 3 + [1] * 3 + [2] * 3, format=format_)
    assert "boundary" not in page.lower()  # there are three of them
    assert len(page) > 1000


def test_what_cannot_be_worked_is_refused():
    with pytest.raises(ValueError, match="X must vary within classes in every direction"):
        show_work(LinearDiscriminantAnalysis(), [[0, 0], [1, 1], [2, 2], [3, 3]], [0, 0, 1, 1])
    with pytest.raises(ValueError, match="shrinkage must be None to show the work"):
        show_work(LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.5), X, Y)
    with pytest.raises(ValueError, match="priors must be 2 numbers that add up to 1"):
        show_work(LinearDiscriminantAnalysis(priors=[0.5, 0.6]), X, Y)
