"""Plots: fitted things as matplotlib axes. Matplotlib is imported when the first one is drawn."""

from pellucid.drawing.cluster_choice_plot import plot_cluster_choice
from pellucid.drawing.error_curve_plot import plot_error_curve
from pellucid.drawing.race_plot import plot_race
from pellucid.drawing.trace_plot import plot_trace
from pellucid.plots.biplot_plot import plot_biplot
from pellucid.plots.certified_accuracy_plot import plot_certified_accuracy
from pellucid.plots.cluster_regions_plot import plot_cluster_regions
from pellucid.plots.coefficient_path_plot import plot_coefficient_path
from pellucid.plots.components_images_plot import plot_components_images
from pellucid.plots.confusion_plot import plot_confusion
from pellucid.plots.curve_band_plot import plot_curve_band
from pellucid.plots.decision_regions_plot import plot_decision_regions
from pellucid.plots.dendrogram_plot import plot_dendrogram
from pellucid.plots.embedding_plot import plot_embedding, plot_embeddings
from pellucid.plots.factor_shares_plot import plot_factor_shares
from pellucid.plots.fitted_line_plot import plot_fitted_line
from pellucid.plots.kernel_matrix_plot import plot_kernel_matrix
from pellucid.plots.loss_plot import plot_losses
from pellucid.plots.mixture_plot import plot_mixture
from pellucid.plots.ranks_plot import plot_ranks
from pellucid.plots.residuals_plot import plot_residuals
from pellucid.plots.roc_plot import plot_roc
from pellucid.plots.score_intervals_plot import plot_score_intervals
from pellucid.plots.scree_plot import plot_scree
from pellucid.plots.shepard_plot import plot_shepard
from pellucid.plots.signals_plot import plot_signals
from pellucid.plots.silhouette_plot import plot_silhouettes
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
    "plot_embedding",
    "plot_embeddings",
    "plot_error_curve",
    "plot_factor_shares",
    "plot_fitted_line",
    "plot_kernel_matrix",
    "plot_losses",
    "plot_mixture",
    "plot_race",
    "plot_ranks",
    "plot_residuals",
    "plot_roc",
    "plot_score_intervals",
    "plot_scree",
    "plot_shepard",
    "plot_signals",
    "plot_silhouettes",
    "plot_trace",
    "plot_tube",
]
