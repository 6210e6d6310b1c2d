"""The parameters of SGDClassifier and Perceptron: what scikit-learn allows."""

from __future__ import annotations

from typing import Any

from pellucid.core.checks import check_between, check_nonnegative, check_one_of, check_positive, check_whole, is_number
from pellucid.core.user_warnings import warn_user
from pellucid.linear_model.row_by_row.row_by_row_rule import SCHEDULES
from pellucid.losses.named_losses import LOSS_NUMBERS


def check_sgd_parameters(estimator: Any) -> None:
    """Refuse what scikit-learn refuses."""
    check_one_of(tuple(LOSS_NUMBERS), loss=estimator.loss)
    check_one_of(("l2", "l1", "elasticnet", None), penalty=estimator.penalty)
    check_one_of(tuple(SCHEDULES), learning_rate=estimator.learning_rate)
    check_nonnegative(alpha=estimator.alpha, epsilon=estimator.epsilon)
    check_positive(eta0=estimator.eta0)
    check_whole(max_iter=estimator.max_iter, n_iter_no_change=estimator.n_iter_no_change)
    if estimator.tol is not None:
        check_nonnegative(tol=estimator.tol, hint="To stop at max_iter only, use None.")
    for name in ("fit_intercept", "shuffle", "early_stopping", "warm_start"):
        check_one_of((True, False), **{name: getattr(estimator, name)})
    if estimator.n_jobs is not None and not isinstance(estimator.n_jobs, int):
        raise TypeError(f"n_jobs must be a whole number or None, got {estimator.n_jobs!r}.")
    if not isinstance(estimator.class_weight, dict):
        check_one_of(("balanced", None), class_weight=estimator.class_weight)
    if not isinstance(estimator.average, bool):
        check_whole(average=estimator.average, hint="For no averaging use False.")
    if not (isinstance(estimator.verbose, bool) or (is_number(estimator.verbose) and estimator.verbose >= 0)):
        raise ValueError(f"verbose must be at least 0, got {estimator.verbose!r}. It prints nothing; see trace_.")
    _check_combinations(estimator)


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


def _check_combinations(estimator: Any) -> None:
    validation, mixture = estimator.validation_fraction, estimator.l1_ratio
    if not (is_number(validation) and 0.0 < validation < 1.0):
        raise ValueError(f"validation_fraction must be above 0 and below 1, got {validation!r}.")
    if mixture is not None:
        check_between(0, 1, l1_ratio=mixture)
    elif estimator.penalty == "elasticnet":
        raise ValueError("l1_ratio must be a number with penalty='elasticnet', got None. Its default is 0.15.")
    if not is_number(estimator.power_t):
        raise TypeError(f"power_t must be a number, got {estimator.power_t!r}.")
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
