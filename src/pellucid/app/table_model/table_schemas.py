"""Schemas of our own transformers of tables, and of the models that start with them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from pellucid.app.table_model.calibration import ISOTONIC, PLATT, Calibration
from pellucid.app.table_model.calibration import KINDS as CALIBRATIONS
from pellucid.app.table_model.class_scores import HeldOutScores
from pellucid.app.table_model.error_quantiles import ErrorQuantiles, OrderedShares
from pellucid.app.table_model.seen_table import SeenTable
from pellucid.app.tables.survey import RowsLearned
from pellucid.app.tables.understanding import KINDS
from pellucid.app.tables.written_numbers import WRITTEN_NUMBERS
from pellucid.core.files.schema import Schema
from pellucid.core.files.schemas.transformers import OF_PIPELINES
from pellucid.core.kinds.arrays import Numbers, Texts
from pellucid.core.kinds.collections import Items, Lookup
from pellucid.core.kinds.pages import SchemaError
from pellucid.core.kinds.plain import Nothing, OneOf, Optional, Real, Text, Whole
from pellucid.core.kinds.records import Record
from pellucid.core.kinds.usual import FLAG, INPUTS, NONNEGATIVE, POSITIVE


def _check_reader(model: Any) -> None:
    known = {*model.with_hours_, *getattr(model, "words_", {})}
    if list(model.kinds) != list(model.feature_names_in_) or not known <= set(model.kinds):
        raise SchemaError("feature_names_in_, with_hours_ and words_ of ColumnReader must be the columns of its kinds.")


def _check_steps(model: Any) -> None:
    if len(model.thresholds_) != model.n_features_in_:
        raise SchemaError(f"thresholds_ must have {model.n_features_in_} entries, got {len(model.thresholds_)}.")
    if any((np.diff(edges) <= 0).any() for edges in model.thresholds_):
        raise SchemaError("thresholds_ of StepFeatures must rise.")


def _check_scale(model: Any) -> None:
    if not (model.scale_ > 0.0).all():
        raise SchemaError("scale_ of ComparableNumbers must be above 0.")


def _check_words(model: Any) -> None:
    if len(model.words_) != model.n_features_in_:
        raise SchemaError(f"words_ must have {model.n_features_in_} entries, got {len(model.words_)}.")
    if any((words[1:] <= words[:-1]).any() for words in model.words_):
        raise SchemaError("words_ of WordEncoder must rise.")


def _check_means(model: Any) -> None:
    if not len(model.words_) == len(model.means_) == model.n_features_in_:
        raise SchemaError(f"words_ and means_ of TargetMeans must have {model.n_features_in_} entries each.")
    for words, means in zip(model.words_, model.means_, strict=True):
        if not len(words) or means.shape != (len(words), len(model.mean_)):
            raise SchemaError("means_ of TargetMeans must have a row for each word and a column for each mean.")
        if (words[1:] <= words[:-1]).any():
            raise SchemaError("words_ of TargetMeans must rise.")


def _check_answers(model: Any) -> None:
    costs, way = model.costs_, model.calibration_
    n_classes = len(getattr(model[-1], "classes_", ()))
    if way is not None and (len(way.offsets) not in (0, n_classes) or (len(way.scores) and n_classes != 2)):
        raise SchemaError(f"calibration_ of TableModel must suit {n_classes} classes.")
    if len(getattr(model, "limits_", None) or (0, 0)) != 2:
        raise SchemaError("limits_ of TableModel must be two numbers, or nothing in place of one.")
    if costs is None:
        return
    if costs.shape != (n_classes, n_classes) or not np.isfinite(costs).all():
        raise SchemaError(f"costs_ of TableModel must be a number for each pair of {n_classes} classes.")


def _fault_in_errors(errors: ErrorQuantiles) -> str:
    if len(errors.errors) != len(errors.predicted) or not len(errors.errors):
        return f"there are {len(errors.errors)} errors of {len(errors.predicted)} predictions"
    return "its predictions do not rise" if (np.diff(errors.predicted) < 0).any() else ""


def _fault_in_seen(seen: SeenTable) -> str:
    if not set(seen.gaps) == set(seen.counts) == {*seen.numbers, *seen.words}:
        return "its parts are about different columns"
    shares = [*seen.gaps.values(), *(sum(words.values()) for words in seen.words.values())]
    if any(share > 1 + 1e-9 for share in shares):
        return "its shares add up to more than 1"
    return "its quantiles fall" if any((np.diff(q) < 0).any() for q in seen.numbers.values()) else ""


def _fault_in_held_out(held_out: HeldOutScores) -> str:
    if len(held_out.scores) != len(held_out.codes) or not len(held_out.codes):
        return f"there are {len(held_out.scores)} scores of {len(held_out.codes)} rows"
    return "a class has no score" if held_out.codes.max() >= held_out.scores.shape[1] else ""


def _fault_in_calibration(way: Calibration) -> str:
    if (way.kind == PLATT) != bool(len(way.offsets)):
        return "there must be offsets for Platt's way, and for no other"
    if (way.kind == ISOTONIC) != bool(len(way.scores)) or len(way.scores) != len(way.chances):
        return "there must be as many scores as chances for steps, and none for other ways"
    rises = (np.diff(way.scores) > 0).all() and (np.diff(way.chances) >= 0).all()
    within = (way.chances >= 0).all() and (way.chances <= 1).all()
    return "" if rises and within else "its steps do not rise from 0 to 1"


def _fault_in_order(order: OrderedShares) -> str:
    if len(order.values) != len(order.thresholds) + 1:
        return f"there are {len(order.thresholds)} thresholds between {len(order.values)} numbers"
    rises = (np.diff(order.values) > 0).all() and (np.diff(order.thresholds) > 0).all()
    return "" if rises else "its numbers or thresholds do not rise"


def _fault_in_rows(learned: RowsLearned) -> str:
    return "" if re.fullmatch("[0-9a-f]{1,16}", learned.until) else "its hash must have 1 to 16 hexadecimal digits"


LINE = Numbers((None,), ("float64",))
PER_COLUMN = Numbers(("n_features",), ("float64",))
SHARE = NONNEGATIVE
ERRORS = Nothing() | Record(ErrorQuantiles, {"predicted": LINE, "errors": LINE}, _fault_in_errors)
SEEN = Record(
    SeenTable,
    {
        "numbers": Lookup(LINE, key=Text()),
        "words": Lookup(Lookup(SHARE, key=Text()), key=Text()),
        "gaps": Lookup(SHARE, key=Text()),
        "counts": Lookup(Whole(low=0), key=Text()),
    },
    _fault_in_seen,
)

HELD_OUT = Record(
    HeldOutScores,
    {"scores": Numbers((None, None), ("float64",)), "codes": Numbers((None,), ("int64",), low=0)},
    _fault_in_held_out,
)

CALIBRATION = Record(
    Calibration,
    {"kind": OneOf(CALIBRATIONS), "inverse_temperature": POSITIVE, "offsets": LINE, "scores": LINE, "chances": LINE},
    _fault_in_calibration,
)
ROWS_LEARNED = Record(
    RowsLearned, {"seed": Whole(low=0), "until": Text(), "written": OneOf(("", *WRITTEN_NUMBERS))}, _fault_in_rows
)
ORDER = Record(OrderedShares, {"values": LINE, "slope": Real(), "thresholds": LINE}, _fault_in_order)

SCHEMAS = (
    Schema(
        "TableModel",
        "pellucid.app.table_model.table_model",
        parameters=OF_PIPELINES,
        attributes={
            "target_": Text(),
            "seen_": SEEN,
            "errors_": ERRORS,
            "judged_": ERRORS,
            "calibration_": Nothing() | CALIBRATION,
            "costs_": Nothing() | Numbers((None, None), ("float64",)),
            "held_out_": Optional(Nothing() | HELD_OUT),
            "limits_": Optional(Nothing() | Items(Nothing() | Real())),
            "order_": Optional(Nothing() | ORDER),
            "learned_rows_": Optional(Nothing() | Numbers((None,), ("bool",))),
            "rows_learned_": Optional(Nothing() | ROWS_LEARNED),
        },
        rebuild=_check_answers,
    ),
    Schema(
        "ColumnReader",
        "pellucid.app.tables.column_reader",
        parameters={"kinds": Lookup(OneOf(KINDS), key=Text())},
        attributes={
            "n_features_in_": Whole(low=1, size="n_features"),
            "feature_names_in_": Texts("n_features"),
            "with_hours_": Items(Text()),
            "words_": Optional(Lookup(Items(Text()), key=Text())),
            "data_fingerprint_": Text(),
        },
        rebuild=_check_reader,
    ),
    Schema(
        "StepFeatures",
        "pellucid.app.tables.step_features",
        parameters={"n_steps": Whole(low=1)},
        attributes=INPUTS | {"thresholds_": Items(Numbers((None,), ("float64",)))},
        rebuild=_check_steps,
    ),
    Schema(
        "ComparableNumbers",
        "pellucid.app.tables.comparable_numbers",
        parameters={"limit": POSITIVE},
        attributes=INPUTS | {"center_": PER_COLUMN, "scale_": PER_COLUMN},
        rebuild=_check_scale,
    ),
    Schema(
        "TableOfCodes",
        "pellucid.app.tables.preparation",
        parameters={"words": Items(Text()), "numbers": Items(Text())},
        attributes=INPUTS,
    ),
    Schema(
        "TargetMeans",
        "pellucid.app.tables.target_means",
        parameters={"strength": NONNEGATIVE, "n_parts": Whole(low=2), "random_state": Whole(low=0)},
        attributes={
            "n_features_in_": Whole(low=1, size="n_features"),
            "feature_names_in_": Texts("n_features"),
            "words_": Items(Texts()),
            "means_": Items(Numbers((None, None), ("float64",))),
            "mean_": Numbers((None,), ("float64",)),
        },
        rebuild=_check_means,
    ),
    Schema(
        "WordEncoder",
        "pellucid.app.tables.word_encoder",
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
