"""What a method of restoration is: a value that turns a measured plane into an answer with its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.vision.restoration.operators import Operator


@dataclass(frozen=True, eq=False)
class RestoredPlane:
    """One restored plane."""

    image: Array
    """(height, width) of float64."""
    chosen: Mapping[str, float] = field(default_factory=dict)
    """Parameters that were left to the method, and what it took."""
    trace: Trace = field(default_factory=Trace)
    evidence: Mapping[str, Array] = field(default_factory=dict)
    """What a proof needs beside the image: dual variables, dictionaries, codes."""


class RestorationMethod:
    """A way to restore images; each is a frozen dataclass whose fields are its parameters."""

    takes: ClassVar[tuple[str, ...]] = ("Identity",)
    """Names of the operators it can invert."""
    color: ClassVar[str] = "opponent"
    """Which planes it sees of a color image: ``opponent`` or ``each`` of R, G and B."""
    leaves: ClassVar[tuple[str, ...]] = ()
    """Names of the arrays that its proof needs beside the image."""
    not_smooth: ClassVar[str] = ""
    """Why its answer is not weakly differentiable in the image, so that no unbiased estimate of its error exists."""

    def solve(self, y: Array, operator: Operator, sigma: float, peak: float) -> RestoredPlane:
        """Return the answer for one plane of float64, with noise of this standard deviation."""
        raise NotImplementedError

    def solve_planes(self, y: Array, operator: Operator, sigma: float, peak: float) -> tuple[RestoredPlane, ...]:
        """Return the answer for each of the planes (channels, height, width); the first is the luminance."""
        return tuple(self.solve(plane, operator, sigma, peak) for plane in y)
