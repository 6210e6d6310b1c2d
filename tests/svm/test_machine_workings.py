"""Kernel machines by hand: SMO in fractions, the same machine by its KKT conditions, the tube of SVR."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC, SVR
from sympy import Matrix, Rational, sqrt

from pellucid import show_work
from pellucid.kernels import RBF, Polynomial
from pellucid.svm import LinearSVR, show_maximum_margin
from pellucid.svm.svc import smo_workings
from pellucid.svm.svc.smo_workings import search_by_pairs
from pellucid.svm.svc.svc_workings import svc_workings
from pellucid.svm.svc.svr_workings import svr_workings

INF = float("inf")
SQUARE, SIDES = [[1, 1], [2, 2], [2, 0], [0, 0]], ["up", "up", "down", "down"]
whole = st.integers(-3, 3)
points = st.lists(st.tuples(whole, whole), min_size=4, max_size=5, unique=True)
kernels = st.sampled_from(
    [{"kernel": "linear"}, {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}, {"kernel": "rbf", "gamma": 0.5}]
)


def scores_of(work, kernel, X, labels):
    """The exact machine's scores of its own points, in floats."""
    signs = np.where(np.array(labels) == max(labels), 1.0, -1.0)
    return kernel @ (signs * np.array(work.answer["alpha"][0], dtype=float)) + float(work.answer["intercept_"][0])


def read(work):
    """The text without its line breaks."""
    return " ".join(work.text().replace("│", " ").split())


def products_of(model, X):
    X = np.array(X, dtype=float)
    if model.kernel == "linear":
        return X @ X.T
    if model.kernel == "poly":
        return (model.gamma * X @ X.T + model.coef0) ** model.degree
    return np.exp(-model.gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))


# by hand


def test_two_points_are_solved_by_one_pair():
    # distance 2: alpha = 1/2 each, the plane in the middle
    work = svc_workings(SVC(kernel="linear", C=1), [[0], [2]], ["a", "b"])
    assert work.answer["alpha"] == [[Rational(1, 2), Rational(1, 2)]]
    assert (work.answer["coef_"], work.answer["intercept_"], work.answer["margin_width_"]) == ([[1]], [-1], [2])
    assert work.answer["pairs"] == [1]
    assert work.answer["dual_coef_"] == [[Rational(-1, 2), Rational(1, 2)]]


def test_a_pair_that_leaves_its_box_is_clipped():
    # the parabola has its top at 1/2; the price 1/4 stops it there, and any b from -1 to 0 would do
    work = svc_workings(SVC(kernel="linear", C=0.25), [[0], [2]], ["a", "b"])
    assert work.answer["alpha"] == [[Rational(1, 4), Rational(1, 4)]]
    assert "Beyond the box, so clipped" in read(work)
    assert "so b may vary; we take the middle of what fits" in read(work)
    assert work.answer["intercept_"] == [Rational(-1, 2)]


def test_the_diagonals_of_a_square_are_separated_by_a_polynomial():
    # with (1 + x'z)^2 every multiplier is 1/8, and f = x1 x2 up to its sign
    work = svc_workings(SVC(kernel=Polynomial(2, coef0=1.0), C=1), [[-1, -1], [-1, 1], [1, -1], [1, 1]], [0, 1, 1, 0])
    assert work.answer["alpha"] == [[Rational(1, 8)] * 4]
    assert work.answer["intercept_"] == [0]
    assert work.answer["margin_width_"] == [2 * sqrt(2)]


def test_the_hard_margin_is_the_lectures():
    work, lecture = svc_workings(SVC(kernel="linear", C=INF), SQUARE, SIDES), show_maximum_margin(SQUARE, SIDES)
    assert work.answer["coef_"] == [lecture.answer["w"]]
    assert work.answer["intercept_"] == [lecture.answer["b"]]
    assert work.answer["margin_width_"] == [1]


def test_points_of_equal_features_move_along_a_straight_line():
    # both points at 0: eta = 0, so the multipliers run to the price
    search = search_by_pairs(Matrix([[0, 0], [0, 0]]), [Rational(-1), Rational(1)], Rational(2), Rational(0))
    assert search.alpha == (2, 2)
    assert search.pairs[0].unclipped is None
    text = read(svc_workings(SVC(kernel="linear", C=2), [[0], [0]], ["a", "b"]))
    assert "straight line" in text
    assert "There is no plane" in text


def test_pairs_that_never_arrive_are_left_to_the_conditions(monkeypatch):
    monkeypatch.setattr(smo_workings, "MOST_PAIRS", 3)
    X, y = [[0, 0], [1, 0], [0, 1], [2, 2], [3, 1]], ["a", "a", "a", "b", "b"]
    work = svc_workings(SVC(kernel="rbf", gamma=0.5, C=10), X, y)
    assert "Where the pairs lead" in read(work)
    assert "the numbers that the pairs come nearer to" in read(work)
    peer = SVC(kernel="rbf", gamma=0.5, C=10, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(np.array(work.answer["dual_coef_"], dtype=float), peer.dual_coef_, atol=1e-8)


def test_the_tube_of_three_points_rests_on_all_of_them():
    # y = 0, 3, 0 at 0, 1, 2 with eps 1/2: flat, b from 1/2 up to 5/2 costs the same; the two low points want b <= 1/2
    work = svr_workings(SVR(kernel="linear", C=1, epsilon=0.5), [[0], [1], [2]], [0, 3, 0])
    assert work.answer["coef_"] == [[0]]
    assert work.answer["dual_coef_"] == [[Rational(-1, 2), 1, Rational(-1, 2)]]
    assert work.answer["intercept_"] == [Rational(1, 2)]
    assert work.answer["objective_"] == [2]  # the middle point sticks out by 3 - 1/2 - 1/2


def test_a_flat_line_needs_no_support_vector():
    work = svr_workings(SVR(kernel="linear", C=1, epsilon=2), [[0], [1], [2]], [1, 2, 3])
    assert work.answer["support_"] == []
    assert work.answer["intercept_"] == [2]
    assert "No point sticks out" in read(work)
    assert "1 ≤ b ≤ 3" in read(work)


def test_the_penalized_intercept_of_linear_svr_is_pulled_to_zero():
    # one point at 0 with y = 3, eps 1, s 1: b = beta, at most C; the tube is reached at b = 2
    for C, b in ((10, 2), (1, 1)):
        work = show_work(LinearSVR(epsilon=1, C=C), [[0]], [3])
        assert work.answer["intercept_"] == [b]
        assert work.answer["dual_coef_"] == [b]
    work = show_work(LinearSVR(epsilon=0.5, C=10, fit_intercept=False), [[1], [2]], [1.5, 3])
    assert work.answer["coef_"] == [Rational(5, 4)]
    assert "There is none: the line goes through 0." in read(work)


@settings(max_examples=15)
@given(X=points, y=st.lists(whole, min_size=5, max_size=5), C=st.sampled_from([0.25, 2]), s=st.sampled_from([1, 2]))
def test_the_exact_line_of_linear_svr_is_the_fitted_one(X, y, C, s):
    model = LinearSVR(C=C, epsilon=0.5, intercept_scaling=s).fit(X, y[: len(X)])
    work = show_work(model, X, y[: len(X)])
    np.testing.assert_allclose(model.coef_, [float(value) for value in work.answer["coef_"]], atol=1e-6)
    np.testing.assert_allclose(model.intercept_, [float(work.answer["intercept_"][0])], atol=1e-6)


def test_the_text_corrects_the_notes():
    soft = read(svc_workings(SVC(kernel="linear", C=1), [[0], [1], [2], [4]], [0, 1, 0, 1]))
    assert "The soft margin is a minimum" in soft
    assert "Average b over the points on the margin only" in soft
    assert "Mind the minus sign" in read(svc_workings(SVC(kernel="rbf", gamma=1), SQUARE, SIDES))
    assert "Mind the minus sign" in read(svr_workings(SVR(kernel=RBF(1.0)), [[0], [1]], [0, 1]))


@pytest.mark.parametrize("kind", ["text", "markdown", "latex", "html"])
def test_every_printer_takes_the_documents(kind):
    assert "Pair 1" in svc_workings(SVC(kernel="poly", gamma="scale"), SQUARE, SIDES).printed(kind)
    assert "tube" in svr_workings(SVR(kernel="linear"), [[0], [1], [3]], [0, 2, 1]).printed(kind)


# properties


@settings(max_examples=25)
@given(X=points, signs=st.lists(st.booleans(), min_size=5, max_size=5), kernel=kernels, C=st.sampled_from([0.1, 1, 10]))
def test_pairs_and_conditions_find_the_machine_of_scikit_learn(X, signs, kernel, C):
    y = ["b" if sign else "a" for sign in signs[: len(X)]]
    assume(len(set(y)) == 2)
    model = SVC(C=C, tol=1e-9, **kernel)
    work, peer = svc_workings(model, X, y), model.fit(X, y)
    K = products_of(model, X)
    ours, theirs = scores_of(work, K, X, y), peer.decision_function(X)
    if any(0 < a < C for a in work.answer["alpha"][0]):  # otherwise b may lie in an interval
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
    slack = np.maximum(0.0, 1.0 - np.where(np.array(y) == "b", 1.0, -1.0) * theirs).sum()
    coef = np.zeros(len(X))
    coef[peer.support_] = peer.dual_coef_[0]
    assert float(work.answer["objective_"][0]) == pytest.approx(0.5 * coef @ K @ coef + C * slack, abs=1e-5)


@settings(max_examples=25)
@given(X=points, signs=st.lists(st.booleans(), min_size=5, max_size=5), C=st.sampled_from([0.5, 2]))
def test_every_pair_raises_the_dual_and_keeps_box_and_balance(X, signs, C):
    t = [Rational(1 if sign else -1) for sign in signs[: len(X)]]
    assume(len(set(t)) == 2)
    rows = Matrix(X)
    K, price = rows * rows.T, Rational(str(C))
    search, last = search_by_pairs(K, t, price, Rational(1, 1000)), Rational(0)
    for pair in search.pairs:
        assert all(0 <= a <= price for a in pair.alpha)
        assert sum(a * sign for a, sign in zip(pair.alpha, t, strict=True)) == 0
        signed = Matrix([a * sign for a, sign in zip(pair.alpha, t, strict=True)])
        dual = sum(pair.alpha) - (signed.T * K * signed)[0] / 2
        assert dual > last
        last = dual


@settings(max_examples=25)
@given(
    X=points,
    y=st.lists(whole, min_size=5, max_size=5),
    kernel=kernels,
    C=st.sampled_from([0.25, 1, 5]),
    epsilon=st.sampled_from([0.0, 0.5, 1.0]),
)
def test_the_tube_is_that_of_scikit_learn(X, y, kernel, C, epsilon):
    y = y[: len(X)]
    model = SVR(C=C, epsilon=epsilon, tol=1e-9, **kernel)
    work, peer = svr_workings(model, X, y), model.fit(X, y)
    K, coef = products_of(model, X), np.zeros(len(X))
    coef[peer.support_] = peer.dual_coef_[0]
    beyond = np.maximum(0.0, np.abs(peer.predict(X) - y) - epsilon).sum()
    assert float(work.answer["objective_"][0]) == pytest.approx(0.5 * coef @ K @ coef + C * beyond, abs=1e-5)
    if any(0 < abs(pull) < C for pull in work.answer["dual_coef_"][0]):
        predictions = [float(value) for value in work.answer["predictions"]]
        np.testing.assert_allclose(predictions, peer.predict(X), atol=1e-5)


def test_three_classes_vote_as_scikit_learn_does():
    X, y = [[0, 0], [1, 0], [4, 0], [5, 1], [0, 4], [1, 5]], ["p", "p", "q", "q", "r", "r"]
    work = svc_workings(SVC(kernel="linear"), X, y)
    peer = SVC(kernel="linear", tol=1e-9).fit(X, y)
    np.testing.assert_allclose([float(b) for b in work.answer["intercept_"]], peer.intercept_, atol=1e-6)
    assert "p against q" in read(work)
    assert "Of equal votes the first class wins." in read(work)


# errors


def test_classes_that_overlap_have_no_hard_margin():
    with pytest.raises(ValueError, match="separable for a hard margin.*Pass a C below infinity"):
        svc_workings(SVC(kernel="linear", C=INF), [[0], [1], [2]], [0, 1, 0])
    with pytest.raises(ValueError, match="no line of this kernel keeps all points in the tube"):
        svr_workings(SVR(kernel="linear", C=INF, epsilon=0.1), [[0], [1], [2]], [0, 5, 0])


def test_what_cannot_be_worked_by_hand_is_refused():
    X = [[i] for i in range(7)]
    with pytest.raises(ValueError, match="at most 6 rows"):
        svc_workings(SVC(), X, [0, 1] * 3 + [0])
    with pytest.raises(ValueError, match="at most 5 rows"):
        svr_workings(SVR(), X, range(7))
    with pytest.raises(ValueError, match="kernel must be"):
        svc_workings(SVC(kernel="sigmoid"), X[:4], [0, 1, 0, 1])
    with pytest.raises(ValueError, match="class_weight must be None"):
        svc_workings(SVC(kernel="linear", class_weight="balanced"), X[:4], [0, 1, 0, 1])
    with pytest.raises(ValueError, match="loss must be one of.*squared loss are not written down"):
        show_work(LinearSVR(loss="squared_epsilon_insensitive"), X[:4], [0, 1, 0, 1])
    with pytest.raises(ValueError, match="C must be above 0"):
        svc_workings(SVC(kernel="linear", C=0), X[:4], [0, 1, 0, 1])
