"""Architecture: a network as a few plain settings, which build the module that runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

from pellucid.core.kinds.records import Configured

if TYPE_CHECKING:
    from torch import nn


class Architecture(Configured, ABC):
    """Base of all architectures: each is a frozen dataclass of numbers, texts and tuples of them.

    Two are equal if their settings are. A model file holds the settings beside the weights, and no code.
    """

    @abstractmethod
    def build(self) -> nn.Module:
        """Return a new module with random weights, drawn from torch's own generator."""

    def for_data(self, shape: tuple[int, ...], outputs: int) -> Self:
        """Return the same architecture with settings that were left open (None) filled in.

        ``shape`` is that of one example, without the batch; ``outputs`` is how many numbers must come out.
        """
        return self
