"""Schemas of discriminant analysis."""

from __future__ import annotations

from typing import Any

from pellucid.files.array_kinds import Numbers
from pellucid.files.collection_kinds import Items
from pellucid.files.kinds import Kind, Nothing, OneOf
from pellucid.files.schema import Optional, Schema
from pellucid.files.schemas.fitted import EVIDENCE, FLAG, INPUTS, LABELS, MAYBE_WHOLE, NUMBER

HOME = "pellucid.discriminant_analysis"

SETTINGS: dict[str, Kind] = {
    "shrinkage": Nothing() | NUMBER | OneOf(("auto",)),
    "priors": Nothing() | Items(NUMBER) | Numbers((None,)),
    "store_covariance": FLAG,
    "tol": NUMBER,
    "covariance_estimator": Nothing(),
}
GROUPS: dict[str, Kind | Optional] = {
    "classes_": LABELS,
    "priors_": Numbers(("n_classes",), low=0),
    "means_": Numbers(("n_classes", "n_features")),
}


def _restore_component_count(model: Any) -> None:
    most = min(len(model.classes_) - 1, model.n_features_in_)
    model._n_features_out = most if model.n_components is None else model.n_components


SCHEMAS = (
    Schema(
        "LinearDiscriminantAnalysis",
        HOME,
        parameters=SETTINGS | {"solver": OneOf(("svd", "lsqr", "eigen")), "n_components": MAYBE_WHOLE},
        attributes={
            **INPUTS,
            **GROUPS,
            **EVIDENCE,
            "coef_": Numbers((None, "n_features")),
            "intercept_": Numbers((None,), finite=False),  # a prior of 0 rules a class out
            "covariance_": Optional(Numbers(("n_features", "n_features"))),
            "scalings_": Optional(Numbers(("n_features", None))),
            "xbar_": Optional(Numbers(("n_features",))),
            "explained_variance_ratio_": Optional(Numbers((None,), finite=False)),
        },
        rebuilt=frozenset({"_n_features_out"}),
        rebuild=_restore_component_count,
    ),
    Schema(
        "QuadraticDiscriminantAnalysis",
        HOME,
        parameters=SETTINGS | {"solver": OneOf(("svd", "eigen")), "reg_param": NUMBER},
        attributes={
            **INPUTS,
            **GROUPS,
            **EVIDENCE,
            "rotations_": Items(Numbers(("n_features", "n_features")), "n_classes"),
            "scalings_": Items(Numbers(("n_features",)), "n_classes"),
            "covariance_": Optional(Items(Numbers(("n_features", "n_features")), "n_classes")),
        },
    ),
)
