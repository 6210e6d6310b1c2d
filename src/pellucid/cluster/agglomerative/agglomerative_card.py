"""Method card of agglomerative clustering."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import _VALID_METRICS

from pellucid.cluster.agglomerative.agglomerative_clustering import AgglomerativeClustering
from pellucid.core.cards import MethodCard
from pellucid.core.input_rules import InputRules
from pellucid.kinds.arrays import Numbers
from pellucid.kinds.plain import Live, Nothing, OneOf, Text, Whole
from pellucid.kinds.sparse import SparseRows
from pellucid.kinds.usual import FLAG, NONNEGATIVE
from pellucid.proofs.cluster.agglomerative import prove_agglomerative

METRICS = tuple(sorted({*_VALID_METRICS, "precomputed"}))


def _is_matrix(value: Any) -> bool:
    return sparse.issparse(value) or (np.iterable(value) and not isinstance(value, str))


def check_cut(estimator: Any) -> None:
    """Refuse settings that ask for no cut, or for two, and metrics that Ward has no formula for."""
    if (estimator.n_clusters is None) == (estimator.distance_threshold is None):
        raise ValueError(
            "Exactly one of n_clusters and distance_threshold has to be set, and the other needs to be None, got "
            f"n_clusters={estimator.n_clusters} and distance_threshold={estimator.distance_threshold}."
        )
    if estimator.distance_threshold is not None and not estimator.compute_full_tree:
        raise ValueError("compute_full_tree must be True if distance_threshold is set, got False.")
    if estimator.linkage == "ward" and estimator.metric not in ("euclidean", "l2"):
        raise ValueError(
            f"metric must be 'euclidean' or 'l2' for linkage 'ward', got {estimator.metric!r}: {estimator.metric} was "
            "provided as metric. Ward can only work with euclidean distances. Choose another linkage."
        )


CARDS = (
    MethodCard(
        AgglomerativeClustering,
        topics=("CLU-5",),
        prove=prove_agglomerative,
        workings="pellucid.cluster.agglomerative.agglomerative_workings:agglomerative_workings",
        parameters={
            "n_clusters": Nothing() | Whole(low=1),
            "metric": OneOf(METRICS) | Live("a function"),
            "memory": Nothing() | Text() | Live("a joblib.Memory", lambda value: hasattr(value, "cache")),
            "connectivity": Nothing()
            | SparseRows(("n_samples", "n_samples"))
            | Numbers(("n_samples", "n_samples"))
            | Live("a matrix", _is_matrix, holds_many=True)
            | Live("a function"),
            "compute_full_tree": OneOf(("auto",)) | FLAG,
            "linkage": OneOf(("ward", "complete", "average", "single")),
            "distance_threshold": Nothing() | NONNEGATIVE,
            "compute_distances": FLAG,
        },
        attributes={
            "n_clusters_": Whole(low=1),
            "labels_": Numbers(("n_samples",), ("int64",), low=0),
            "n_leaves_": Whole(low=1),
            "n_connected_components_": Whole(low=1),
            "children_": Numbers(("n_merges", 2), ("int64",), low=0),
            "distances_": Numbers(("n_merges",), ("float64",), low=0.0),
        },
        input=InputRules(fewest_rows=2, weights=False),
        check=check_cut,
        variants=(
            {"linkage": "single", "n_clusters": 3},
            {"linkage": "complete", "n_clusters": None, "distance_threshold": 2.0},
            {"linkage": "average", "metric": "manhattan"},
        ),
    ),
)
