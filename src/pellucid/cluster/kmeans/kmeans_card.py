"""Method cards of k-means, from all rows and from batches."""

from __future__ import annotations

from pellucid.cluster.kmeans.kmeans_starts import STARTS

from pellucid.cluster.kmeans.kmeans import KMeans
from pellucid.cluster.kmeans.minibatch_kmeans import MiniBatchKMeans
from pellucid.core.cards import WORK_DONE, MethodCard
from pellucid.core.input_rules import InputRules
from pellucid.kinds.arrays import Numbers
from pellucid.kinds.collections import Items
from pellucid.kinds.plain import Live, Nothing, OneOf, Optional, Real, Whole
from pellucid.kinds.usual import COUNT, FLAG, NONNEGATIVE, NUMBER, RANDOM_STATE, VERBOSE
from pellucid.proofs.cluster.kmeans import prove_kmeans, prove_minibatch_kmeans

CENTERS = Numbers((None, None)) | Items(Items(NUMBER)) | Live("an array", lambda value: hasattr(value, "__array__"))

CARDS = (
    MethodCard(
        KMeans,
        topics=("CLU-1",),
        prove=prove_kmeans,
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
            "labels_": Numbers(("n_samples",), ("int32",), low=-1),
            "inertia_": Real(),
            "n_iter_": COUNT,
        },
        input=InputRules(sparse=("csr",), order="C"),
        variants=({"n_clusters": 3, "init": "random", "tol": 0.0}, {"n_clusters": 1}),
        unproved={"n_iter_": WORK_DONE},
        squares=frozenset({"inertia_"}),
    ),
    MethodCard(
        MiniBatchKMeans,
        topics=("CLU-1",),
        prove=prove_minibatch_kmeans,
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
    ),
)
