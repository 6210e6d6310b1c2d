"""What a solver of constrained problems returns."""

from __future__ import annotations

from dataclasses import dataclass, field

from pellucid.core.solution import Solution
from pellucid.core.types import Array


@dataclass(frozen=True, eq=False)
class ConstrainedSolution(Solution[Array]):
    r"""The answer ``x``, the multipliers of :math:`f + \lambda'c + \nu'a`, and what the solver said when it stopped."""

    lam: Array = field(kw_only=True)
    nu: Array = field(kw_only=True)
    status: str = field(kw_only=True)
