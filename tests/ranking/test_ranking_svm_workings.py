"""A ranking by hand: numbers, agreement with the program, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from sympy import Rational

from pellucid.ranking import RankingSVM
from pellucid.show import show_work


def test_three_rows_one_apart_by_hand():
    # the pairs (2, 1), (3, 1), (3, 2) differ by 1, 2, 1; w = 1 puts all apart by 1 or more
    work = show_work(RankingSVM(C=10.0), [[0], [1], [2]], [1, 2, 3])
    assert work.answer["coef_"] == [1]
    assert work.answer["objective"] == Rational(1, 2)
    assert "gap = 0" in work.text()


def test_a_low_cost_is_the_weight():
    # one pair at distance 1: w^2/2 + C (1 - w) is least at w = C = 1/4, where it is 1/32 + 1/4 * 3/4 = 7/32
    work = show_work(RankingSVM(C=0.25), [[0], [1]], [0, 1])
    assert work.answer["coef_"] == [Rational(1, 4)]
    assert work.answer["objective"] == Rational(7, 32)


def test_the_squared_loss_of_one_pair():
    # w^2/2 + C (1 - w)^2 is least where w = 2 C (1 - w): w = 2 / 3 for C = 1
    assert show_work(RankingSVM(loss="squared_hinge"), [[0], [1]], [0, 1]).answer["coef_"] == [Rational(2, 3)]


def test_only_rows_of_a_query_are_compared_and_the_fit_tells_which():
    X, y = [[0, 1], [1, 0], [2, 2], [3, 1]], [1, 2, 2, 3]
    work = show_work(RankingSVM(tol=1e-10).fit(X, y, qid=["a", "a", "b", "b"]), X, y)
    # both pairs differ by (1, -1): w = (1/2, -1/2) puts them apart by 1
    assert work.answer["coef_"] == [Rational(1, 2), Rational(-1, 2)]
    assert "query" in work.text()
    assert "more than rounding" not in work.text()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_the_program(loss, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((4, 2)).round(1), rng.permutation(4)
    work = show_work(RankingSVM(C=0.5 + seed, loss=loss, tol=1e-12), X, y)
    assert "more than rounding" not in work.text()
    assert all(len(work.printed(kind)) > 1000 for kind in ("markdown", "latex", "html"))


@pytest.mark.parametrize(
    ("model", "X", "y", "message"),
    [
        (RankingSVM(), np.ones((7, 1)), range(7), "at most 6 rows"),
        (RankingSVM(), [[0], [1], [2], [3], [4]], [1, 2, 3, 4, 5], "1 to 6 pairs of rows in order .* got 10 pairs"),
        (RankingSVM(), [[0], [1]], [1, 1], "got 0 pairs"),
        (RankingSVM().fit([[0], [1], [2]], [1, 2, 3]), [[0], [1]], [1, 2], "X must be the 3 rows of the fit"),
    ],
)
def test_refuses_what_cannot_be_worked_by_hand(model, X, y, message):
    with pytest.raises(ValueError, match=message):
        show_work(model, X, y)
