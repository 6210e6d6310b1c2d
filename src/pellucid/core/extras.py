"""Packages that only some of us need: what to say where one of them is missing."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

EXTRAS = {"torch": ("PyTorch", "deep"), "starlette": ("Starlette", "serve"), "uvicorn": ("uvicorn", "serve")}
"""Package -> what people call it, and the extra that brings it."""


def names_without(package: str, names: list[str], needing: Collection[str]) -> list[str]:
    """Return what ``from room import *`` brings: all names, or those that do not need a package that is missing."""
    return names if find_spec(package) else [name for name in names if name not in needing]


def is_installed(extra: str) -> bool:
    """Return whether the packages of an extra are there; none is asked for by ""."""
    return all(find_spec(package) for package, (_, name) in EXTRAS.items() if name == extra)


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
