"""The application: what each address answers, and what it refuses."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

import pellucid
from pellucid.serving.fields import fields_of
from pellucid.serving.rows import RequestError, answers, rows_and_level, table_and_level, table_answers
from pellucid.table_model import TableModel

MOST_BYTES = 2_000_000
HOSTS = ["127.0.0.1", "localhost"]
"""A page elsewhere on the web that had its own name point here would be refused."""
PAGE = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True).from_string(
    files("pellucid.serving").joinpath("page.html").read_text(encoding="utf-8")
)


def serving_application(model: TableModel) -> Starlette:
    """Return the application that answers for one model: ``GET /``, ``/model``, ``POST /predict``, ``/table``."""
    columns = list(model[0].kinds)
    fields = fields_of(model)
    about = {
        "target": model.target_,
        "method": type(model[-1]).__name__,
        "certificate": model[-1].certificate_.verdict,
        "columns": [{"name": one.name, "kind": one.kind, "example": one.example} for one in fields],
        "pellucid": pellucid.__version__,
    }

    async def page(_request: Request) -> Response:
        nonce = secrets.token_urlsafe(16)
        text = PAGE.render(fields=fields, about=about, nonce=nonce)
        policy = f"default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; connect-src 'self'"
        return HTMLResponse(text, headers={"Content-Security-Policy": f"{policy}; base-uri 'none'; form-action 'none'"})

    async def describe(_request: Request) -> Response:
        return JSONResponse(about)

    def of_rows(body: bytes) -> dict[str, Any]:
        return {"predictions": answers(model, *rows_and_level(body, columns))}

    def of_table(body: bytes) -> Mapping[str, Any]:
        return table_answers(model, *table_and_level(body))

    def answering(answer: Callable[[bytes], Mapping[str, Any]]) -> Callable[[Request], Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            try:
                found = await run_in_threadpool(answer, await _body(request))
            except ValueError as error:  # the library's own sentences, too
                status = 413 if isinstance(error, TooLargeError) else 400
                return JSONResponse({"error": " ".join(str(error).split())}, status)
            return JSONResponse({"target": model.target_, **found})

        return respond

    routes = [
        Route("/", page),
        Route("/model", describe),
        Route("/predict", answering(of_rows), methods=["POST"]),
        Route("/table", answering(of_table), methods=["POST"]),
    ]
    return Starlette(routes=routes, middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS)])


class TooLargeError(RequestError):
    """The body has more bytes than are taken."""


async def _body(request: Request) -> bytes:
    """Return the body, unless it is no JSON (so that no form of another page gets here) or too large."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise RequestError("Content-Type must be application/json.")
    found = bytearray()
    async for part in request.stream():
        found += part
        if len(found) > MOST_BYTES:
            raise TooLargeError(f"body must have at most {MOST_BYTES:,} bytes. Send fewer rows at a time.")
    return bytes(found)
