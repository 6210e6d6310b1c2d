"""The losses that scikit-learn's linear classifiers know by name, and by number in compiled loops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pellucid.losses.classification_losses import (
    HingeLoss,
    LogisticLoss,
    ModifiedHuberLoss,
    PerceptronLoss,
    SquaredHingeLoss,
)
from pellucid.losses.loss import MarginLoss, ResidualLoss
from pellucid.losses.regression_losses import EpsilonInsensitiveLoss, HuberLoss, SquaredEpsilonInsensitiveLoss

LOSS_NUMBERS = {
    "hinge": 0,
    "perceptron": 0,
    "squared_hinge": 1,
    "modified_huber": 2,
    "log_loss": 3,
    "squared_error": 4,
    "huber": 5,
    "epsilon_insensitive": 6,
    "squared_epsilon_insensitive": 7,
}
"""The number by which ``loss_kernels`` knows a loss; the perceptron's is a hinge at 0."""


MARGIN_KINDS: dict[str, type[MarginLoss]] = {
    "hinge": HingeLoss,
    "perceptron": PerceptronLoss,
    "squared_hinge": SquaredHingeLoss,
    "modified_huber": ModifiedHuberLoss,
    "log_loss": LogisticLoss,
}
TUBE_KINDS: dict[str, Callable[[float], ResidualLoss]] = {
    "squared_error": lambda _epsilon: HuberLoss(np.inf),
    "huber": HuberLoss,
    "epsilon_insensitive": EpsilonInsensitiveLoss,
    "squared_epsilon_insensitive": SquaredEpsilonInsensitiveLoss,
}


def named_loss(name: str, epsilon: float = 0.1) -> MarginLoss | ResidualLoss:
    """Return the loss of this name in scikit-learn, where ``squared_error`` is half the square.

    Parameters
    ----------
    name : str
        'hinge', 'perceptron', 'squared_hinge', 'modified_huber' or 'log_loss' for classes; 'squared_error', 'huber',
        'epsilon_insensitive' or 'squared_epsilon_insensitive' for numbers.
    epsilon : float, default=0.1
        Size of a residual, at least 0, where 'huber' becomes a line and the insensitive losses begin.

    Examples
    --------
    >>> named_loss("hinge").of([1.0], [0.25])
    array([0.75])
    """
    return MARGIN_KINDS[name]() if name in MARGIN_KINDS else TUBE_KINDS[name](epsilon)
