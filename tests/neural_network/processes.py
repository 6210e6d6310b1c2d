"""Processes for tests, forked from one that has loaded torch and the estimators once."""

from __future__ import annotations

import multiprocessing
import os
from contextlib import contextmanager


@contextmanager
def running(target, *arguments):
    """Call the target in one process for each tuple of arguments; none of them outlives the block."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([target.__module__, "pellucid.neural_network.training.trainer", "torch._dynamo"])
    processes = [context.Process(target=target, args=own) for own in arguments]
    try:
        for process in processes:
            process.start()
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.join()
