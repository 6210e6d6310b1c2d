"""Bicubic: the enlargement that every other one is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.vision.restoration.method import RestorationMethod, RestoredPlane
from pellucid.vision.restoration.operators import Downscale, Operator, bicubic_resize


@dataclass(frozen=True)
class Bicubic(RestorationMethod):
    r"""Interpolation by the cubic convolution of Keys, :math:`a = -1/2`: each pixel a mean of 4 x 4 neighbors.

    It is a line through the data, not a solution of :math:`Ax = y`: reduced again, it is not what was measured.

    Examples
    --------
    >>> import numpy as np
    >>> Bicubic().solve(np.array([[0.0, 4.0]]), Downscale(2), 0.0, 255.0).image.round(3)
    array([[-0.375,  0.812,  3.188,  4.375],
           [-0.375,  0.812,  3.188,  4.375]])
    """

    takes: ClassVar[tuple[str, ...]] = ("Downscale",)
    color: ClassVar[str] = "each"

    def solve(self, y: Array, operator: Operator, sigma: float, peak: float) -> RestoredPlane:
        """Return the enlarged plane."""
        assert isinstance(operator, Downscale)  # of what it takes there is no other
        trace = Trace()
        trace.add(iteration=1)
        return RestoredPlane(bicubic_resize(y, operator.scale), trace=trace)
