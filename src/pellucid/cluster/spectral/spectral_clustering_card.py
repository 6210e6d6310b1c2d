"""Method card of spectral clustering."""

from __future__ import annotations

from pellucid.cluster.spectral.spectral_clustering import SpectralClustering
from pellucid.cluster.spectral.spectral_clustering_solvers import GIVEN, GIVEN_NEIGHBORS, NEIGHBORS, is_pairwise
from pellucid.core.cards import MethodCard
from pellucid.core.input_rules import NO_TARGET
from pellucid.kernels.choice import BY_NAME
from pellucid.kernels.kernel_kinds import kernel_kind
from pellucid.kernels.product_rules import ProductRules
from pellucid.kinds.arrays import Numbers
from pellucid.kinds.collections import PLAIN, Lookup
from pellucid.kinds.plain import Nothing, Number, OneOf, Optional, Real, Whole
from pellucid.kinds.sparse import SparseRows
from pellucid.kinds.usual import FLAG, MAYBE_WHOLE, NONNEGATIVE, RANDOM_STATE, VERBOSE
from pellucid.proofs.cluster.spectral_clustering import prove_spectral_clustering

WIDE = ("float64",)
AFFINITIES = (*(name for name in BY_NAME if name != "precomputed"), NEIGHBORS, GIVEN, GIVEN_NEIGHBORS)

CARDS = (
    MethodCard(
        SpectralClustering,
        topics=("CLU-6",),
        prove=prove_spectral_clustering,
        free={
            "order": "the order of the clusters, which follows the start",
            "few rows": "by assign_labels='discretize', at which of its fixed points the labels came to rest",
        },
        parameters={
            "n_clusters": Whole(low=1),
            "eigen_solver": Nothing() | OneOf(("arpack", "lobpcg", "amg")),
            "n_components": Nothing() | Whole(low=1),
            "random_state": RANDOM_STATE,
            "n_init": Whole(low=1),
            "gamma": NONNEGATIVE,
            "affinity": kernel_kind(AFFINITIES),
            "n_neighbors": Whole(low=1),
            "eigen_tol": OneOf(("auto",)) | NONNEGATIVE,
            "assign_labels": OneOf(("kmeans", "discretize", "cluster_qr")),
            "degree": NONNEGATIVE,
            "coef0": Number(),
            "kernel_params": Nothing() | Lookup(PLAIN),
            "n_jobs": MAYBE_WHOLE,
            "verbose": VERBOSE | FLAG,
        },
        attributes={
            "labels_": Numbers(("n_rows",), ("int32",), low=0),
            "affinity_matrix_": Numbers(("n_rows", "n_rows"), WIDE) | SparseRows(("n_rows", "n_rows")),
            "eigenvalues_": Numbers(("n_components",), WIDE, low=0),
            "embedding_": Numbers(("n_rows", "n_components"), WIDE),
            "embedding_centers_": Optional(Numbers(("n_clusters", "n_components"), WIDE)),
            "embedding_inertia_": Optional(Real()),
        },
        input=lambda estimator: ProductRules(
            NO_TARGET,
            sparse=("csr",),
            dtypes=("float64",),
            order="C",
            weights=False,
            fewest_rows=2,
            products=is_pairwise(estimator.affinity),
            symmetric=False,
        ),
        variants=(
            {"n_clusters": 3, "affinity": "nearest_neighbors", "assign_labels": "discretize"},
            {"n_clusters": 2, "affinity": "laplacian", "gamma": 0.3, "assign_labels": "cluster_qr"},
        ),
        squares=frozenset({"affinity_matrix_", "embedding_inertia_"}),
    ),
)
