"""Method card of k-medians."""

from __future__ import annotations

from pellucid.cluster.kmeans.kmeans_starts import STARTS

from pellucid.cluster.kmeans.kmeans_card import CENTERS
from pellucid.cluster.kmedians import KMedians
from pellucid.core.cards import WORK_DONE, MethodCard
from pellucid.core.input_rules import InputRules
from pellucid.kinds.arrays import Numbers
from pellucid.kinds.plain import Live, OneOf, Real, Whole
from pellucid.kinds.usual import COUNT, RANDOM_STATE
from pellucid.proofs.cluster.kmedians import prove_kmedians

CARDS = (
    MethodCard(
        KMedians,
        topics=("CLU-2",),
        prove=prove_kmedians,
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
    ),
)
