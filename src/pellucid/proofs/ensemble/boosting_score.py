"""The scores by which boosting stops early, found again from the replayed predictions of every round."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import resample

from pellucid.ensemble.hist_gradient_boosting.boosting_rules import MANY_ROWS
from pellucid.proofs.arrays import Array
from pellucid.proofs.ensemble.boosting_node import Setting


class _Numbers(RegressorMixin, BaseEstimator):
    """A model that says about its rows what was replayed."""

    def __init__(self, loss: str = "squared_error", raw: Array | None = None) -> None:
        self.loss, self.raw = loss, raw

    def predict(self, X: Any) -> Array:
        """Return the replayed numbers."""
        assert self.raw is not None
        return np.asarray(np.exp(self.raw[0]) if self.loss in ("poisson", "gamma") else self.raw[0])


class _Classes(ClassifierMixin, BaseEstimator):
    """The same for classes."""

    def __init__(self, classes: Array | None = None, raw: Array | None = None) -> None:
        self.classes, self.raw = classes, raw

    @property
    def classes_(self) -> Array:
        """The labels."""
        return np.asarray(self.classes)

    def decision_function(self, X: Any) -> Array:
        """Return the replayed scores."""
        assert self.raw is not None
        return self.raw[0] if len(self.raw) == 1 else np.ascontiguousarray(self.raw.T)

    def predict_proba(self, X: Any) -> Array:
        """Return what the scores stand for."""
        scores = self.decision_function(X)
        if scores.ndim == 2:
            return np.asarray(softmax(scores, axis=1))
        return np.stack([expit(-scores), expit(scores)], axis=1)[:, : len(self.classes_)]

    def predict(self, X: Any) -> Array:
        """Return the likeliest class, the first of equal ones."""
        scores = self.decision_function(X)
        codes = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)
        return np.asarray(self.classes_[np.minimum(codes, len(self.classes_) - 1)])


@dataclass
class ScoresAgain:
    """The scores of training rows, or of some if they are many, and of rows held out, round by round."""

    setting: Setting
    scorer: Any
    classes: Array
    few: Array
    train: list[float] = field(default_factory=list)
    held_out: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, setting: Setting, scoring: Any, classes: Array, seed: int) -> ScoresAgain:
        """Prepare to score: no name stands for accuracy of classes and R squared of numbers."""
        from sklearn.metrics import get_scorer

        usual = "accuracy" if len(classes) else "r2"
        scorer = scoring if callable(scoring) else get_scorer(usual if scoring is None else scoring)
        few = np.arange(len(setting.y))
        if len(few) > MANY_ROWS:
            stratify = setting.y if len(classes) else None
            few = resample(few, n_samples=MANY_ROWS, replace=False, random_state=seed, stratify=stratify)
        return cls(setting, scorer, classes, few)

    def note(self, raw: Array, held: Array | None) -> None:
        """Write down the scores at these predictions."""
        s, few = self.setting, self.few
        self.train.append(self._score(s.X[few], s.y[few], s.weight[few], raw[:, few]))
        if held is not None and s.held_out is not None:
            self.held_out.append(self._score(*s.held_out, held))

    def _score(self, X: Array, y: Array, weight: Array, raw: Array) -> float:
        weights = {"sample_weight": weight} if self.setting.is_weighted else {}
        if len(self.classes):
            return float(self.scorer(_Classes(self.classes, raw), X, self.classes[y.astype(np.intp)], **weights))
        return float(self.scorer(_Numbers(self.setting.loss, raw), X, y, **weights))
