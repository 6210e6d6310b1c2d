"""The input of a classifier, checked once."""

from __future__ import annotations

from typing import Any

from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from pellucid.core.finite import check_finite
from pellucid.core.types import Array, Data
from pellucid.core.weights import check_sample_weight


def check_labeled_input(
    estimator: Any, X: Data, y: Data, sample_weight: Data | None, *, reset: bool, **options: Any
) -> tuple[Any, Array, Array | None]:
    """Return data, labels and weights; ``options`` are those of scikit-learn's ``validate_data``.

    With ``multi_output`` the labels are left for the caller to look at.
    """
    X, y = validate_data(estimator, X, y, reset=reset, ensure_all_finite=False, **options)  # finite: on all threads
    check_finite(X, estimator)
    if not options.get("multi_output"):
        check_classification_targets(y)
    return X, y, check_sample_weight(sample_weight, X)
