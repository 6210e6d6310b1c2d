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

RIDGE: dict[str, Kind] = {
    "fit_intercept": FLAG,
    "copy_X": FLAG,
    "max_iter": MAYBE_WHOLE,
    "tol": NUMBER,
    "solver": OneOf(("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs")),
    "positive": FLAG,
    "random_state": SEED,
}
INFERENCE: dict[
    str, Kind | Optional
] = {  # not finite where a fit leaves no degrees of freedom or has no direct solution
    "noise_variance_": Optional(Real(finite=False) | Numbers(("n_targets",), finite=False)),
    "degrees_of_freedom_": Optional(Real(finite=False)),
    "unit_covariance_": Optional(Nothing() | Numbers(("n_features", "n_features"), finite=False)),
    "feature_means_": Optional(Numbers(("n_features",), finite=False)),
    "total_weight_": Optional(Real(finite=False)),
}
SCHEMAS = (
    Schema(
        "LinearRegression",
        HOME,
        parameters={"fit_intercept": FLAG, "copy_X": FLAG, "tol": NUMBER, "n_jobs": MAYBE_WHOLE, "positive": FLAG},
        attributes={**FITTED_LINE, **INFERENCE, "rank_": Optional(COUNT), "singular_": Optional(Numbers((None,)))},
    ),
    Schema(
        "Ridge",
        HOME,
        parameters=RIDGE | {"alpha": NUMBER | Numbers(("n_targets",))},
        attributes={**FITTED_LINE, **INFERENCE, "n_iter_": COUNT_PER_TARGET, "solver_": Text()},
    ),
    Schema(
        "RidgeCV",
        HOME,
        parameters={
            "alphas": NUMBER | GRID,
            "fit_intercept": FLAG,
            "scoring": Nothing() | Text(),
            "cv": MAYBE_WHOLE,
            "gcv_mode": Nothing() | OneOf(("auto", "svd", "eigen")),
            "store_cv_results": FLAG,
            "alpha_per_target": FLAG,
        },
        attributes={
            **FITTED_LINE,
            **INFERENCE,
            "alpha_": NUMBER | Numbers(("n_targets",)),
            "best_score_": PER_TARGET,
            "cv_results_": Optional(Numbers((None, None)) | Numbers((None, None, None))),
        },
    ),
    Schema(
        "RidgeClassifier",
        HOME,
        parameters=RIDGE | {"alpha": NUMBER, "class_weight": Nothing() | OneOf(("balanced",)) | Lookup(NUMBER)},
        attributes={
            **FITTED_LINE,
            **INFERENCE,
            "n_iter_": COUNT_PER_TARGET,
            "solver_": Text(),
            "classes_": LABELS,
            "multilabel_": FLAG,
        },
    ),
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
    Schema(
        "BasisExpansion",
        HOME,
        parameters={"degree": COUNT, "functions": Nothing(), "include_bias": FLAG, "interaction_only": FLAG},
        attributes={
            **INPUTS,
            **EVIDENCE,
            "powers_": Numbers(("n_outputs", "n_features"), WHOLES, low=0),
            "n_output_features_": Whole(low=1, size="n_outputs"),
        },
    ),
)
