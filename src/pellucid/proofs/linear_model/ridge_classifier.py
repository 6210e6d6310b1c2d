"""Proof of a ridge classifier: that of ridge regression on the signs of its classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pellucid.core.label_sets import is_multilabel
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.linear_model.least_squares import prove_ridge
from pellucid.proofs.training_data import TrainingData


def prove_ridge_classifier(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate; ``data.y`` has a column of 0 and 1 for each class, one for two classes."""
    certificate = prove_ridge(fitted, parameters, replace(data, y=2.0 * data.y - 1.0))
    wrong = float(fitted.multilabel_ != is_multilabel(data) or len(fitted.classes_) != len(data.classes))
    return certificate.with_claims(Claim("labels", "1 if the model takes one label for several, or more", wrong, 0.0))
