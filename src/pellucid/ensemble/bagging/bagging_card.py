"""Method cards of bagging."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from pellucid.core.cards import MethodCard
from pellucid.core.training_data import CLASSES, NUMBERS, InputRules, TrainingData
from pellucid.core.types import Data
from pellucid.ensemble.bagging.bagging import BaggingClassifier, BaggingRegressor
from pellucid.ensemble.bagging.bagging_members import fit_member, member_answers
from pellucid.ensemble.bagging.bagging_proof import prove_bagging
from pellucid.ensemble.bagging.bagging_samples import BagSamples
from pellucid.files.nesting import Model
from pellucid.kinds.arrays import WHOLES, Numbers
from pellucid.kinds.collections import Items
from pellucid.kinds.plain import Kind, Nothing, Optional, Real, Whole
from pellucid.kinds.usual import FLAG, LABELS, MAYBE_WHOLE, RANDOM_STATE, VERBOSE
from pellucid.tree.decision_tree.tree_parameters import Part

MOST_REFITTED = 5
MOST_ROWS = 500
"""Members that verify fits again, and rows that all of them are asked about."""


@dataclass(frozen=True)
class BagInput(InputRules):
    """Rows of any kind: the members decide what they take."""

    sparse: tuple[str, ...] = ("csr", "csc")
    dtypes: Any = None
    missing: bool = True

    def check(self, estimator: Any, X: Data, y: Data = None, *args: Any, **options: Any) -> TrainingData:
        """Return the training data; a target of one column is a row of numbers, with a word about it."""
        data = super().check(estimator, X, y, *args, **options)
        is_column = data.y.ndim == 2 and data.y.shape[1] == 1
        return replace(data, y=column_or_1d(data.y, warn=True)) if is_column else data

    def _options(self, *, reset: bool) -> dict[str, Any]:
        return super()._options(reset=reset) | {"ensure_all_finite": False}


def _check_out_of_bag(estimator: Any) -> None:
    if estimator.oob_score and not estimator.bootstrap:
        raise ValueError("oob_score must be False here: Out of bag estimation only available if bootstrap=True")
    if estimator.oob_score and estimator.warm_start:
        raise ValueError("oob_score must be False here: Out of bag estimate only available if warm_start=False")


def _said(model: Any, data: TrainingData) -> dict[str, Any]:
    """Return what members, some members fitted again, and the bag itself say about rows."""
    samples, n_classes, n = BagSamples.of(model, data), len(data.classes), data.X.shape[0]
    rng = np.random.default_rng(n)
    rows = np.arange(n) if n <= MOST_ROWS else np.sort(rng.choice(n, MOST_ROWS, replace=False))
    count = min(len(model.estimators_), len(model.seeds_))
    chosen = np.sort(rng.choice(count, min(MOST_REFITTED, count), replace=False))
    X = data.X[rows]
    pairs = zip(model.estimators_, model.estimators_features_, strict=False)
    refitted = {
        int(place): member_answers(
            fit_member(model._get_estimator(), samples, int(model.seeds_[place])),
            samples.columns(int(model.seeds_[place])),
            X,
            n_classes,
        )
        for place in chosen
    }
    return {
        "rows": rows,
        "member_answers": np.stack([member_answers(member, columns, X, n_classes) for member, columns in pairs]),
        "refitted": refitted,
        "bag_answers": model._mean_answers(X),
    }


PARAMETERS: dict[str, Kind] = {
    "estimator": Nothing() | Model(),
    "n_estimators": Whole(low=1),
    "max_samples": Nothing() | Whole(low=1) | Part(),
    "max_features": Whole(low=1) | Part(),
    "bootstrap": FLAG,
    "bootstrap_features": FLAG,
    "oob_score": FLAG,
    "warm_start": FLAG,
    "n_jobs": MAYBE_WHOLE,
    "random_state": RANDOM_STATE,
    "verbose": VERBOSE,
}
FITTED: dict[str, Kind | Optional] = {
    "estimators_": Items(Model()),
    "estimators_features_": Items(Numbers((None,), WHOLES, low=0)),
    "seeds_": Numbers((None,), ("int64",), low=0),
    "sample_order_": Numbers((None,), ("int32",), low=0),
    "draw_weight_": Nothing() | Numbers((None,), ("float64",)),
    "oob_score_": Optional(Real(finite=False)),
    "oob_rows_": Optional(Real()),
    "oob_deviation_": Optional(Real()),
}
SHARED: dict[str, Any] = {
    "topics": ("TRE-4",),
    "prove": prove_bagging,
    "parameters": PARAMETERS,
    "check": _check_out_of_bag,
    "asks": _said,
    "variants": (
        {"n_estimators": 25, "oob_score": True},
        {"n_estimators": 4, "max_features": 2, "bootstrap": False, "max_samples": 0.8},
    ),
    "tests": ("test_bagging",),
}

CARDS = (
    MethodCard(
        BaggingClassifier,
        **SHARED,
        input=BagInput(CLASSES),
        attributes={
            **FITTED,
            "classes_": LABELS,
            "n_classes_": Whole(low=1),
            "oob_decision_function_": Optional(Numbers((None, None))),
        },
    ),
    MethodCard(
        BaggingRegressor,
        **SHARED,
        input=BagInput(NUMBERS, several_targets=True),
        attributes={**FITTED, "oob_prediction_": Optional(Numbers((None,)) | Numbers((None, None)))},
    ),
)
