"""Method card of k-medoids."""

from __future__ import annotations

from pellucid.cluster.agglomerative.distances import PAIR_METRICS
from pellucid.cluster.kmedoids.kmedoids import KMedoids
from pellucid.core.cards import WORK_DONE, MethodCard
from pellucid.core.input_rules import InputRules
from pellucid.kinds.arrays import Numbers
from pellucid.kinds.collections import Items
from pellucid.kinds.plain import Live, OneOf, Optional, Real, Whole
from pellucid.kinds.usual import A_LIST, COUNT, RANDOM_STATE
from pellucid.proofs.cluster.kmedoids import prove_kmedoids

CARDS = (
    MethodCard(
        KMedoids,
        topics=("CLU-2",),
        prove=prove_kmedoids,
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
    ),
)
