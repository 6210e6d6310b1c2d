"""Schemas of the regression family."""

from __future__ import annotations

from pellucid.files.schema import Schema
from pellucid.kinds.arrays import WHOLES, Numbers
from pellucid.kinds.collections import Items, Lookup
from pellucid.kinds.plain import Kind, Nothing, OneOf, Optional, Real, Text, Whole
from pellucid.kinds.sparse import SparseRows
from pellucid.kinds.usual import (
    EVIDENCE,
    FLAG,
    INPUTS,
    LABELS,
    MAYBE_NUMBER,
    MAYBE_WHOLE,
    NUMBER,
    SEED,
)

HOME = "pellucid.linear_model"
COUNT = Whole(low=0)
GRID = Items(NUMBER) | Numbers((None,), (*WHOLES, "float64", "float32"))
GRAM = FLAG | OneOf(("auto",)) | Numbers((None, None))
PER_TARGET = Real() | Numbers(("n_targets",))
COUNT_PER_TARGET = Nothing() | COUNT | Items(COUNT) | Numbers(("n_targets",), WHOLES, low=0)

LINE: dict[str, Kind | Optional] = {
    "coef_": Numbers(("n_features",)) | Numbers(("n_targets", "n_features")),
    "intercept_": PER_TARGET,
}
FITTED_LINE = {**INPUTS, **LINE, **EVIDENCE}

SCHEMAS = (
    Schema(
        "LogisticRegression",
        HOME,
        parameters={
            "penalty": Nothing() | OneOf(("deprecated", "l1", "l2", "elasticnet")),
            "C": Whole() | Real(finite=False),
            "l1_ratio": MAYBE_NUMBER,
            "dual": FLAG,
            "tol": NUMBER,
            "fit_intercept": FLAG,
            "intercept_scaling": NUMBER,
            "class_weight": Nothing() | OneOf(("balanced",)) | Lookup(NUMBER),
            "random_state": SEED,
            "solver": OneOf(("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")),
            "max_iter": COUNT,
            "verbose": FLAG | COUNT,
            "warm_start": FLAG,
            "n_jobs": MAYBE_WHOLE,
        },
        attributes={
            **INPUTS,
            **EVIDENCE,
            "classes_": LABELS,
            "coef_": Numbers(("n_rows", "n_features")),
            "intercept_": Numbers(("n_rows",)),
            "n_iter_": Numbers((None,), WHOLES, low=0),
            "dual_gap_": Real(finite=False),
            "solver_": Text(),
        },
    ),
    Schema(
        "RegressionDiscriminant",
        HOME,
        parameters={"alpha": NUMBER, "fit_intercept": FLAG, "max_iter": COUNT, "tol": NUMBER},
        attributes={
            **INPUTS,
            **EVIDENCE,
            "classes_": LABELS,
            "multilabel_": FLAG,
            "coef_": Numbers(("n_outputs", "n_features")) | SparseRows(("n_outputs", "n_features")),
            "intercept_": Numbers(("n_outputs",)),
            "n_iter_": COUNT,
        },
    ),
)
