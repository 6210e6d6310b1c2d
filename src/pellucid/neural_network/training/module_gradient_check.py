"""Is the backward pass of a torch module right? Differences of its loss decide, and name the worst parameter."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pellucid.core.checks import check_whole
from pellucid.core.types import Array, Data
from pellucid.optimize.checks.gradient_check import GradientCheck, check_gradient
from pellucid.optimize.problem import Problem

INPUT = "input"
"""How the module's input is called among its parameters."""

Loss = Callable[[Tensor, Any], Tensor]


@dataclass(frozen=True, repr=False)
class ModuleGradientCheck:
    """A backward pass next to differences of the loss, on a sample of weights of every parameter and of the input."""

    worst: tuple[str, tuple[int, ...]]
    """Name of the parameter with the largest relative error, "input" for the input, and the place in it."""
    check: GradientCheck
    """All the numbers: its coordinates are the sampled weights, one parameter after the other."""
    n_parameters: int
    """Parameters that were sampled; an input of floats counts as one."""

    @property
    def ok(self) -> bool:
        """Whether no error is above the tolerance."""
        return self.check.ok

    def __repr__(self) -> str:
        scope = f"{self.check.coordinates.size} weights of {self.n_parameters} parameters"
        if self.ok:
            return f"ModuleGradientCheck(right: {scope} agree with differences to {self.check.tol:.0e})"
        name, place = self.worst
        return (
            f"ModuleGradientCheck(WRONG: {name}[{', '.join(map(str, place))}] has the slope {self.check.given:.8g}, "
            f"differences say {self.check.estimated:.8g}, a relative error of {self.check.relative_error:.2g}; "
            f"compared {scope})"
        )


def check_module_gradient(
    module: nn.Module,
    X: Data,
    y: Data = None,
    *,
    loss: Loss | None = None,
    samples: int = 4,
    tol: float = 1e-5,
    random_state: int = 0,
) -> ModuleGradientCheck:
    """Compare the backward pass of a module with extrapolated differences of its loss, all in float64.

    A copy of the module is asked, in the modes that its layers have; dropout draws the same masks each time. Next to a
    kink, as of a rectifier at 0, differences say little, and nothing is held against a slope there.

    Parameters
    ----------
    module : torch module
        Whatever its layers; those with a backward pass of their own are why one checks.
    X : array or tensor
        A batch of inputs; if they are floats, their slopes are checked too.
    y : array or tensor, default=None
        Targets of the loss: classes or numbers.
    loss : callable (outputs, y) -> scalar tensor, default=None
        None is cross-entropy for classes, half the squared error for numbers, and without targets a random weighted sum
        of all outputs.
    samples : int, default=4
        Weights looked at in each parameter.
    tol : float, default=1e-5
        Largest relative error of a slope.
    random_state : int, default=0
        Seed of the sample, of masks and of the weighted sum.

    Examples
    --------
    >>> check_module_gradient(nn.Linear(2, 1), [[1.0, 2.0]])
    ModuleGradientCheck(right: 5 weights of 3 parameters agree with differences to 1e-05)
    """
    check_whole(samples=samples)
    sampled = _SampledWeights(deepcopy(module).double(), X, y, loss, samples, random_state)
    problem = Problem(sampled.value, sampled.gradient)
    with torch.random.fork_rng(devices=[]):
        check = check_gradient(problem, sampled.start, tol=tol, random_state=random_state)
    return ModuleGradientCheck(sampled.place(check.worst), check, len(sampled.tensors))


class _SampledWeights:
    """The loss of a module as a function of a few of its weights, laid out as one vector."""

    def __init__(self, module: nn.Module, X: Data, y: Data, loss: Loss | None, samples: int, random_state: int) -> None:
        self.module, self.random_state = module, torch.Generator().manual_seed(random_state).get_state()
        self.X, self.y = _tensor(X), None if y is None else _tensor(y)
        self.loss = loss or _usual_loss(self.y, random_state)
        self.tensors: dict[str, Tensor] = {
            name: tensor for name, tensor in module.named_parameters() if tensor.requires_grad
        }
        if self.X.is_floating_point():
            self.tensors[INPUT] = self.X.requires_grad_()
        if not self.tensors:
            raise ValueError("module must have parameters to check, or take floats, got neither.")
        random = np.random.default_rng(random_state)
        self.places = {
            name: torch.as_tensor(random.permutation(tensor.numel())[:samples]) for name, tensor in self.tensors.items()
        }
        self.start = self._gathered(self.tensors).numpy()
        self.present = self.start.copy()

    def value(self, weights: Array) -> float:
        """Return the loss with these numbers in the place of the sampled weights."""
        with torch.no_grad():
            return float(self._loss_at(weights))

    def gradient(self, weights: Array) -> Array:
        """Return the slopes of the sampled weights, by the module's backward pass."""
        with torch.enable_grad():
            loss = self._loss_at(weights)
        slopes = torch.autograd.grad(loss, list(self.tensors.values()), allow_unused=True)
        filled = (torch.zeros_like(t) if s is None else s for t, s in zip(self.tensors.values(), slopes, strict=True))
        return self._gathered(dict(zip(self.tensors, filled, strict=True))).numpy()

    def place(self, coordinate: int) -> tuple[str, tuple[int, ...]]:
        """Return the parameter and the place in it that a coordinate stands for."""
        for name, places in self.places.items():
            if coordinate < len(places):
                where = np.unravel_index(int(places[coordinate]), self.tensors[name].shape)
                return name, tuple(map(int, where))
            coordinate -= len(places)
        raise IndexError(coordinate)

    def _gathered(self, tensors: dict[str, Tensor]) -> Tensor:
        return torch.cat([tensors[name].detach().reshape(-1)[places] for name, places in self.places.items()])

    def _loss_at(self, weights: Array) -> Tensor:
        with torch.no_grad():
            for coordinate in np.flatnonzero(weights != self.present):  # mostly one or two have moved
                name, place = self.place(int(coordinate))
                self.tensors[name][place] = float(weights[coordinate])
        self.present = weights.copy()
        torch.set_rng_state(self.random_state)  # the same masks of dropout each time
        return self.loss(self.module(self.X), self.y)


def _usual_loss(y: Tensor | None, seed: int) -> Loss:
    if y is None:
        return lambda outputs, _: (outputs * _fixed_noise(outputs, seed)).sum()
    if y.is_floating_point():
        return lambda outputs, y: ((outputs - y.view_as(outputs)) ** 2).mean() / 2
    return nn.functional.cross_entropy


def _fixed_noise(outputs: Tensor, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(outputs.shape, generator=generator, dtype=outputs.dtype)


def _tensor(values: Data) -> Tensor:
    """Return a copy on the CPU: floats as float64, whole numbers as they are."""
    tensor = values.detach().cpu().clone() if isinstance(values, Tensor) else torch.as_tensor(np.array(values))
    return tensor.double() if tensor.is_floating_point() else tensor.long()
