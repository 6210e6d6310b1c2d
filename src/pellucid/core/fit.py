"""Fit: what the solver of every estimator returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pellucid.core.trace import Trace
from pellucid.core.watching import Watch, ignore
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
    A trace that can be read off the answer is one of them, by the name ``trace_``; so are claims that a solver has the
    numbers for and no doubt about, by the name ``certificate_``."""
    reached: bool | None = None
    """Whether the goal was reached, as measured: then no warning is due, and the proof may wait until asked. None is
    for who has no doubt: a closed form, whose card knows of no iterations."""


T = TypeVar("T")


@dataclass(frozen=True)
class Solution(Generic[T]):
    """The answer of a solver, with the number of iterations, its trace and its own claim."""

    x: T
    """The answer: a vector, or what else the solver finds."""
    n_iter: int
    """Iterations done."""
    certificate: Certificate
    """What the solver claims of the answer, with a bound."""
    trace: Trace = field(default_factory=Trace)
    """One row per iteration; empty if the solver keeps none."""
    stopped: str = ""
    """Why the solver stopped, in words, if it says so."""


@dataclass(frozen=True)
class Effort:
    """The precision to reach, the most iterations to spend, and what to tell after each."""

    goal: float
    max_iter: int
    watch: Watch = ignore
