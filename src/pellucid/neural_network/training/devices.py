"""Where networks run: the device that was asked for, and what to say when it is not there or too small."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from threadpoolctl import threadpool_limits
from torch import Tensor, distributed, nn

from pellucid.core.threads import thread_count


def device_named(name: str) -> torch.device:
    """Return the device of this name; "auto" is a graphics card if there is one.

    Of several processes that one command started, each has a card of its own.

    Examples
    --------
    >>> device_named("cpu")
    device(type='cpu')
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ValueError(f"device must be 'auto', 'cpu' or 'cuda', got {name!r}. Use 'auto'.") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device must be one this machine has, got {name!r}, but torch sees no GPU. Use 'cpu'.")
    return _own_card(device) if device.type == "cuda" else device


def _own_card(device: torch.device) -> torch.device:
    """Return the card that was named, or else the one of this process; refuse one that is not there."""
    cards, own = torch.cuda.device_count(), os.environ.get("LOCAL_RANK")
    if device.index is None and own is not None:
        device = torch.device("cuda", int(own))
    if (device.index or 0) >= cards:
        raise ValueError(f"device must be one of the {cards} cards of this machine, got '{device}'. Use 'auto'.")
    return device


@contextmanager
def threads_of_torch() -> Iterator[None]:
    """Give torch, and the matrix products it calls, as many threads as we have: sums round by their number."""
    before, ours = torch.get_num_threads(), thread_count()
    with threadpool_limits(ours, user_api="blas"):
        torch.set_num_threads(ours)
        try:
            yield
        finally:
            torch.set_num_threads(before)


@contextmanager
def repeatable(seed: int, device: torch.device, *, deterministic: bool) -> Iterator[None]:
    """Draw from torch's generators as from a seed inside the block; outside they go on as if nothing had been."""
    cards = [device] if device.type == "cuda" else []
    backends = torch.backends.cudnn.flags(enabled=True, benchmark=not deterministic, deterministic=deterministic)
    on_cpu = torch.backends.mkldnn
    before = on_cpu.enabled, on_cpu.deterministic
    with torch.random.fork_rng(devices=cards), backends:
        torch.manual_seed(seed)
        on_cpu.set_flags(_deterministic=deterministic)
        try:
            yield
        finally:  # torch gives up fast products for good when a processor lacks bfloat16
            on_cpu.set_flags(*before)


def say_what_would_fit(error: torch.OutOfMemoryError, batch_size: int, try_rows: Callable[[int], Any]) -> None:
    """Raise the error again as a sentence with the largest batch, of halves of the one that failed, that fits."""
    fits = batch_size // 2
    while fits:
        try:
            torch.cuda.empty_cache()
            try_rows(fits)
            break
        except torch.OutOfMemoryError:
            fits //= 2
    advice = f"Use batch_size={fits}." if fits else "Not even one row fits: use a smaller network or device='cpu'."
    raise MemoryError(f"batch_size must fit into the memory of the device, got {batch_size}. {advice}") from error


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
            is_crowded = int(os.environ.get("LOCAL_WORLD_SIZE", count)) > torch.cuda.device_count()
            is_apart = device.type == "cuda" and not is_crowded  # NCCL refuses two processes on one accelerator
            distributed.init_process_group("nccl" if is_apart else "gloo")
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
