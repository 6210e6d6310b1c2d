"""Packages that only some of us need: what to say where one of them is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

EXTRAS = {"torch": ("PyTorch", "deep")}
"""Package -> what people call it, and the extra that brings it."""


@contextmanager
def needs_extra(what: str) -> Iterator[None]:
    """Turn a failed import of an extra, in this block, into one sentence that says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".")[0]
        if package not in EXTRAS:
            raise
        name, extra = EXTRAS[package]
        raise ImportError(
            f"{what} needs {name}, which is not installed. Install it: pip install 'pellucid[{extra}]'.", name=package
        ) from error
