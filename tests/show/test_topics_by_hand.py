"""Topics of the notes that no estimator stands for, each with a number worked by hand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sympy import Rational, Symbol

from pellucid.show import show_work


def test_the_area_under_the_roc_curve_counts_pairs():
    # pairs of (0.9, 0.8) with (0.8, 0.1): 0.9 wins twice, 0.8 ties once and wins once: 3 and a half of 4
    work = show_work("roc", [0.9, 0.8, 0.8, 0.1], [1, 0, 1, 0])
    assert work.answer["auc"] == Rational(7, 8)
    assert work.answer["tpr"] == [0, Rational(1, 2), 1, 1]
    rng = np.random.default_rng(0)
    scores, labels = rng.integers(0, 5, 20), np.arange(20) % 2
    assert float(show_work("roc", scores, labels).answer["auc"]) == pytest.approx(roc_auc_score(labels, scores))
    with pytest.raises(ValueError, match="two classes"):
        show_work("roc", [1, 2], [1, 1])


def test_bell_numbers_follow_their_recursion():
    assert show_work("bell numbers", 7).answer["bell"] == [1, 1, 2, 5, 15, 52, 203, 877]
    assert sum(show_work("bell numbers", 7).answer["stirling"]) == 877
    assert "1, 2 | 3" in show_work("bell numbers", 3).text()
    with pytest.raises(ValueError, match="from 1 to 12"):
        show_work("bell numbers", 13)


def test_a_ranking_is_wrong_by_count_and_by_amount():
    # wanted 1 above 2 above 3; scores 1, 3, 2: pairs (1,2) and (1,3) are wrong by 2 and by 1
    answer = show_work("ranking amount", [1, 3, 2], [3, 2, 1]).answer
    assert (answer["amount"], answer["wrong"], answer["pairs"]) == (3, 2, 3)
    with pytest.raises(ValueError, match="prefer some row"):
        show_work("ranking amount", [1, 2], [1, 1])


def test_a_wrong_gradient_and_a_wrong_hessian_are_found():
    right = show_work("gradient check", "x**3*y", [2, 1])
    assert right.answer == {"right": [True, True], "gradient": [12, 8]}
    wrong = show_work("gradient check", "x**3*y", [2, 1], given=["3*x**2*y", "x**2"])
    assert wrong.answer["right"] == [True, False]
    assert "wrong in entry 2" in wrong.text()
    assert show_work("hessian check", "x**3*y", [2, 1]).answer["hessian"] == [[12, 12], [12, 0]]
    assert not show_work("hessian check", "x**3*y", [2, 1], given=[[12, 11], [12, 0]]).answer["right"]
    assert not show_work("hessian check", "x**3*y", [2, 1], given=[[12, 12], [12, 1]]).answer["right"]


def test_the_dual_function_is_a_lower_bound_that_meets_the_minimum():
    answer = show_work("dual function", "x**2 + y**2", ["1 - x - y"]).answer
    nu = Symbol("nu", nonnegative=True)
    assert (answer["dual"] - (nu - nu**2 / 2)).expand() == 0
    assert (answer["multiplier"], answer["value"], answer["primal"], answer["x"]) == (
        1,
        Rational(1, 2),
        Rational(1, 2),
        [Rational(1, 2), Rational(1, 2)],
    )
    assert show_work("dual function", "(x - 3)**2", ["1 - x"]).answer["multiplier"] == 0  # the constraint is idle
    with pytest.raises(ValueError, match="strictly convex and quadratic"):
        show_work("dual function", "x**3", ["1 - x"])


def test_the_batch_gradient_of_logistic_regression():
    # at 0 all p are 1/2: errors 1/2, 1/2, -1/2 and the gradient (0 + 1/2 - 1, 1/2)
    work = show_work("logistic gradient", [[0], [1], [2]], [0, 0, 1], steps=1)
    assert work.answer["first_gradient"] == [Rational(-1, 2), Rational(1, 2)]
    assert work.answer["theta"] == [Rational(1, 2), Rational(-1, 2)]
    assert float(work.answer["losses"][0]) == pytest.approx(3 * np.log(2))
    far = show_work("logistic gradient", [[0], [1], [2]], [0, 0, 1], steps=10, step_size=0.5)
    assert far.answer["losses"][-1] < far.answer["losses"][0]
    with pytest.raises(ValueError, match="two classes, got 3"):
        show_work("logistic gradient", [[0], [1], [2]], [0, 1, 2])


def test_the_error_of_ridge_splits_into_bias_variance_and_noise():
    answer = show_work("ridge error", [[1], [2]], [3], alpha=5, noise=2).answer
    # X'X = 5, so the slope shrinks by half: bias -3/2 at x = 1; variance 2 · 5 / 10²
    assert answer == {"bias2": Rational(9, 4), "variance": Rational(1, 10), "noise": 2, "error": Rational(87, 20)}
    rng = np.random.default_rng(1)
    X, w = np.array([[1.0, 0.0], [1.0, 1.0], [2.0, 1.0]]), np.array([1.0, 2.0])
    exact = show_work("ridge error", X, w, alpha=1, noise=1, at=[1, 1]).answer
    y = X @ w + rng.standard_normal((20_000, 3))
    found = y @ X @ np.linalg.inv(X.T @ X + np.eye(2)) @ [1, 1]
    assert float(exact["bias2"]) == pytest.approx((found.mean() - 3) ** 2, abs=0.02)
    assert float(exact["variance"]) == pytest.approx(found.var(), rel=0.05)


def test_mini_batches_pull_centers_to_the_means_of_the_rows_they_have_seen():
    answer = show_work("mini-batch k-means", [[0], [1], [8], [9]], [[0], [9]], batches=[[1, 3], [0, 2]]).answer
    assert answer == {"centers": [[Rational(1, 2)], [Rational(17, 2)]], "counts": [2, 2]}
    with pytest.raises(ValueError, match="lists of rows from 0 to 3"):
        show_work("mini-batch k-means", [[0], [1], [8], [9]], [[0], [9]], batches=[[4]])


def test_a_step_of_smacof_never_raises_the_stress():
    sides = [[0, 3, 4], [3, 0, 5], [4, 5, 0]]
    work = show_work("metric mds", sides, [[0, 0], [2, 0], [0, 2]], steps=20)
    stress = [float(value) for value in work.answer["stress"]]
    assert stress[0] == pytest.approx(1 + 4 + (5 - 8**0.5) ** 2)
    assert all(b <= a + 1e-12 for a, b in pairwise(stress))
    assert stress[-1] < 1e-3
    with pytest.raises(ValueError, match="symmetric table"):
        show_work("metric mds", [[0, 1], [2, 0]], [[0], [1]])


def test_mrmr_prefers_what_is_new():
    from pellucid.feature_selection import MRMR

    rows, labels = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]], ["a", "b", "c", "d"]
    work = show_work(MRMR(2), rows, labels)
    assert work.answer["order_"] == [0, 2]  # the second repeats the first
    assert work.answer["relevance_"] == [1, 1, 1]
    assert "more than rounding" not in work.text()
