"""Method card of logistic regression: what scikit-learn allows."""

from __future__ import annotations

from typing import Any

from pellucid.core.cards import GAP_UP_TO_ROUNDING, SOLVER_THAT_RAN, WORK_DONE, MethodCard
from pellucid.core.input_rules import ANY_SPARSE, CLASSES, PASSES, InputRules
from pellucid.core.kinds.arrays import WHOLES, Numbers, SparseRows
from pellucid.core.kinds.plain import Nothing, Number, OneOf, Real, Text
from pellucid.core.kinds.usual import (
    CLASS_WEIGHT,
    COUNT,
    FLAG,
    LABELS,
    MAYBE_WHOLE,
    NONNEGATIVE,
    POSITIVE,
    RANDOM_STATE,
    VERBOSE,
)
from pellucid.core.user_warnings import warn_user
from pellucid.linear_model.logistic.logistic_objective import L1_RATIO_OF, penalty_of
from pellucid.linear_model.logistic.logistic_regression import LogisticRegression


def _check_combination(estimator: Any) -> None:
    """Refuse what scikit-learn refuses, warn where it warns."""
    if estimator.n_jobs is not None:
        warn_user(
            f"n_jobs should be None, got {estimator.n_jobs!r}. It has no effect: threads follow OMP_NUM_THREADS.",
            FutureWarning,
        )
    _warn_of_penalty(estimator)
    solver, penalty = estimator.solver, penalty_of(estimator)
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
    if solver == "liblinear" and penalty.l1 + penalty.l2 == 0.0:
        raise ValueError("C must be finite for solver 'liblinear', got inf (no penalty). Use solver 'lbfgs'.")


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


def _input_rules(estimator: Any) -> InputRules:
    """Return the rules for the data: rows in blocks where the objective has second derivatives."""
    return InputRules(CLASSES, sparse=ANY_SPARSE, blocks=PASSES if penalty_of(estimator).l1 == 0.0 else "")


CARDS = (
    MethodCard(
        LogisticRegression,
        topics=("CLS-1",),
        device="pellucid.core.device.linear_answers",
        onnx="pellucid.core.onnx.linear_answers:logistic",
        workings="pellucid.linear_model.logistic.logistic_regression_workings:logistic_regression_workings",
        parameters={
            "penalty": Nothing() | OneOf(("deprecated", "l1", "l2", "elasticnet")),
            "C": Number(above=0, finite=False, hint="C=np.inf means no penalty."),
            "l1_ratio": Nothing() | Number(low=0, high=1),
            "tol": NONNEGATIVE,
            "intercept_scaling": POSITIVE,
            "max_iter": COUNT,
            "solver": OneOf(("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")),
            "dual": FLAG,
            "fit_intercept": FLAG,
            "warm_start": FLAG,
            "class_weight": CLASS_WEIGHT,
            "random_state": RANDOM_STATE,
            "verbose": VERBOSE,
            "n_jobs": MAYBE_WHOLE,
        },
        check=_check_combination,
        attributes={
            "classes_": LABELS,
            "coef_": Numbers(("n_rows", "n_features")) | SparseRows(("n_rows", "n_features")),
            "intercept_": Numbers(("n_rows",)),
            "n_iter_": Numbers((None,), WHOLES, low=0),
            "dual_gap_": Real(finite=False),  # infinite without a penalty
            "solver_": Text(),
        },
        input=_input_rules,
        passes="pellucid.linear_model.logistic.logistic_passes:logistic_in_passes",
        variants=(
            {"l1_ratio": 1.0, "solver": "saga", "C": 10.0},
            {"l1_ratio": 0.5, "solver": "saga", "class_weight": "balanced"},
            {"fit_intercept": False, "C": 0.1},
        ),
        unproved={"dual_gap_": GAP_UP_TO_ROUNDING, "n_iter_": WORK_DONE, "solver_": SOLVER_THAT_RAN},
        meaning="no other coefficients make loss plus penalty smaller on these rows by more than the gap shown",
        take_for=(
            "classes with probabilities, an effect for each column, tables of any size; a first answer "
            "to nearly every classification"
        ),
        references=(
            "Hastie, Tibshirani and Friedman, Elements of Statistical Learning, section 4.4, Springer 2009",
            (
                "Yu, Huang and Lin, Dual coordinate descent methods for logistic regression and maximum "
                "entropy models, Machine Learning 85 (2011)"
            ),
        ),
    ),
)
