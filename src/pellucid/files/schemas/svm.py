"""Schemas of the support vector machines."""

from __future__ import annotations

from pellucid.files.schema import Schema
from pellucid.kinds.arrays import Numbers
from pellucid.kinds.collections import Lookup
from pellucid.kinds.plain import Nothing, OneOf, Optional, Real, Whole
from pellucid.kinds.usual import EVIDENCE, FLAG, INPUTS, LABELS, NUMBER, SEED

HOME = "pellucid.svm"
COUNT = Whole(low=0)

SCHEMAS = (
    Schema(
        "LinearSVC",
        HOME,
        parameters={
            "penalty": OneOf(("l1", "l2")),
            "loss": OneOf(("hinge", "squared_hinge")),
            "dual": FLAG | OneOf(("auto",)),
            "tol": NUMBER,
            "C": NUMBER,
            "multi_class": OneOf(("ovr", "crammer_singer")),
            "fit_intercept": FLAG,
            "intercept_scaling": NUMBER,
            "class_weight": Nothing() | OneOf(("balanced",)) | Lookup(NUMBER),
            "verbose": FLAG | COUNT,
            "random_state": SEED,
            "max_iter": COUNT,
        },
        attributes={
            **INPUTS,
            **EVIDENCE,
            "classes_": LABELS,
            "coef_": Numbers(("n_machines", "n_features"), ("float64",)),
            "intercept_": Real() | Numbers(("n_machines",), ("float64",)),
            "dual_coef_": Optional(Numbers(("n_machines", None), ("float64",))),
            "n_iter_": COUNT,
        },
    ),
)
