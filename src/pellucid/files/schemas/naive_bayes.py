"""Schemas of the naive Bayes family."""

from __future__ import annotations

from pellucid.files.density_kinds import DensityRecord
from pellucid.files.schema import Schema
from pellucid.kinds.arrays import WHOLES, Numbers
from pellucid.kinds.collections import Items, Lookup
from pellucid.kinds.plain import Kind, Nothing, Optional, Real, Text, Whole
from pellucid.kinds.usual import EVIDENCE, FLAG, INPUTS, LABELS, MAYBE_NUMBER, NUMBER

HOME = "pellucid.naive_bayes"
GIVEN = Items(NUMBER) | Numbers((None,), (*WHOLES, "float64", "float32"))
PER_CLASS = Numbers(("n_classes",), ("float64",), low=0.0)
LOG_PER_CLASS = Numbers(("n_classes",), ("float64",), finite=False)
TABLE = Numbers(("n_classes", "n_features"), ("float64",))
LOG_TABLE = Numbers(("n_classes", "n_features"), ("float64",), finite=False)
"""A logarithm of a probability of 0 is not finite."""

COUNTING: dict[str, Kind] = {
    "alpha": NUMBER | GIVEN,
    "force_alpha": FLAG,
    "fit_prior": FLAG,
    "class_prior": Nothing() | GIVEN,
}
COUNTED: dict[str, Kind | Optional] = {
    **INPUTS,
    **EVIDENCE,
    "classes_": LABELS,
    "class_count_": PER_CLASS,
    "class_log_prior_": LOG_PER_CLASS,
}

SCHEMAS = (
    Schema(
        "GaussianNB",
        HOME,
        parameters={"priors": Nothing() | GIVEN, "var_smoothing": NUMBER},
        attributes={
            **INPUTS,
            **EVIDENCE,
            "classes_": LABELS,
            "class_count_": PER_CLASS,
            "class_prior_": PER_CLASS,
            "theta_": TABLE,
            "var_": TABLE,
            "scatter_": TABLE,
            "epsilon_": Real(),
        },
    ),
    Schema(
        "MultinomialNB",
        HOME,
        parameters=COUNTING,
        attributes={**COUNTED, "feature_count_": TABLE, "feature_log_prob_": LOG_TABLE},
    ),
    Schema(
        "BernoulliNB",
        HOME,
        parameters=COUNTING | {"binarize": MAYBE_NUMBER},
        attributes={
            **COUNTED,
            "feature_count_": TABLE,
            "feature_log_prob_": LOG_TABLE,
            "absence_log_prob_": LOG_TABLE,
        },
    ),
    Schema(
        "CategoricalNB",
        HOME,
        parameters=COUNTING | {"min_categories": Nothing() | Whole() | GIVEN},
        attributes={
            **COUNTED,
            "category_count_": Items(Numbers(("n_classes", None), ("float64",)), "n_features"),
            "feature_log_prob_": Items(Numbers(("n_classes", None), ("float64",), finite=False), "n_features"),
            "n_categories_": Numbers(("n_features",), WHOLES, low=1),
        },
    ),
    Schema(
        "MixedNB",
        HOME,
        parameters={
            "densities": Text() | Items(Text()) | Lookup(Text()),
            "alpha": NUMBER,
            "prior_alpha": NUMBER,
            "var_smoothing": NUMBER,
        },
        attributes={
            **INPUTS,
            **EVIDENCE,
            "classes_": LABELS,
            "class_count_": PER_CLASS,
            "class_prior_": PER_CLASS,
            "densities_": Items(Items(DensityRecord(), "n_classes"), "n_features"),
        },
    ),
    Schema(
        "BayesClassifier",
        HOME,
        parameters={
            "densities": Text() | Items(DensityRecord()) | Lookup(DensityRecord()),
            "priors": Nothing() | GIVEN,
            "costs": Nothing() | Items(Items(NUMBER)) | Numbers((None, None), (*WHOLES, "float64")),
            "var_smoothing": NUMBER,
        },
        attributes={
            **INPUTS,
            "n_features_in_": Optional(Whole(low=1, size="n_features")),
            **EVIDENCE,
            "classes_": LABELS,
            "class_count_": PER_CLASS,
            "class_prior_": PER_CLASS,
            "densities_": Items(DensityRecord(), "n_classes"),
            "costs_": Numbers(("n_classes", "n_classes"), ("float64",)),
        },
    ),
)
