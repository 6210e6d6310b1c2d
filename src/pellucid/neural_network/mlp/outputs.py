"""Output layers: what scores become, and their loss. Each loss is the one whose slope is *answer minus target*."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy import special

from pellucid.core.types import Array
from pellucid.neural_network.mlp.dense_kernels import softmax_and_losses


class OutputLayer(ABC):
    """Turns scores ``Z`` of shape (rows, outputs) into answers, and measures them."""

    @abstractmethod
    def answer(self, Z: Array) -> Array:
        """Turn scores into answers, in place, and return them."""

    @abstractmethod
    def answer_and_losses(self, Z: Array, Y: Array) -> Array:
        """Turn scores into answers, in place, and return the loss of each row, summed over its outputs."""


class SoftmaxOutput(OutputLayer):
    r"""One class of several: :math:`-\log p_c` with :math:`p = e^z / \sum_k e^{z_k}`."""

    def answer(self, Z: Array) -> Array:
        """Return the probabilities of the classes."""
        Z -= Z.max(axis=1, keepdims=True)
        np.exp(Z, out=Z)
        Z /= Z.sum(axis=1, keepdims=True)
        return Z

    def answer_and_losses(self, Z: Array, Y: Array) -> Array:
        """Return the negative log likelihood of each row, in one loop: for few classes, calls would take longer."""
        losses = np.empty(len(Z), Z.dtype)
        softmax_and_losses(Z, Y, losses, Z.dtype.type(0))
        return losses


class SigmoidOutput(OutputLayer):
    r"""Two classes, or several labels that each may be there: :math:`\log(1 + e^z) - y z`."""

    def answer(self, Z: Array) -> Array:
        """Return the probability of each label."""
        return np.asarray(special.expit(Z, out=Z))

    def answer_and_losses(self, Z: Array, Y: Array) -> Array:
        """Return the negative log likelihood of each row."""
        losses = np.asarray((np.logaddexp(0, Z) - Y * Z).sum(axis=1))
        self.answer(Z)
        return losses


class LinearOutput(OutputLayer):
    r"""Numbers: half the squared error, :math:`\frac12 (z - y)^2`."""

    def answer(self, Z: Array) -> Array:
        """Return the scores themselves."""
        return Z

    def answer_and_losses(self, Z: Array, Y: Array) -> Array:
        """Return half the squared error of each row."""
        return np.asarray(0.5 * np.square(Z - Y).sum(axis=1))


class ExponentialOutput(OutputLayer):
    r"""Counts: half the Poisson deviance, :math:`y \log(y / e^z) - y + e^z`."""

    def answer(self, Z: Array) -> Array:
        """Return the expected counts."""
        return np.asarray(np.exp(Z, out=Z))

    def answer_and_losses(self, Z: Array, Y: Array) -> Array:
        """Return half the deviance of each row."""
        losses = special.xlogy(Y, Y) - Y * Z - Y
        losses += self.answer(Z)
        return np.asarray(losses.sum(axis=1))


OUTPUTS: dict[str, OutputLayer] = {
    "softmax": SoftmaxOutput(),
    "logistic": SigmoidOutput(),
    "identity": LinearOutput(),
    "exp": ExponentialOutput(),
}
"""By scikit-learn's name of the activation."""
