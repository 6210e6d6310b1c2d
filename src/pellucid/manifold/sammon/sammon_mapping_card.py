"""Method card of Sammon mapping."""

from __future__ import annotations

from pellucid.core.cards import WORK_DONE, MethodCard
from pellucid.core.input_rules import NO_TARGET
from pellucid.kinds.plain import OneOf, Real, Whole
from pellucid.kinds.usual import COUNT, NONNEGATIVE, RANDOM_STATE
from pellucid.manifold.dissimilarities import DistanceRules, check_metric_name, is_given
from pellucid.manifold.manifold_kinds import COMPONENTS, METRIC, PLACES, ROWS, TABLE
from pellucid.manifold.sammon.sammon_mapping import WEIGHTINGS, SammonMapping
from pellucid.proofs.manifold.stress import prove_sammon_mapping

CARDS = (
    MethodCard(
        SammonMapping,
        topics=("MAN-1",),
        prove=prove_sammon_mapping,
        workings="pellucid.manifold.sammon.sammon_mapping_workings:sammon_mapping_workings",
        parameters={
            "n_components": COMPONENTS,
            "weighting": OneOf(WEIGHTINGS),
            **METRIC,
            "init": OneOf(("classical_mds", "random")),
            "max_iter": Whole(low=1),
            "tol": NONNEGATIVE,
            "random_state": RANDOM_STATE,
        },
        check=lambda estimator: check_metric_name(estimator.metric),
        attributes={
            "embedding_": PLACES,
            "stress_": Real(),
            "dissimilarity_matrix_": TABLE,
            "n_iter_": COUNT,
            "X_fit_": ROWS,
        },
        input=lambda estimator: DistanceRules(
            NO_TARGET, order="C", weights=False, fewest_rows=2, given=is_given(estimator.metric)
        ),
        variants=({"weighting": "inverse_square", "n_components": 3},),
        unproved={"n_iter_": WORK_DONE},
    ),
)
