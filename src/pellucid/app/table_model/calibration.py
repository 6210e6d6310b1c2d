r"""How scores of classes become probabilities: as they are, by a temperature, by Platt's offsets, or by steps.

Each way has more freedom than the one before: :math:`\text{softmax}(s)`, :math:`\text{softmax}(\beta s)`,
:math:`\text{softmax}(\beta s + b)` with an offset for each class, and, of two classes, any probability that rises with
the score (isotonic). Rows held out decide: dealt into parts, they say how well a way that the others chose fits each.
A way is taken if it is better than all simpler ones by more than a standard error; a temperature, which is one number,
if it is better at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import optimize
from scipy.special import log_softmax, softmax

from pellucid.app.table_model.class_scores import LEAST_PROBABILITY, HeldOutScores, best_inverse_temperature
from pellucid.core.types import Array

NONE, TEMPERATURE, PLATT, ISOTONIC = "none", "temperature", "Platt", "isotonic"
KINDS = (NONE, TEMPERATURE, PLATT, ISOTONIC)
N_PARTS = 5
FEWEST_FOR_STEPS = 1000
"""Rows that steps need: each is the share of a class among few of them."""


def _nothing() -> Array:
    return np.empty(0)


@dataclass(frozen=True)
class Calibration:
    """One of the ways, and its numbers."""

    kind: str = NONE
    inverse_temperature: float = 1.0
    """1 leaves probabilities as they are, more makes them bolder, less more cautious."""
    offsets: Array = field(default_factory=_nothing)
    """Of Platt: what is added to the scores of each class, in all 0."""
    scores: Array = field(default_factory=_nothing)
    chances: Array = field(default_factory=_nothing)
    """Of steps: scores of the second class over the first, rising, and its probability there; between them a line."""

    @property
    def keeps_order(self) -> bool:
        """Whether the class with the largest score also has the largest probability."""
        return self.kind in (NONE, TEMPERATURE)

    def probabilities(self, scores: Array) -> Array:
        """Return the probabilities that scores of all classes stand for.

        Examples
        --------
        >>> Calibration(TEMPERATURE, 0.5).probabilities(np.log([[0.8, 0.2]])).round(3)
        array([[0.667, 0.333]])
        """
        if self.kind == ISOTONIC:
            second = np.interp(scores[:, 1] - scores[:, 0], self.scores, self.chances)
            return np.column_stack([1.0 - second, second])
        moved = self.inverse_temperature * scores
        return np.asarray(softmax(moved + self.offsets if self.kind == PLATT else moved, axis=1))


def best_calibration(held_out: HeldOutScores) -> Calibration:
    """Return the way that rows held out are for."""
    scores, codes = held_out.scores, held_out.codes
    kinds = KINDS if scores.shape[1] == 2 and len(codes) >= FEWEST_FOR_STEPS else KINDS[:-1]
    part = np.random.default_rng(0).permutation(len(codes)) % N_PARTS
    best, losses = NONE, log_losses(Calibration(), scores, codes)
    for kind in kinds[1:]:
        found = np.empty(len(codes))
        for one in range(min(N_PARTS, len(codes))):
            others, own = part != one, part == one
            way = calibrated(kind, scores[others], codes[others]) if others.any() else Calibration()
            found[own] = log_losses(way, scores[own], codes[own])
        better = losses - found
        if better.mean() > (0.0 if kind == TEMPERATURE else np.std(better) / np.sqrt(len(better))):
            best, losses = kind, found
    return calibrated(best, scores, codes)


def calibrated(kind: str, scores: Array, codes: Array) -> Calibration:
    """Return one of the ways with its best numbers for some rows; ``codes`` are their classes."""
    if kind == NONE:
        return Calibration()
    if kind == TEMPERATURE:
        return Calibration(kind, best_inverse_temperature(scores, codes))
    return _with_offsets(scores, codes) if kind == PLATT else _with_steps(scores, codes)


def log_losses(way: Calibration, scores: Array, codes: Array) -> Array:
    """Return the log loss of each row."""
    own = way.probabilities(scores)[np.arange(len(codes)), codes]
    return np.asarray(-np.log(np.maximum(own, LEAST_PROBABILITY)))


def _with_offsets(scores: Array, codes: Array) -> Calibration:
    """Return temperature and offsets under which rows are most likely; one row more speaks for leaving all as it is."""
    is_class = np.eye(scores.shape[1])[codes]

    def loss(parameters: Array) -> tuple[float, Array]:
        beta, offsets = np.exp(parameters[0]), parameters[1:]
        logarithms = log_softmax(beta * scores + offsets, axis=1)
        missing = np.exp(logarithms) - is_class
        value = 0.5 * float(parameters @ parameters) - float(np.sum(logarithms * is_class))
        return value, parameters + np.concatenate([[beta * np.sum(missing * scores)], missing.sum(axis=0)])

    options = {"ftol": 1e-15, "gtol": 1e-9 * len(codes), "maxiter": 500}
    found = optimize.minimize(loss, np.zeros(1 + scores.shape[1]), jac=True, method="L-BFGS-B", options=options).x
    return Calibration(PLATT, float(np.exp(found[0])), found[1:] - found[1:].mean())


def _with_steps(scores: Array, codes: Array) -> Calibration:
    """Return the share of the second class where scores are alike, rising with them, with a row more of either class.

    A share of few rows would else be 0 or 1.
    """
    order = np.argsort(scores[:, 1] - scores[:, 0], kind="stable")
    x, y = (scores[:, 1] - scores[:, 0])[order], codes[order].astype(np.float64)
    starts = optimize.isotonic_regression(y).blocks
    sizes = np.diff(starts)
    means = np.add.reduceat(x, starts[:-1]) / sizes
    chances = (np.add.reduceat(y, starts[:-1]) + 1.0) / (sizes + 2.0)
    means, first = np.unique(means, return_index=True)
    return Calibration(ISOTONIC, 1.0, _nothing(), means, np.maximum.accumulate(chances[first]))
