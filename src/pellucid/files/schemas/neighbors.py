"""Schemas of the neighbors family. The kd-tree is not stored: it follows from the data and is built again."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.files.schema import Schema
from pellucid.kinds.arrays import WHOLES, Numbers, Texts
from pellucid.kinds.collections import Items, Lookup
from pellucid.kinds.errors import SchemaError
from pellucid.kinds.plain import Kind, Nothing, OneOf, Optional, Real, Text, Whole
from pellucid.kinds.sparse import SparseRows
from pellucid.kinds.usual import EVIDENCE, FLAG, INPUTS, LABEL_DTYPES, LABELS, MAYBE_WHOLE, NUMBER

HOME = "pellucid.neighbors"
POWER = Whole() | Real(finite=False)
ARGUMENTS = Lookup(Nothing() | POWER | Numbers((None,)) | Numbers((None, None)), key=Text())
SEVERAL_LABELS = Items(Numbers((None,), LABEL_DTYPES) | Texts())

PARAMETERS: dict[str, Kind] = {
    "n_neighbors": Whole(low=1),
    "weights": Nothing() | OneOf(("uniform", "distance", "exponential")),
    "algorithm": OneOf(("auto", "ball_tree", "kd_tree", "brute")),
    "leaf_size": Whole(low=1),
    "p": Nothing() | POWER,
    "metric": Text(),
    "metric_params": Nothing() | ARGUMENTS,
    "n_jobs": MAYBE_WHOLE,
    "rate": NUMBER,
}
FITTED: dict[str, Kind | Optional] = {
    **INPUTS,
    **EVIDENCE,
    "effective_metric_": Text(),
    "effective_metric_params_": ARGUMENTS,
    "n_samples_fit_": Whole(low=1, size="n_samples"),
    "_fit_X": Numbers(("n_samples", "n_features"), finite=False) | SparseRows(("n_samples", "n_features")),
    "_fit_method": OneOf(("kd_tree", "brute")),
}


def _rebuild_tree(model: Any) -> None:
    from pellucid.neighbors.metric import Metric
    from pellucid.neighbors.nearest_rows import build_tree

    model._tree = None
    if model._fit_method == "kd_tree":
        metric = Metric(model.effective_metric_, model.effective_metric_params_)
        if sparse.issparse(model._fit_X) or not metric.suits_a_tree or not np.isfinite(model._fit_X).all():
            raise SchemaError("_fit_method must be 'brute' for these data and this metric, got 'kd_tree'.")
        model._tree = build_tree(model._fit_X, metric, model.leaf_size)


def _rebuild_classifier(model: Any) -> None:
    several = isinstance(model.classes_, (list, tuple))
    codes = model._y if several else model._y.reshape(-1, 1)
    labels = model.classes_ if several else [model.classes_]
    if codes.ndim != 2 or several != model.outputs_2d_ or codes.shape[1] != len(labels):
        raise SchemaError("_y must have one column for each entry of classes_.")
    if any(codes[:, j].max(initial=0) >= len(classes) for j, classes in enumerate(labels)):
        raise SchemaError("_y must hold places in classes_, but an entry is out of range.")
    _rebuild_tree(model)


SCHEMAS = (
    Schema(
        "KNeighborsClassifier",
        HOME,
        parameters=PARAMETERS,
        attributes={
            **FITTED,
            "_y": Numbers(("n_samples",), WHOLES, low=0) | Numbers(("n_samples", "n_outputs"), WHOLES, low=0),
            "classes_": LABELS | SEVERAL_LABELS,
            "outputs_2d_": FLAG,
        },
        rebuilt=frozenset({"_tree"}),
        rebuild=_rebuild_classifier,
    ),
    Schema(
        "KNeighborsRegressor",
        HOME,
        parameters=PARAMETERS,
        attributes={**FITTED, "_y": Numbers(("n_samples",)) | Numbers(("n_samples", "n_outputs"))},
        rebuilt=frozenset({"_tree"}),
        rebuild=_rebuild_tree,
    ),
)
