"""Line searches: their conditions hold where they stop, and they always stop."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.optimize import Backtracking, ExactStep, FixedStep, Problem, StrongWolfe, quadratic
from pellucid.optimize.line_searches.strong_wolfe import TriedStep, _cubic_minimum
from pellucid.optimize.method import NoStep
from pellucid.optimize.oracle import Oracle

LINES = {
    "parabola": (lambda t: (t - 3) ** 2, lambda t: 2 * (t - 3)),
    "quartic": (lambda t: (t - 2) ** 4 + t, lambda t: 4 * (t - 2) ** 3 + 1),
    "waves": (lambda t: -t - 0.4 * math.sin(9 * t) + 0.02 * t * t, lambda t: -1 - 3.6 * math.cos(9 * t) + 0.04 * t),
    "barrier": (
        lambda t: -math.log(1 - t) - 3 * t if t < 1 else math.inf,
        lambda t: 1 / (1 - t) - 3 if t < 1 else math.nan,
    ),
    "nan": (lambda t: -2 * t if t < 1e-3 else math.nan, lambda t: -2.0 if t < 1e-3 else math.nan),
    "steep": (lambda t: 1e8 * t * t - t, lambda t: 2e8 * t - 1),
    "flat": (lambda t: 1e-8 * (t - 5000) ** 2, lambda t: 2e-8 * (t - 5000)),
}


def on_line(name):
    value, slope = LINES[name]
    return Problem(lambda x: value(float(x[0])), lambda x: np.array([slope(float(x[0]))]))


def search(line_search, problem, first=1.0, start=0.0):
    oracle = Oracle(problem)
    point = oracle.at(np.array([start]))
    return point, line_search.search(oracle, point, np.array([1.0]), first, 0), oracle


# by hand


def test_backtracking_halves_until_armijo_holds():
    # f = t^2 - t has slope -1 at 0; t = 4, 2 and 1 give 12, 2 and 0 >= -t c; t = 1/2 gives -1/4
    problem = Problem(lambda x: float(x[0] ** 2 - x[0]), lambda x: 2 * x - 1)
    _, there, oracle = search(Backtracking(), problem, first=4.0)
    assert there.x[0] == 0.5
    assert oracle.evaluations == 5


def test_backtracking_may_have_its_own_first_trial():
    _, there, _ = search(Backtracking(first=0.25), on_line("parabola"), first=99.0)
    assert there.x[0] == 0.25


def test_an_exact_step_goes_to_the_bottom():
    problem = quadratic(np.array([[2.0]]), np.array([6.0]))
    assert search(ExactStep(), problem)[1].x[0] == 3.0


def test_a_fixed_step_is_fixed():
    assert search(FixedStep(0.125), on_line("parabola"))[1].x[0] == 0.125


def test_the_cubic_through_a_parabola_finds_its_bottom():
    value, slope = LINES["parabola"]
    assert _cubic_minimum(*(TriedStep(t, value(t), slope(t), None) for t in (0.0, 7.0))) == pytest.approx(3.0)


def test_an_acceptable_first_trial_costs_one_evaluation():
    _, there, oracle = search(StrongWolfe(), on_line("parabola"), first=2.5)
    assert there.x[0] == 2.5
    assert oracle.evaluations == 2  # the start and the trial


# properties


@pytest.mark.parametrize("curvature", [0.9, 0.1, 0.01])
@pytest.mark.parametrize("first", [1e-6, 1.0, 1e4])
@pytest.mark.parametrize("name", [name for name in LINES if name != "nan"])
def test_both_wolfe_conditions_hold(name, first, curvature):
    start, there, oracle = search(StrongWolfe(curvature=curvature), on_line(name), first)
    slope = float(start.gradient[0])
    assert there.value <= start.value + 1e-4 * there.x[0] * slope
    assert abs(there.gradient[0]) <= curvature * abs(slope)
    assert oracle.evaluations <= 40


@given(st.floats(-5, 5), st.floats(0.1, 1e3), st.floats(1e-3, 1e3), st.sampled_from([0.9, 0.1]))
def test_wolfe_conditions_hold_on_random_quartics(shift, scale, first, curvature):
    problem = Problem(
        lambda x: scale * float((x[0] - shift) ** 4 + x[0] ** 2), lambda x: scale * (4 * (x - shift) ** 3 + 2 * x)
    )
    oracle = Oracle(problem)
    point = oracle.at(np.array([1.0]))
    if abs(point.gradient[0]) < 1e-6 * scale:
        return
    direction = -point.gradient
    there = StrongWolfe(curvature=curvature).search(oracle, point, direction, first, 0)
    slope, step = float(point.gradient @ direction), float((there.x - point.x)[0] / direction[0])
    assert abs(there.gradient @ direction) <= curvature * abs(slope)
    assert there.value <= point.value + 1e-4 * step * slope + 1e-12 * abs(point.value)


def test_a_line_that_ends_in_nan_gives_its_lowest_point():
    start, there, _ = search(StrongWolfe(), on_line("nan"))
    assert math.isfinite(there.value)
    assert there.value < start.value
    assert search(Backtracking(), on_line("nan"))[1].value < start.value


def test_slopes_decide_where_values_are_rounded_away():
    # the fall of 1e-10 drowns in noise of 1e-8 on top of 1e8, which makes the bottom look higher; the slopes see it
    problem = Problem(lambda x: 1e8 + 1e-10 * float((x[0] - 1) ** 2) + 1e-8 * float(x[0]), lambda x: 2e-10 * (x - 1))
    _, there, oracle = search(StrongWolfe(), problem, first=0.9)
    assert there.x[0] == 0.9
    assert oracle.evaluations == 2


# errors


@pytest.mark.parametrize("line_search", [Backtracking(), StrongWolfe(), ExactStep()])
def test_uphill_directions_are_refused(line_search):
    problem = quadratic(np.array([[2.0]]), np.array([-6.0]))
    with pytest.raises(NoStep, match="the direction does not lead downhill, its slope is 6"):
        search(line_search, problem)


@pytest.mark.parametrize("line_search", [Backtracking(), StrongWolfe()])
def test_a_wrong_slope_ends_the_search(line_search):
    problem = Problem(lambda x: float(x[0]), lambda x: np.array([-1.0]))
    with pytest.raises(NoStep, match="no step along the direction lowers the objective"):
        search(line_search, problem)


def test_constants_are_checked():
    with pytest.raises(ValueError, match="shrink must be between 0 and 1, got 1"):
        Backtracking(shrink=1)
    with pytest.raises(ValueError, match="first must be above 0, got -1"):
        Backtracking(first=-1)
    with pytest.raises(ValueError, match="0 < decrease < curvature < 1, got 0.5 and 0.1"):
        StrongWolfe(decrease=0.5, curvature=0.1)
