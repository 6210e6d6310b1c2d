"""What moves the weights of a module: an optimizer of torch, or a method of ``pellucid.optimize``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from pellucid.neural_network.training.recipe import TrainingRecipe
from pellucid.optimize.schedules import as_schedule

Loss = Callable[[], Tensor]
"""Returns the loss of the batch at hand, at the weights that the module has."""


class Mover(Protocol):
    """One step for one batch."""

    def follow(self, time: float) -> None:
        """Let the rates follow their schedule; ``time`` counts epochs."""
        ...

    def move(self, loss: Loss) -> Tensor:
        """Move the weights; return the loss before that."""
        ...

    def make_recordable(self) -> None:
        """Let a step read all its numbers where the weights are."""
        ...

    def state(self) -> dict[str, Any]:
        """Return all it remembers, as tensors and plain numbers."""
        ...

    def load(self, state: dict[str, Any]) -> None:
        """Remember what an equal mover remembered."""
        ...


def mover_for(module: nn.Module, recipe: TrainingRecipe) -> Mover:
    """Return what the recipe asks for."""
    if hasattr(recipe.method, "step") and hasattr(recipe.method, "start"):
        return MethodMover(module, recipe.method)
    learning = [weight for weight in module.parameters() if weight.requires_grad]
    if not learning:
        raise ValueError("module must have a weight that learns, got none. Unfreeze the head.")
    groups = recipe.parameter_groups(module) if recipe.parameter_groups else [{"params": learning}]
    make = OPTIMIZERS[recipe.method] if isinstance(recipe.method, str) else recipe.method
    rate = as_schedule(recipe.learning_rate)
    unit = rate(0) or 1.0  # a schedule may warm up from 0
    options = {"lr": unit, "weight_decay": recipe.weight_decay} if isinstance(recipe.method, str) else {}
    return TorchMover(make(groups, **options), lambda time: rate(time) / unit, recipe.clip_norm)  # type: ignore[arg-type]  # in parts of epochs


def _adam(groups: Any, **options: Any) -> torch.optim.Optimizer:
    return torch.optim.Adam(groups, fused=True, **options)


def _adamw(groups: Any, **options: Any) -> torch.optim.Optimizer:
    return torch.optim.AdamW(groups, fused=True, **options)


def _sgd(groups: Any, **options: Any) -> torch.optim.Optimizer:
    return torch.optim.SGD(groups, momentum=0.9, nesterov=True, fused=True, **options)


OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {"adam": _adam, "adamw": _adamw, "sgd": _sgd}
"""All weights are moved by one kernel of torch."""


class TorchMover:
    """An optimizer of torch whose rates follow a schedule, each relative to its own first rate."""

    def __init__(
        self, optimizer: torch.optim.Optimizer, share: Callable[[float], float], clip_norm: float | None = None
    ) -> None:
        self.optimizer, self.share, self.clip_norm = optimizer, share, clip_norm
        self._first = [group["lr"] for group in optimizer.param_groups]
        self._last_share = 1.0

    def follow(self, time: float) -> None:
        """Let the rates follow their schedule."""
        share = self.share(time)
        if share == self._last_share:
            return
        for group, first in zip(self.optimizer.param_groups, self._first, strict=True):
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(first * share)
            else:
                group["lr"] = first * share
        self._last_share = share

    def make_recordable(self) -> None:
        """Keep rates where the weights are: a recorded step tells its kernels no new numbers."""
        for group in self.optimizer.param_groups:
            group["lr"] = torch.tensor(group["lr"], dtype=torch.float32, device=group["params"][0].device)
            group["capturable"] = True

    def move(self, loss: Loss) -> Tensor:
        """Move the weights; return the loss before that."""
        self.optimizer.zero_grad(set_to_none=True)
        value = loss()
        value.backward()
        if self.clip_norm is not None:
            learning = [weight for group in self.optimizer.param_groups for weight in group["params"]]
            nn.utils.clip_grad_norm_(learning, self.clip_norm)
        self.optimizer.step()
        return value.detach()

    def state(self) -> dict[str, Any]:
        """Return the moving means of each weight."""
        return {f"{k}.{name}": value for k, own in self._own_states() for name, value in own.items()}

    def load(self, state: dict[str, Any]) -> None:
        """Take up moving means."""
        whole = self.optimizer.state_dict()
        found: dict[int, dict[str, Any]] = {}
        for key, value in state.items():
            k, _, name = key.partition(".")
            found.setdefault(int(k), {})[name] = value
        self.optimizer.load_state_dict({**whole, "state": found})

    def _own_states(self) -> list[tuple[int, dict[str, Any]]]:
        return list(self.optimizer.state_dict()["state"].items())


class MethodMover:
    """A method of ``pellucid.optimize`` on all weights that learn, as one vector; it takes this for its oracle."""

    def __init__(self, module: nn.Module, method: Any) -> None:
        if not method.takes_batches:
            raise ValueError(f"method must take batches, got {method!r}. Use Adam, Momentum or Nesterov.")
        self.method = method
        self._weights = [weight for weight in module.parameters() if weight.requires_grad]
        self._loss: Loss | None = None
        self._value: Tensor | None = None
        self._state = method.start(self, nn.utils.parameters_to_vector(self._weights).detach())

    def gradient(self, x: Tensor) -> Tensor:
        """Answer the method: the gradient of the batch at hand, at ``x``."""
        assert self._loss is not None
        self._place(x)
        value = self._loss()
        if x is self._state.x:
            self._value = value.detach()
        for weight in self._weights:
            weight.grad = None
        value.backward()  # not autograd.grad: several processes add up their gradients on the way back
        return torch.cat([(torch.zeros_like(own) if own.grad is None else own.grad).flatten() for own in self._weights])

    def follow(self, time: float) -> None:
        """Nothing to do: the schedule of a method counts steps, not time."""

    def make_recordable(self) -> None:
        """Refuse: nobody knows what a method asks the host for."""
        raise NotImplementedError

    def move(self, loss: Loss) -> Tensor:
        """Move the weights; return the loss where the method asked first."""
        self._loss, self._value = loss, None
        self._state = self.method.step(self, self._state)
        self._place(self._state.x)
        return loss().detach() if self._value is None else self._value

    def state(self) -> dict[str, Any]:
        """Return the fields of the method's state."""
        return dict(self._state._asdict())

    def load(self, state: dict[str, Any]) -> None:
        """Take up the fields of a state."""
        x = self._state.x
        moved = {
            name: value.to(x.device, x.dtype) if isinstance(value, Tensor) else value for name, value in state.items()
        }
        self._state = type(self._state)(**moved)

    def _place(self, x: Tensor) -> None:
        with torch.no_grad():
            nn.utils.vector_to_parameters(x, self._weights)
