"""What every server on this machine refuses: other hosts and kinds of content, bodies too large or that are no JSON."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, NoReturn

from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request

HOSTS = ["127.0.0.1", "localhost"]
"""A page elsewhere on the web that had its own name point here would be refused."""
LOCAL_ONLY = Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS)
JSON = "application/json"


class RequestError(ValueError):
    """The request cannot be answered as it is; the message says why."""

    status = 400


class ContentTypeError(RequestError):
    """The body is of another kind than the address takes."""

    status = 415


class TooLargeError(RequestError):
    """The body has more bytes than are taken."""

    status = 413


async def read_body(request: Request, most_bytes: int, *, kind: str = JSON, remedy: str = "Send less.") -> bytes:
    """Return the body, unless it is of another kind (so that no form of another page gets here) or too large."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != kind:
        raise ContentTypeError(f"Content-Type must be {kind}.")
    found = bytearray()
    async for part in request.stream():
        found += part
        if len(found) > most_bytes:
            raise TooLargeError(f"body must have at most {most_bytes:,} bytes. {remedy}")
    return bytes(found)


def read_object(body: bytes, needed: Collection[str], allowed: Collection[str], example: str) -> dict[str, Any]:
    """Return the object in a body; refuse one that lacks a part or has others than those allowed."""
    try:
        asked = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"body must be JSON: {error}.") from None
    if not isinstance(asked, dict) or not set(needed) <= set(asked) <= {*needed, *allowed}:
        may = f"; {', '.join(allowed)} may be missing" if allowed else ""
        raise RequestError(f"body must be an object like {example}{may}.")
    return asked


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
