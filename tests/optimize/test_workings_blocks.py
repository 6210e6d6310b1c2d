from __future__ import annotations

import numpy as np
import pytest
from sympy import Rational

from pellucid.optimize import AlternatingMinimization, CoordinateDescent, Formula, InverseRoot, Subgradient
from pellucid.optimize.workings import show_steps

TILTED = "x**2 + x*y + 2*y**2 - 3*x"


def R(above, below=1):
    return Rational(above, below)


def best_x(x):
    return np.array([(3 - x[1]) / 2, x[1]])


def best_y(x):
    return np.array([x[0], -x[0] / 4])


def test_coordinate_descent_by_hand():
    # x = (3 - y) / 2, then y = -x / 4
    work = show_steps(CoordinateDescent(), TILTED, [1, 1], steps=2)
    assert work.answer["x"] == [[1, 1], [1, R(-1, 4)], [R(13, 8), R(-13, 32)]]
    assert work.answer["visited"][3] == [R(13, 8), R(-1, 4)]
    assert "φ(x) = x² − 2 x + 2" in work.text()
    assert "φ(y) = 2 y² + y − 2" in work.text()


def test_the_greedy_order_takes_the_steepest_slope_first():
    # at (1, 1) the slopes are 0 and 5: y first, then x
    work = show_steps(CoordinateDescent("greedy"), TILTED, [1, 1], steps=1)
    assert work.answer["visited"] == [[1, 1], [1, R(-1, 4)], [R(13, 8), R(-1, 4)]]


def test_alternating_minimization_reads_the_formulas_of_its_blocks():
    work = show_steps(AlternatingMinimization([best_x, best_y]), TILTED, [1, 1], steps=2)
    assert work.answer["x"] == [[1, 1], [1, R(-1, 4)], [R(13, 8), R(-13, 32)]]
    assert "split into 2 blocks" in work.text()


def test_a_block_may_hold_several_variables():
    # with w fixed, x = y = w; with these fixed, w is their mean
    blocks = [lambda v: np.array([v[0], v[0], v[0]]), lambda v: np.array([(v[1] + v[2]) / 2, v[1], v[2]])]
    work = show_steps(AlternatingMinimization(blocks), "(x - w)**2 + (y - w)**2", [1, 5, 6], steps=1)
    assert work.answer["x"] == [[1, 5, 6], [1, 1, 1]]


def test_subgradient_descent_by_hand():
    # |x| + 2|y - 1| from (2, 0): g = (1, -2), then (1, 0) on the kink
    work = show_steps(Subgradient(0.5), "abs(x) + 2*abs(y - 1)", [2, 0], steps=2)
    assert work.answer["x"] == [[2, 0], [R(3, 2), 1], [1, 1]]


def test_the_best_point_so_far_is_the_answer():
    # |x| from 1/4 with steps of 1/2 jumps to -1/4 and back
    work = show_steps(Subgradient(0.5), "abs(x)", [0.25])
    assert work.answer["x"] == [[R(1, 4)], [R(-1, 4)], [R(1, 4)], [R(-1, 4)]]
    assert work.answer["reported"] == [[R(1, 4)]] * 4
    assert "no better than the best value so far, 1/4" in work.text()


def test_a_shrinking_step_is_written_as_a_decimal():
    work = show_steps(Subgradient(InverseRoot(1.0)), "abs(x)", [3], steps=2)
    assert float(work.answer["x"][2][0]) == pytest.approx(2 - 1 / np.sqrt(2), abs=1e-15)


def test_a_maximum_takes_the_slope_of_its_first_largest_argument():
    # x = 2y at (2, 1): the first argument has the slope (1, 0)
    work = show_steps(Subgradient(0.5), "Max(x, 2*y, -x - y)", [2, 1])
    assert work.answer["x"] == [[2, 1], [R(3, 2), 1], [R(3, 2), 0], [1, 0]]
    assert "1   if x ≥ 2·y and x ≥ −x − y" in work.text()


@pytest.mark.parametrize("point", [(0, 0), (1, 1), (2, 1), (-1, -1), (-2, 3)])
@pytest.mark.parametrize(
    "text", ["Max(x, 2*y, -x - y)", "abs(x) + 2*abs(y - 1)", "Max(0, x) + y**2", "Max(x, x, y) + abs(x - y)"]
)
def test_what_stands_for_the_gradient_at_kinks_is_a_subgradient(text, point):
    formula = Formula(text, ["x", "y"])
    problem, x = formula.problem(), np.array(point, dtype=float)
    g = problem.gradient(x)
    assert list(g) == [float(v) for v in formula.at(formula.gradient, point)]
    for other in np.random.default_rng(0).uniform(-4, 4, (200, 2)):
        assert problem.value(other) >= problem.value(x) + g @ (other - x) - 1e-12


def test_a_function_with_kinks_is_not_quadratic():
    assert not Formula("abs(x) + y**2").is_quadratic
    assert Formula("(x - y)**2 + x").is_quadratic


def test_refuses_minimizers_that_do_not_minimize():
    with pytest.raises(
        ValueError, match=r"must return the minimum over their block, got the slope .* in x from number 0"
    ):
        show_steps(AlternatingMinimization([lambda x: np.array([x[1], x[1]])]), TILTED, [1, 1])


def test_refuses_minimizers_that_are_not_plain_arithmetic():
    with pytest.raises(ValueError, match="minimizers must be plain arithmetic"):
        show_steps(AlternatingMinimization([lambda x: np.linalg.solve(np.eye(2), x)]), TILTED, [1, 1])


def test_refuses_coordinates_that_cannot_be_worked_by_hand():
    with pytest.raises(ValueError, match="function must be quadratic to show CoordinateDescent"):
        show_steps(CoordinateDescent(), "x**4", [1])
    with pytest.raises(ValueError, match="order must be 'cyclic' or 'greedy'"):
        show_steps(CoordinateDescent("random"), TILTED, [1, 1])
    with pytest.raises(ValueError, match="function must have a minimum along x, got curvature -2"):
        show_steps(CoordinateDescent(), "-x**2 + y**2", [1, 1])
