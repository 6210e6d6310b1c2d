"""A worker: a process that does one job after the other, and that may be killed in any of them.

A job is the name of a function of :mod:`~pellucid.app.playing.server.jobs` and its arguments. The worker tells when it
begins, how far it is, and how it ended; nothing else passes between the two processes.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from threading import Thread
from time import perf_counter
from typing import Any

GIGABYTE = 1 << 30
TOLD_PER_SECOND = 10
"""Nobody reads faster."""
INSIDE = "The fit failed inside ({kind}: {message}). Other data or parameters may do."


@dataclass(frozen=True)
class Job:
    """What to do, by its name, and with what."""

    name: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Begun:
    """The job has begun."""


@dataclass(frozen=True)
class JobProgress:
    """How far the job is, and the seconds since it began."""

    done: int
    label: str
    seconds: float


@dataclass(frozen=True)
class Done:
    """What the job returned."""

    result: Any


@dataclass(frozen=True)
class Failed:
    """Why the job has no result, in a sentence; a worker that ran out of memory is not used again."""

    sentence: str
    is_spent: bool = False


def work(connection: Connection, memory: int) -> None:
    """Do what comes over the connection until nothing comes any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends its workers
    Thread(target=_end_with_parent, daemon=True).start()
    warnings.simplefilter("ignore")  # a page shows certificates, and nobody reads this process' terminal
    from pellucid.app.playing.server import jobs

    jobs.warm_up()
    while True:
        try:
            job = connection.recv()
        except (EOFError, OSError):  # the server has gone
            return
        end = _done(job, connection, memory)
        connection.send(end)
        if isinstance(end, Failed) and end.is_spent:
            return


def _done(job: Job, connection: Connection, memory: int) -> Done | Failed:
    from pellucid.app.playing.server.jobs import JOBS, REPORTING
    from pellucid.core.threads import own_threads

    start, last = perf_counter(), 0.0
    connection.send(Begun())

    def tell(done: int, label: str, _seconds: float) -> None:
        """Tell the server, unless it was told just now."""
        nonlocal last
        now = perf_counter()
        if now - last >= 1 / TOLD_PER_SECOND:
            last = now
            connection.send(JobProgress(done, label, now - start))

    try:
        limit_memory(memory)
        with own_threads():  # small products on many threads wait for each other, and other jobs need the cores
            return Done(JOBS[job.name](*job.arguments, **({"report": tell} if job.name in REPORTING else {})))
    except MemoryError:
        needed = f"The job needed more than {memory / GIGABYTE:g} GB of memory and was ended."
        return Failed(f"{needed} Take fewer rows or iterations.", is_spent=True)
    except (ValueError, TypeError) as error:  # the library's own sentences
        return Failed(" ".join(str(error).split()))
    except Exception as error:
        return Failed(INSIDE.format(kind=type(error).__name__, message=" ".join(str(error).split())[:200]))


def limit_memory(room: int) -> None:
    """Let this process take so many bytes more than it has; where the platform has no such limit, nothing happens."""
    status = Path("/proc/self/status")
    if sys.platform == "win32" or not status.exists():
        return
    import resource

    used = next(int(line.split()[1]) << 10 for line in status.read_text().splitlines() if line.startswith("VmData"))
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    wanted = used + room
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard < 0 else min(wanted, hard), hard))


def _end_with_parent() -> None:
    """End when the server has ended without a word: a fit that never ends would outlive it."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
