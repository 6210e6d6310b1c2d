"""Plots: fitted things as matplotlib axes. Matplotlib is imported when the first one is drawn."""

from pellucid.plots.coefficient_path_plot import plot_coefficient_path
from pellucid.plots.curve_band_plot import plot_curve_band
from pellucid.plots.fitted_line_plot import plot_fitted_line
from pellucid.plots.loss_plot import plot_losses
from pellucid.plots.race_plot import plot_race
from pellucid.plots.residuals_plot import plot_residuals
from pellucid.plots.trace_plot import plot_trace

__all__ = [
    "plot_coefficient_path",
    "plot_curve_band",
    "plot_fitted_line",
    "plot_losses",
    "plot_race",
    "plot_residuals",
    "plot_trace",
]
