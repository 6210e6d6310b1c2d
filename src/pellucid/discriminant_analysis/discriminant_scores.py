"""From scores of classes to labels and probabilities."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.special import log_softmax

from pellucid.core.types import Array, Data


class DiscriminantScores(ABC):
    """Predicts from one score per class, the log posterior up to a constant of the row."""

    classes_: Array

    @abstractmethod
    def _class_scores(self, X: Data) -> Array:
        """Return the scores, of shape (n_samples, n_classes)."""

    def decision_function(self, X: Data) -> Array:
        """Return the log odds of the second class if there are two, else the scores of all classes."""
        scores = self._class_scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Data) -> Array:
        """Return the label of the largest score; of tied scores, the first in ``classes_``."""
        best = np.argmax(self._class_scores(X), axis=1)
        return self.classes_[best]

    def predict_log_proba(self, X: Data) -> Array:
        """Return the log posterior of each class."""
        return np.asarray(log_softmax(self._class_scores(X), axis=1))

    def predict_proba(self, X: Data) -> Array:
        """Return the posterior of each class."""
        return np.exp(self.predict_log_proba(X))
