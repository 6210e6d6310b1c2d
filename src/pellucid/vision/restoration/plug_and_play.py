r"""Plug and play: any denoiser as the prior of any operator.

Half of the work knows the operator, the other half what images look like:

.. math:: x \leftarrow \arg\min_x \|Ax - y\|^2 + \rho_k\|x - z\|^2, \qquad z \leftarrow \text{denoise}(x, s_k),
   \qquad \rho_k = \lambda \sigma^2 / s_k^2

with :math:`s_k` falling from strong to weak noise (Zhang et al. 2017 call it half-quadratic splitting). No objective
falls along the way, so nothing is claimed about a minimum: the last round is replayed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pellucid.core.checks import check_positive, check_whole
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.vision.restoration.linear_filters import EVERYTHING, Tikhonov
from pellucid.vision.restoration.method import RestorationMethod, RestoredPlane
from pellucid.vision.restoration.normal_equations import shifted_solver
from pellucid.vision.restoration.operators import Identity, Operator

NO_NOISE = 1 / 255
"""Noise that is assumed, as a share of the peak, where there is none: a denoiser has to have something to do."""
TOLERANCE = 1e-10
MOST_STEPS = 200


@dataclass(frozen=True)
class PlugAndPlay(RestorationMethod):
    r"""Restoration by a denoiser and an operator in turn.

    Parameters
    ----------
    denoiser : RestorationMethod
        Any method that removes noise: ``BM3D()``, ``TotalVariation()``, a network.
    n_iter : int, default=8
        Rounds.
    strongest : float, default=50/255
        Noise that the first round removes, as a share of the peak. The last removes that of the image.
    penalty : float, default=0.23
        The :math:`\lambda`: how much what the denoiser says weighs against what was measured.
    """

    takes: ClassVar[tuple[str, ...]] = EVERYTHING
    leaves: ClassVar[tuple[str, ...]] = ("before", "fitted_to_data")
    not_smooth: ClassVar[str] = "plug and play asks its denoiser many times, and errors of its derivative multiply."
    denoiser: RestorationMethod
    n_iter: int = 8
    strongest: float = 50 / 255
    penalty: float = 0.23

    def __post_init__(self) -> None:
        check_whole(1, n_iter=self.n_iter)
        check_positive(strongest=self.strongest, penalty=self.penalty)
        if "Identity" not in getattr(self.denoiser, "takes", ()):
            raise ValueError(
                f"denoiser must be a method that removes noise, got {self.denoiser!r}. Take TotalVariation() or BM3D()."
            )

    def solve(self, y: Array, operator: Operator, sigma: float, peak: float) -> RestoredPlane:
        """Return the denoised image of the last round, and with it what that round began with."""
        last = max(sigma, NO_NOISE * peak)
        z = Tikhonov().solve(y, operator, last, peak).image
        trace = Trace()
        for k, level in enumerate(noise_levels(self.strongest * peak, last, self.n_iter), 1):
            before = z
            x = data_step(y, operator, before, self.penalty * last**2 / level**2)
            answer = self.denoiser.solve(x, Identity(), level, peak)
            z = answer.image
            trace.add(iteration=k, noise=level, moved=_root_mean_square(z - before), residual=_misfit(y, operator, z))
        evidence: dict[str, Any] = {"before": before, "fitted_to_data": x}
        evidence |= {f"denoiser_{name}": value for name, value in {**answer.chosen, **answer.evidence}.items()}
        return RestoredPlane(z, {}, trace, evidence)


def noise_levels(strongest: float, last: float, n: int) -> list[float]:
    """Return ``n`` levels that fall to the last one by equal factors.

    Examples
    --------
    >>> noise_levels(40.0, 10.0, 3)
    [40.0, 20.0, 10.0]
    """
    return [last * (max(strongest, last) / last) ** ((n - 1 - k) / max(n - 1, 1)) for k in range(n)]


def data_step(y: Array, operator: Operator, z: Array, rho: float) -> Array:
    r"""Return the image nearest to z that explains what was measured: (A'A + rho) x = A'y + rho z.

    Examples
    --------
    >>> data_step(np.array([[3.0]]), Identity(), np.array([[0.0]]), 0.5)
    array([[2.]])
    """
    solve = shifted_solver(operator, z.shape, rho, MOST_STEPS, TOLERANCE)
    return solve(operator.adjoint(y) + rho * z, z)


def _misfit(y: Array, operator: Operator, image: Array) -> float:
    return _root_mean_square(y - operator.apply(image))


def _root_mean_square(values: Array) -> float:
    return math.sqrt(float(np.mean(values**2)))
