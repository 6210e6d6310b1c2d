"""Where networks run: the device that was asked for, and what to say when it is not there or too small."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from threadpoolctl import threadpool_limits

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
