"""Fit: what the solver of every estimator returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pellucid.core.trace import Trace
from pellucid.proofs.certificate import Certificate


@dataclass(frozen=True)
class Fit:
    """Fitted attributes by name, what the solver did, and why it stopped.

    ``certificate`` holds what the solver measured on the way; without it the estimator runs the proof of its card.
    """

    attributes: Mapping[str, Any]
    trace: Trace = field(default_factory=Trace)
    stopped: str = ""
    certificate: Certificate | None = None
    later: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    """Attributes that few ask for, computed when somebody does; each function must be one that pickle can store.
    A trace that can be read off the answer is one of them, by the name ``trace_``."""
