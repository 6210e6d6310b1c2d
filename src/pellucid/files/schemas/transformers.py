"""Schemas of the scikit-learn transformers and compositions that our own pipelines use."""

from __future__ import annotations

from typing import Any

from pellucid.files.array_kinds import WHOLES, Numbers, Texts
from pellucid.files.collection_kinds import Items, Lookup, Row
from pellucid.files.errors import SchemaError
from pellucid.files.kinds import Nothing, OneOf, Only, Real, Text, Whole
from pellucid.files.nesting import Model
from pellucid.files.schema import Schema
from pellucid.files.schemas.fitted import FLAG, INPUTS, MAYBE_NUMBER, MAYBE_WHOLE
from pellucid.files.scikit_learn_kinds import Dtype, ScalarType, Span

DEGREE = Whole(low=0, high=64)
STATISTIC = Numbers(("n_features",), finite=False)
CATEGORIES = Texts() | Numbers((None,), ("bool", *WHOLES, "float64"), finite=False)
BRANCHES = Items(Row((Text(), OneOf(("drop",)) | Model(), Items(Text() | Whole(low=0)))))


def _rebuild_imputer(model: Any) -> None:
    model.indicator_ = None
    model._fit_dtype = model._fill_dtype


def _rebuild_one_hot(model: Any) -> None:
    model.drop_idx_ = model._drop_idx_after_grouping = None
    model._infrequent_enabled = False
    model._n_features_outs = [len(categories) for categories in model.categories_]
    if len(model.categories_) != model.n_features_in_:
        raise SchemaError(f"categories_ must have {model.n_features_in_} entries, got {len(model.categories_)}.")


def _rebuild_polynomial(model: Any) -> None:
    low, high = model.degree if isinstance(model.degree, tuple) else (0, model.degree)
    sizes = {"n_features": model.n_features_in_, "max_degree": high, "interaction_only": model.interaction_only}
    count = model._num_combinations
    model._min_degree, model._max_degree = low, high
    model._n_out_full = count(min_degree=0, include_bias=model.include_bias, **sizes)
    expected = count(min_degree=low, include_bias=model.include_bias, **sizes)
    if model.n_output_features_ != expected:
        raise SchemaError(f"n_output_features_ must be {expected}, got {model.n_output_features_}.")


def _rebuild_columns(model: Any) -> None:
    names = list(model.feature_names_in_)
    place_of = {name: i for i, name in enumerate(names)} | {i: i for i in range(len(names))}
    chosen = {name: columns for name, _, columns in model.transformers}
    unknown = [column for columns in chosen.values() for column in columns if column not in place_of]
    if unknown:
        raise SchemaError(f"columns of ColumnTransformer must be among its features, got {str(unknown[0])[:80]!r}.")
    places = {name: [place_of[column] for column in columns] for name, columns in chosen.items()}
    remaining = sorted(set(range(len(names))) - {place for row in places.values() for place in row})
    model._columns = list(chosen.values())
    model._transformer_to_input_indices = places | {"remainder": remaining}
    model._remainder = ("remainder", model.remainder, model._get_remainder_cols(remaining))


SCHEMAS = (
    Schema(
        "StandardScaler",
        "sklearn.preprocessing",
        parameters={"copy": FLAG, "with_mean": FLAG, "with_std": FLAG},
        attributes=INPUTS
        | {
            "n_samples_seen_": Whole(low=0) | Real() | Numbers(("n_features",), (*WHOLES, "float64")),
            "mean_": Nothing() | STATISTIC,
            "var_": Nothing() | STATISTIC,
            "scale_": Nothing() | STATISTIC,
        },
    ),
    Schema(
        "SimpleImputer",
        "sklearn.impute",
        parameters={
            "missing_values": Nothing() | Real(finite=False) | Whole() | Text(),
            "strategy": OneOf(("mean", "median", "most_frequent", "constant")),
            "fill_value": MAYBE_NUMBER | Text(),
            "copy": FLAG,
            "add_indicator": Only(False),
            "keep_empty_features": FLAG,
        },
        attributes=INPUTS | {"statistics_": STATISTIC | Texts("n_features"), "_fill_dtype": Dtype()},
        rebuilt=frozenset({"_fit_dtype", "indicator_"}),
        rebuild=_rebuild_imputer,
    ),
    Schema(
        "OneHotEncoder",
        "sklearn.preprocessing",
        parameters={
            "categories": OneOf(("auto",)),
            "drop": Nothing(),
            "sparse_output": FLAG,
            "dtype": ScalarType(),
            "handle_unknown": OneOf(("error", "ignore", "infrequent_if_exist", "warn")),
            "min_frequency": Nothing(),
            "max_categories": Nothing(),
            "feature_name_combiner": OneOf(("concat",)),
        },
        attributes=INPUTS | {"categories_": Items(CATEGORIES)},
        rebuilt=frozenset({"drop_idx_", "_drop_idx_after_grouping", "_infrequent_enabled", "_n_features_outs"}),
        rebuild=_rebuild_one_hot,
    ),
    Schema(
        "PolynomialFeatures",
        "sklearn.preprocessing",
        parameters={
            "degree": DEGREE | Row((DEGREE, DEGREE)),
            "interaction_only": FLAG,
            "include_bias": FLAG,
            "order": OneOf(("C", "F")),
        },
        attributes=INPUTS | {"n_output_features_": Whole(low=1)},
        rebuilt=frozenset({"_min_degree", "_max_degree", "_n_out_full"}),
        rebuild=_rebuild_polynomial,
    ),
    Schema(
        "ColumnTransformer",
        "sklearn.compose",
        parameters={
            "transformers": BRANCHES,
            "remainder": OneOf(("drop",)),
            "sparse_threshold": Real(),
            "n_jobs": MAYBE_WHOLE,
            "transformer_weights": Nothing() | Lookup(Real()),
            "verbose": FLAG,
            "verbose_feature_names_out": FLAG,
        },
        attributes={
            "n_features_in_": Whole(low=1, size="n_features"),
            "feature_names_in_": Texts("n_features"),  # fitted on a data frame: columns are found by name
            "transformers_": BRANCHES,
            "sparse_output_": FLAG,
            "output_indices_": Lookup(Span()),
        },
        rebuilt=frozenset(
            {"_columns", "_remainder", "_transformer_to_input_indices", "_transformers_feature_names_out"}
        ),
        rebuild=_rebuild_columns,
    ),
    Schema(
        "Pipeline",
        "sklearn.pipeline",
        parameters={
            "steps": Items(Row((Text(), OneOf(("passthrough",)) | Model()))),
            "transform_input": Nothing(),
            "memory": Nothing(),
            "verbose": FLAG,
        },
        attributes={},
    ),
)
