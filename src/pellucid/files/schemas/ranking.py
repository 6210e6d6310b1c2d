"""Schemas of the ranking machines."""

from __future__ import annotations

from pellucid.files.schema import Schema
from pellucid.kinds.arrays import Numbers
from pellucid.kinds.plain import OneOf, Optional, Real, Whole
from pellucid.kinds.usual import EVIDENCE, INPUTS, NUMBER

HOME = "pellucid.ranking"
COUNT = Whole(low=0)

SCHEMAS = (
    Schema(
        "RankingSVM",
        HOME,
        parameters={
            "C": NUMBER,
            "loss": OneOf(("hinge", "squared_hinge")),
            "tol": NUMBER,
            "max_iter": COUNT,
        },
        attributes={
            **INPUTS,
            **EVIDENCE,
            "coef_": Numbers(("n_features",), ("float64",)),
            "smoothed_coef_": Optional(Numbers(("n_features",), ("float64",))),
            "smoothing_": Optional(Real()),
            "qid_": Numbers((None,), ("int64",)),
            "n_iter_": COUNT,
        },
    ),
)
