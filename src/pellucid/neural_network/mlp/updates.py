"""One step of a method on all weights at once, from the gradient of a batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pellucid.core.threads import WORTH_SHARING, run_blocks, split_evenly
from pellucid.core.types import Array
from pellucid.neural_network.mlp.dense_kernels import adam_update, momentum_update

BLOCKS = 4
"""Into how many blocks many weights are cut."""


@dataclass(frozen=True)
class BatchGradient:
    """The gradient of a batch's objective: ``scale * (sum + penalty * weights)``, without penalty on intercepts."""

    parts: list[Array]
    """For each weight the sum over the rows of each part of the batch; they are added up into the first."""
    scale: float
    penalty: float
    n_coefs: int
    """Weights that the penalty is about: they stand first."""

    def summed(self, block: slice) -> Array:
        """Return the sums over the whole batch for some weights; to be called once for each of them."""
        for part in self.parts[1:]:
            self.parts[0][block] += part[block]
        return self.parts[0][block]

    def at(self, weights: Array) -> Array:
        """Return it as one vector."""
        found = self.summed(slice(None)).copy()
        found[: self.n_coefs] += self.penalty * weights[: self.n_coefs]
        return found * found.dtype.type(self.scale)


class Update(Protocol):
    """A method that moves the weights, in place."""

    def move(self, weights: Array, gradient: BatchGradient) -> float:
        """Make one step; return the squared norm of the penalized weights before it."""
        ...

    def end_epoch(self, rows_seen: int) -> None:
        """Let the rate of learning follow its schedule."""
        ...

    def slow_down(self) -> bool:
        """Lower the rate because nothing gets better; False if the method has no other rate to try."""
        ...


class AdamUpdate:
    """Adam, with scikit-learn's place of ``epsilon``: beside the root of the uncorrected mean of squares."""

    def __init__(self, weights: Array, rate: float, beta_1: float, beta_2: float, epsilon: float) -> None:
        self.rate, self.beta_1, self.beta_2, self.epsilon = rate, beta_1, beta_2, epsilon
        self.mean, self.squares = np.zeros_like(weights), np.zeros_like(weights)
        self.t = 0

    def next_rate(self) -> float:
        """Return the rate of the next step, corrected for the means having started at 0."""
        self.t += 1
        return float(self.rate * np.sqrt(1 - self.beta_2**self.t) / (1 - self.beta_1**self.t))

    def move(self, weights: Array, gradient: BatchGradient) -> float:
        """Make one step; return the squared norm of the penalized weights before it."""
        number = weights.dtype.type
        rate = number(self.next_rate())
        betas = (self.beta_1, self.beta_2, 1 - self.beta_1, 1 - self.beta_2)
        options = (rate, *map(number, betas), number(self.epsilon))

        def move_some(part: slice, penalty: float) -> float:
            parts = (weights[part], self.mean[part], self.squares[part], gradient.summed(part))
            return adam_update(*parts, number(gradient.scale), number(penalty), *options)

        return _in_blocks(move_some, gradient, len(weights))

    def end_epoch(self, rows_seen: int) -> None:
        """Nothing to do: the rate is constant."""

    def slow_down(self) -> bool:
        """Return False: the rate is constant."""
        return False


class MomentumUpdate:
    """Stochastic gradient descent with momentum, Nesterov's or plain, and a rate that may fall."""

    def __init__(
        self, weights: Array, rate: float, momentum: float, *, looks_ahead: bool, schedule: str, power: float
    ) -> None:
        self.rate = self.first_rate = rate
        self.momentum, self.looks_ahead, self.schedule, self.power = momentum, looks_ahead, schedule, power
        self.velocity = np.zeros_like(weights)

    def next_rate(self) -> float:
        """Return the rate of the next step."""
        return self.rate

    def move(self, weights: Array, gradient: BatchGradient) -> float:
        """Make one step; return the squared norm of the penalized weights before it."""
        number = weights.dtype.type
        options = (number(self.rate), number(self.momentum), number(self.looks_ahead))

        def move_some(part: slice, penalty: float) -> float:
            parts = (weights[part], self.velocity[part], gradient.summed(part))
            return momentum_update(*parts, number(gradient.scale), number(penalty), *options)

        return _in_blocks(move_some, gradient, len(weights))

    def end_epoch(self, rows_seen: int) -> None:
        """Divide the first rate by a power of the rows seen, if the schedule is ``invscaling``."""
        if self.schedule == "invscaling":
            self.rate = self.first_rate / (rows_seen + 1) ** self.power

    def slow_down(self) -> bool:
        """Divide the rate by 5, if the schedule is ``adaptive`` and the rate not yet tiny."""
        if self.schedule != "adaptive" or self.rate <= 1e-6:
            return False
        self.rate /= 5.0
        return True


class MethodUpdate:
    """A method of ``pellucid.optimize`` that takes the gradients of batches."""

    def __init__(self, weights: Array, method: Any, gradient_at: Callable[[Array], BatchGradient]) -> None:
        self.method = method
        self._gradient_at = gradient_at
        self._here: BatchGradient | None = None
        self._state = method.start(self, weights.copy())

    def gradient(self, x: Array) -> Array:
        """Answer the method, which takes this object for its oracle."""
        is_here = self._here is not None and x is self._state.x
        return (self._here if is_here else self._gradient_at(x)).at(x)  # type: ignore[union-attr]

    def move(self, weights: Array, gradient: BatchGradient) -> float:
        """Make one step; return the squared norm of the penalized weights before it."""
        squared_norm = float(weights[: gradient.n_coefs] @ weights[: gradient.n_coefs])
        self._here = gradient
        self._state, self._here = self.method.step(self, self._state), None
        weights[:] = self._state.x
        return squared_norm

    def end_epoch(self, rows_seen: int) -> None:
        """Nothing to do: the method has its own schedule."""

    def slow_down(self) -> bool:
        """Return False: the method has its own schedule."""
        return False


def _in_blocks(move_some: Callable[[slice, float], float], gradient: BatchGradient, n_weights: int) -> float:
    """Move penalized weights, in blocks on all threads, and the others; return the sum of squares of the former."""
    n_coefs = gradient.n_coefs
    blocks = split_evenly(n_coefs, BLOCKS if n_coefs >= WORTH_SHARING else 1)
    squared_norms = run_blocks(lambda block: move_some(block, gradient.penalty), blocks)
    move_some(slice(n_coefs, n_weights), 0.0)
    return float(sum(squared_norms))
