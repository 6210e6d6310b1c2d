"""Activations of hidden units on NumPy arrays: the value, and its derivative times what comes back from above."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import special

from pellucid.core.types import Array
from pellucid.neural_network.mlp.dense_kernels import keep_where_positive, softmax_and_losses

LEAK = 0.01
"""Slope of the leaky ReLU below 0."""


class Activation(ABC):
    """One function of a layer's inputs ``Z``, of shape (rows, units)."""

    needs_inputs: ClassVar[bool] = False
    """Whether the derivative needs ``Z``; without that, the values ``H`` may stand in the place of ``Z``."""

    @property
    def pieces(self) -> int:
        """Inputs for each unit."""
        return 1

    @abstractmethod
    def forward(self, Z: Array, H: Array) -> None:
        """Write the values of ``Z`` into ``H``, which may be ``Z`` itself where ``needs_inputs`` is False."""

    @abstractmethod
    def backward(self, Z: Array, H: Array, from_above: Array) -> Array:
        """Return the gradient with respect to ``Z``, given that with respect to ``H``, which may be written to."""


class IdentityActivation(Activation):
    r""":math:`h(z) = z`."""

    def forward(self, Z: Array, H: Array) -> None:
        """Copy, unless they are the same."""
        np.copyto(H, Z)

    def backward(self, Z: Array, H: Array, from_above: Array) -> Array:
        """Return it unchanged: the slope is 1."""
        return from_above


class SigmoidActivation(Activation):
    r""":math:`h(z) = 1 / (1 + e^{-z})`, slope :math:`h (1 - h)`."""

    def forward(self, Z: Array, H: Array) -> None:
        """Write the sigmoid."""
        special.expit(Z, out=H)

    def backward(self, Z: Array, H: Array, from_above: Array) -> Array:
        """Multiply by the slope."""
        from_above *= H
        from_above *= 1 - H
        return from_above


class Tanh(Activation):
    r""":math:`h(z) = \tanh z`, slope :math:`1 - h^2`."""

    def forward(self, Z: Array, H: Array) -> None:
        """Write the hyperbolic tangent."""
        np.tanh(Z, out=H)

    def backward(self, Z: Array, H: Array, from_above: Array) -> Array:
        """Multiply by the slope."""
        from_above *= 1 - H * H
        return from_above


class Relu(Activation):
    r""":math:`h(z) = \max(z, 0)`, slope 1 above 0, else 0."""

    def forward(self, Z: Array, H: Array) -> None:
        """Write the positive part."""
        np.maximum(Z, 0, out=H)

    def backward(self, Z: Array, H: Array, from_above: Array) -> Array:
        """Let through what belongs to units that are on."""
        keep_where_positive(H.ravel(), from_above.ravel(), H.dtype.type(0), H.dtype.type(1))
        return from_above


class LeakyRelu(Activation):
    r""":math:`h(z) = \max(z, 0.01 z)`: a unit that is off still learns."""

    def forward(self, Z: Array, H: Array) -> None:
        """Write the larger of the two lines."""
        np.maximum(Z, Z * Z.dtype.type(LEAK), out=H)

    def backward(self, Z: Array, H: Array, from_above: Array) -> Array:
        """Multiply by 1 above 0, else by the leak."""
        from_above *= np.where(H > 0, H.dtype.type(1), H.dtype.type(LEAK))
        return from_above


class Elu(Activation):
    r""":math:`h(z) = z` above 0, :math:`e^z - 1` below: slope :math:`h + 1` there."""

    def forward(self, Z: Array, H: Array) -> None:
        """Write the line, and the exponential below 0."""
        below = np.expm1(np.minimum(Z, 0))
        np.copyto(H, np.where(Z > 0, Z, below))

    def backward(self, Z: Array, H: Array, from_above: Array) -> Array:
        """Multiply by the slope."""
        from_above *= np.minimum(H, 0) + 1
        return from_above


class Gelu(Activation):
    r""":math:`h(z) = z\,\Phi(z)` with the distribution function :math:`\Phi` of the standard normal."""

    needs_inputs = True

    def forward(self, Z: Array, H: Array) -> None:
        """Weigh each input by how many standard normal numbers it exceeds."""
        np.multiply(Z, special.ndtr(Z), out=H)

    def backward(self, Z: Array, H: Array, from_above: Array) -> Array:
        r"""Multiply by the slope :math:`\Phi(z) + z \varphi(z)`."""
        density = np.exp(-0.5 * Z * Z) * Z.dtype.type(1 / np.sqrt(2 * np.pi))
        from_above *= special.ndtr(Z) + Z * density
        return from_above


@dataclass(frozen=True)
class LargestPiece(Activation):
    """The largest of several linear pieces; input ``k`` of unit ``j`` stands in column ``j * count + k``."""

    count: int = 2
    needs_inputs: ClassVar[bool] = True

    @property
    def pieces(self) -> int:
        """Inputs for each unit."""
        return self.count

    def forward(self, Z: Array, H: Array) -> None:
        """Write the largest piece of each unit."""
        np.max(Z.reshape(*H.shape, self.count), axis=2, out=H)

    def backward(self, Z: Array, H: Array, from_above: Array) -> Array:
        """Send it all to the largest piece, the first of equal ones."""
        winners = Z.reshape(*H.shape, self.count).argmax(axis=2)[:, :, None]
        to_pieces = np.zeros((*H.shape, self.count), dtype=Z.dtype)
        np.put_along_axis(to_pieces, winners, from_above[:, :, None], axis=2)
        return to_pieces.reshape(Z.shape)


ACTIVATIONS: dict[str, type[Activation]] = {
    "identity": IdentityActivation,
    "logistic": SigmoidActivation,
    "sigmoid": SigmoidActivation,
    "tanh": Tanh,
    "relu": Relu,
    "leaky_relu": LeakyRelu,
    "elu": Elu,
    "gelu": Gelu,
}


def activation_named(name: str, pieces: int) -> Activation:
    """Return the activation of this name; ``pieces`` matters to maxout only."""
    return LargestPiece(pieces) if name == "maxout" else ACTIVATIONS[name]()


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
