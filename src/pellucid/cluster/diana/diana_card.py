"""Method card of divisive analysis."""

from __future__ import annotations

from pellucid.cluster.agglomerative.agglomerative_card import METRICS
from pellucid.cluster.diana.diana import Diana
from pellucid.core.cards import MethodCard
from pellucid.core.input_rules import InputRules
from pellucid.kinds.arrays import Numbers
from pellucid.kinds.plain import Live, OneOf, Real, Whole
from pellucid.proofs.cluster.diana import prove_diana

CARDS = (
    MethodCard(
        Diana,
        topics=("CLU-5",),
        prove=prove_diana,
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
    ),
)
