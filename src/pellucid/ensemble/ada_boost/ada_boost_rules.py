r"""The arithmetic of AdaBoost (SAMME), for the fit and for its proof.

With the error :math:`e` of a round's classifier under the weights of the rows, K classes and the learning rate
:math:`\eta`, its vote is :math:`\alpha = \eta\,(\log\frac{1 - e}{e} + \log(K - 1))`, and the weights of the rows it
gets wrong grow by :math:`e^\alpha`. A row that the weighted vote gets wrong has at most half of the votes for its
class, so the share of wrong rows is at most

.. math:: \prod_t \left((1 - e_t)\, e^{-\alpha_t / 2} + e_t\, e^{\alpha_t / 2}\right),

which for two classes and :math:`\eta = 1` is :math:`\prod_t 2 \sqrt{e_t (1 - e_t)}`.

Weights are multiples of a small power of two, and sum to about 1: sums of them are exact, in whatever order.
"""

from __future__ import annotations

import math

import numpy as np

from pellucid.core.types import Array

LEAST_WEIGHT = float(np.finfo(np.float64).eps)
"""No row's weight falls below it, and all are multiples of it."""

FLAWLESS_VOTE = 1.0
"""The vote of a classifier without an error, which ends the rounds."""


def vote_of(error: float, n_classes: int, learning_rate: float) -> float:
    """Return the vote of a classifier with this error."""
    if error <= 0.0:
        return FLAWLESS_VOTE
    return learning_rate * (math.log((1.0 - error) / error) + math.log(n_classes - 1.0))


def is_too_bad(error: float, n_classes: int) -> bool:
    """Return whether a classifier is no better than guessing."""
    return error >= 1.0 - 1.0 / n_classes


def first_weights(weight: Array) -> Array:
    """Return the weights of the first round, which sum to 1."""
    return _in_units(weight / weight.sum())


def next_weights(weight: Array, is_wrong: Array, vote: float) -> Array:
    """Return the weights of the next round: those of wrong rows grow."""
    grown = np.where(is_wrong, weight * math.exp(vote) if vote < 700.0 else math.inf, weight)
    return _in_units(grown / grown.sum())


def _in_units(weight: Array) -> Array:
    return np.maximum(np.rint(weight / LEAST_WEIGHT), 1.0) * LEAST_WEIGHT


def bound_factor(error: float, vote: float) -> float:
    """Return by what factor a round changes the bound of the training error."""
    return (1.0 - error) * math.exp(-vote / 2.0) + error * math.exp(vote / 2.0)


def scores_of(votes: Array, weights: Array, n_classes: int) -> Array:
    """Return the score of each class, of shape (n_samples, n_classes), from votes (n_rounds, n_samples) as codes."""
    scores = np.zeros((votes.shape[1], n_classes))
    for codes, weight in zip(votes, weights, strict=True):
        scores += np.where(codes[:, np.newaxis] == np.arange(n_classes), weight, -weight / (n_classes - 1))
    return scores / weights.sum()
