"""Support vector machines by hand: the workings of LinearSVC and the lecture's margin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC
from sklearn.svm import LinearSVC as Peer
from sympy import Matrix, Rational, oo, sqrt

import pellucid
from pellucid.optimize import svm_dual_workings
from pellucid.svm import LinearSVC, show_maximum_margin

SQUARE = [[1, 1], [2, 2], [2, 0], [0, 0]]
SIDES = ["up", "up", "down", "down"]
whole = st.integers(-3, 3)


def small_problem(draw_rows, draw_labels):
    X = np.array(draw_rows)
    y = np.array(draw_labels[: len(X)])
    assume(len(set(y)) >= 2)
    return X, y


def objective(X, y, C, w, b):
    """The lecture's soft margin, written out."""
    w = Matrix(w)
    slack = [max(0, 1 - t * ((Matrix([row]) * w)[0] + b)) for row, t in zip(X.tolist(), y.tolist(), strict=True)]
    return (w.T * w)[0] / 2 + C * sum(slack)


# by hand


def test_hard_margin_of_four_points_is_a_strip_of_width_one():
    # x2 >= 1 above and x2 <= 0 below: w = (0, 2), b = -1; held by (1, 1) against (2, 0) and (0, 0)
    work = show_maximum_margin(SQUARE, [1, 1, 0, 0])
    assert (work.answer["w"], work.answer["b"], work.answer["width"]) == ([0, 2], -1, 1)
    assert work.answer["alpha"] == [2, 0, 1, 1]
    assert work.answer["support"] == [0, 2, 3]


def test_hard_margin_of_three_points_on_a_line_is_held_by_the_inner_two():
    # from 1 to 4: the plane at 5/2, w = 2/3, b = -5/3, both multipliers w^2/2 = 2/9
    work = show_maximum_margin([[0], [1], [4]], ["a", "a", "b"])
    assert work.answer["w"] == [Rational(2, 3)]
    assert work.answer["b"] == Rational(-5, 3)
    assert work.answer["alpha"] == [0, Rational(2, 9), Rational(2, 9)]
    assert work.answer["objective"] == Rational(2, 9)


def test_a_diagonal_margin_has_the_width_of_a_root():
    assert show_maximum_margin([[0, 0], [1, 1]], [-1, 1]).answer["width"] == sqrt(2)


def test_soft_margin_stops_multipliers_at_the_price():
    # two points at distance 2 want alpha = 1/2; a price of 1/4 stops them: w = 1/2
    work = show_maximum_margin([[0], [2]], [-1, 1], C=0.25)
    assert work.answer["w"] == [Rational(1, 2)]
    assert work.answer["alpha"] == [Rational(1, 4), Rational(1, 4)]


def test_where_no_plane_is_worth_its_slack_the_text_says_so():
    work = show_maximum_margin([[0], [1], [2]], [1, -1, 1], C=0.1)
    assert work.answer["w"] == [0]
    assert work.answer["width"] == oo
    assert "There is no plane" in work.text()


def test_hinge_of_two_points_without_intercept():
    # w = min(1, 2C), each multiplier half of it
    work = pellucid.show_work(LinearSVC(loss="hinge", C=10, fit_intercept=False), [[-1], [1]], ["no", "yes"])
    assert work.answer["coef_"] == [[1]]
    assert work.answer["intercept_"] == 0
    assert "There is no intercept." in work.text()


def test_squared_hinge_of_two_points_balances_norm_and_loss():
    # d/dw (w^2/2 + 2 C (1 - w)^2) = 0: w = 4C / (1 + 4C)
    work = pellucid.show_work(LinearSVC(C=0.5, fit_intercept=False), [[-1], [1]], ["no", "yes"])
    assert work.answer["coef_"] == [[Rational(2, 3)]]
    assert work.answer["objective"] == [Rational(1, 3)]


def test_the_penalized_intercept_of_linear_svc_is_pulled_to_zero():
    free = show_maximum_margin([[1], [3]], [-1, 1]).answer
    penalized = pellucid.show_work(LinearSVC(loss="hinge", C=100), [[1], [3]], [-1, 1]).answer
    assert (free["w"], free["b"]) == ([1], -2)
    # z = (-1, -1) and (3, 1): Q = [[2, -4], [-4, 10]], alpha = (7/2, 3/2), u = (1, -2): both exactly on the margin
    assert penalized["coef_"] == [[1]]
    assert penalized["alpha"] == [[Rational(7, 2), Rational(3, 2)]]
    rough = pellucid.show_work(LinearSVC(loss="hinge", C=1), [[1], [3]], [-1, 1]).answer
    assert abs(rough["intercept_"][0]) < 2


def test_the_text_names_every_condition_and_warns_of_the_notes():
    text = show_maximum_margin(SQUARE, SIDES, C=2).text()
    assert "αᵢ(mᵢ − 1 + ξᵢ) = 0" in text
    assert "(C − αᵢ) ξᵢ = 0" in text
    assert "∑ αᵢ tᵢ = " in text
    assert "This is a minimum." in text
    assert "Average b over the points on the margin only" in text


def test_several_classes_have_a_machine_each_and_the_largest_score_decides():
    work = pellucid.show_work(LinearSVC(C=0.5), [[1.5], [2], [0], [-1]], ["p", "q", "m", "m"])
    assert work.answer["coef_"] == [[Rational(-9, 14)], [Rational(3, 14)], [Rational(5, 14)]]
    assert "q against the rest" in work.text()
    assert "The largest score in a row decides." in work.text()


@pytest.mark.parametrize("kind", ["text", "markdown", "latex", "html"])
def test_every_printer_takes_both_documents(kind):
    assert "margin" in show_maximum_margin(SQUARE, SIDES).printed(kind)
    assert "margin" in pellucid.show_work(LinearSVC(loss="hinge"), SQUARE, SIDES, format=kind)


# properties


@settings(max_examples=25)
@given(
    st.lists(st.tuples(whole, whole), min_size=2, max_size=6),
    st.lists(st.sampled_from(["a", "b"]), min_size=6, max_size=6),
    st.sampled_from(["hinge", "squared_hinge"]),
    st.sampled_from([0.1, 1.0, 4.0]),
    st.sampled_from([0.5, 1.0, None]),
)
def test_linear_svc_agrees_with_its_workings(rows, labels, loss, C, scaling):
    X, y = small_problem(rows, labels)
    model = LinearSVC(loss=loss, C=C, fit_intercept=scaling is not None, intercept_scaling=scaling or 1.0)
    fitted, work = model.fit(X, y), pellucid.show_work(model, X, y)
    answer = work.answer
    np.testing.assert_allclose(np.array(answer["coef_"], float), fitted.coef_, atol=1e-9)
    np.testing.assert_allclose(np.array(answer["intercept_"], float), fitted.intercept_, atol=1e-9)
    assert "more than rounding" not in work.text()
    assert float(answer["objective"][0]) <= fitted.trace_["objective"][-1] * (1 + 1e-9) + 1e-12


@settings(max_examples=25)
@given(
    st.lists(st.tuples(whole, whole), min_size=2, max_size=5),
    st.lists(st.sampled_from([-1, 1]), min_size=5, max_size=5),
    st.sampled_from([0.1, 1.0, 4.0]),
)
def test_rounds_find_what_trying_all_choices_finds(rows, labels, C):
    X, y = small_problem(rows, labels)
    ours, every = show_maximum_margin(X, y, C).answer, svm_dual_workings(X, y, C).answer
    assert ours["w"] == every["w"]
    assert ours["objective"] == every["primal_value"] == objective(X, y, Rational(str(C)), ours["w"], ours["b"])


# peer


def test_same_plane_as_scikit_learn_for_a_soft_and_a_hard_margin():
    X, y = np.array([[1, 0], [0, 1], [2, 2], [1, 1], [3, 1], [1, 3]], float), [0, 0, 1, 0, 1, 1]
    for C, price in ((None, 1e6), (0.5, 0.5)):
        peer, ours = SVC(kernel="linear", C=price, tol=1e-10).fit(X, y), show_maximum_margin(X, y, C).answer
        np.testing.assert_allclose(np.array(ours["w"], float), peer.coef_[0], atol=1e-6)
        assert float(ours["b"]) == pytest.approx(peer.intercept_[0], abs=1e-6)


def test_the_work_of_scikit_learns_namesake_is_shown():
    work = pellucid.show_work(Peer(loss="hinge", C=1.0, tol=1e-10, max_iter=100000), SQUARE, SIDES)
    assert "Compare with the program" in work.text()
    assert "more than rounding" not in work.text()


# errors


def test_refuses_overlapping_classes_for_a_hard_margin_and_names_the_remedy():
    with pytest.raises(ValueError, match=r"X must be separable.*Pass C\."):
        show_maximum_margin([[0], [1], [2]], [1, -1, 1])


def test_refuses_more_points_than_a_person_can_work():
    with pytest.raises(ValueError, match="X must have at most 6 rows"):
        show_maximum_margin(np.arange(9.0)[:, None], [0] * 4 + [1] * 5)


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"penalty": "l1"}, "penalty must be one of.*not written down"),
        ({"class_weight": "balanced"}, "class_weight must be None"),
        ({"C": 0.0}, "C must be above 0"),
    ],
)
def test_refuses_what_is_not_written_down(settings_, message):
    with pytest.raises(ValueError, match=message):
        pellucid.show_work(LinearSVC(**settings_), SQUARE, SIDES)


def test_refuses_one_class_and_a_price_of_zero():
    with pytest.raises(ValueError, match="y must hold two classes, got 1"):
        show_maximum_margin([[0], [1]], [1, 1])
    with pytest.raises(ValueError, match="C must be above 0.*hard margin pass None"):
        show_maximum_margin([[0], [1]], [0, 1], C=0)
