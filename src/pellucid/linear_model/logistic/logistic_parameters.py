"""The parameters of logistic regression: what scikit-learn allows, and which penalty they mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pellucid.core.checks import check_between, check_nonnegative, check_one_of, check_positive, check_whole, is_number
from pellucid.core.user_warnings import warn_user

SOLVERS = ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")
L1_RATIO_OF = {"l2": 0.0, "l1": 1.0}


@dataclass(frozen=True)
class Regularization:
    r""":math:`C\sum_i s_i\ell_i + \rho\|W\|_1 + \frac{1 - \rho}{2}\|W\|_2^2`; no penalty if ``C`` is infinite."""

    C: float
    l1_ratio: float

    @property
    def l1(self) -> float:
        """Weight of the l1 norm."""
        return 0.0 if math.isinf(self.C) else self.l1_ratio

    @property
    def l2(self) -> float:
        """Weight of half the squared l2 norm."""
        return 0.0 if math.isinf(self.C) else 1.0 - self.l1_ratio

    @property
    def loss_weight(self) -> float:
        """Weight of the loss."""
        return 1.0 if math.isinf(self.C) else self.C


def check_logistic_parameters(estimator: Any) -> None:
    """Refuse what scikit-learn refuses, warn where it warns."""
    check_one_of(("deprecated", "l1", "l2", "elasticnet", None), penalty=estimator.penalty)
    if not (is_number(estimator.C) and math.isinf(estimator.C) and estimator.C > 0):
        check_positive(C=estimator.C, hint="C=np.inf means no penalty.")
    if estimator.l1_ratio is not None:
        check_between(0, 1, l1_ratio=estimator.l1_ratio)
    check_nonnegative(tol=estimator.tol)
    check_positive(intercept_scaling=estimator.intercept_scaling)
    check_whole(low=0, max_iter=estimator.max_iter)
    check_one_of(SOLVERS, solver=estimator.solver)
    check_one_of(
        (True, False), dual=estimator.dual, fit_intercept=estimator.fit_intercept, warm_start=estimator.warm_start
    )
    if not isinstance(estimator.class_weight, dict):
        check_one_of(("balanced", None), class_weight=estimator.class_weight)
    if estimator.n_jobs is not None:
        warn_user(
            f"n_jobs should be None, got {estimator.n_jobs!r}. It has no effect: threads follow OMP_NUM_THREADS.",
            FutureWarning,
        )
    _warn_of_penalty(estimator)
    _check_combination(estimator)


def regularization(estimator: Any) -> Regularization:
    """Return the penalty that the parameters mean."""
    if estimator.penalty is None:
        return Regularization(math.inf, 0.0)
    ratio = estimator.l1_ratio or 0.0
    return Regularization(float(estimator.C), float(L1_RATIO_OF.get(estimator.penalty, ratio)))


def has_penalized_intercept(estimator: Any) -> bool:
    """Return whether the intercept is the coefficient of one more, constant column, as in LIBLINEAR."""
    return bool(estimator.solver == "liblinear" and estimator.fit_intercept)


def _warn_of_penalty(estimator: Any) -> None:
    penalty, ratio = estimator.penalty, estimator.l1_ratio
    if penalty == "deprecated":
        if ratio is None:
            warn_user("l1_ratio should be between 0 and 1, got None. Use 0.", FutureWarning)
        return
    warn_user(
        f"penalty should be left at its default, got {penalty!r}. Use l1_ratio=0 for 'l2', l1_ratio=1 for 'l1', a "
        "number between for 'elasticnet', and C=np.inf for None.",
        FutureWarning,
    )
    if penalty is None and estimator.C != 1.0:
        warn_user(f"C={estimator.C} and l1_ratio have no effect with penalty=None.")
    if penalty in L1_RATIO_OF and ratio != L1_RATIO_OF[penalty]:
        warn_user(f"l1_ratio={ratio} contradicts penalty={penalty!r}, which is used.")


def _check_combination(estimator: Any) -> None:
    solver, penalty = estimator.solver, regularization(estimator)
    if penalty.l1 > 0.0 and solver not in ("liblinear", "saga"):
        raise ValueError(
            f"solver must be 'saga' or 'liblinear' for an l1 penalty, as in scikit-learn, got {solver!r}. "
            "Any of them runs the same method here."
        )
    if penalty.l1 > 0.0 and penalty.l2 > 0.0 and solver != "saga":
        raise ValueError(f"solver must be 'saga' for l1_ratio between 0 and 1, as in scikit-learn, got {solver!r}.")
    if estimator.penalty == "elasticnet" and estimator.l1_ratio is None:
        raise ValueError("l1_ratio must be a number when penalty is 'elasticnet', got None. Set it between 0 and 1.")
    if estimator.dual and solver != "liblinear":
        raise ValueError(f"solver must be 'liblinear' for dual=True, got {solver!r}. Leave dual=False.")
    if estimator.dual and penalty.l1 > 0.0:
        raise ValueError("dual must be False for an l1 penalty, got True. Leave it at its default.")
    if solver == "liblinear" and math.isinf(penalty.C):
        raise ValueError("C must be finite for solver 'liblinear', got inf (no penalty). Use solver 'lbfgs'.")
