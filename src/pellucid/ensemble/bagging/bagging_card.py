"""Method cards of bagging."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import column_or_1d

from pellucid.core.cards import MethodCard, Trial, card_of
from pellucid.core.estimator import CertifiedEstimator, parameter_texts
from pellucid.core.files.registry import Model
from pellucid.core.input_rules import CLASSES, NUMBERS, InputRules
from pellucid.core.kinds.arrays import WHOLES, Numbers
from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import Kind, Nothing, Optional, Real, Whole
from pellucid.core.kinds.usual import FLAG, LABELS, MAYBE_WHOLE, RANDOM_STATE, VERBOSE
from pellucid.core.types import Data, SparseOrDense
from pellucid.ensemble.bagging.bagging import BaggingClassifier, BaggingRegressor
from pellucid.ensemble.bagging.bagging_members import (
    BagSamples,
    fit_member,
    member_answers,
    proof_of_member,
    with_seeds,
)
from pellucid.ensemble.member_check import check_members
from pellucid.proofs.sampling import drawn, draws, is_fitting
from pellucid.proofs.training_data import TrainingData
from pellucid.tree.tree_kinds import Part

FEWEST_PROVED = 5
MOST_VALUES = 1e6
"""Members that verify looks at, beside the first and the last: at least so many, more where they are small."""
MOST_ROWS = 500
"""Rows that all members are asked about."""


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
    """Return what is wrong with members, and what all of them and the bag itself say about rows.

    A member of ours is proved by its own proof on its own sample; another one is fitted again, and must say the same,
    also about points between the rows.
    """
    if is_fitting():  # which claims no more than that samples follow from seeds
        return {}
    check_members(model.estimators_)
    samples, n_classes, n = BagSamples.of(model, data), len(data.classes), data.X.shape[0]
    count = min(len(model.estimators_), len(model.seeds_), len(model.estimators_features_))
    most = max(FEWEST_PROVED, int(MOST_VALUES // max(1, n * samples.n_columns)))
    looked_at = drawn(count, most, always=[0, count - 1])
    rows = drawn(n, MOST_ROWS)
    X = data.X[rows]
    faults = {int(place): fault for place in looked_at if (fault := _fault(model, samples, int(place), X))}
    pairs = zip(model.estimators_, model.estimators_features_, strict=False)
    return {
        "rows": rows,
        "member_answers": np.stack([member_answers(member, columns, X, n_classes) for member, columns in pairs]),
        "n_looked_at": len(looked_at),
        "faults": faults,
        "bag_answers": model._mean_answers(X),
    }


def _fault(model: Any, samples: BagSamples, place: int, X: SparseOrDense) -> str:
    """Return what is wrong with a member; nothing if it is what was asked for, and right about its sample."""
    member, seed = model.estimators_[place], int(model.seeds_[place])
    wanted = with_seeds(clone(model._get_estimator()), seed)
    if type(member) is not type(wanted):
        return f"{type(member).__name__} instead of {type(wanted).__name__}"
    if isinstance(member, CertifiedEstimator):
        kinds = card_of(type(member)).parameters
        if parameter_texts(member, kinds) != parameter_texts(wanted, kinds):
            return "other parameters"
        found = proof_of_member(member, samples, seed)
        if found.holds:
            return ""
    again, columns, n_classes = fit_member(wanted, samples, seed), samples.columns(seed), len(samples.data.classes)
    if isinstance(member, CertifiedEstimator):  # what does not hold of an honest fit is no fault of this one
        honest = {claim.name for claim in proof_of_member(again, samples, seed).failed}
        if broken := {claim.name for claim in found.failed} - honest:
            return ", ".join(sorted(broken))
    asked = [X] if sparse.issparse(X) or X.dtype.kind != "f" else [X, _points_between(X)]
    for rows in asked:
        said, right = (member_answers(one, columns, rows, n_classes) for one in (member, again))
        size = max(1.0, float(np.abs(right).max(initial=0.0)))
        if said.shape != right.shape or not float(np.max(np.abs(said - right))) <= 1e-6 * size:
            return "another answer than when fitted again"
    return ""


def _points_between(X: SparseOrDense) -> Any:
    """Return points drawn between pairs of rows: a threshold may have moved where no row lies."""
    first, second = (X[draws().permutation(len(X))] for _ in range(2))
    return (first + draws().random((len(X), 1)) * (second - first)).astype(X.dtype)


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
        onnx="pellucid.ensemble.ensembles_in_onnx:bagging_classifier",
        **SHARED,
        input=BagInput(CLASSES),
        attributes={
            **FITTED,
            "classes_": LABELS,
            "n_classes_": Whole(low=1),
            "oob_decision_function_": Optional(Numbers((None, None))),
        },
        trial=Trial(
            settings={"n_estimators": 4},
            needs_library="its members are models of any kind",
        ),
        take_for="a classifier that changes much with its rows, and an error estimate from the rows left out",
        references=("Breiman, Bagging predictors, Machine Learning 24 (1996)",),
    ),
    MethodCard(
        BaggingRegressor,
        onnx="pellucid.ensemble.ensembles_in_onnx:bagging_regressor",
        **SHARED,
        input=BagInput(NUMBERS, several_targets=True),
        attributes={**FITTED, "oob_prediction_": Optional(Numbers((None,)) | Numbers((None, None)))},
        trial=Trial(
            settings={"n_estimators": 4},
            needs_library="its members are models of any kind",
        ),
        take_for="a regression that changes much with its rows, and an error estimate from the rows left out",
        references=("Breiman, Bagging predictors, Machine Learning 24 (1996)",),
    ),
)
