"""Plots: fitted things as matplotlib axes. Matplotlib is imported when the first one is drawn."""

from pellucid.plots.cluster_plots import plot_cluster_regions, plot_dendrogram, plot_silhouettes
from pellucid.plots.coefficient_path_plot import plot_coefficient_path
from pellucid.plots.component_images import plot_components_images, plot_ranks, plot_signals
from pellucid.plots.component_plots import plot_biplot, plot_factor_shares, plot_scree
from pellucid.plots.decision_regions_plot import plot_decision_regions
from pellucid.plots.drawing.cluster_choice_plot import plot_cluster_choice
from pellucid.plots.drawing.race_plot import plot_race
from pellucid.plots.drawing.trace_plot import plot_error_curve, plot_trace
from pellucid.plots.kernel_matrix_plot import plot_kernel_matrix
from pellucid.plots.loss_plot import plot_losses
from pellucid.plots.map_plots import plot_embedding, plot_embeddings, plot_shepard
from pellucid.plots.mixture_plot import plot_mixture
from pellucid.plots.regression_plots import plot_curve_band, plot_fitted_line, plot_residuals
from pellucid.plots.restoration_plots import plot_dictionary, plot_filter, plot_restorations, plot_spectrum
from pellucid.plots.score_plots import plot_certified_accuracy, plot_confusion, plot_roc, plot_score_intervals
from pellucid.plots.tube_plot import plot_tube

__all__ = [
    "plot_biplot",
    "plot_certified_accuracy",
    "plot_cluster_choice",
    "plot_cluster_regions",
    "plot_coefficient_path",
    "plot_components_images",
    "plot_confusion",
    "plot_curve_band",
    "plot_decision_regions",
    "plot_dendrogram",
    "plot_dictionary",
    "plot_embedding",
    "plot_embeddings",
    "plot_error_curve",
    "plot_factor_shares",
    "plot_filter",
    "plot_fitted_line",
    "plot_kernel_matrix",
    "plot_losses",
    "plot_mixture",
    "plot_race",
    "plot_ranks",
    "plot_residuals",
    "plot_restorations",
    "plot_roc",
    "plot_score_intervals",
    "plot_scree",
    "plot_shepard",
    "plot_signals",
    "plot_silhouettes",
    "plot_spectrum",
    "plot_trace",
    "plot_tube",
]
