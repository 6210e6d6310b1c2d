"""Steps of full batches on a card, whose launches are recorded once: small networks wait for the host otherwise."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from pellucid.core.device.device_rows import has_room
from pellucid.core.device.replaying import BEFORE, Replayed
from pellucid.neural_network.training.device_rows import DeviceRows
from pellucid.neural_network.training.movers import TorchMover
from pellucid.neural_network.training.recipe import TrainingRecipe

OUR_CODE = ("torch.nn.modules.", "pellucid.")
"""Where code may stand that is recorded: it does the same in each step, but for what it draws on the device."""


def records_on(device: torch.device) -> bool:
    """Return whether launches can be recorded there."""
    return device.type == "cuda"


def can_be_recorded(module: nn.Module, rows: Any, loss: Any, mover: Any, recipe: TrainingRecipe) -> bool:
    """Return whether all parts of a step are known to ask the host for nothing.

    A module, a loss or a change of images that somebody else has written, or a hook, may draw numbers on the host or
    count its calls: a recording would do for ever what its first call did.
    """
    kinds = [loss, *(type(part) for part in (*module.modules(), *recipe.augmentation))]
    return (
        records_on(next(module.parameters()).device)
        and type(rows) is DeviceRows
        and isinstance(mover, TorchMover)
        and isinstance(recipe.method, str)  # one of our optimizers: all its work is in one kernel there
        and all(f"{kind.__module__}.".startswith(OUR_CODE) for kind in kinds)
        and not any(_has_hooks(part) for part in module.modules())
    )


def _has_hooks(module: nn.Module) -> bool:
    """Return whether somebody is called whenever a module is asked, or its gradient found."""
    own = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    return any(getattr(module, name) for name in own) or any(
        weight._backward_hooks for weight in module.parameters(recurse=False)
    )


class RecordedSteps:
    """The step of a full batch: made as it is until it has shown that it waits for nothing, then from a recording."""

    def __init__(
        self, move: Callable[[Tensor], Tensor], size: int, there: torch.device, generators: Sequence[torch.Generator]
    ) -> None:
        self.move, self.size, self.there = move, size, there
        self.places = torch.zeros(size, dtype=torch.int64, device=there)
        """Which rows the step is about; a recording reads them here."""
        self._again = Replayed(lambda: move(self.places), there, generators)
        self._calls, self._waits = 0, False

    def __call__(self, places: Tensor) -> Tensor:
        """Make the step for some rows; return their loss before it."""
        if self._waits:
            return self.move(places)
        self.places.copy_(places)
        self._calls += 1
        if self._calls < BEFORE:
            return self._again()  # type: ignore[no-any-return]
        if self._calls == BEFORE:
            return self._watched()
        return self._again().clone()  # type: ignore[no-any-return]  # the next step writes there

    def _watched(self) -> Tensor:
        """Make the last step before the recording; there is none if it waits for the device, or memory is short."""
        if self.there.type != "cuda":
            return self._again()  # type: ignore[no-any-return]
        before = torch.cuda.get_sync_debug_mode()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            torch.cuda.set_sync_debug_mode("warn")
            try:
                loss: Tensor = self._again()
            finally:
                torch.cuda.set_sync_debug_mode(before)
        waited = any("called a synchronizing CUDA" in str(one.message) for one in said)
        for one in said:
            if "ynchroniz" not in str(one.message):  # torch also says that its watch is a prototype
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        # a recording keeps memory of its own, at most as much as all steps together had so far
        self._waits = waited or not has_room(torch.cuda.max_memory_allocated(self.there), self.there)
        return loss
