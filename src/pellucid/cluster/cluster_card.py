"""Method cards of clustering."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import _VALID_METRICS

from pellucid.cluster.agglomerative.agglomerative_clustering import AgglomerativeClustering
from pellucid.cluster.agglomerative.distances import PAIR_METRICS
from pellucid.cluster.diana.diana import Diana
from pellucid.cluster.kmeans.kmeans import KMeans
from pellucid.cluster.kmeans.kmeans_starts import STARTS
from pellucid.cluster.kmeans.minibatch_kmeans import MiniBatchKMeans
from pellucid.cluster.kmedians import KMedians
from pellucid.cluster.kmedoids.kmedoids import KMedoids
from pellucid.cluster.soft_kmeans import SoftKMeans
from pellucid.cluster.spectral.spectral_clustering import SpectralClustering
from pellucid.cluster.spectral.spectral_clustering_solvers import GIVEN, GIVEN_NEIGHBORS, NEIGHBORS, is_pairwise
from pellucid.core.cards import WORK_DONE, MethodCard, Trial
from pellucid.core.input_rules import NO_TARGET, PASSES, InputRules
from pellucid.core.kinds.arrays import Numbers, SparseRows
from pellucid.core.kinds.collections import PLAIN, Items, Lookup
from pellucid.core.kinds.plain import Live, Nothing, Number, OneOf, Optional, Real, Text, Whole
from pellucid.core.kinds.usual import (
    A_LIST,
    COUNT,
    FLAG,
    MAYBE_WHOLE,
    NONNEGATIVE,
    NUMBER,
    POSITIVE,
    RANDOM_STATE,
    VERBOSE,
)
from pellucid.kernels.choice import BY_NAME, ProductRules
from pellucid.kernels.kernel_kinds import kernel_kind
from pellucid.proofs.sampling import drawn
from pellucid.proofs.training_data import TrainingData

CENTERS = Numbers((None, None)) | Items(Items(NUMBER)) | Live("an array", lambda value: hasattr(value, "__array__"))

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


WIDE = ("float64",)

AFFINITIES = (*(name for name in BY_NAME if name != "precomputed"), NEIGHBORS, GIVEN, GIVEN_NEIGHBORS)

ROWS_ASKED = 1000
"""Rows whose responsibilities a proof asks the model for."""


def _soft_answers(model: Any, data: TrainingData) -> dict[str, Any]:
    """Return what the model says about some rows."""
    asked = drawn(data.X.shape[0], ROWS_ASKED)
    return {"asked": asked, "responsibilities": model._answers(data.X[asked])}


CARDS = (
    MethodCard(
        KMeans,
        topics=("CLU-1",),
        workings="pellucid.cluster.kmeans.kmeans_workings:kmeans_workings",
        free={"order": "the order of the clusters, which follows the start"},
        parameters={
            "n_clusters": Whole(low=1),
            "init": OneOf(("k-means++", "random", "random-partition", "furthest-first", "k-log-k"))
            | CENTERS
            | Live("a function"),
            "n_init": OneOf(("auto",)) | Whole(low=1),
            "max_iter": Whole(low=1),
            "tol": NONNEGATIVE,
            "verbose": VERBOSE,
            "random_state": RANDOM_STATE,
            "copy_x": FLAG,
            "algorithm": OneOf(("lloyd", "elkan")),
        },
        attributes={
            "cluster_centers_": Numbers(("n_clusters", "n_features")),
            "labels_": Optional(Numbers(("n_samples",), ("int32",), low=-1)),
            "inertia_": Real(),
            "n_iter_": COUNT,
        },
        input=InputRules(sparse=("csr",), order="C", blocks=PASSES),
        passes="pellucid.cluster.kmeans.kmeans_passes:kmeans_in_passes",
        device="pellucid.cluster.kmeans.clusters_on_device:fit_on_device",
        onnx="pellucid.cluster.clusters_in_onnx:nearest_center",
        variants=({"n_clusters": 3, "init": "random", "tol": 0.0}, {"n_clusters": 1}),
        unproved={"n_iter_": WORK_DONE},
        squares=frozenset({"inertia_"}),
        trial=Trial(
            by_hand={"n_clusters": 2, "random_state": 0},
            unlike_peer="it starts elsewhere",
        ),
        meaning="every row is with the nearest of the centers, and every center is the mean of its rows; how much "
        "better the best clustering of all could be is bounded below, where a claim says so",
        take_for=(
            "round clusters of about the same size, many rows, and a number of clusters that you know "
            "or let choose_clusters find"
        ),
        references=(
            "Lloyd, Least squares quantization in PCM, IEEE Information Theory 28 (1982)",
            "Arthur and Vassilvitskii, k-means++: the advantages of careful seeding, SODA 2007",
        ),
    ),
    MethodCard(
        MiniBatchKMeans,
        topics=("CLU-1",),
        onnx="pellucid.cluster.clusters_in_onnx:nearest_center",
        free={"order": "the order of the clusters, which follows the start"},
        parameters={
            "n_clusters": Whole(low=1),
            "init": OneOf(tuple(STARTS)) | CENTERS | Live("a function"),
            "max_iter": Whole(low=1),
            "batch_size": Whole(low=1),
            "verbose": VERBOSE,
            "compute_labels": FLAG,
            "random_state": RANDOM_STATE,
            "tol": NONNEGATIVE,
            "max_no_improvement": Nothing() | COUNT,
            "init_size": Nothing() | Whole(low=1),
            "n_init": OneOf(("auto",)) | Whole(low=1),
            "reassignment_ratio": NONNEGATIVE,
        },
        attributes={
            "cluster_centers_": Numbers(("n_clusters", "n_features")),
            "labels_": Optional(Numbers(("n_samples",), ("int32",), low=-1)),
            "inertia_": Real(),
            "counts_": Numbers(("n_clusters",), low=0),
            "n_iter_": COUNT,
            "n_steps_": COUNT,
        },
        input=InputRules(sparse=("csr",), order="C"),
        variants=({"n_clusters": 3, "init": "random", "batch_size": 10}, {"n_clusters": 2, "tol": 1e-3}),
        unproved={
            "n_iter_": WORK_DONE,
            "n_steps_": WORK_DONE,
            "counts_": "how many rows the batches had drawn for each center; only partial_fit goes on from there",
        },
        squares=frozenset({"inertia_"}),
        take_for="so many rows that a pass over all of them is long, or rows that arrive in parts",
        references=("Sculley, Web-scale k-means clustering, WWW 2010",),
    ),
    MethodCard(
        KMedians,
        topics=("CLU-2",),
        onnx="pellucid.cluster.clusters_in_onnx:nearest_median",
        workings="pellucid.cluster.kmedians_workings:kmedians_workings",
        free={"order": "the order of the clusters, which follows the start"},
        parameters={
            "n_clusters": Whole(low=1),
            "init": OneOf(tuple(STARTS)) | CENTERS | Live("a function"),
            "n_init": OneOf(("auto",)) | Whole(low=1),
            "max_iter": Whole(low=1),
            "random_state": RANDOM_STATE,
        },
        attributes={
            "cluster_centers_": Numbers(("n_clusters", "n_features")),
            "labels_": Numbers(("n_samples",), ("int32",), low=-1),
            "inertia_": Real(),
            "n_iter_": COUNT,
        },
        input=InputRules(order="C"),
        variants=({"n_clusters": 3, "init": "random"}, {"n_clusters": 1}),
        unproved={"n_iter_": WORK_DONE},
        trial=Trial(by_hand={"n_clusters": 2, "random_state": 0}),
        take_for="clusters of rows among which some lie far off, measured column by column",
        references=("Bradley, Mangasarian and Street, Clustering via concave minimization, NIPS 1996",),
    ),
    MethodCard(
        SoftKMeans,
        topics=("CLU-3",),
        onnx="pellucid.cluster.clusters_in_onnx:soft",
        asks=_soft_answers,
        free={"order": "the order of the clusters, which follows the start"},
        parameters={
            "n_clusters": Whole(low=1),
            "beta": POSITIVE,
            "init": OneOf(tuple(STARTS)) | CENTERS | Live("a function"),
            "n_init": OneOf(("auto",)) | Whole(low=1),
            "max_iter": Whole(low=1),
            "tol": NONNEGATIVE,
            "random_state": RANDOM_STATE,
        },
        attributes={
            "cluster_centers_": Numbers(("n_clusters", "n_features"), ("float64",)),
            "cluster_sizes_": Numbers(("n_clusters",), ("float64",), low=0.0),
            "labels_": Numbers(("n_samples",), ("int32",), low=-1),
            "n_iter_": COUNT,
            "lower_bound_": Real(),
            "lower_bounds_": Items(Real()),
            "log_likelihood_": Real(),
        },
        input=InputRules(order="C"),
        variants=({"n_clusters": 3, "beta": 4.0, "init": "random"}, {"n_clusters": 1, "beta": 0.5}),
        take_for="clusters that overlap, where a row may belong to several and the spread is known",
        references=(
            "MacKay, Information Theory, Inference, and Learning Algorithms, chapters 20 and 22, Cambridge 2003",
        ),
    ),
    MethodCard(
        KMedoids,
        topics=("CLU-2",),
        onnx="pellucid.cluster.clusters_in_onnx:nearest_medoid",
        workings="pellucid.cluster.kmedoids.kmedoids_workings:kmedoids_workings",
        free={"order": "the order of the clusters, which follows the start"},
        parameters={
            "n_clusters": Whole(low=1),
            "metric": OneOf(PAIR_METRICS) | Live("a function"),
            "init": OneOf(("build", "random")) | Numbers((None,), ("int64", "int32")) | Items(COUNT) | A_LIST,
            "max_iter": Whole(low=1),
            "random_state": RANDOM_STATE,
        },
        attributes={
            "medoid_indices_": Numbers(("n_clusters",), ("int64",), low=0),
            "cluster_centers_": Optional(Numbers(("n_clusters", "n_features"))),
            "labels_": Numbers(("n_samples",), ("int64",), low=-1),
            "inertia_": Real(),
            "n_iter_": COUNT,
        },
        input=InputRules(order="C"),
        variants=({"n_clusters": 3, "init": "random", "metric": "manhattan"}, {"n_clusters": 1}),
        unproved={"n_iter_": WORK_DONE},
        trial=Trial(
            by_hand={"n_clusters": 2, "metric": "manhattan"},  # roots are rounded in its workings
            rows=7,
        ),
        meaning="every row is with the nearest of the medoids, and no swap of a medoid with another row that was "
        "tried makes the sum of distances smaller",
        take_for=(
            "distances of any kind, also where no mean exists, or an example of the data is wanted for each cluster"
        ),
        references=(
            "Kaufman and Rousseeuw, Finding Groups in Data, Wiley 1990",
            "Schubert and Rousseeuw, Fast and eager k-medoids clustering, Information Systems 101 (2021)",
        ),
    ),
    MethodCard(
        AgglomerativeClustering,
        topics=("CLU-5",),
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
        trial=Trial(
            rows=7,
            unlike_peer="it joins another of equally near pairs",
            many_rows=True,
        ),
        take_for=(
            "a tree of clusters at all scales, or a number of clusters that is read off the tree; up "
            "to some ten thousand rows"
        ),
        references=(
            "Ward, Hierarchical grouping to optimize an objective function, JASA 58 (1963)",
            "Müllner, Modern hierarchical, agglomerative clustering algorithms, arXiv:1109.2378",
        ),
    ),
    MethodCard(
        Diana,
        topics=("CLU-5",),
        workings="pellucid.cluster.diana.diana_workings:diana_workings",
        parameters={"n_clusters": Whole(low=1), "metric": OneOf(METRICS) | Live("a function")},
        attributes={
            "labels_": Numbers(("n_samples",), ("int64",), low=0),
            "children_": Numbers(("n_merges", 2), ("int64",), low=0),
            "distances_": Numbers(("n_merges",), ("float64",), low=0.0),
            "divisive_coefficient_": Real(),
            "n_leaves_": Whole(low=1),
        },
        input=InputRules(fewest_rows=2, weights=False),
        variants=({"n_clusters": 4, "metric": "manhattan"},),
        trial=Trial(
            by_hand={"metric": "manhattan"},  # roots are rounded in its workings
            rows=7,
            few_rows=True,
        ),
        take_for="a tree of which the first, large divisions matter most; up to some thousand rows",
        references=("Kaufman and Rousseeuw, Finding Groups in Data, Wiley 1990",),
    ),
    MethodCard(
        SpectralClustering,
        topics=("CLU-6",),
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
        take_for=(
            "clusters of any shape that are connected inside and weakly linked to each other; up to "
            "some ten thousand rows"
        ),
        references=(
            "von Luxburg, A tutorial on spectral clustering, Statistics and Computing 17 (2007)",
            "Ng, Jordan and Weiss, On spectral clustering, NIPS 2001",
        ),
    ),
)
