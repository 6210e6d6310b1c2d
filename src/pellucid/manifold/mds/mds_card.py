"""Method card of MDS."""

from __future__ import annotations

from pellucid.core.cards import WORK_DONE, MethodCard
from pellucid.core.input_rules import NO_TARGET
from pellucid.kinds.plain import OneOf, Real, Whole
from pellucid.kinds.usual import COUNT, FLAG, MAYBE_WHOLE, NONNEGATIVE, RANDOM_STATE, VERBOSE
from pellucid.manifold.dissimilarities import DistanceRules, check_metric_name, is_given
from pellucid.manifold.manifold_kinds import COMPONENTS, METRIC, PLACES, ROWS, TABLE
from pellucid.manifold.mds.mds import DEPRECATED, MDS, metric_name
from pellucid.proofs.manifold.stress import prove_mds

CARDS = (
    MethodCard(
        MDS,
        topics=("MAN-1",),
        prove=prove_mds,
        parameters={
            "n_components": COMPONENTS,
            "metric_mds": FLAG,
            "n_init": Whole(low=1),
            "init": OneOf(("random", "classical_mds")),
            "max_iter": Whole(low=1),
            "verbose": VERBOSE,
            "eps": NONNEGATIVE,
            "n_jobs": MAYBE_WHOLE,
            "random_state": RANDOM_STATE,
            "dissimilarity": OneOf((DEPRECATED, "euclidean", "precomputed")),
            **METRIC | {"metric": FLAG | METRIC["metric"]},
            "normalized_stress": FLAG | OneOf(("auto",)),
        },
        check=lambda estimator: check_metric_name(metric_name(estimator)),
        attributes={
            "embedding_": PLACES,
            "stress_": Real(),
            "dissimilarity_matrix_": TABLE,
            "n_iter_": COUNT,
            "X_fit_": ROWS,
        },
        input=lambda estimator: DistanceRules(
            NO_TARGET, order="C", weights=False, fewest_rows=2, given=is_given(metric_name(estimator))
        ),
        variants=(
            {"metric_mds": False, "max_iter": 2000},
            {"init": "classical_mds", "n_components": 3, "max_iter": 1000},
        ),
        squares=frozenset({"stress_"}),
        unproved={"n_iter_": WORK_DONE},
    ),
)
