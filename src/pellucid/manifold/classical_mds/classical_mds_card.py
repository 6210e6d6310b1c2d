"""Method card of classical MDS."""

from __future__ import annotations

from pellucid.core.cards import MethodCard
from pellucid.core.input_rules import NO_TARGET
from pellucid.kinds.arrays import Numbers
from pellucid.manifold.classical_mds.classical_mds import ClassicalMDS
from pellucid.manifold.dissimilarities import DistanceRules, check_metric_name, is_given
from pellucid.manifold.manifold_kinds import COMPONENTS, METRIC, PLACES, ROWS, TABLE, WIDE
from pellucid.proofs.manifold.classical_mds import prove_classical_mds

CARDS = (
    MethodCard(
        ClassicalMDS,
        topics=("MAN-1",),
        prove=prove_classical_mds,
        workings="pellucid.manifold.classical_mds.classical_mds_workings:classical_mds_workings",
        parameters={"n_components": COMPONENTS, **METRIC},
        check=lambda estimator: check_metric_name(estimator.metric),
        attributes={
            "embedding_": PLACES,
            "eigenvalues_": Numbers(("n_components",), WIDE, low=0),
            "dissimilarity_matrix_": TABLE,
            "squared_means_": Numbers(("n_rows",), WIDE, low=0),
            "X_fit_": ROWS,
        },
        input=lambda estimator: DistanceRules(
            NO_TARGET, order="C", weights=False, fewest_rows=2, given=is_given(estimator.metric)
        ),
        variants=({"n_components": 3, "metric": "manhattan"},),
        squares=frozenset({"eigenvalues_", "squared_means_"}),
    ),
)
