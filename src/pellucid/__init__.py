"""Pellucid: machine learning that shows its work and proves its answer."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "Certificate": "pellucid.core.certificate",
    "Claim": "pellucid.core.certificate",
    "Solution": "pellucid.core.solution",
    "Trace": "pellucid.core.trace",
    "UncertifiedWarning": "pellucid.core.certificate",
    "load": "pellucid.files",
    "record": "pellucid.core.recording",
    "save": "pellucid.files",
    "show_work": "pellucid.workings",
    "verify": "pellucid.core.verification",
}

__all__ = sorted([*_HOMES, "__version__"])

if TYPE_CHECKING:
    from pellucid.core.certificate import Certificate, Claim, UncertifiedWarning
    from pellucid.core.recording import record
    from pellucid.core.solution import Solution
    from pellucid.core.trace import Trace
    from pellucid.core.verification import verify
    from pellucid.files import load, save
    from pellucid.workings import show_work


def __getattr__(name: str) -> Any:
    """Import public names on first use, so that ``import pellucid`` stays quick."""
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'pellucid' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
