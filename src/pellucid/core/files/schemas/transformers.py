"""Schemas of the scikit-learn transformers and compositions that our own pipelines use."""

# ruff: noqa: D102  (the four methods of a kind are described once, in Kind)

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.files.registry import Model
from pellucid.core.files.schema import Schema
from pellucid.core.kinds.arrays import WHOLES, Numbers, Texts
from pellucid.core.kinds.collections import Items, Lookup, Row
from pellucid.core.kinds.pages import Json, ReadPage, SchemaError, WritePage
from pellucid.core.kinds.plain import Kind, Nothing, OneOf, Optional, Real, Text, Whole
from pellucid.core.kinds.usual import FLAG, INPUTS, MAYBE_NUMBER, MAYBE_WHOLE
from pellucid.core.types import Array

DTYPE_NAMES = ("float64", "float32", "int64", "int32", "bool", "object")
MAX_WIDTH = 2**31


class Dtype(Kind):
    """A NumPy dtype of a short list, by name."""

    says = f"one of the dtypes {DTYPE_NAMES}"

    def fits(self, value: Any) -> bool:
        return isinstance(value, np.dtype) and value.isnative and value.name in DTYPE_NAMES

    def write(self, value: Any, page: WritePage, path: str) -> Json:
        return value.name

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        return isinstance(node, str) and node in DTYPE_NAMES

    def read(self, node: Json, page: ReadPage, path: str) -> Any:
        return np.dtype(node)


class ScalarType(Dtype):
    """A NumPy scalar type such as ``numpy.float64``, by name."""

    says = "numpy.float64 or numpy.float32"

    def fits(self, value: Any) -> bool:
        return value in (np.float64, np.float32) and isinstance(value, type)

    def write(self, value: Any, page: WritePage, path: str) -> Json:
        return value.__name__

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        return node in ("float64", "float32")

    def read(self, node: Json, page: ReadPage, path: str) -> Any:
        return {"float64": np.float64, "float32": np.float32}[node]


class Span(Kind):
    """A slice of columns, ``slice(start, stop)``."""

    says = "a slice with a start and a stop"

    def fits(self, value: Any) -> bool:
        return isinstance(value, slice) and value.step is None and self.matches([value.start, value.stop])

    def write(self, value: Any, page: WritePage, path: str) -> Json:
        return [int(value.start), int(value.stop)]

    def matches(self, node: Json, page: ReadPage | None = None, path: str = "") -> bool:
        sizes = isinstance(node, list) and len(node) == 2 and all(isinstance(n, int | np.integer) for n in node)
        return sizes and 0 <= node[0] <= node[1] <= MAX_WIDTH

    def read(self, node: Json, page: ReadPage, path: str) -> slice:
        return slice(*node)


DEGREE = Whole(low=0, high=64)
MISSING = Nothing() | Real(finite=False) | Whole() | Text()
STATISTIC = Numbers(("n_features",), finite=False)
CATEGORIES = Texts() | Numbers((None,), ("bool", *WHOLES, "float64"), finite=False)
BRANCHES = Items(Row((Text(), OneOf(("drop",)) | Model(), Text() | Items(Text() | Whole(low=0)))))
PLACES = Nothing() | Numbers((None,), WHOLES, low=0)
SHARE = Nothing() | Whole(low=1) | Real()
OF_PIPELINES: dict[str, Kind] = {
    "steps": Items(Row((Text(), OneOf(("passthrough",)) | Model()))),
    "transform_input": Nothing(),
    "memory": Nothing(),
    "verbose": FLAG,
}


def _rebuild_imputer(model: Any) -> None:
    model._fit_dtype = model._fill_dtype
    indicator = model.indicator_
    if (type(indicator).__name__ == "MissingIndicator") != model.add_indicator:
        raise SchemaError("indicator_ of SimpleImputer must be a MissingIndicator if, and only if, one is asked for.")
    if indicator is not None and indicator.n_features_in_ != model.n_features_in_:
        raise SchemaError(f"indicator_ of SimpleImputer must be of {model.n_features_in_} features.")


def _rebuild_indicator(model: Any) -> None:
    model._n_features = model.n_features_in_
    if (model.features_ >= model.n_features_in_).any():
        raise SchemaError(f"features_ of MissingIndicator must be below {model.n_features_in_}.")


def _rebuild_one_hot(model: Any) -> None:
    model.drop_idx_ = model._drop_idx_after_grouping = None
    _rebuild_groups(model)
    model._n_features_outs = model._compute_n_features_outs()


def _rebuild_ordinal(model: Any) -> None:
    model._missing_indices = {}
    if any(categories.dtype.kind == "f" and np.isnan(categories).any() for categories in model.categories_):
        raise SchemaError("categories_ of OrdinalEncoder must have no gaps. Fill them before.")
    _rebuild_groups(model)


def _rebuild_groups(model: Any) -> None:
    """Set what an encoder derives from its categories and from which of them are rare."""
    if len(model.categories_) != model.n_features_in_:
        raise SchemaError(f"categories_ must have {model.n_features_in_} entries, got {len(model.categories_)}.")
    model._infrequent_enabled = model.max_categories is not None or model.min_frequency is not None
    if model._infrequent_enabled != hasattr(model, "_infrequent_indices"):
        raise SchemaError("_infrequent_indices of an encoder must be there if, and only if, rare ones are grouped.")
    if model._infrequent_enabled:
        if len(model._infrequent_indices) != model.n_features_in_:
            raise SchemaError(f"_infrequent_indices must have {model.n_features_in_} entries.")
        groups = zip(model.categories_, model._infrequent_indices, strict=True)
        model._default_to_infrequent_mappings = [_places_after_grouping(len(all_), rare) for all_, rare in groups]


def _places_after_grouping(n_categories: int, rare: Array | None) -> Array | None:
    """Return the column of each category: the frequent ones in order, then one for all the rare ones."""
    if rare is None:
        return None
    if len(rare) == 0 or (rare >= n_categories).any() or (np.diff(rare) <= 0).any():
        raise SchemaError(f"_infrequent_indices must rise and stay below {n_categories}.")
    places = np.empty(n_categories, dtype=np.int64)
    frequent = np.setdiff1d(np.arange(n_categories), rare)
    places[frequent] = np.arange(len(frequent))
    places[rare] = len(frequent)
    return places


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
    chosen = {name: [columns] if isinstance(columns, str) else columns for name, _, columns in model.transformers}
    unknown = [column for columns in chosen.values() for column in columns if column not in place_of]
    if unknown:
        raise SchemaError(f"columns of ColumnTransformer must be among its features, got {str(unknown[0])[:80]!r}.")
    places = {name: [place_of[column] for column in columns] for name, columns in chosen.items()}
    remaining = sorted(set(range(len(names))) - {place for row in places.values() for place in row})
    model._columns = [columns for _, _, columns in model.transformers]
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
            "missing_values": MISSING,
            "strategy": OneOf(("mean", "median", "most_frequent", "constant")),
            "fill_value": MAYBE_NUMBER | Text(),
            "copy": FLAG,
            "add_indicator": FLAG,
            "keep_empty_features": FLAG,
        },
        attributes=INPUTS
        | {
            "statistics_": STATISTIC | Texts("n_features"),
            "_fill_dtype": Dtype(),
            "indicator_": Nothing() | Model(),
        },
        rebuilt=frozenset({"_fit_dtype"}),
        rebuild=_rebuild_imputer,
    ),
    Schema(
        "MissingIndicator",
        "sklearn.impute",
        parameters={
            "missing_values": MISSING,
            "features": OneOf(("missing-only",)),
            "sparse": FLAG | OneOf(("auto",)),
            "error_on_new": FLAG,
        },
        attributes=INPUTS | {"features_": Numbers((None,), WHOLES, low=0), "_precomputed": FLAG},
        rebuilt=frozenset({"_n_features"}),
        rebuild=_rebuild_indicator,
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
            "min_frequency": SHARE,
            "max_categories": MAYBE_WHOLE,
            "feature_name_combiner": OneOf(("concat",)),
        },
        attributes=INPUTS | {"categories_": Items(CATEGORIES), "_infrequent_indices": Optional(Items(PLACES))},
        rebuilt=frozenset(
            {
                "drop_idx_",
                "_drop_idx_after_grouping",
                "_infrequent_enabled",
                "_default_to_infrequent_mappings",
                "_n_features_outs",
            }
        ),
        rebuild=_rebuild_one_hot,
    ),
    Schema(
        "OrdinalEncoder",
        "sklearn.preprocessing",
        parameters={
            "categories": OneOf(("auto",)),
            "dtype": ScalarType(),
            "handle_unknown": OneOf(("error", "use_encoded_value")),
            "unknown_value": Nothing() | Real(finite=False) | Whole(),
            "encoded_missing_value": Real(finite=False) | Whole(),
            "min_frequency": SHARE,
            "max_categories": MAYBE_WHOLE,
        },
        attributes=INPUTS | {"categories_": Items(CATEGORIES), "_infrequent_indices": Optional(Items(PLACES))},
        rebuilt=frozenset({"_infrequent_enabled", "_default_to_infrequent_mappings", "_missing_indices"}),
        rebuild=_rebuild_ordinal,
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
        parameters=OF_PIPELINES,
        attributes={},
    ),
)
