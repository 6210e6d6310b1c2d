"""Method cards of the classifiers that learn row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.cards import GAP_UP_TO_ROUNDING, WORK_DONE, MethodCard, Trial
from pellucid.core.input_rules import CLASSES, InputRules
from pellucid.core.kinds.arrays import WHOLES, Numbers, SparseRows
from pellucid.core.kinds.plain import Kind, Nothing, Number, OneOf, Optional, Real, Whole
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
from pellucid.kernels.choice import ProductRules, is_given
from pellucid.kernels.formulas import RBF, Polynomial
from pellucid.kernels.kernel_kinds import kernel_kind
from pellucid.linear_model.sgd.kernel_perceptron import KernelPerceptron
from pellucid.linear_model.sgd.perceptron import Perceptron
from pellucid.linear_model.sgd.sgd_classifier import SGDClassifier
from pellucid.linear_model.sgd.sgd_problem import SCHEDULES
from pellucid.losses.named_losses import LOSS_NUMBERS

WIDE = ("float64",)
HERE = "pellucid.linear_model.sgd"
EPOCHS: dict[str, Kind] = {
    "penalty": Nothing() | OneOf(("l2", "l1", "elasticnet")),
    "alpha": NONNEGATIVE,
    "eta0": POSITIVE,
    "max_iter": Whole(low=1),
    "n_iter_no_change": Whole(low=1),
    "tol": Nothing() | Number(low=0, hint="To stop at max_iter only, use None."),
    "fit_intercept": FLAG,
    "shuffle": FLAG,
    "early_stopping": FLAG,
    "warm_start": FLAG,
    "n_jobs": MAYBE_WHOLE,
    "class_weight": CLASS_WEIGHT,
    "verbose": VERBOSE,
    "validation_fraction": Number(above=0, below=1),
    "l1_ratio": Nothing() | Number(low=0, high=1),
    "random_state": RANDOM_STATE,
}
LEARNED: dict[str, Kind | Optional] = {
    "classes_": LABELS,
    "coef_": Numbers(("n_machines", "n_features")) | SparseRows(("n_machines", "n_features")),
    "intercept_": Numbers(("n_machines",)),
    "n_iter_": COUNT,
    "t_": Real(),
    "dual_coef_": Optional(SparseRows(("n_machines", "n_rows"))),
    "objective_": Optional(Numbers(("n_machines",), WIDE)),
    "dual_gap_": Optional(Numbers(("n_machines",), WIDE)),
}
ROWS = InputRules(CLASSES, sparse=("csr",), order="C")
GOING_ON = {"dual_gap_": GAP_UP_TO_ROUNDING, "n_iter_": WORK_DONE, "t_": "where partial_fit goes on"}


def _check_combination(estimator: Any) -> None:
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


CARDS = (
    MethodCard(
        Perceptron,
        topics=("CLS-4",),
        onnx="pellucid.core.onnx.linear_answers:scores",
        workings=f"{HERE}.perceptron_workings:perceptron_workings",
        parameters=EPOCHS,
        check=_check_combination,
        attributes={**LEARNED, "n_mistakes_": COUNT},
        input=ROWS,
        variants=({"shuffle": False, "fit_intercept": False},),
        unproved=GOING_ON,
        trial=Trial(
            repeating=None,
            own_floats=dict.fromkeys(
                ("decision_function", "intercept_"), "float32 in, float32 out; scikit-learn's is float64"
            ),
            classes=2,
            unlike_peer="its rows come in another order",
        ),
        take_for="classes that a plane separates, and the oldest proof that learning ends",
        references=(
            "Rosenblatt, The perceptron, Psychological Review 65 (1958)",
            ("Novikoff, On convergence proofs on perceptrons, Symposium on the Mathematical Theory of Automata 1962"),
        ),
    ),
    MethodCard(
        SGDClassifier,
        topics=("CLS-5",),
        onnx="pellucid.core.onnx.linear_answers:sgd",
        workings=f"{HERE}.sgd_classifier_workings:sgd_classifier_workings",
        parameters={
            "loss": OneOf(tuple(LOSS_NUMBERS)),
            "learning_rate": OneOf(tuple(SCHEDULES)),
            **EPOCHS,
            "epsilon": NONNEGATIVE,
            "power_t": Number(),
            "average": FLAG | Whole(low=1, hint="For no averaging use False."),
        },
        check=_check_combination,
        attributes={
            **LEARNED,
            "_standard_coef": Optional(Numbers(("n_machines", "n_features"), WIDE)),
            "_standard_intercept": Optional(Numbers(("n_machines",), WIDE)),
            "_average_coef": Optional(Numbers(("n_machines", "n_features"), WIDE)),
            "_average_intercept": Optional(Numbers(("n_machines",), WIDE)),
        },
        input=ROWS,
        variants=({"loss": "log_loss", "penalty": "elasticnet"}, {"average": True}),
        unproved=GOING_ON
        | dict.fromkeys(
            ("_standard_coef", "_standard_intercept", "_average_coef", "_average_intercept"),
            "where partial_fit goes on",
        ),
        trial=Trial(
            repeating=None,
            own_floats=dict.fromkeys(
                ("decision_function", "intercept_"), "float32 in, float32 out; scikit-learn's is float64"
            ),
            columns=3,
            classes=2,
            unlike_peer="its rows come in another order",
        ),
        take_for="so many rows that one pass is all there is time for, or rows that arrive in parts",
        references=("Bottou, Large-scale machine learning with stochastic gradient descent, COMPSTAT 2010",),
    ),
    MethodCard(
        KernelPerceptron,
        topics=("CLS-4",),
        onnx="pellucid.linear_model.sgd.kernel_perceptron_in_onnx:scores",
        workings=f"{HERE}.kernel_perceptron_workings:kernel_perceptron_workings",
        parameters={
            "kernel": kernel_kind(),
            "gamma": OneOf(("scale", "auto")) | NONNEGATIVE,
            "degree": POSITIVE,
            "coef0": Number(),
            "fit_intercept": FLAG,
            "shuffle": FLAG,
            "max_iter": Whole(low=1),
            "random_state": RANDOM_STATE,
        },
        attributes={
            "classes_": LABELS,
            "support_": Numbers(("n_support",), WHOLES, low=0),
            "support_vectors_": Optional(
                Numbers(("n_support", "n_features"), WIDE) | SparseRows(("n_support", "n_features"))
            ),
            "dual_coef_": Numbers(("n_machines", "n_support"), WIDE),
            "intercept_": Numbers(("n_machines",), WIDE),
            "gamma_": Real(),
            "n_mistakes_": COUNT,
            "n_iter_": COUNT,
        },
        input=lambda estimator: ProductRules(
            CLASSES, sparse=("csr",), dtypes=np.float64, order="C", products=is_given(estimator.kernel)
        ),
        variants=(
            {"kernel": "poly", "degree": 2},
            {"kernel": "linear", "fit_intercept": False},
            {"kernel": 2 * RBF(0.5) + Polynomial(2)},
        ),
        unproved={"n_iter_": WORK_DONE},
        squares=frozenset({"gamma_"}),
        trial=Trial(rows=7, classes=2),
        take_for="classes that a curved boundary separates, learned mistake by mistake",
        references=(
            (
                "Aizerman, Braverman and Rozonoer, Theoretical foundations of the potential function "
                "method, Automation and Remote Control 25 (1964)"
            ),
            (
                "Freund and Schapire, Large margin classification using the perceptron algorithm, Machine "
                "Learning 37 (1999)"
            ),
        ),
    ),
)
