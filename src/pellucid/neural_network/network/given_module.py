"""GivenModule: a module of the user's own in the place of an architecture."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pellucid.neural_network.architecture import Architecture
from pellucid.neural_network.dense_network import DenseNetwork

if TYPE_CHECKING:
    from torch import nn


class GivenModule(Architecture):
    """Builds copies of a module, or calls a function that makes one; a file cannot hold it."""

    def __init__(self, given: nn.Module | Callable[[], nn.Module]) -> None:
        self.given = given

    def build(self) -> nn.Module:
        """Return a module like the one given, with its weights."""
        made: Any = copy.deepcopy(self.given) if is_module(self.given) else self.given()
        if not is_module(made):
            name = type(made).__name__
            advice = f"Write {name}(), with parentheses." if isinstance(made, Architecture) else "Return the network."
            raise TypeError(f"module must make a torch.nn.Module, got {name}. {advice}")
        return made  # type: ignore[no-any-return]  # looked at just now

    def __repr__(self) -> str:
        return f"GivenModule({type(self.given).__name__})"


def is_module(value: Any) -> bool:
    """Return whether this is a module of torch, without importing torch."""
    return any(kind.__module__.startswith("torch.nn") and kind.__name__ == "Module" for kind in type(value).__mro__)


def architecture_of(module: Any, shape: tuple[int, ...], outputs: int) -> Architecture:
    """Return the architecture that the user means, made to fit examples of a shape and so many outputs."""
    module = DenseNetwork() if module is None else module
    if isinstance(module, Architecture):
        return module.for_data(shape, outputs)
    return GivenModule(module)
