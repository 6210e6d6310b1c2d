"""Schemas of the classifiers that learn row by row."""

from __future__ import annotations

from pellucid.files.schema import Schema
from pellucid.kinds.arrays import WHOLES, Numbers
from pellucid.kinds.collections import Lookup
from pellucid.kinds.plain import Kind, Nothing, OneOf, Optional, Real, Whole
from pellucid.kinds.sparse import SparseRows
from pellucid.kinds.usual import EVIDENCE, FLAG, INPUTS, LABELS, MAYBE_NUMBER, MAYBE_WHOLE, NUMBER, SEED

HOME = "pellucid.linear_model"
COUNT = Whole(low=0)
WIDE = ("float64",)

EPOCHS: dict[str, Kind] = {
    "penalty": Nothing() | OneOf(("l1", "l2", "elasticnet")),
    "alpha": NUMBER,
    "l1_ratio": MAYBE_NUMBER,
    "fit_intercept": FLAG,
    "max_iter": COUNT,
    "tol": MAYBE_NUMBER,
    "shuffle": FLAG,
    "verbose": FLAG | COUNT,
    "eta0": NUMBER,
    "n_jobs": MAYBE_WHOLE,
    "random_state": SEED,
    "early_stopping": FLAG,
    "validation_fraction": NUMBER,
    "n_iter_no_change": COUNT,
    "class_weight": Nothing() | OneOf(("balanced",)) | Lookup(NUMBER),
    "warm_start": FLAG,
}
LEARNED: dict[str, Kind | Optional] = {
    **INPUTS,
    **EVIDENCE,
    "classes_": LABELS,
    "coef_": Numbers(("n_machines", "n_features")) | SparseRows(("n_machines", "n_features")),
    "intercept_": Numbers(("n_machines",)),
    "n_iter_": COUNT,
    "t_": Real(),
    "dual_coef_": Optional(SparseRows(("n_machines", "n_rows"))),
    "objective_": Optional(Numbers(("n_machines",), WIDE)),
    "dual_gap_": Optional(Numbers(("n_machines",), WIDE)),
}

SCHEMAS = (
    Schema(
        "KernelPerceptron",
        HOME,
        parameters={
            "kernel": OneOf(("linear", "poly", "rbf", "sigmoid", "laplacian", "precomputed")),
            "gamma": OneOf(("scale", "auto")) | NUMBER,
            "degree": NUMBER,
            "coef0": NUMBER,
            "fit_intercept": FLAG,
            "max_iter": COUNT,
            "shuffle": FLAG,
            "random_state": SEED,
        },
        attributes={
            **INPUTS,
            **EVIDENCE,
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
    ),
    Schema("Perceptron", HOME, parameters=EPOCHS, attributes={**LEARNED, "n_mistakes_": COUNT}),
    Schema(
        "SGDClassifier",
        HOME,
        parameters=EPOCHS
        | {
            "loss": OneOf(
                (
                    *("hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron", "squared_error", "huber"),
                    *("epsilon_insensitive", "squared_epsilon_insensitive"),
                )
            ),
            "epsilon": NUMBER,
            "learning_rate": OneOf(("constant", "optimal", "invscaling", "adaptive", "pa1", "pa2")),
            "power_t": NUMBER,
            "average": FLAG | COUNT,
        },
        attributes={
            **LEARNED,
            "_standard_coef": Optional(Numbers(("n_machines", "n_features"), WIDE)),
            "_standard_intercept": Optional(Numbers(("n_machines",), WIDE)),
            "_average_coef": Optional(Numbers(("n_machines", "n_features"), WIDE)),
            "_average_intercept": Optional(Numbers(("n_machines",), WIDE)),
        },
    ),
)
