import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Matrix, Rational, Symbol, sqrt

from pellucid.optimize import Formula
from pellucid.optimize.checks.convexity import check_convexity
from pellucid.optimize.checks.real_algebra import principal_minors, read_real, real_solutions, sign_of
from pellucid.optimize.checks.stationary_point import classify
from pellucid.optimize.checks.stationary_point_workings import classify_exactly, stationary_point_workings

# by hand


def test_a_cubic_has_a_minimum_and_a_saddle():
    # 3 x^2 - 3 = 0 and 2 y = 0; the Hessian is diag(6 x, 2)
    answer = stationary_point_workings("x**3 - 3*x + y**2").answer
    assert answer["points"] == [(-1, 0), (1, 0)]
    assert answer["kinds"] == ["saddle", "minimum"]
    assert answer["values"] == [2, -2]
    assert answer["is_convex"] is False


def test_roots_stay_roots():
    answer = stationary_point_workings("x**4/4 - 2*x**2 + y**2 - x*y").answer
    assert answer["points"][2] == (3 * sqrt(2) / 2, 3 * sqrt(2) / 4)
    assert answer["values"] == [Rational(-81, 16), 0, Rational(-81, 16)]


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        ([[2, 1], [1, 2]], "minimum"),
        ([[-2, 1], [1, -2]], "maximum"),
        ([[0, 1], [1, 0]], "saddle"),
        ([[2, 0], [0, 0]], "degenerate"),
        ([[1, 0, 0], [0, -1, 0], [0, 0, 0]], "saddle"),
    ],
)
def test_minors_decide(rows, kind):
    assert classify_exactly(Matrix(rows)) == kind


def test_where_the_second_order_says_nothing_the_next_one_is_asked():
    text = stationary_point_workings("x**2 + y**3").text()
    assert "has the order 3 and" in text
    assert "falls on one side" in text
    assert "even and positive" in stationary_point_workings("x**2 + y**4").text()


def test_a_convex_function_is_proved_convex():
    for convex in ("x**2 + x*y + y**2", "x**4 + y**4", "exp(x) + y**2", "(x + y)**2"):
        assert stationary_point_workings(convex).answer["is_convex"] is True


def test_a_counterexample_is_exact():
    answer = stationary_point_workings("x*y").answer
    found = answer["counterexample"]
    f = Formula("x*y")
    assert f.at(f.expression, found.middle) == found.above > found.chord
    assert found.chord == sum(f.at(f.expression, end) for end in (found.left, found.right)) / 2


def test_a_counterexample_shrinks_until_it_refutes():
    # the second derivative at 0 is -1/4, but from -1 to 1 the chord is above; from -1/4 to 1/4 it is not
    found = stationary_point_workings("x**4 - x**2/8").answer["counterexample"]
    assert (found.left, found.right) == ((Rational(-1, 4),), (Rational(1, 4),))
    assert found.above > found.chord


def test_no_stationary_point_and_a_whole_line_of_them_are_told():
    assert "Nowhere" in stationary_point_workings("exp(x) + y").text()
    line = stationary_point_workings("(x + y)**2")
    assert line.answer["kinds"] == ["degenerate"]
    assert "a whole curve is stationary" in line.text()


def test_signs_of_roots_are_decided_exactly():
    assert sign_of(sqrt(8) - 2 * sqrt(2)) == 0
    assert sign_of(sqrt(2) - Rational(14142135623730951, 10**16)) == -1
    x, y = (Symbol(name, real=True) for name in "xy")
    assert real_solutions([x**2 - 2, y - x], [x, y]) == [{x: -sqrt(2), y: -sqrt(2)}, {x: sqrt(2), y: sqrt(2)}]
    assert real_solutions([x**2 + 1], [x]) == []
    assert principal_minors(Matrix([[1, 2], [2, 3]])) == [1, 3, -1]


# properties


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=5, max_size=5))
def test_quadratics_agree_with_the_checks_in_floating_point(coefficients):
    a, b, c, d, e = coefficients
    text = f"{a}*x**2 + {b}*x*y + {c}*y**2 + {d}*x + {e}*y"
    work = stationary_point_workings(text, ["x", "y"])
    problem = Formula(text, ["x", "y"]).problem()
    for point, kind in zip(work.answer["points"], work.answer["kinds"], strict=True):
        if not any(value.free_symbols for value in point):
            assert classify(problem, [float(value) for value in point]).kind == kind
    refuted = check_convexity(problem, box=(-np.ones(2), np.ones(2)), n_pairs=200).is_refuted
    assert work.answer["is_convex"] is not refuted


@pytest.mark.parametrize("kind", ["text", "markdown", "latex", "html"])
def test_every_printer_takes_the_workings(kind):
    assert "Is it convex?" in stationary_point_workings("x**3 - 3*x + y**3").printed(kind)


# errors


def test_bad_input_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="at most 3 variables to be worked by hand, got 4"):
        stationary_point_workings("a + b + c + d")
    with pytest.raises(ValueError, match="must lead to equations that can be solved by hand"):
        stationary_point_workings("exp(x) + sin(x*y) + y**2")
    with pytest.raises(ValueError, match=r"expression must be a formula such as 'x\*\*2 \+ y\*\*2', got 'x \+\*'"):
        stationary_point_workings("x +*")
    with pytest.raises(ValueError, match="which have none"):
        read_real(["3"])
