"""Method cards of the neighbors estimators. The kd-tree is not stored: it follows from the data and is built again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.cards import MethodCard
from pellucid.core.kinds.arrays import WHOLES, Numbers, SparseRows, Texts
from pellucid.core.kinds.collections import Items, Lookup
from pellucid.core.kinds.pages import SchemaError
from pellucid.core.kinds.plain import Kind, Live, Nothing, Number, OneOf, Optional, Real, Text, Whole
from pellucid.core.kinds.usual import FLAG, LABEL_DTYPES, LABELS, MAYBE_WHOLE, POSITIVE
from pellucid.core.scale.row_blocks import RowBlocks
from pellucid.neighbors.k_neighbors import rules_for_neighbors
from pellucid.neighbors.k_neighbors_classifier import KNeighborsClassifier
from pellucid.neighbors.k_neighbors_regressor import KNeighborsRegressor
from pellucid.neighbors.metric import WEIGHTINGS, Metric, Similarity, check_metric
from pellucid.neighbors.nearest_rows import build_tree
from pellucid.proofs.distances import named_metric
from pellucid.proofs.neighbors.k_neighbors import chosen_queries
from pellucid.proofs.neighbors.k_neighbors_passes import drawn_queries
from pellucid.proofs.sampling import is_fitting
from pellucid.proofs.training_data import TrainingData

POWER = Number(above=0, finite=False)
ARGUMENTS = Lookup(
    Nothing() | Whole() | Real(finite=False) | Numbers((None,)) | Numbers((None, None)), key=Text()
)  # fmt: skip
SEVERAL_LABELS = Items(Numbers((None,), LABEL_DTYPES) | Texts())

PARAMETERS: dict[str, Kind] = {
    "n_neighbors": Whole(low=1),
    "leaf_size": Whole(low=1),
    "weights": Nothing() | OneOf(("uniform", *WEIGHTINGS)) | Live("a function of the distances"),
    "rate": POSITIVE,
    "algorithm": OneOf(("auto", "ball_tree", "kd_tree", "brute")),
    "p": Nothing() | POWER,
    "metric": Text() | Live("a function of two rows", lambda value: callable(value) or hasattr(value, "pairwise")),
    "metric_params": Nothing() | ARGUMENTS | Live("a dict", lambda value: isinstance(value, dict)),
    "n_jobs": MAYBE_WHOLE,
}
FITTED: dict[str, Kind | Optional] = {
    "effective_metric_": Text(),
    "effective_metric_params_": ARGUMENTS,
    "n_samples_fit_": Whole(low=1, size="n_samples"),
    "_fit_X": Numbers(("n_samples", "n_features"), finite=False) | SparseRows(("n_samples", "n_features")),
    "_fit_method": OneOf(("kd_tree", "brute")),
}


def _check_combination(estimator: Any) -> None:
    if estimator.weights == "distance" and isinstance(estimator.metric, Similarity):
        raise ValueError("weights must not be 'distance' with a Similarity, got 'distance'. Use 'exponential'.")
    check_metric(estimator.metric, estimator.p, estimator.metric_params, estimator.algorithm)


def _found(model: Any, data: TrainingData) -> Mapping[str, Any]:
    """Return the neighbors that the model finds for the queries of the proof."""
    if is_fitting():  # which claims no more than that it has kept the rows, and built a tree of them
        return {}
    queries = chosen_queries(data.X, named_metric(model.metric, model.p, model.metric_params))
    return _asked(model, queries)


def _asked(model: Any, queries: Any) -> Mapping[str, Any]:
    try:
        found = model._search(queries, min(model.n_neighbors, model.n_samples_fit_))
    except ValueError:  # rows in blocks have other labels than the model knows
        return {"queries": queries, "found": None}
    return {"queries": queries, "found": (found.distances, found.indices), "near": found.targets}


def _found_in_blocks(model: Any, blocks: RowBlocks) -> Mapping[str, Any]:
    """Return the same of rows in blocks."""
    return {} if is_fitting() else _asked(model, drawn_queries(blocks))


def _rebuild_tree(model: Any) -> None:
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


SHARED: dict[str, Any] = {
    "topics": ("NBR-1",),
    "asks": _found,
    "asks_blocks": _found_in_blocks,
    "passes": "pellucid.neighbors.rows_in_blocks:neighbors_in_passes",
    "workings": "pellucid.neighbors.k_neighbors_workings:k_neighbors_workings",
    "parameters": PARAMETERS,
    "check": _check_combination,
    "input": rules_for_neighbors,
    "rebuilt": frozenset({"_tree"}),
    "device": "pellucid.neighbors.nearest_on_device:store_rows",
    "variants": ({"algorithm": "brute"}, {"weights": "distance", "p": 1, "n_neighbors": 3}),
}
MEANING = (
    "the rows were stored as they are, and the search finds the nearest ones; nothing is learned beyond "
    "that, so it says nothing about how good their answers are"
)

CARDS = (
    MethodCard(
        KNeighborsClassifier,
        onnx="pellucid.neighbors.neighbors_in_onnx:classifier",
        **SHARED,
        attributes={
            **FITTED,
            "_y": Numbers(("n_samples",), WHOLES, low=0) | Numbers(("n_samples", "n_outputs"), WHOLES, low=0),
            "classes_": LABELS | SEVERAL_LABELS,
            "outputs_2d_": FLAG,
        },
        rebuild=_rebuild_classifier,
        meaning=MEANING,
        take_for="few columns in comparable units, boundaries of any shape, and rows enough to fill the space",
        references=(
            "Cover and Hart, Nearest neighbor pattern classification, IEEE Information Theory 13 (1967)",
            (
                "Friedman, Bentley and Finkel, An algorithm for finding best matches in logarithmic "
                "expected time, ACM TOMS 3 (1977)"
            ),
        ),
    ),
    MethodCard(
        KNeighborsRegressor,
        onnx="pellucid.neighbors.neighbors_in_onnx:regressor",
        **SHARED,
        attributes={**FITTED, "_y": Numbers(("n_samples",)) | Numbers(("n_samples", "n_outputs"))},
        rebuild=_rebuild_tree,
        meaning=MEANING,
        take_for="few columns in comparable units, curves of any shape, and rows enough to fill the space",
        references=(
            (
                "Friedman, Bentley and Finkel, An algorithm for finding best matches in logarithmic "
                "expected time, ACM TOMS 3 (1977)"
            ),
        ),
    ),
)
