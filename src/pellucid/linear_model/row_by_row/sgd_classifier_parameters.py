"""The parameters of SGDClassifier and Perceptron: what scikit-learn allows."""

from __future__ import annotations

from typing import Any

from pellucid.core.user_warnings import warn_user


def check_parts(estimator: Any) -> None:
    """Refuse what cannot be done with data that come in parts."""
    if estimator.early_stopping:
        raise ValueError(
            "early_stopping must be False with partial_fit, got True. Hold rows out yourself, or call fit."
        )
    if estimator.class_weight == "balanced":
        raise ValueError(
            "class_weight must not be 'balanced' with partial_fit, got 'balanced': one part does not know the shares "
            "of the classes (class_weight 'balanced' is not supported for partial_fit). Pass a dict."
        )


def check_combination(estimator: Any) -> None:
    """Refuse what has no meaning together."""
    if estimator.l1_ratio is None and estimator.penalty == "elasticnet":
        raise ValueError("l1_ratio must be a number with penalty='elasticnet', got None. Its default is 0.15.")
    if estimator.power_t < 0.0:
        warn_user(
            f"power_t should be at least 0, got {estimator.power_t!r}: steps would grow, and scikit-learn is about to "
            "refuse it. Use 0.5, the default.",
            FutureWarning,
        )
    if estimator.learning_rate == "optimal" and estimator.alpha == 0:
        raise ValueError("alpha must be above 0 with learning_rate='optimal', which divides by it, got 0.")
    if estimator.learning_rate in ("pa1", "pa2") and estimator.loss != "hinge":
        raise ValueError(
            f"loss must be 'hinge' with learning_rate={estimator.learning_rate!r}, got {estimator.loss!r}. "
            "Use another learning_rate."
        )
