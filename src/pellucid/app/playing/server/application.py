"""The application: what each address of the live page answers, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from pellucid.app.playing.export import page_with
from pellucid.app.playing.given.play_table import GIVEN, PlayTable
from pellucid.app.playing.server.page_files import live_page, page_file
from pellucid.app.playing.server.runs import PlayRun, RunBook
from pellucid.app.playing.server.tables import MOST_TABLE_BYTES, TableShelf
from pellucid.app.playing.server.workers import BusyError, JobError, JobLimits, WorkerPool
from pellucid.app.serving.local_requests import LOCAL_ONLY, RequestError, read_body, read_object

MOST_BYTES = 2_000_000
PAGE_HEADER = "Pellucid-Page"
"""A page that sends its name here has one run: the next stops the one before."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
RUN = '{"play": "KMeans", "parameters": {"n_clusters": 3}, "data": {"set": "moons"}}'
BREAK = '{"changes": [{"attribute": "cluster_centers_", "index": [0, 1], "value": 2.5}]}'
ASK = '{"row": 7} or {"point": [0.5, 1.5]}'
EXERCISE = '{"name": "k-means", "seed": 0, "level": 1}'


class NotFoundError(RequestError):
    """There is nothing of this name."""

    status = 404


class TooBusyError(RequestError):
    """Too much is under way."""

    status = 429


Answer: TypeAlias = Callable[["Rooms", Request], Awaitable[Response]]


@dataclass(frozen=True)
class Rooms:
    """What all addresses share."""

    pool: WorkerPool
    runs: RunBook
    tables: TableShelf
    known: dict[str, Any]
    """What was asked of a worker and never changes."""

    async def ask_once(self, name: str, *arguments: Any) -> Any:
        """Return what a job returns, which is the same every time."""
        key = "/".join([name, *map(str, arguments)])
        if key not in self.known:
            self.known[key] = await self.pool.do(name, *arguments)
        return self.known[key]


def playing_application(table: PlayTable | None = None, limits: JobLimits | None = None) -> Starlette:
    """Return the application that plays: what it answers is in the README of the room.

    Parameters
    ----------
    table : PlayTable, default=None
        A table that the page offers from the start.
    limits : Limits, default=None
        What one fit may take, and how many run at once.
    """

    @asynccontextmanager
    async def lifespan(application: Starlette) -> AsyncIterator[None]:
        pool = WorkerPool(limits)
        application.state.rooms = Rooms(pool, RunBook(pool), TableShelf(table), {})
        try:
            yield
        finally:
            application.state.rooms.runs.close()
            pool.close()

    routes = [Route(path, _answering(answer), methods=[method]) for method, path, answer in ADDRESSES]
    return Starlette(routes=routes, middleware=[LOCAL_ONLY], lifespan=lifespan)


def _answering(answer: Answer) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        try:
            return await answer(request.app.state.rooms, request)
        except BusyError as error:
            return _problem(error, TooBusyError.status)
        except ValueError as error:  # the library's own sentences, too
            return _problem(error, getattr(error, "status", 400))

    return respond


def _problem(error: Exception, status: int) -> Response:
    return JSONResponse({"problem": " ".join(str(error).split())}, status)


async def _page(_rooms: Rooms, _request: Request) -> Response:
    return HTMLResponse(live_page(), headers={"Content-Security-Policy": POLICY})


async def _page_file(_rooms: Rooms, request: Request) -> Response:
    name = request.path_params["name"]
    found = page_file(name)
    if found is None:
        raise NotFoundError(f"page must have a file of this name, got {name!r}.")
    kind, text = found
    return Response(text, media_type=kind, headers={"Cache-Control": "no-cache"})


async def _catalogue(rooms: Rooms, _request: Request) -> Response:
    given = rooms.tables.find(GIVEN)
    told = await rooms.ask_once("catalogue")
    return JSONResponse({**told, "table": None if given is None else given.to_json(GIVEN)})


async def _controls(rooms: Rooms, request: Request) -> Response:
    return JSONResponse(await _of_name(rooms, "controls", request.path_params["name"]))


async def _of_name(rooms: Rooms, job: str, name: str) -> Any:
    try:
        return await rooms.ask_once(job, name)
    except BusyError:
        raise
    except JobError as error:
        raise NotFoundError(str(error)) from None


async def _take_table(rooms: Rooms, request: Request) -> Response:
    remedy = "Take fewer rows."
    body = await read_body(request, MOST_TABLE_BYTES, kind="text/csv", remedy=remedy)
    table = await rooms.pool.do("read_table", body, request.query_params.get("name", "your table"))
    return JSONResponse(table.to_json(rooms.tables.add(table)))


async def _start_run(rooms: Rooms, request: Request) -> Response:
    asked = read_object(await read_body(request, MOST_BYTES), {"play", "data"}, {"parameters"}, RUN)
    rooms.pool.refuse_if_full()
    table = rooms.tables.named_in(asked["data"])
    run = rooms.runs.start(asked, table, page=request.headers.get(PAGE_HEADER, ""))
    return JSONResponse({"run": run.id}, 202)


def _run_of(rooms: Rooms, request: Request, *, is_recorded: bool = False) -> PlayRun:
    name = request.path_params["run"]
    run = rooms.runs.find(name)
    if run is None:
        raise NotFoundError(f"run must be one of the latest, got {name!r}. Run it again.")
    if is_recorded and not run.is_recorded:
        raise RequestError("run must have a recording, got one that has none. Run it again and let it end.")
    return run


async def _events(rooms: Rooms, request: Request) -> Response:
    run = _run_of(rooms, request)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(run.events(), media_type="text/event-stream", headers=headers)


async def _stop_run(rooms: Rooms, request: Request) -> Response:
    _run_of(rooms, request).stop()
    return Response(status_code=204)


async def _break(rooms: Rooms, request: Request) -> Response:
    asked = await _asked(request, {"changes"}, BREAK)
    return await _about_run(rooms, request, "break_it", asked["changes"])


async def _ask(rooms: Rooms, request: Request) -> Response:
    asked = read_object(await read_body(request, MOST_BYTES), (), ("row", "point"), ASK)
    if len(asked) != 1:
        raise RequestError(f"body must be an object like {ASK}.")
    return await _about_run(rooms, request, "ask", asked)


async def _about_run(rooms: Rooms, request: Request, job: str, question: Any) -> Response:
    """Return what a job about a run that has ended says, as the worker wrote it."""
    run = _run_of(rooms, request, is_recorded=True)
    text = await rooms.pool.do(job, run.asked, run.table, question, run=run.id)
    return Response(text, media_type="application/json")


async def _exported(rooms: Rooms, request: Request) -> Response:
    run = _run_of(rooms, request, is_recorded=True)
    text = await run_in_threadpool(page_with, json.loads(_recording_text(run)))
    return HTMLResponse(text, headers={"Content-Disposition": 'attachment; filename="pellucid.html"'})


async def _latex(rooms: Rooms, request: Request) -> Response:
    workings = json.loads(_recording_text(_run_of(rooms, request, is_recorded=True)))["workings"]
    if not workings or not workings.get("latex"):
        raise NotFoundError("run must have workings, got one without. Take at most 20 rows.")
    headers = {"Content-Disposition": 'attachment; filename="workings.tex"'}
    return Response(workings["latex"], media_type="text/x-tex", headers=headers)


async def _exercises(rooms: Rooms, _request: Request) -> Response:
    return JSONResponse(await rooms.ask_once("exercises"))


def _practicing(step: str, *more: str) -> Answer:
    async def answer(rooms: Rooms, request: Request) -> Response:
        asked = await _asked(request, {"name", "seed", "level", *more}, EXERCISE)
        return JSONResponse(await rooms.pool.do("exercise", step, asked))

    return answer


async def _asked(request: Request, needed: Collection[str], example: str) -> dict[str, Any]:
    return read_object(await read_body(request, MOST_BYTES), needed, (), example)


def _recording_text(run: PlayRun) -> str:
    assert run.end is not None  # asked for before
    return run.end[1]


ADDRESSES: tuple[tuple[str, str, Answer], ...] = (
    ("GET", "/", _page),
    ("GET", "/page/{name}", _page_file),
    ("GET", "/api/catalogue", _catalogue),
    ("GET", "/api/plays/{name}/controls", _controls),
    ("POST", "/api/tables", _take_table),
    ("POST", "/api/runs", _start_run),
    ("GET", "/api/runs/{run}/events", _events),
    ("DELETE", "/api/runs/{run}", _stop_run),
    ("POST", "/api/runs/{run}/break", _break),
    ("POST", "/api/runs/{run}/ask", _ask),
    ("GET", "/api/runs/{run}/page", _exported),
    ("GET", "/api/runs/{run}/workings.tex", _latex),
    ("GET", "/api/exercises", _exercises),
    ("POST", "/api/exercise", _practicing("question")),
    ("POST", "/api/exercise/mark", _practicing("mark", "answers")),
    ("POST", "/api/exercise/hint", _practicing("hint", "step")),
)
