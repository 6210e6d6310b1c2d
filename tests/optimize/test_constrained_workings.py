import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Rational, oo, sqrt

from pellucid.optimize import Formula
from pellucid.optimize.constrained.constrained_problem import ConstrainedProblem
from pellucid.optimize.constrained.kkt_certificate import kkt_certificate
from pellucid.optimize.constrained.kkt_workings import kkt_workings
from pellucid.optimize.constrained.soft_margin_svm import SoftMarginSVM
from pellucid.optimize.constrained.svm_dual_workings import svm_dual_workings

# by hand


def test_the_nearest_point_of_a_half_plane():
    answer = kkt_workings("x**2 + y**2", inequalities=["1 - x - y"]).answer
    half = Rational(1, 2)
    assert (answer["x"], answer["lam"], answer["objective"]) == ((half, half), (1,), half)
    assert (answer["is_convex"], answer["dual_value"]) == (True, half)


def test_the_dual_function_is_printed_in_closed_form():
    text = kkt_workings("x**2 + y**2", equalities=["x + y - 1"]).text()
    assert "d(ν) = - ── - ν" in text
    assert "f − d = 0" in text


def test_two_curved_constraints_meet_in_a_corner():
    # at (1, 1): (-2, 0) + lam_1 (2, -1) + lam_2 (1, 1) = 0
    answer = kkt_workings("(x - 2)**2 + (y - 1)**2", inequalities=["x**2 - y", "x + y - 2"]).answer
    assert answer["x"] == (1, 1)
    assert answer["lam"] == (Rational(2, 3), Rational(2, 3))


def test_on_a_circle_the_lower_of_two_points_is_taken_with_a_caveat():
    work = kkt_workings("x + y", equalities=["x**2 + y**2 - 2"])
    assert work.answer["points"] == [(-1, -1), (1, 1)]
    assert (work.answer["x"], work.answer["nu"]) == ((-1, -1), (Rational(1, 2),))
    assert work.answer["is_convex"] is False
    assert "necessary only" in work.text()


def test_every_verdict_is_in_the_table():
    text = kkt_workings("(x - 3)**2 + (y - 2)**2", inequalities=["x + y - 2", "-x", "-y"]).text()
    told = ("KKT point", "violates 1", "multiplier 2 negative", "contradict each other with these active: 1, 2, 3")
    for verdict in told:
        assert verdict in text


def test_an_unbounded_problem_has_no_kkt_point():
    work = kkt_workings("-x", inequalities=["-x"])
    assert work.answer["x"] is None
    assert "there is no minimum" in work.text()


def test_an_svm_of_four_points():
    # on the margin: (1, 1), (2, 2) and (3, 0); w = (4/3, 2/3) and b = -3
    answer = svm_dual_workings([[0, 0], [1, 1], [2, 2], [3, 0]], [-1, -1, 1, 1]).answer
    assert answer["alpha"] == [0, Rational(10, 9), Rational(8, 9), Rational(2, 9)]
    assert (answer["w"], answer["b"]) == ([Rational(4, 3), Rational(2, 3)], -3)
    assert answer["margin"] == 3 * sqrt(5) / 10
    assert answer["primal_value"] == answer["dual_value"] == Rational(10, 9)


def test_a_soft_margin_pays_for_slack():
    # alpha = (0, 1/2, 1/2, 0), all at bounds: w = 1/2, slack 1 and 1/2, 1/8 + 3/4; the points at 0 and 4 leave b = -1
    work = svm_dual_workings([[0], [2], [1], [4]], [-1, 1, -1, 1], C=0.5)
    assert work.answer["w"] == [Rational(1, 2)]
    assert work.answer["primal_value"] == work.answer["dual_value"] == Rational(7, 8)
    assert "leave one b" in " ".join(work.text().split())


def test_where_no_plane_is_worth_its_slack_that_is_said():
    work = svm_dual_workings([[0], [2], [1], [3]], [-1, 1, 1, -1], C=0.5)
    assert (work.answer["w"], work.answer["margin"]) == ([0], oo)
    assert "There is no plane" in work.text()


# properties


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(-2, 2), min_size=9, max_size=9))
def test_the_kkt_proof_accepts_what_was_worked_by_hand(numbers):
    a, b, p, q, r, s, t, u, v = numbers
    objective = f"{abs(a) + 3}*x**2 + {b}*x*y + {abs(p) + 3}*y**2 + {q}*x + {r}*y"
    inequalities = [f"{s}*x + {t}*y - {abs(u)} - 1", f"x - {abs(v)} - 1"]  # 0 is strictly feasible
    answer = kkt_workings(objective, inequalities, variables=["x", "y"]).answer
    parts = [Formula(text, ["x", "y"]).problem() for text in (objective, *inequalities)]
    problem = ConstrainedProblem(parts[0], inequalities=[part.value for part in parts[1:]], is_convex=True)
    x, lam = (np.array([float(value) for value in answer[name]]) for name in ("x", "lam"))
    assert answer["is_convex"]
    assert answer["dual_value"] == answer["objective"]
    assert kkt_certificate(problem, x, lam).holds


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.25, 1.0, 4.0]))
def test_the_exact_svm_is_the_one_in_floating_point(seed, C):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-4, 5, (4, 2)), np.array([-1, 1, -1, 1])
    exact, floating = svm_dual_workings(X, y, C).answer, SoftMarginSVM(X, y, C).solve()
    assert exact["primal_value"] == exact["dual_value"]
    assert float(exact["primal_value"]) == pytest.approx(floating.primal_value, abs=1e-5)
    np.testing.assert_allclose(floating.w, [float(value) for value in exact["w"]], atol=1e-3)


@pytest.mark.parametrize("kind", ["text", "markdown", "latex", "html"])
def test_every_printer_takes_the_workings(kind):
    assert "Case by case" in kkt_workings("x**2 + y**2", ["1 - x - y"]).printed(kind)
    assert "Primal and dual meet" in svm_dual_workings([[0], [2], [1]], [-1, 1, -1], C=1).printed(kind)


# errors


def test_bad_input_is_refused_in_a_sentence():
    with pytest.raises(TypeError, match="inequalities must be a sequence of formulas, got the text"):
        kkt_workings("x**2", inequalities="x")
    with pytest.raises(ValueError, match="at most 3 variables and 4 inequalities to be worked by hand, got 1 and 5"):
        kkt_workings("x**2", inequalities=["x - 1"] * 5)
    with pytest.raises(ValueError, match="X must be separable by a plane for a hard margin"):
        svm_dual_workings([[0], [2], [1]], [-1, -1, 1])
    with pytest.raises(ValueError, match="y must hold both classes -1 and 1"):
        svm_dual_workings([[0], [2]], [1, 1])
    with pytest.raises(ValueError, match="C must be above 0, got -1"):
        svm_dual_workings([[0], [2]], [-1, 1], C=-1)
    with pytest.raises(ValueError, match="X must have at most 5 rows"):
        svm_dual_workings(np.zeros((6, 1)), [1, -1, 1, -1, 1, -1])


def test_the_picture_of_a_margin_marks_the_classes_and_names_its_lines():
    work = svm_dual_workings([[1, 1], [2, 2], [4, 3], [5, 5]], [-1, -1, 1, 1])
    drawn = work.text().partition("x₂\n")[2]
    assert drawn.count("●") == 3  # two points and their entry in the legend
    assert drawn.count("○") == 3
    for entry in ("● t = −1", "○ t = +1", "· margin −1", "+ plane", "× margin +1"):
        assert entry in drawn
    for label in ("t = −1", "t = +1", "margin −1", "plane", "margin +1"):
        assert f">{label}</text>" in work.html()
    assert all(mark in work.latex() for mark in (r"\circle*{4}", r"\circle{4}", "plane"))
