"""Proof of a ridge classifier: that of ridge regression on the signs of its classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pellucid.core.certificate import Certificate
from pellucid.core.training_data import TrainingData
from pellucid.linear_model.least_squares.least_squares_proof import prove_ridge


def prove_ridge_classifier(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate; ``data.y`` has a column of 0 and 1 for each class, one for two classes."""
    return prove_ridge(fitted, parameters, replace(data, y=2.0 * data.y - 1.0))
