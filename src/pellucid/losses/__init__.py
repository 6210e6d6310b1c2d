"""Losses: what a wrong answer costs, as objects with value, gradient, curvature and conjugate."""

from pellucid.losses.classification_losses import (
    CrossEntropyLoss,
    HingeLoss,
    LogisticLoss,
    ModifiedHuberLoss,
    PerceptronLoss,
    SquaredHingeLoss,
    ZeroOneLoss,
)
from pellucid.losses.loss import Loss, MarginLoss, ResidualLoss
from pellucid.losses.named_losses import named_loss
from pellucid.losses.regression_losses import (
    AbsoluteLoss,
    EpsilonInsensitiveLoss,
    HuberLoss,
    SquaredEpsilonInsensitiveLoss,
    SquaredLoss,
)

MARGIN_LOSSES: tuple[MarginLoss, ...] = (
    ZeroOneLoss(),
    PerceptronLoss(),
    HingeLoss(),
    SquaredHingeLoss(),
    LogisticLoss(),
)
"""The lecture's losses of a margin."""

RESIDUAL_LOSSES: tuple[ResidualLoss, ...] = (SquaredLoss(), AbsoluteLoss(), EpsilonInsensitiveLoss())
"""The lecture's losses of a residual."""

__all__ = [
    "MARGIN_LOSSES",
    "RESIDUAL_LOSSES",
    "AbsoluteLoss",
    "CrossEntropyLoss",
    "EpsilonInsensitiveLoss",
    "HingeLoss",
    "HuberLoss",
    "LogisticLoss",
    "Loss",
    "MarginLoss",
    "ModifiedHuberLoss",
    "PerceptronLoss",
    "ResidualLoss",
    "SquaredEpsilonInsensitiveLoss",
    "SquaredHingeLoss",
    "SquaredLoss",
    "ZeroOneLoss",
    "named_loss",
]
