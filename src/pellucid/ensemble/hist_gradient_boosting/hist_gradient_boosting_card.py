"""Method cards of boosted trees."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from pellucid.core.cards import MethodCard, Trial
from pellucid.core.input_rules import CLASSES, NUMBERS
from pellucid.core.kinds.arrays import Numbers, Texts
from pellucid.core.kinds.collections import Items, Lookup
from pellucid.core.kinds.plain import Kind, Live, Nothing, Number, OneOf, Optional, Text, Whole
from pellucid.core.kinds.usual import (
    CLASS_WEIGHT,
    COUNT,
    FLAG,
    LABEL_DTYPES,
    LABELS,
    NONNEGATIVE,
    POSITIVE,
    RANDOM_STATE,
    VERBOSE,
)
from pellucid.core.types import Array, SparseOrDense
from pellucid.ensemble.hist_gradient_boosting.hist_gradient_boosting import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from pellucid.ensemble.hist_gradient_boosting.table_rules import TableRules
from pellucid.proofs.sampling import is_fitting
from pellucid.proofs.training_data import TrainingData
from pellucid.tree.tree_kinds import Trees

A_SEQUENCE = Live("a list", lambda value: np.iterable(value) and not isinstance(value, str), holds_many=True)

PARAMETERS: dict[str, Kind] = {
    "learning_rate": POSITIVE,
    "max_iter": Whole(low=1),
    "max_leaf_nodes": Nothing() | Whole(low=2),
    "max_depth": Nothing() | Whole(low=1),
    "min_samples_leaf": Whole(low=1),
    "l2_regularization": NONNEGATIVE,
    "max_features": Number(above=0, high=1, low=0),
    "max_bins": Whole(low=2, high=255),
    "categorical_features": OneOf(("from_dtype",)) | Nothing() | Items(FLAG | Whole() | Text()) | A_SEQUENCE,
    "monotonic_cst": Nothing() | Lookup(Whole(low=-1, high=1)) | Items(Whole(low=-1, high=1)) | A_SEQUENCE,
    "interaction_cst": Nothing() | OneOf(("pairwise", "no_interactions")) | Items(Items(Whole())) | A_SEQUENCE,
    "warm_start": FLAG,
    "early_stopping": OneOf(("auto",)) | FLAG,
    "scoring": Nothing() | Text() | Live("a function"),
    "validation_fraction": Nothing() | Number(above=0),
    "n_iter_no_change": Whole(low=1),
    "tol": NONNEGATIVE,
    "verbose": VERBOSE,
    "random_state": RANDOM_STATE,
}

ATTRIBUTES: dict[str, Kind | Optional] = {
    "trees_": Trees(),
    "baseline_": Numbers((None,), ("float64",)),
    "bin_thresholds_": Items(Numbers((None,), ("float64",)), "n_features"),
    "categories_": Nothing() | Items(Nothing() | Numbers((None,), LABEL_DTYPES) | Texts(), "n_features"),
    "is_categorical_": Nothing() | Numbers(("n_features",), ("bool",)),
    "do_early_stopping_": FLAG,
    "held_out_": OneOf(("none", "split", "given")),
    "random_seeds_": Numbers((2,), ("int64",), low=0),
    "n_trees_per_iteration_": COUNT,
    "n_iter_": COUNT,
    "train_score_": Numbers((None,), ("float64",)),
    "validation_score_": Numbers((None,), ("float64",)),
}


def _asked(model: Any, data: TrainingData) -> dict[str, Any]:
    """Return the names of the columns, by which constraints may be given, and a scorer where one was given."""
    asked = {"feature_names": getattr(model, "feature_names_in_", ())}
    if model.scoring in (None, "loss") or is_fitting():
        return asked
    return {**asked, "scorer": partial(_scored, model, data.classes)}


def _scored(model: Any, classes: Array, raw: Array, X: Array, y: Array, weight: Array | None) -> float:
    """Return what the scorer of a model says about raw predictions of rows."""
    from sklearn.metrics import get_scorer

    scorer = model.scoring if callable(model.scoring) else get_scorer(model.scoring)
    weights = {} if weight is None else {"sample_weight": weight}
    if len(classes):
        return float(scorer(_ReplayedClasses(classes, raw), X, classes[y.astype(np.intp)], **weights))
    return float(scorer(_ReplayedNumbers(model.loss, raw), X, y, **weights))


class _ReplayedNumbers(RegressorMixin, BaseEstimator):
    """A model that says about its rows what was replayed."""

    def __init__(self, loss: str, raw: Array) -> None:
        self.loss, self.raw = loss, raw

    def predict(self, X: SparseOrDense) -> Array:
        """Return the replayed numbers."""
        return np.asarray(np.exp(self.raw[0]) if self.loss in ("poisson", "gamma") else self.raw[0])


class _ReplayedClasses(ClassifierMixin, BaseEstimator):
    """The same for classes."""

    def __init__(self, classes: Array, raw: Array) -> None:
        self.classes, self.raw = classes, raw

    @property
    def classes_(self) -> Array:
        """The labels."""
        return np.asarray(self.classes)

    def decision_function(self, X: SparseOrDense) -> Array:
        """Return the replayed scores."""
        return self.raw[0] if len(self.raw) == 1 else np.ascontiguousarray(self.raw.T)

    def predict_proba(self, X: SparseOrDense) -> Array:
        """Return what the scores stand for."""
        scores = self.decision_function(X)
        if scores.ndim == 2:
            return np.asarray(softmax(scores, axis=1))
        return np.stack([expit(-scores), expit(scores)], axis=1)[:, : len(self.classes_)]

    def predict(self, X: SparseOrDense) -> Array:
        """Return the likeliest class, the first of equal ones."""
        scores = self.decision_function(X)
        codes = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)
        return np.asarray(self.classes_[np.minimum(codes, len(self.classes_) - 1)])


UNPROVED = {
    "random_seeds_": "where rows and features are drawn from; claims about scores and splits notice what they change",
}

SMALL = {"min_samples_leaf": 3, "max_iter": 5}
STOPPED = {**SMALL, "max_iter": 12, "early_stopping": True}
"""Rounds enough to stop before they are all done."""

MEANING = (
    "each question of each tree was the best at its place, given all before it; that is no promise that "
    "the trees together are the best possible"
)

CARDS = (
    MethodCard(
        HistGradientBoostingClassifier,
        topics=("TRE-6",),
        onnx="pellucid.ensemble.ensembles_in_onnx:boosted_classifier",
        asks=_asked,
        workings="pellucid.ensemble.hist_gradient_boosting.boosting_workings:boosting_workings",
        parameters={"loss": OneOf(("log_loss",)), **PARAMETERS, "class_weight": CLASS_WEIGHT},
        attributes={"classes_": LABELS, **ATTRIBUTES},
        input=TableRules(CLASSES),
        variants=(SMALL, {**STOPPED, "class_weight": "balanced", "max_features": 0.5}),
        unproved=UNPROVED,
        tests=("test_hist_gradient_boosting",),
        trial=Trial(
            settings={"max_iter": 20},
            repeating={"min_samples_leaf": 1},  # repeated rows meet a limit sooner
        ),
        meaning=MEANING,
        take_for="tables of many rows and columns of any kind, gaps included, where the least error counts",
        references=(
            ("Friedman, Greedy function approximation: a gradient boosting machine, Annals of Statistics 29 (2001)"),
            "Ke and others, LightGBM: a highly efficient gradient boosting decision tree, NIPS 2017",
        ),
    ),
    MethodCard(
        HistGradientBoostingRegressor,
        topics=("TRE-6",),
        onnx="pellucid.ensemble.ensembles_in_onnx:boosted_regressor",
        asks=_asked,
        workings="pellucid.ensemble.hist_gradient_boosting.boosting_workings:boosting_workings",
        parameters={
            "loss": OneOf(("squared_error", "absolute_error", "gamma", "poisson", "quantile")),
            "quantile": Nothing() | Number(low=0, high=1),
            **PARAMETERS,
        },
        attributes=ATTRIBUTES,
        input=TableRules(NUMBERS),
        variants=(
            SMALL,
            {**STOPPED, "loss": "absolute_error"},
            {**SMALL, "loss": "quantile", "quantile": 0.3, "monotonic_cst": [1, 0, 0, -1]},
            {**SMALL, "l2_regularization": 0.5, "interaction_cst": "no_interactions", "max_bins": 6},
        ),
        unproved=UNPROVED,
        tests=("test_hist_gradient_boosting",),
        trial=Trial(settings={"max_iter": 20}),
        meaning=MEANING,
        take_for="tables of many rows and columns of any kind, gaps included, where the least error counts",
        references=(
            ("Friedman, Greedy function approximation: a gradient boosting machine, Annals of Statistics 29 (2001)"),
            "Ke and others, LightGBM: a highly efficient gradient boosting decision tree, NIPS 2017",
        ),
    ),
)
