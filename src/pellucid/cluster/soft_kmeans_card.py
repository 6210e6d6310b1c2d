"""Method card of soft k-means."""

from __future__ import annotations

from pellucid.cluster.kmeans.kmeans_card import CENTERS
from pellucid.cluster.kmeans.kmeans_starts import STARTS
from pellucid.cluster.soft_kmeans import SoftKMeans
from pellucid.core.cards import MethodCard
from pellucid.core.input_rules import InputRules
from pellucid.kinds.arrays import Numbers
from pellucid.kinds.collections import Items
from pellucid.kinds.plain import Live, OneOf, Real, Whole
from pellucid.kinds.usual import COUNT, NONNEGATIVE, POSITIVE, RANDOM_STATE
from pellucid.proofs.cluster.soft_kmeans import answers_of, prove_soft_kmeans

CARDS = (
    MethodCard(
        SoftKMeans,
        topics=("CLU-3",),
        prove=prove_soft_kmeans,
        asks=answers_of,
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
    ),
)
