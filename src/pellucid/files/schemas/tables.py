"""Schemas of our own transformers of tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.files.schema import Schema
from pellucid.kinds.arrays import Numbers, Texts
from pellucid.kinds.collections import Items, Lookup
from pellucid.kinds.errors import SchemaError
from pellucid.kinds.plain import OneOf, Text, Whole
from pellucid.kinds.usual import FLAG, INPUTS
from pellucid.tables.understanding import KINDS


def _check_reader(model: Any) -> None:
    if list(model.kinds) != list(model.feature_names_in_) or not set(model.with_hours_) <= set(model.kinds):
        raise SchemaError("feature_names_in_ and with_hours_ of ColumnReader must be the columns of its kinds.")


def _check_steps(model: Any) -> None:
    if len(model.thresholds_) != model.n_features_in_:
        raise SchemaError(f"thresholds_ must have {model.n_features_in_} entries, got {len(model.thresholds_)}.")
    if any((np.diff(edges) <= 0).any() for edges in model.thresholds_):
        raise SchemaError("thresholds_ of StepFeatures must rise.")


def _check_words(model: Any) -> None:
    if len(model.words_) != model.n_features_in_:
        raise SchemaError(f"words_ must have {model.n_features_in_} entries, got {len(model.words_)}.")
    if any((words[1:] <= words[:-1]).any() for words in model.words_):
        raise SchemaError("words_ of WordEncoder must rise.")


SCHEMAS = (
    Schema(
        "ColumnReader",
        "pellucid.tables.column_reader",
        parameters={"kinds": Lookup(OneOf(KINDS), key=Text())},
        attributes={
            "n_features_in_": Whole(low=1, size="n_features"),
            "feature_names_in_": Texts("n_features"),
            "with_hours_": Items(Text()),
            "data_fingerprint_": Text(),
        },
        rebuild=_check_reader,
    ),
    Schema(
        "StepFeatures",
        "pellucid.tables.step_features",
        parameters={"n_steps": Whole(low=1)},
        attributes=INPUTS | {"thresholds_": Items(Numbers((None,), ("float64",)))},
        rebuild=_check_steps,
    ),
    Schema(
        "WordEncoder",
        "pellucid.tables.word_encoder",
        parameters={
            "max_words": Whole(low=2),
            "min_frequency": Whole(low=1),
            "indicators": FLAG,
            "sparse_output": FLAG,
        },
        attributes={
            "n_features_in_": Whole(low=1, size="n_features"),
            "feature_names_in_": Texts("n_features"),
            "words_": Items(Texts()),
            "has_rare_": Numbers(("n_features",), ("bool",)),
        },
        rebuild=_check_words,
    ),
)
