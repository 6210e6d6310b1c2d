from __future__ import annotations

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression as PeerLinearRegression

from pellucid import Trace
from pellucid.linear_model import LinearRegression
from pellucid.plots import plot_coefficient_path, plot_fitted_line, plot_residuals, plot_trace

X, Y = np.arange(6.0)[:, None], np.array([0.0, 1.0, 2.5, 2.0, 4.5, 5.0])


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def trace_of(**columns):
    n = len(next(iter(columns.values())))
    return Trace.from_columns({"iteration": list(range(1, n + 1)), **columns})


def texts(ax):
    ax.figure.draw_without_rendering()
    return [text.get_text().strip() for text in ax.texts]


def test_a_trace_shows_the_objective_and_what_decays():
    trace = trace_of(objective=[4.0, 3.0, 2.9], gap=[1.0, 0.1, 0.001], nonzero=[7.0, 7.0, 7.0])
    ax = plot_trace(trace)
    assert texts(ax) == ["objective", "gap"]
    assert ax.get_yscale() == "log"
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), trace["gap"])


def test_a_score_stands_on_the_right_with_a_ring_around_the_best():
    trace = trace_of(objective=[4.0, 3.0, 2.9], validation_score=[0.5, 0.8, np.nan])
    _, right = plot_trace(trace).figure.axes
    assert right.get_ylabel() == "validation score"
    line, ring = right.lines
    np.testing.assert_array_equal(line.get_ydata(), trace["validation_score"])
    assert ring.get_xydata().tolist() == [[2.0, 0.8]]
    assert len(plot_trace(trace, columns=["objective"]).figure.axes) == 1


def test_a_trace_with_one_column_names_it_on_the_axis():
    ax = plot_trace(trace_of(objective=[4.0, 3.0]))
    assert ax.get_ylabel() == "objective"
    assert ax.get_yscale() == "linear"


def test_a_zero_gap_leaves_a_hole_in_the_logarithmic_line():
    ax = plot_trace(trace_of(objective=[4.0, 3.0, 3.0], gap=[1.0, 0.001, 0.0]))
    assert np.isnan(ax.lines[1].get_ydata()[-1])


def test_negative_objectives_are_drawn_on_a_linear_axis():
    assert plot_trace(trace_of(objective=[-1.0, -500.0])).get_yscale() == "linear"


def test_a_trace_of_one_row_is_drawn():
    assert len(plot_trace(trace_of(objective=[1.0])).lines) == 1


def test_a_trace_plots_itself_on_given_axes():
    _, ax = plt.subplots()
    assert trace_of(objective=[2.0, 1.0]).plot(ax=ax, columns=["objective"]) is ax


def test_the_penalty_falls_from_left_to_right():
    ax = plot_coefficient_path([0.1, 1.0, 10.0], [[3.0, 2.0, 0.0], [0.5, 0.0, 0.0]], ["big", "small"])
    assert ax.get_xlim() == (10.0, 0.1)
    assert ax.get_xscale() == "log"
    assert texts(ax) == ["big", "small"]


def test_a_path_down_to_zero_keeps_its_breakpoints():
    ax = plot_coefficient_path([2.0, 0.5, 0.0], [[0.0, 1.0, 3.0]])
    assert ax.get_xscale() == "symlog"
    drawn = dict(zip(ax.lines[1].get_xdata(), ax.lines[1].get_ydata(), strict=True))
    assert drawn[2.0] == 0.0
    assert drawn[0.5] == 1.0
    assert drawn[0.0] == 3.0
    assert drawn[1.25] == pytest.approx(0.5)  # halfway in alpha is halfway in w


def test_ticks_of_a_path_down_to_zero_do_not_cover_each_other():
    ax = plot_coefficient_path([1.0, 0.1, 0.0011, 0.0009, 0.0], np.ones((1, 5)))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["$10^{-2}$", "$10^{-1}$", "$10^{0}$", "0"]
    ax.figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_ten_names_have_ten_colors():
    ax = plot_coefficient_path([1.0, 0.1], np.outer(np.arange(1.0, 11.0), [0.0, 1.0]))
    assert len({line.get_color() for line in ax.lines[1:]}) == 10


def test_only_the_furthest_reaching_coefficients_get_names():
    coefs = np.outer(np.arange(30.0), [0.0, 1.0])
    ax = plot_coefficient_path([1.0, 0.1], coefs)
    assert texts(ax) == [f"feature {j}" for j in range(29, 19, -1)]
    assert len(ax.lines) == 31  # all coefficients and the line at zero


def test_a_chosen_penalty_is_marked():
    assert "0.5" in texts(plot_coefficient_path([1.0, 0.1], [[0.0, 1.0]], chosen=0.5))


def test_residuals_are_target_minus_prediction():
    model = LinearRegression().fit(X, Y)
    points = plot_residuals(model, X, Y).collections[0].get_offsets()
    np.testing.assert_allclose(points, np.column_stack([model.predict(X), Y - model.predict(X)]))


def test_the_band_is_the_prediction_interval():
    model = LinearRegression().fit(X, Y)
    ax = plot_fitted_line(model, X, Y, level=0.8)
    low, high = model.prediction_interval(ax.lines[0].get_xdata()[:, None], 0.8)
    band = ax.collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == pytest.approx(low.min())
    assert band[:, 1].max() == pytest.approx(high.max())
    assert texts(ax) == ["80% of new points"]


def test_a_model_without_intervals_or_a_level_of_none_draws_the_line_only():
    assert texts(plot_fitted_line(PeerLinearRegression().fit(X, Y), X, Y)) == []
    assert texts(plot_fitted_line(LinearRegression().fit(X, Y), X, Y, level=None)) == []


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_of_data_frames_label_the_axis(frame):
    data = frame({"size": X[:, 0]})
    ax = plot_fitted_line(PeerLinearRegression().fit(data, Y), data, Y)
    assert ax.get_xlabel() == "size"


def test_matplotlib_is_not_imported_before_a_plot_is_drawn():
    code = "import sys, pellucid.plots; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_settings_of_matplotlib_are_left_alone():
    before = dict(plt.rcParams)
    plot_residuals(LinearRegression().fit(X, Y), X, Y)
    assert dict(plt.rcParams) == before


def test_refuses_an_empty_trace():
    with pytest.raises(ValueError, match=r"trace must have at least one row, got 0\. Fit"):
        plot_trace(Trace())


def test_refuses_coefficients_of_the_wrong_shape():
    with pytest.raises(ValueError, match=r"coefs must have one column for each of the 3 alphas, got shape \(3, 2\)"):
        plot_coefficient_path([1, 2, 3], np.ones((3, 2)))
    with pytest.raises(ValueError, match="names must have one entry for each of the 2 features, got 1"):
        plot_coefficient_path([1, 2, 3], np.ones((2, 3)), ["a"])
    with pytest.raises(ValueError, match="alphas must be at least 0, got -1"):
        plot_coefficient_path([1, -1], np.ones((2, 2)))


def test_refuses_several_features_or_targets():
    with pytest.raises(ValueError, match="X must have one feature, got shape"):
        plot_fitted_line(None, np.ones((3, 2)), np.ones(3))
    two = np.column_stack([Y, Y])
    with pytest.raises(ValueError, match="y must have one target, got 2"):
        plot_residuals(LinearRegression().fit(X, two), X, two)


def test_a_curve_band_of_a_plain_grid_is_drawn():
    from pellucid.plots.regression_plots import plot_curve_band
    from pellucid.probability import curve_band

    band = curve_band(LinearRegression(), X, Y, [0.0, 2.5, 5.0], n_resamples=20, random_state=0)
    ax = plot_curve_band(band)
    assert ax.lines[0].get_xdata().tolist() == [0.0, 2.5, 5.0]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), band.curve)


def test_a_curve_band_shows_both_bands_around_the_curve():
    from pellucid.plots.regression_plots import plot_curve_band
    from pellucid.probability import curve_band

    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (30, 1))
    y = X[:, 0] + 0.1 * rng.standard_normal(30)
    band = curve_band(LinearRegression(), X, y, np.array([[1.0], [0.0], [0.5]]), n_resamples=50, random_state=0)
    ax = plot_curve_band(band, X, y)
    (line,) = ax.lines
    np.testing.assert_array_equal(line.get_xdata(), [0.0, 0.5, 1.0])  # sorted, though the grid is not
    np.testing.assert_allclose(line.get_ydata(), band.curve[[1, 2, 0]])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "95%, whole curve",
        "95%, each point alone",
        "fitted curve",
    ]
    with pytest.raises(ValueError, match=r"band must have a grid of one feature, got shape \(2, 2\)"):
        plot_curve_band(type("Band", (), {"grid": np.zeros((2, 2))}))


def test_losses_share_one_axis_and_are_named():
    from pellucid.losses import HingeLoss, SquaredLoss
    from pellucid.plots import plot_losses

    ax = plot_losses()
    named = [line.get_label() for line in ax.lines[1:]]
    assert named == ["zero-one", "perceptron", "hinge", "squared hinge", "logistic"]
    assert plot_losses([SquaredLoss()]).get_xlabel() == "residual  f(x) − y"
    with pytest.raises(ValueError, match="losses must be all of a margin or all of a residual, got"):
        plot_losses([HingeLoss(), SquaredLoss()])


def test_the_confusion_matrix_shows_counts_and_shares():
    from pellucid.plots import plot_confusion

    ax = plot_confusion(["a", "a", "a", "b"], ["a", "a", "b", "b"])
    assert [text.get_text() for text in ax.texts] == ["2\n67%", "1\n33%", "0", "1\n100%"]


def test_the_roc_curve_states_its_area():
    from pellucid.plots import plot_roc

    ax = plot_roc([0, 0, 1, 1, 0, 1], [0.1, 0.4, 0.35, 0.8, 0.2, 0.9], n_resamples=100)
    assert ax.texts[0].get_text().startswith("area 0.889")  # 8 of 9 pairs are in order


def test_score_intervals_are_drawn_one_below_the_other():
    from pellucid.model_selection import score_interval
    from pellucid.plots import plot_score_intervals

    one, other = score_interval([0, 1], [0, 1]), score_interval([0, 1], [1, 0])
    ax = plot_score_intervals({"right": one, "wrong": other})
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["right", "wrong"]
    with pytest.raises(ValueError, match="intervals must be of one score, got"):
        plot_score_intervals({"a": one, "b": score_interval([0, 1], [0, 1], "error rate")})
