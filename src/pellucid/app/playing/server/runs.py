"""Runs: fits that were asked for, what became of them, and who listens. One that nobody listens to is stopped."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from pellucid.app.playing.given.play_table import PlayTable
from pellucid.app.playing.server.worker_process import JobProgress
from pellucid.app.playing.server.workers import JobError, WorkerPool

MOST_KEPT = 20
"""Runs that are remembered; of more the oldest are forgotten."""
PATIENCE = 10.0
"""Seconds that a run goes on before somebody has listened."""
GRACE = 1.0
"""Seconds that it goes on after the last listener has left: a page may connect again."""
BEAT = 1.0
"""Seconds between signs of life, by which the server notices that a listener has left."""
RECORDING, PROBLEM, STOPPED = "recording", "problem", "stopped"


class PlayRun:
    """One fit: the job, and what is known of it."""

    def __init__(self, asked: Mapping[str, Any], table: PlayTable | None, page: str) -> None:
        self.id = secrets.token_urlsafe(9)
        self.asked, self.table = asked, table
        self.page = page
        self.progress: JobProgress | None = None
        self.end: tuple[str, str] | None = None
        """The name of the last event, and its JSON."""
        self.task: asyncio.Task[None] | None = None
        self._listeners = 0
        self._news = asyncio.Event()

    @property
    def is_recorded(self) -> bool:
        """Whether there is a recording."""
        return self.end is not None and self.end[0] == RECORDING

    def start(self, pool: WorkerPool) -> None:
        """Give the job to a worker."""
        self.task = asyncio.create_task(self._run(pool))
        self.task.add_done_callback(lambda _task: self._tell(end=self.end or (STOPPED, "{}")))
        self._stop_unless_heard(PATIENCE)

    async def _run(self, pool: WorkerPool) -> None:
        try:
            text = await pool.do("record", self.asked, self.table, run=self.id, told=self._tell)
            self.end = RECORDING, text
        except JobError as error:
            self.end = PROBLEM, json.dumps({"problem": str(error)})

    def _tell(self, progress: JobProgress | None = None, *, end: tuple[str, str] | None = None) -> None:
        self.progress, self.end = progress or self.progress, end
        self._news.set()
        self._news = asyncio.Event()

    def stop(self) -> None:
        """End the job, if it has not ended."""
        if self.task is not None and self.end is None:
            self.task.cancel()

    def _stop_unless_heard(self, seconds: float) -> None:
        def look() -> None:
            if self._listeners == 0:
                self.stop()

        asyncio.get_running_loop().call_later(seconds, look)

    async def events(self) -> AsyncIterator[str]:
        """Yield what happens as server-sent events, the last of which says how it ended."""
        self._listeners += 1
        told: JobProgress | None = None
        try:
            while self.end is None:
                news = self._news
                if self.progress is not told and self.progress is not None:
                    told = self.progress
                    yield event("progress", json.dumps(asdict(told)))
                else:
                    yield ": working\n\n"
                with suppress(TimeoutError):
                    await asyncio.wait_for(news.wait(), BEAT)
            yield event(*self.end)
        finally:
            self._listeners -= 1
            self._stop_unless_heard(GRACE)


def event(name: str, text: str) -> str:
    """Return an event as it is sent; JSON has no line breaks."""
    return f"event: {name}\ndata: {text}\n\n"


class RunBook:
    """The latest runs by their ids."""

    def __init__(self, pool: WorkerPool) -> None:
        self.pool = pool
        self._runs: dict[str, PlayRun] = {}

    def start(self, asked: Mapping[str, Any], table: PlayTable | None = None, *, page: str = "") -> PlayRun:
        """Begin a run; those of the same page that have not ended are stopped."""
        for other in self._runs.values():
            if page and other.page == page:
                other.stop()
        run = PlayRun(asked, table, page)
        self._runs[run.id] = run
        for old in list(self._runs)[:-MOST_KEPT]:
            self._runs.pop(old).stop()
        run.start(self.pool)
        return run

    def find(self, name: str) -> PlayRun | None:
        """Return the run of this id, if it is remembered."""
        return self._runs.get(name)

    def close(self) -> None:
        """Stop all runs."""
        for run in self._runs.values():
            run.stop()
