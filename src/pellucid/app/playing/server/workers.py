"""Workers as the server sees them: jobs are given out, limited in time, and ended by ending their process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from threading import Thread
from typing import Any, TypeAlias

from pellucid.app.playing.server.worker_process import GIGABYTE, Begun, Done, Failed, Job, JobProgress, work

WARM_UP_SECONDS = 180.0
"""A worker that has not begun by then never will: the first one on a machine compiles."""
DIED = "The process that did the job ended by itself, probably for want of memory. Take fewer rows or smaller settings."
MOST_WAITING = 12
"""Jobs that may wait for a worker; more are refused."""


class JobError(ValueError):
    """A job has no result; the message says why."""


class BusyError(JobError):
    """Too many jobs are waiting."""


@dataclass(frozen=True)
class JobLimits:
    """What one job may take, and how many may run at once."""

    seconds: float = 60.0
    memory: int = 2 * GIGABYTE
    at_once: int = max(1, os.cpu_count() or 1)


Told: TypeAlias = Callable[[JobProgress], None]


class Worker:
    """One process, and the messages that come from it."""

    def __init__(self, memory: int) -> None:
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=work, args=(theirs, memory), daemon=True)
        self._process.start()
        theirs.close()  # so that the death of the process ends what is read here
        self.runs: set[str] = set()
        """Ids of the runs whose performances it may have."""
        self._messages: asyncio.Queue[Any] = asyncio.Queue()
        Thread(target=self._read, args=(asyncio.get_running_loop(),), daemon=True).start()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        """Pass on what comes, and at the end None."""
        message: Any = self
        with self._connection:
            while message is not None:
                try:
                    message = self._connection.recv()
                except (EOFError, OSError):
                    message = None
                with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                    loop.call_soon_threadsafe(self._messages.put_nowait, message)

    async def do(self, job: Job, seconds: float, told: Told) -> Any:
        """Return what the job returns, or raise JobError."""
        try:
            await asyncio.to_thread(self._connection.send, job)
        except OSError:  # it died while it waited
            raise JobError(DIED) from None
        limit = WARM_UP_SECONDS
        loop = asyncio.get_running_loop()
        deadline = loop.time() + limit
        while True:
            try:
                message = await asyncio.wait_for(self._messages.get(), deadline - loop.time())
            except TimeoutError:
                self.kill()
                raise JobError(
                    f"The job took more than {limit:g} seconds and was ended. Take fewer rows or iterations."
                ) from None
            match message:
                case Begun():
                    limit, deadline = seconds, loop.time() + seconds
                case JobProgress():
                    told(message)
                case Done(result):
                    return result
                case Failed(sentence, is_spent):
                    if is_spent:
                        self.kill()
                    raise JobError(sentence)
                case _:
                    self.kill()
                    raise JobError(DIED)

    @property
    def is_alive(self) -> bool:
        """Whether the process is there."""
        return self._process.is_alive()

    def kill(self) -> None:
        """End the process at once, whatever it does."""
        self._process.kill()
        self._process.join()


class WorkerPool:
    """Some workers, warm before they are needed; the one that worked last works next, for it is the warmest."""

    def __init__(self, limits: JobLimits | None = None) -> None:
        self.limits = limits or JobLimits()
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._room = asyncio.Semaphore(self.limits.at_once)
        self._waiting = 0
        self._is_open = True
        self._keep_spare()

    async def do(self, name: str, *arguments: Any, run: str = "", told: Told = lambda _progress: None) -> Any:
        """Return what a job returns, or raise JobError; whoever cancels the call ends the job.

        A job about a run goes to a worker that has had it before, if there is one without work.
        """
        self.refuse_if_full()
        self._waiting += 1
        try:
            await self._room.acquire()
        finally:
            self._waiting -= 1
        try:
            return await self._done(Job(name, ((run,) if run else ()) + arguments), run, told)
        finally:
            self._room.release()

    def refuse_if_full(self) -> None:
        """Raise BusyError if too many jobs are waiting."""
        if self._waiting >= MOST_WAITING:
            raise BusyError(f"{self._waiting} jobs are waiting already. Try again when one of them has ended.")

    async def _done(self, job: Job, run: str, told: Told) -> Any:
        worker = self._take(run)
        is_over = False
        try:
            result = await worker.do(job, self.limits.seconds, told)
            is_over = True
            return result
        except JobError:
            is_over = True
            raise
        finally:
            self._busy.discard(worker)
            if not is_over:
                worker.kill()
            if worker.is_alive and self._is_open:
                self._idle.append(worker)
            self._keep_spare()

    def _take(self, run: str) -> Worker:
        self._idle = [worker for worker in self._idle if worker.is_alive]
        self._idle.sort(key=lambda worker: run in worker.runs)  # one that knows the run stands last; others as before
        worker = self._idle.pop() if self._idle else Worker(self.limits.memory)
        worker.runs.add(run)
        self._busy.add(worker)
        self._keep_spare()
        return worker

    def _keep_spare(self) -> None:
        """Have a worker in waiting, so that whoever stops a job need not wait for the next."""
        if self._is_open and not self._idle:
            self._idle.append(Worker(self.limits.memory))

    def close(self) -> None:
        """End all workers."""
        self._is_open = False
        for worker in (*self._idle, *self._busy):
            worker.kill()
        self._idle.clear()
