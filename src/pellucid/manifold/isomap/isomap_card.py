"""Method card of Isomap."""

from __future__ import annotations

from typing import Any

from pellucid.core.cards import MethodCard
from pellucid.core.input_rules import NO_TARGET
from pellucid.kinds.arrays import FLOATS, Numbers
from pellucid.kinds.plain import Nothing, Number, OneOf, Whole
from pellucid.kinds.sparse import SparseRows
from pellucid.kinds.usual import MAYBE_WHOLE, NONNEGATIVE
from pellucid.manifold.dissimilarities import is_given
from pellucid.manifold.isomap.isomap import Isomap
from pellucid.manifold.manifold_kinds import COMPONENTS, METRIC, WIDE
from pellucid.neighbors.k_neighbors import KNeighborRules
from pellucid.neighbors.metric import check_metric
from pellucid.proofs.manifold.isomap import prove_isomap


def _check_links(estimator: Any) -> None:
    if estimator.n_neighbors is not None and estimator.radius is not None:
        raise ValueError(
            f"n_neighbors must be None with a radius, got {estimator.n_neighbors!r}: Both n_neighbors and radius are "
            f"provided. Use Isomap(radius={estimator.radius!r}, n_neighbors=None)."
        )
    if estimator.n_neighbors is None and estimator.radius is None:
        raise ValueError("n_neighbors must be a whole number without a radius, got None. Give one of the two.")
    if not is_given(estimator.metric):
        check_metric(estimator.metric, estimator.p, estimator.metric_params, estimator.neighbors_algorithm)


CARDS = (
    MethodCard(
        Isomap,
        topics=("MAN-2",),
        prove=prove_isomap,
        workings="pellucid.manifold.isomap.isomap_workings:isomap_workings",
        parameters={
            "n_neighbors": Nothing() | Whole(low=1),
            "radius": Nothing() | Number(low=0, finite=False),
            "n_components": COMPONENTS,
            "eigen_solver": OneOf(("auto", "arpack", "dense")),
            "tol": NONNEGATIVE,
            "max_iter": Nothing() | Whole(low=1),
            "path_method": OneOf(("auto", "FW", "D")),
            "neighbors_algorithm": OneOf(("auto", "brute", "kd_tree", "ball_tree")),
            "n_jobs": MAYBE_WHOLE,
            **METRIC,
            "p": Number(low=1, finite=False),
        },
        check=_check_links,
        attributes={
            "embedding_": Numbers(("n_rows", "n_components"), FLOATS),
            "dist_matrix_": Numbers(("n_rows", "n_rows"), FLOATS, low=0),
            "eigenvalues_": Numbers(("n_components",), WIDE, low=0),
            "neighbor_graph_": SparseRows(("n_rows", "n_rows")),
            "squared_means_": Numbers(("n_rows",), WIDE, low=0),
            "X_fit_": Numbers(("n_rows", "n_features"), FLOATS) | SparseRows(("n_rows", "n_features")),
        },
        input=lambda estimator: KNeighborRules(
            NO_TARGET,
            sparse=("csr",),
            order="C",
            weights=False,
            fewest_rows=2,
            precomputed=is_given(estimator.metric),
        ),
        variants=(
            {"n_neighbors": None, "radius": 2.5, "n_components": 3},
            {"n_neighbors": 3, "metric": "manhattan"},
        ),
        squares=frozenset({"eigenvalues_", "squared_means_"}),
    ),
)
