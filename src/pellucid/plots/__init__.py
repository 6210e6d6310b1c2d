"""Plots: fitted things as matplotlib axes. Matplotlib is imported when the first one is drawn."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder

if TYPE_CHECKING:  # what is named here is imported on first use
    from pellucid.plots.activation_plot import plot_activations
    from pellucid.plots.bayes_plots import plot_class_densities, plot_reject_region
    from pellucid.plots.bias_variance_plots import plot_bias_variance, plot_resampled_curves
    from pellucid.plots.class_plots import (
        plot_discriminant_values,
        plot_hyperplane,
        plot_lifted,
        plot_single_features,
    )
    from pellucid.plots.cluster_plots import plot_cluster_regions, plot_dendrogram, plot_silhouettes
    from pellucid.plots.coefficient_path_plot import plot_coefficient_path
    from pellucid.plots.component_images import plot_components_images, plot_images, plot_ranks, plot_signals
    from pellucid.plots.component_plots import plot_biplot, plot_factor_shares, plot_scree
    from pellucid.plots.decision_regions_plot import plot_decision_regions
    from pellucid.plots.drawing.cluster_choice_plot import plot_cluster_choice
    from pellucid.plots.drawing.race_plot import plot_race
    from pellucid.plots.drawing.trace_plot import plot_error_curve, plot_trace
    from pellucid.plots.em_bound_plot import plot_em_bound
    from pellucid.plots.ensemble_plots import plot_boosting_rounds
    from pellucid.plots.function_plots import plot_convexity, plot_schedules
    from pellucid.plots.kernel_matrix_plot import plot_kernel_matrix
    from pellucid.plots.linear_map_plot import plot_unit_disc
    from pellucid.plots.loss_plot import plot_losses
    from pellucid.plots.map_plots import plot_embedding, plot_embeddings, plot_shepard
    from pellucid.plots.mixture_plot import plot_mixture
    from pellucid.plots.network_plots import plot_feature_maps, plot_layers, plot_network_filters
    from pellucid.plots.projection_plots import (
        plot_component_contours,
        plot_directions,
        plot_projections,
        plot_reconstruction,
    )
    from pellucid.plots.regression_plots import plot_curve_band, plot_fitted_line, plot_residuals
    from pellucid.plots.restoration_plots import plot_dictionary, plot_filter, plot_restorations, plot_spectrum
    from pellucid.plots.scene_plots import plot_label_map, plot_objects
    from pellucid.plots.score_plots import plot_certified_accuracy, plot_confusion, plot_roc, plot_score_intervals
    from pellucid.plots.shrinkage_plots import plot_penalty_balls, plot_soft_threshold, plot_unit_balls
    from pellucid.plots.system_plot import plot_response
    from pellucid.plots.training_plots import plot_early_stopping, plot_traces
    from pellucid.plots.tree_plot import plot_tree
    from pellucid.plots.tube_plot import plot_tube

__all__ = [
    "plot_activations",
    "plot_bias_variance",
    "plot_biplot",
    "plot_boosting_rounds",
    "plot_certified_accuracy",
    "plot_class_densities",
    "plot_cluster_choice",
    "plot_cluster_regions",
    "plot_coefficient_path",
    "plot_component_contours",
    "plot_components_images",
    "plot_confusion",
    "plot_convexity",
    "plot_curve_band",
    "plot_decision_regions",
    "plot_dendrogram",
    "plot_dictionary",
    "plot_directions",
    "plot_discriminant_values",
    "plot_early_stopping",
    "plot_em_bound",
    "plot_embedding",
    "plot_embeddings",
    "plot_error_curve",
    "plot_factor_shares",
    "plot_feature_maps",
    "plot_filter",
    "plot_fitted_line",
    "plot_hyperplane",
    "plot_images",
    "plot_kernel_matrix",
    "plot_label_map",
    "plot_layers",
    "plot_lifted",
    "plot_losses",
    "plot_mixture",
    "plot_network_filters",
    "plot_objects",
    "plot_penalty_balls",
    "plot_projections",
    "plot_race",
    "plot_ranks",
    "plot_reconstruction",
    "plot_reject_region",
    "plot_resampled_curves",
    "plot_residuals",
    "plot_response",
    "plot_restorations",
    "plot_roc",
    "plot_schedules",
    "plot_score_intervals",
    "plot_scree",
    "plot_shepard",
    "plot_signals",
    "plot_silhouettes",
    "plot_single_features",
    "plot_soft_threshold",
    "plot_spectrum",
    "plot_trace",
    "plot_traces",
    "plot_tree",
    "plot_tube",
    "plot_unit_balls",
    "plot_unit_disc",
]

__getattr__ = name_finder(__name__)
