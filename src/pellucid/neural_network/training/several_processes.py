"""One network in several processes, each with a share of every batch: one command, ``torchrun``, starts them."""

from __future__ import annotations

import os
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn


@dataclass(frozen=True)
class Processes:
    """Which process this is, of how many; ``torchrun --nproc-per-node 2 script.py`` runs the script in two.

    Each takes every second row of a batch, and their gradients are averaged: the network is the same in all of them,
    and the one that a single process would find, up to rounding. Batch normalization looks at the share alone.
    """

    rank: int = 0
    count: int = 1

    @classmethod
    def here(cls, device: torch.device) -> Processes:
        """Return this process's place, joining the others on first use."""
        count = int(os.environ.get("WORLD_SIZE", "1"))
        if count == 1:
            return cls()
        if not distributed.is_initialized():
            distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
        return cls(distributed.get_rank(), count)

    @property
    def is_first(self) -> bool:
        """Whether this one writes files."""
        return self.rank == 0

    def shared(self, module: nn.Module) -> nn.Module:
        """Return a module whose gradients are those of all processes."""
        if self.count == 1:
            return module
        return nn.parallel.DistributedDataParallel(module)

    def share(self, places: Tensor) -> Tensor:
        """Return this process's rows of a batch; a batch that cannot be dealt out evenly begins again."""
        if self.count == 1:
            return places
        missing = -len(places) % self.count
        dealt = torch.cat([places, places[torch.arange(missing, device=places.device) % len(places)]])
        return dealt[self.rank :: self.count]

    def mean(self, losses: Tensor) -> Tensor:
        """Return the mean over all processes."""
        if self.count == 1:
            return losses
        distributed.all_reduce(losses)
        return losses / self.count
