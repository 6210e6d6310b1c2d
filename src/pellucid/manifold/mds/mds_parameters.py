"""What the parameters of MDS mean, with those that scikit-learn is about to drop."""

from __future__ import annotations

from typing import Any

from pellucid.core.user_warnings import warn_user
from pellucid.neighbors.metric import Metric

DEPRECATED = "deprecated"


def is_metric(parameters: Any) -> bool:
    """Return whether distances themselves are wanted, not their order only; once ``metric`` said so."""
    return bool(parameters.metric if isinstance(parameters.metric, bool) else parameters.metric_mds)


def metric_name(parameters: Any) -> Any:
    """Return the metric by name or function; ``dissimilarity`` may say so as in old versions."""
    if parameters.dissimilarity != DEPRECATED:
        return parameters.dissimilarity
    return "euclidean" if isinstance(parameters.metric, bool) else parameters.metric


def metric_of(parameters: Any) -> Metric:
    """Return the metric with its keywords."""
    return Metric.resolve(metric_name(parameters), None, parameters.metric_params)


def is_normalized(parameters: Any) -> bool:
    """Return whether the stored stress is that of Kruskal, in parts of the squared distances on the map."""
    is_auto = isinstance(parameters.normalized_stress, str)
    return not is_metric(parameters) if is_auto else bool(parameters.normalized_stress)


def warn_of_old_names(parameters: Any) -> None:
    """Warn of parameters that scikit-learn drops in 1.10, and refuse two words for the same thing."""
    if parameters.dissimilarity != DEPRECATED:
        if not isinstance(parameters.metric, bool) and parameters.metric != "euclidean":
            raise ValueError(
                f"dissimilarity must be left out with metric={parameters.metric!r}, got "
                f"{parameters.dissimilarity!r}: You provided both `dissimilarity` and `metric`. Use metric only."
            )
        warn_user("The `dissimilarity` parameter is about to go. Use `metric`.", FutureWarning)
    if isinstance(parameters.metric, bool):
        warn_user(f"Use metric_mds={parameters.metric} instead of metric={parameters.metric}.", FutureWarning)
