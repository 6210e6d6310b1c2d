"""Solution: what a solver returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pellucid.core.trace import Trace
from pellucid.proofs.certificate import Certificate

T = TypeVar("T")


@dataclass(frozen=True)
class Solution(Generic[T]):
    """The answer ``x`` of a solver, with the number of iterations, its trace and its own claim."""

    x: T
    n_iter: int
    certificate: Certificate
    trace: Trace = field(default_factory=Trace)
    stopped: str = ""
    """Why the solver stopped, in words, if it says so."""
