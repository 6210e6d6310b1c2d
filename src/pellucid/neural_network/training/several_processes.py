"""One network in several processes, each with a share of every batch: one command, ``torchrun``, starts them."""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, distributed, nn


@dataclass(frozen=True)
class Processes:
    """Which process this is, of how many; ``torchrun --nproc-per-node 2 script.py`` runs the script in two.

    Each takes every second row of a batch, and their losses count by the weights of their rows: the network is the
    same in all of them, and the one that a single process would find, up to rounding. On graphics cards, batch
    normalization looks at the rows of all processes, too. Torch has none that does so on the CPU: there it looks at
    the rows of its process, and the statistics that predictions use are those of the first process.
    """

    device: torch.device
    rank: int = 0
    count: int = 1

    @classmethod
    def here(cls, device: torch.device) -> Processes:
        """Return this process's place, joining the others on first use."""
        count = int(os.environ.get("WORLD_SIZE", "1"))
        if count == 1:
            return cls(device)
        if not distributed.is_initialized():
            distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
        return cls(device, distributed.get_rank(), count)

    @property
    def is_first(self) -> bool:
        """Whether this one writes files and shows the bar."""
        return self.rank == 0

    def shared(self, module: nn.Module) -> nn.Module:
        """Return a module whose gradients are those of all processes."""
        if self.count == 1:
            return module
        return nn.parallel.DistributedDataParallel(synchronized(module) if self.device.type == "cuda" else module)

    def share(self, places: Tensor) -> Tensor:
        """Return this process's rows of a batch; where none is left for it, one that then counts nothing."""
        if self.count == 1:
            return places
        own = places[self.rank :: self.count]
        return own if len(own) else places[:1]

    def importance(self, rows: Any, places: Tensor) -> Any:
        """Return the factor by which this process's mean loss counts, so that the mean over processes is the batch's.

        Every process knows the weights of all rows, and asks no other.
        """
        own = places[self.rank :: self.count]
        if rows.weight is None:
            return self.count * len(own) / len(places)
        return self.count * rows.weight[own].sum() / rows.weight[places].sum()

    def mean(self, losses: Tensor) -> Tensor:
        """Return the mean over all processes."""
        if self.count == 1:
            return losses
        distributed.all_reduce(losses)
        return losses / self.count

    def follow_first(self, module: nn.Module) -> None:
        """Take over the statistics of the first process, so that all score the same network."""
        if self.count > 1:
            for statistic in module.buffers():
                distributed.broadcast(statistic, 0)

    def of_first(self, number: int) -> int:
        """Return what the first process says: a seed that all must share, or whether to stop, which none does alone."""
        if self.count == 1:
            return number
        said = torch.tensor(number, device=self.device)
        distributed.broadcast(said, 0)
        return int(said)


def synchronized(module: nn.Module) -> nn.Module:
    """Return the same network, in the same memory, whose batch normalization looks at the rows of all processes."""
    shared = {id(one): one for one in (*module.parameters(), *module.buffers())}
    return nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(module, shared)).train()
