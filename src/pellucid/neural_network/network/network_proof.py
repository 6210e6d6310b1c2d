"""What can be said of a trained network: recomputed from its weights and the data in float64."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.public_names import needs_extra
from pellucid.core.random_state import some_rows
from pellucid.core.scale.table_in_blocks import read_rows
from pellucid.core.types import SparseOrDense
from pellucid.neural_network.network.evaluation import stored_module
from pellucid.neural_network.network.measured_scores import LOSSES, SCORES, ScoreLoss, answer_kind
from pellucid.proofs.arrays import Array, dense
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import rounding_unit
from pellucid.proofs.sampling import draws
from pellucid.proofs.training_data import TrainingData, digest

MOST_ROWS = 256
"""Training rows that the stored objective and gradient are about, which are always the same."""

STEPS = (1e-5, 1e-6, 1e-7)
"""By how much of its size a step changes the objective, or the weights where that is less."""

NOISE = 1e-12
"""Relative error of the difference of two values of the objective, computed one after the other in float64."""

ROUNDED = 100
"""How many times its precision a score may be off after many layers."""

SLACK = 1e-9
"""Relative error that float64 may have on other machines, through some hundred layers."""

REASON = (
    "The loss of a network has many minima: nothing is said about the best one. That these weights are what the "
    "training led to is not proved either: objective, gradient and checksum are compared with what the model itself "
    "carries, which finds damage, but nobody who changes both."
)
REFIT = "Fit the model again."


def prove_network(fitted: Any, _parameters: Any, data: TrainingData) -> Certificate:
    """Recompute objective, gradient, a slope by differences, and the score that chose the epoch."""
    with needs_extra("verify"):
        import torch  # noqa: F401  (said here, if it is missing)
    is_same = (
        fitted.weights_digest_ == digest(fitted.weights_.values(), repr((fitted.architecture_, *fitted.weights_)))
        and fitted.has_network
        and _labels_agree(fitted, data)
    )
    module = _in_double(fitted.architecture_, fitted.weights_) if is_same else None
    statement = "1 if the weights are not those of the checksum that the model carries, or do not fit the network"
    stored = Claim("weights", statement, float(module is None), 0.0, REFIT)
    if module is None:
        return Certificate("none", (stored,), REASON)
    places = some_rows(data.X.shape[0], MOST_ROWS)
    rows = read_rows(data.X[places])
    measured = MeasuredNetwork(module, rows, data.y[places], data.weights[places], LOSSES[answer_kind(data)])
    claims = [stored, *measured.claims(fitted)]
    if getattr(fitted, "validation_rows_", None) is not None:
        claims.append(_best_epoch(fitted, module, data))
    return Certificate("none", tuple(claims), REASON)


class MeasuredNetwork:
    """A network in float64 on some rows."""

    def __init__(self, module: Any, X: SparseOrDense, targets: Array, weight: Array, loss: ScoreLoss) -> None:
        self.module, self.X, self.loss = module, dense(X), loss
        self.targets, self.share = targets, weight / weight.sum()
        self.weights = list(module.parameters())

    def claims(self, fitted: Any) -> tuple[Claim, ...]:
        """Return what the stored numbers claim."""
        import torch

        scores = _scores(self.module, self.X)
        value, slopes = self._value(scores), torch.from_numpy(self._slopes(scores))
        answers = self.module(torch.from_numpy(np.array(self.X, dtype=np.float64)))
        slopes = slopes.reshape(answers.shape)
        found = torch.autograd.grad(answers, self.weights, grad_outputs=slopes, allow_unused=True)
        gradient = [torch.zeros_like(own) if one is None else one for one, own in zip(found, self.weights, strict=True)]
        norm = float(np.sqrt(sum(float(one.square().sum()) for one in gradient)))
        scale = 1.0 + abs(value) + float(np.abs(scores).mean())
        about = f"difference to the objective that the model carries, of {len(self.X)} training rows"
        size = f"difference to the size of its gradient that the model carries, {fitted.gradient_norm_:.3g}"
        return (
            Claim("objective", about, abs(value - fitted.objective_), SLACK * scale, REFIT),
            Claim("gradient", size, abs(norm - fitted.gradient_norm_), SLACK * (1e3 * norm + scale), REFIT),
            self._against_differences(gradient, norm, scale),
        )

    def _value(self, scores: Array) -> float:
        return float(self.share @ self.loss(scores, self.targets)[0])

    def _slopes(self, scores: Array) -> Array:
        """Return the gradient of the objective with respect to the scores."""
        return np.asarray(self.share[:, None] * self.loss(scores, self.targets)[1])

    def _against_differences(self, gradient: list[Any], norm: float, scale: float) -> Claim:
        """Return the claim that the backward pass gives the slope of the objective, seen by central differences.

        They are taken along the gradient, whose own slope is its size: a wrong one has another, unless its error is at
        right angles to it. Where it is 0, random signs are the direction. Steps that cross kinks change the difference;
        smaller ones do so less, so the best of a few is taken.
        """
        along = gradient if norm else _random_signs(gradient)
        length = norm or float(np.sqrt(sum(one.numel() for one in along)))
        size = float(np.sqrt(sum(float(own.detach().square().sum()) for own in self.weights)))
        errors = []
        for share in STEPS:
            step = share * min(scale / norm if norm else np.inf, 1.0 + size)
            above, below = (self._moved(along, sign * step / length) for sign in (1.0, -1.0))
            bound = 1e-3 * (norm + 1e-3 * scale) + NOISE * scale / step
            errors.append(abs((above - below) / (2 * step) - norm) / bound)
        statement = "error of the size of the gradient, seen by differences along it, in units of what they can tell"
        return Claim("backward pass", statement, float(np.fmin.reduce(errors)), 1.0, REFIT)

    def _moved(self, along: list[Any], step: float) -> float:
        """Return the objective after a step; the weights go back."""
        import torch

        with torch.no_grad():
            before = [own.clone() for own in self.weights]
            for own, direction in zip(self.weights, along, strict=True):
                own += step * direction
            try:
                return self._value(_scores(self.module, self.X))
            finally:
                for own, old in zip(self.weights, before, strict=True):
                    own.copy_(old)


def _random_signs(like: list[Any]) -> list[Any]:
    import torch

    random = draws()
    return [torch.from_numpy(random.choice([-1.0, 1.0], tuple(one.shape))) for one in like]


def _scores(module: Any, X: Array) -> Array:
    import torch

    with torch.no_grad():
        return np.asarray(module(torch.from_numpy(np.array(X, dtype=np.float64))).numpy())


def _in_double(architecture: Any, weights: Any) -> Any:
    """Return the network in float64, in test mode; None if the weights are not those of the architecture."""
    try:
        return stored_module(architecture, weights).double().requires_grad_()
    except (ValueError, RuntimeError):
        return None


def _labels_agree(fitted: Any, data: TrainingData) -> bool:
    if len(data.classes):
        return fitted.out_activation_ == answer_kind(data) and np.array_equal(fitted.classes_, data.classes)
    return bool(fitted.targets_ == (0 if data.y.ndim == 1 else data.y.shape[1]))


def _best_epoch(fitted: Any, module: Any, data: TrainingData) -> Claim:
    """Return the claim that the stored weights have the score of the best epoch, on the rows held out."""
    places = data.places(np.asarray(fitted.validation_rows_))
    scores, weight = _scores(module, dense(data.X[places])), data.weights[places]
    unit = ROUNDED * rounding_unit(data.X.dtype if parameters_in_double(fitted) else np.float32)
    score, doubt = SCORES[answer_kind(data)](scores, data.y[places], weight / weight.sum(), unit)
    statement = "difference of the stored weights' score on the rows held out to that of the best epoch"
    difference = abs(float(score) - fitted.best_validation_score_)
    return Claim("best epoch", statement, difference, float(doubt) + 1e-12, REFIT)


def parameters_in_double(fitted: Any) -> bool:
    """Return whether the network was trained in float64."""
    return any(weight.dtype == np.float64 for weight in fitted.weights_.values())
