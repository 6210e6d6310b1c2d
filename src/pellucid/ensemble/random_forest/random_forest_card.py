"""Method cards of the random forests."""

from __future__ import annotations

from typing import Any

from pellucid.core.cards import MethodCard, Trial
from pellucid.core.kinds.arrays import Numbers
from pellucid.core.kinds.plain import Kind, Live, Nothing, Number, OneOf, Optional, Real, Whole
from pellucid.core.kinds.usual import FLAG, MAYBE_WHOLE, VERBOSE
from pellucid.ensemble.random_forest.random_forest import RandomForestClassifier, RandomForestRegressor
from pellucid.tree.decision_tree.growth_rules import CLASS_CRITERIA, NUMBER_CRITERIA
from pellucid.tree.decision_tree.tree_data import rules_for_blocks
from pellucid.tree.tree_kinds import GROWN, GROWTH, LABELED, SEVERAL_CLASS_WEIGHTS


def check_samples(estimator: Any) -> None:
    """Refuse what has a meaning only with samples."""
    if not estimator.bootstrap and estimator.max_samples is not None:
        raise ValueError(
            f"max_samples must be None with bootstrap=False, got {estimator.max_samples!r}. (`max_sample` cannot be "
            "set if `bootstrap=False`. Either switch to `bootstrap=True` or set `max_sample=None`.)"
        )
    if not estimator.bootstrap and estimator.oob_score:
        raise ValueError(
            "oob_score must be False with bootstrap=False, as every tree sees all rows: Out of bag estimation only "
            "available if bootstrap=True"
        )


SAMPLED: dict[str, Kind] = {
    "n_estimators": Whole(low=1),
    **GROWTH,
    "bootstrap": FLAG,
    "oob_score": FLAG | Live("a function of answers"),
    "n_jobs": MAYBE_WHOLE,
    "verbose": VERBOSE,
    "warm_start": FLAG,
    "max_samples": Nothing() | Whole(low=1) | Number(above=0),
}
FITTED: dict[str, Kind | Optional] = {
    **GROWN,
    "seeds_": Numbers((None,), ("int64",), low=0),
    "sample_order_": Nothing() | Numbers((None,), ("int32",), low=0),
    "draw_weight_": Nothing() | Numbers((None,), ("float64",)),
    "oob_score_": Optional(Real(finite=False)),
    "oob_rows_": Optional(Real()),
    "oob_deviation_": Optional(Real()),
}
SHARED: dict[str, Any] = {
    "topics": ("TRE-5",),
    "workings": "pellucid.ensemble.out_of_bag_workings:out_of_bag_workings",
    "check": check_samples,
    "input": rules_for_blocks,
    "tests": ("test_random_forest",),
}

MEANING = (
    "each question of the trees checked was the best at its place for the rows its tree drew; that is no "
    "promise about the forest as a whole"
)

CARDS = (
    MethodCard(
        RandomForestClassifier,
        onnx="pellucid.tree.trees_in_onnx:classifier",
        **SHARED,
        parameters={
            **SAMPLED,
            "criterion": OneOf(CLASS_CRITERIA),
            "class_weight": SEVERAL_CLASS_WEIGHTS | OneOf(("balanced_subsample",)),
        },
        attributes={
            **FITTED,
            **LABELED,
            "oob_decision_function_": Optional(Numbers((None, None)) | Numbers((None, None, None))),
        },
        variants=(
            {"n_estimators": 25, "oob_score": True, "class_weight": "balanced_subsample", "max_features": None},
            {"n_estimators": 5, "bootstrap": False, "criterion": "entropy", "max_depth": 2},
        ),
        trial=Trial(
            settings={"n_estimators": 10},
            repeating=None,
            by_hand={"n_estimators": 5, "random_state": 0},
        ),
        meaning=MEANING,
        take_for="a good answer without tuning, with an error estimate from the rows left out",
        references=("Breiman, Random forests, Machine Learning 45 (2001)",),
    ),
    MethodCard(
        RandomForestRegressor,
        onnx="pellucid.tree.trees_in_onnx:regressor",
        **SHARED,
        parameters={**SAMPLED, "criterion": OneOf(NUMBER_CRITERIA)},
        attributes={**FITTED, "oob_prediction_": Optional(Numbers((None,)) | Numbers((None, None)))},
        variants=({"n_estimators": 25, "oob_score": True, "max_features": 2, "max_samples": 0.7},),
        trial=Trial(
            settings={"n_estimators": 10},
            by_hand={"n_estimators": 5, "random_state": 0},
        ),
        meaning=MEANING,
        take_for="a good answer without tuning, with an error estimate from the rows left out",
        references=("Breiman, Random forests, Machine Learning 45 (2001)",),
    ),
)
