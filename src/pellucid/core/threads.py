"""The one thread pool: blocks of work on as many threads as BLAS would use, each with BLAS on one.

The threads of BLAS spin for a while after each product and would take the cores from our blocks, so a fit runs inside
``own_threads``: BLAS stays on one thread until the end, except inside ``shared_blas``, for the few large
factorizations that gain from its threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

WORTH_SHARING = 1 << 16
"""Multiplications from which a second thread pays: waking one takes as long as fewer."""

WORTH_SHARING_BLAS = 1e9
"""The same for a factorization on the threads of BLAS, which wait for each other at every block: on a busy machine a
Cholesky factor of 1,000 columns takes 34 ms on one and 200 on two."""

_inside = threading.local()


def thread_count() -> int:
    """Return how many threads to use: the cores we may run on, OMP_NUM_THREADS and threadpoolctl all honored."""
    if getattr(_inside, "worker", False):
        return 1
    budget: int | None = getattr(_inside, "budget", None)
    if budget is not None:
        return budget
    limits = [_available_cores(), *(lib.num_threads for lib in _blas().lib_controllers)]
    with_environment = os.environ.get("OMP_NUM_THREADS", "")
    if with_environment.isdigit() and int(with_environment) > 0:
        limits.append(int(with_environment))
    return max(1, min(limits))


def run_blocks(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Return ``[work(item) for item in items]``, on all threads, in order."""
    n_threads = min(thread_count(), len(items)) if len(items) > 1 else 1
    if n_threads == 1:
        return [work(item) for item in items]
    with single_threaded_blas():
        return list(_pool(n_threads).map(work, items))


def has_own_threads() -> bool:
    """Return whether this code runs inside ``own_threads``, or on one of them."""
    return getattr(_inside, "budget", None) is not None or getattr(_inside, "worker", False)


@contextmanager
def own_threads() -> Iterator[None]:
    """Give all threads to ``run_blocks``: BLAS stays on one until the end."""
    if has_own_threads():
        yield
        return
    _inside.budget = thread_count()
    try:
        with _hold:
            yield
    finally:
        _inside.budget = None


@contextmanager
def shared_blas(work: float) -> Iterator[None]:
    """Give BLAS all threads inside ``own_threads`` for a factorization of this many multiplications, if that pays."""
    budget = getattr(_inside, "budget", None)
    if budget is None or budget == 1 or work < WORTH_SHARING_BLAS:
        yield
        return
    with _blas().limit(limits=budget):
        yield


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Keep BLAS on one thread, for code that runs several threads of its own or whose arrays are small."""
    if getattr(_inside, "budget", None) is not None:
        yield
        return
    with _hold:
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep ``run_blocks`` and BLAS on this thread, for a task beside which others run."""
    before = getattr(_inside, "worker", False), getattr(_inside, "budget", None)
    _inside.worker = True
    try:
        with single_threaded_blas():
            if before[1] is not None:
                _inside.budget = 1
            yield
    finally:
        _inside.worker, _inside.budget = before


def split_evenly(n: int, parts: int) -> list[slice]:
    """Return at most ``parts`` slices of nearly equal length that cover ``range(n)``."""
    parts = max(1, min(parts, n))
    if parts == 1:  # most often, and asked for at every step of a small fit
        return [slice(0, n)]
    edges = [n * i // parts for i in range(parts + 1)]
    return [slice(start, stop) for start, stop in pairwise(edges)]


def shares(n: int, work: int) -> list[slice]:
    """Return a slice of ``range(n)`` for each thread, or one of all where the work is too little to wake threads for.

    ``work`` counts multiplications, or other steps that cost about as much.
    """
    return split_evenly(n, thread_count() if work >= WORTH_SHARING else 1)


def _available_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _blas() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401  (its BLAS must be loaded before the controller looks)

    return ThreadpoolController().select(user_api="blas")


@cache
def _pool(n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, thread_name_prefix="pellucid", initializer=_mark_worker)


def _mark_worker() -> None:
    _inside.worker = True


class _Hold:
    """Keeps BLAS on one thread while anybody holds it: the first to come limits it, the last to go gives it back.

    The limit is one for the whole process, so fits in several threads must not each restore what they found.
    """

    def __init__(self) -> None:
        self.start_anew()

    def start_anew(self) -> None:
        """Forget who holds it: after a fork nobody does."""
        self._lock, self._holders = threading.Lock(), 0
        self._limited: list[tuple[Any, int]] = []

    def __enter__(self) -> None:
        with self._lock:
            if self._holders == 0:  # by hand: a limiter of threadpoolctl takes five times as long, at every fit
                libraries = _blas().lib_controllers
                self._limited = [(library, count) for library in libraries if (count := library.num_threads) != 1]
                for library, _ in self._limited:
                    library.set_num_threads(1)
            self._holders += 1

    def __exit__(self, *_error: object) -> None:
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                for library, count in self._limited:
                    library.set_num_threads(count)


_hold = _Hold()


def _start_anew_after_fork() -> None:
    _pool.cache_clear()
    _hold.start_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew_after_fork)
