from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text

from pellucid.optimize import Adam, GradientDescent, Momentum, Problem, Stopping
from pellucid.optimize.race import race
from pellucid.plots import plot_race
from pellucid.plots.drawing.race_plot import view_of

ROSENBROCK = "(1 - x)**2 + 100*(y - x**2)**2"
START = [-1.2, 1.0]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def test_the_lowest_value_is_marked():
    result = race(ROSENBROCK, START, ["newton", "gradient descent"])
    left, _ = plot_race(result).axes
    (star,) = [line for line in left.lines if line.get_marker() == "*"]
    np.testing.assert_allclose(star.get_xydata(), [[1.0, 1.0]], atol=1e-4)
    assert "lowest f found" in left.get_legend().get_texts()[0].get_text()


def test_paths_that_coincide_are_stripes_around_each_other():
    result = race(ROSENBROCK, START, {"one": "newton", "other": "newton"})
    left, _ = plot_race(result).axes
    wide, thin = lines_longer_than_a_mark(left)
    assert wide.get_linewidth() > 2 * thin.get_linewidth()
    assert wide.get_zorder() == thin.get_zorder()  # so the later one is on top


def lines_longer_than_a_mark(ax):
    return [line for line in ax.lines if len(line.get_xdata()) > 1]


def test_two_variables_get_paths_and_progress():
    result = race(ROSENBROCK, START, ["bfgs", "newton"])
    left, right = plot_race(result).axes
    assert len(lines_longer_than_a_mark(left)) == len(lines_longer_than_a_mark(right)) == 2
    path = np.array([state["x"] for state in result["bfgs"].trace.states])
    np.testing.assert_array_equal(np.stack(lines_longer_than_a_mark(left)[0].get_data(), axis=1), path)
    assert {text.get_text() for text in right.texts} == {"bfgs", "newton"}
    assert (left.get_xlabel(), left.get_ylabel()) == ("x", "y")
    assert right.get_yscale() == "log"


def test_more_variables_get_progress_only():
    result = race("x**2 + 2*y**2 + 3*z**2", [1.0, 1.0, 1.0], ["bfgs", "newton", "gradient descent"])
    (only,) = result.plot().axes
    assert len(lines_longer_than_a_mark(only)) == 3


def test_the_gap_is_measured_from_the_best_value():
    result = race(ROSENBROCK, START, ["newton", "gradient descent"], stopping=Stopping(max_iter=5))
    right = plot_race(result).axes[1]
    best = min(min(result[name].trace["objective"]) for name in ("newton", "gradient descent"))
    drawn = lines_longer_than_a_mark(right)[0].get_ydata()
    np.testing.assert_allclose(drawn, result["newton"].trace["objective"] - best, atol=1e-15)


def test_every_line_has_its_own_color_or_dashes():
    methods = {f"adam {i}": Adam(0.01 * (i + 1)) for i in range(8)}
    left, right = plot_race(race(ROSENBROCK, START, methods, stopping=Stopping(max_iter=4))).axes
    for ax in (left, right):
        looks = {(line.get_color(), line.get_linestyle()) for line in lines_longer_than_a_mark(ax)}
        assert len(looks) == 8
    assert len(right.texts) == 8


def test_names_do_not_cover_each_other():
    methods = {f"adam {i}": Adam(0.001 * (i + 1)) for i in range(6)}
    figure = plot_race(race(ROSENBROCK, START, methods, stopping=Stopping(max_iter=4)))
    figure.draw_without_rendering()
    boxes = [Text.get_window_extent(name) for name in figure.axes[1].texts]  # without the lines that join them
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_a_stray_does_not_shrink_the_others():
    result = race(ROSENBROCK, START, {"bfgs": "bfgs", "wild": Momentum(0.01)})
    left, right = plot_race(result).axes
    assert -3 < left.get_xlim()[0] < -1.2
    assert 1 < left.get_xlim()[1] < 3
    assert right.get_ylim()[1] < 1e6


def test_methods_that_failed_are_left_out():
    result = race(Problem(lambda x: float(x @ x), lambda x: 2 * x), [1.0, 2.0], ["newton", "bfgs"])
    left, right = plot_race(result).axes
    assert len(lines_longer_than_a_mark(right)) == 1
    assert (left.get_xlabel(), left.get_ylabel()) == ("x1", "x2")


def test_a_race_that_starts_at_the_minimum_can_be_drawn():
    left, _ = plot_race(race("x**2 + y**2", [0.0, 0.0], ["bfgs", GradientDescent(0.1)])).axes
    assert left.get_xlim()[0] < 0 < left.get_xlim()[1]


def test_a_function_with_an_edge_can_be_drawn():
    left, _ = plot_race(race("x - log(x) + y**2", [0.1, 1.0], ["bfgs", "newton"])).axes
    assert len(lines_longer_than_a_mark(left)) == 2


def test_a_long_view_gives_up_equal_units():
    long = np.array([[0.0, 0.0], [100.0, 1.0]])
    wide = np.array([[0.0, 0.0], [2.0, 1.0]])
    assert not view_of(long[0], long[1:], [long]).is_equal
    view = view_of(wide[0], wide[1:], [wide])
    assert view.is_equal
    assert np.ptp(view.x) == pytest.approx(1.1 * np.ptp(view.y))


def test_refuses_a_race_of_failures():
    result = race(Problem(lambda x: float(x @ x), lambda x: 2 * x), [1.0, 2.0], ["newton"])
    with pytest.raises(ValueError, match="race must have a method that ran"):
        plot_race(result)
