r"""Tikhonov and Wiener: filters that multiply every frequency by a number, or solve the same equations otherwise.

Both have the form :math:`\hat x = (A'A + R)^{-1}A'y`. Tikhonov's R is a weight times the squared differences of
neighbors; Wiener's is the noise over the signal, frequency by frequency, for an image whose spectrum is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.signal import fftconvolve
from scipy.sparse.linalg import LinearOperator, cg

from pellucid.core.checks import check_nonnegative, check_positive
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.vision.restoration.method import RestorationMethod, RestoredPlane
from pellucid.vision.restoration.operators import Blur, Downscale, Mask, Operator, Spectrum

EVERYTHING = ("Identity", "Mask", "Blur", "BlurDecimate", "Downscale")
LOG_WEIGHTS = (-14.0, 14.0)
"""Natural logarithms of the weights that are looked through, about that which makes both terms equally heavy."""
N_WEIGHTS = 29
STEEPEST = 8.0
"""Largest exponent of a spectrum."""
TOLERANCE = 1e-12
"""Residual of the equations at which conjugate gradients stop, relative to the right-hand side."""
FEW_NUMBERS = 1000
"""Frequencies below which a spectrum's likelihood may have several peaks."""
MOST_STEPS = 2000
FEW_STEPS, ROUGHLY = 30, 1e-4
"""Steps and residual while a weight is still looked for."""
MOST_TRACED = 30
"""Steps that are traced: to know a residual costs as much as a step."""
LEAST_POWER = 1e-6
NO_NOISE = 1e-6
"""Weight of the differences, relative, where there is no noise: the limit of smaller ones."""


@dataclass(frozen=True)
class Tikhonov(RestorationMethod):
    r"""Least squares with a penalty on the squared differences of neighbors.

    .. math:: \min_x\ \tfrac12\|Ax - y\|^2 + \tfrac{w}{2}\|Dx\|^2

    Parameters
    ----------
    weight : float, default=None
        The :math:`w`, above 0. None takes the one of least estimated error: by Stein's formula, exactly, where a
        spectrum is known; otherwise the one whose residual is as large as the noise.

    Examples
    --------
    >>> from pellucid.vision.restoration import Identity
    >>> step = np.array([[0.0, 0.0, 4.0, 4.0]])
    >>> Tikhonov(weight=1.0).solve(step, Identity(), 1.0, 255.0).image.round(3)
    array([[0.571, 1.143, 2.857, 3.429]])
    """

    takes: ClassVar[tuple[str, ...]] = EVERYTHING
    weight: float | None = None

    def __post_init__(self) -> None:
        if self.weight is not None:
            check_positive(weight=self.weight)

    def solve(self, y: Array, operator: Operator, sigma: float, peak: float) -> RestoredPlane:
        """Return the minimizer: in closed form where the operator has a spectrum, by conjugate gradients else."""
        spectrum = operator.spectrum(operator.restored_shape((y.shape[0], y.shape[1])))
        if spectrum is None:
            return self._by_conjugate_gradients(y, operator, sigma)
        rough, power = spectrum.roughness(), np.abs(spectrum.values) ** 2
        coefficients = spectrum.coefficients(y)
        weight = self.weight or _weight_of_least_risk(np.abs(coefficients) ** 2, power, rough, sigma)
        down = power + weight * rough
        filtered = _divided(spectrum.values.conj() * coefficients, down)
        trace = Trace()
        trace.add(iteration=1, weight=weight)
        return RestoredPlane(spectrum.image(filtered), {} if self.weight else {"weight": weight}, trace)

    def _by_conjugate_gradients(self, y: Array, operator: Operator, sigma: float) -> RestoredPlane:
        trace = Trace()
        solver = _Equations(y, operator)
        weight = self.weight or solver.weight_by_discrepancy(sigma)
        image = solver.solution(weight, MOST_STEPS, trace)
        return RestoredPlane(image, {} if self.weight else {"weight": weight}, trace)


class _Equations:
    """The equations (A'A + w D'D) x = A'y, for several weights w; each starts from the solution before."""

    def __init__(self, y: Array, operator: Operator) -> None:
        self.y, self.operator = y, operator
        self.shape = operator.restored_shape((y.shape[0], y.shape[1]))
        self.right = operator.adjoint(y)
        self.last = np.zeros(self.shape)
        self.basis, self.power = _nearest_spectrum(operator, self.shape)

    def solution(self, weight: float, most: int, trace: Trace | None = None) -> Array:
        """Return x for a weight."""
        size, norm = self.right.size, float(np.linalg.norm(self.right))

        def left(x: Array) -> Array:
            image = x.reshape(self.shape)
            made = self.operator.adjoint(self.operator.apply(image)) + weight * roughened(image)
            return np.asarray(made.ravel())

        def step(x: Array) -> None:
            if trace is not None and len(trace) < MOST_TRACED:
                residual = float(np.linalg.norm(left(x) - self.right.ravel()))
                trace.add(iteration=len(trace) + 1, residual=residual / norm if norm else 0.0)

        down = self.power + weight * self.basis.roughness()
        matrix, near = (
            LinearOperator((size, size), matvec=product, dtype=np.float64)
            for product in (left, lambda r: self._filtered(r, down))
        )
        tol = TOLERANCE if most == MOST_STEPS else ROUGHLY
        x, _ = cg(matrix, self.right.ravel(), self.last.ravel(), rtol=tol, maxiter=most, M=near, callback=step)
        self.last = np.asarray(x).reshape(self.shape)
        return self.last

    def _filtered(self, x: Array, down: Array) -> Array:
        return self.basis.image(self.basis.coefficients(x.reshape(self.shape)) / down).ravel()

    def weight_by_discrepancy(self, sigma: float) -> float:
        """Return the weight at which the residual is as large as the noise (Morozov)."""
        n = np.count_nonzero(~self.operator.missing) if isinstance(self.operator, Mask) else self.y.size
        goal = n * sigma**2
        low, high = math.log(NO_NOISE), LOG_WEIGHTS[1]
        if goal == 0.0:
            return NO_NOISE
        for _ in range(12):
            middle = 0.5 * (low + high)
            residual = self.y - self.operator.apply(self.solution(math.exp(middle), FEW_STEPS))
            low, high = (middle, high) if float(np.sum(residual**2)) < goal else (low, middle)
        return math.exp(0.5 * (low + high))


def _nearest_spectrum(operator: Operator, shape: tuple[int, int]) -> tuple[Spectrum, Array]:
    """Return a basis in which A'A is nearly diagonal, and its numbers there: with them few steps are enough."""
    basis = Spectrum("cosine", np.ones(shape))
    if isinstance(operator, Mask):
        return basis, np.full(shape, float(np.mean(~operator.missing)))
    if isinstance(operator, Downscale):
        return basis, np.full(shape, 1.0 / operator.scale**2)
    kernel, scale = operator.kernel, getattr(operator, "scale", 1)  # type: ignore[attr-defined]
    power = fftconvolve(kernel, kernel[::-1, ::-1])
    power = power + power[::-1]
    power = (power + power[:, ::-1]) / 4.0
    values = Blur(power, "reflect").spectrum(shape)
    assert values is not None  # the kernel is symmetric and odd
    return basis, np.maximum(values.values, LEAST_POWER) / scale**2


def roughened(image: Array) -> Array:
    """Return D'D x: each pixel's differences from its neighbors, added up."""
    out = np.zeros_like(image)
    for axis in (0, 1):
        differences = np.diff(image, axis=axis)
        before, behind = ([slice(None)] * 2 for _ in range(2))
        before[axis], behind[axis] = slice(None, -1), slice(1, None)
        out[tuple(before)] -= differences
        out[tuple(behind)] += differences
    return out


def _weight_of_least_risk(squares: Array, power: Array, rough: Array, sigma: float) -> float:
    r"""Return the weight of least estimated error of A x, which Stein's formula gives exactly for a linear filter.

    With :math:`h = |a|^2 / (|a|^2 + w g)` at each frequency it is :math:`\sum (1 - h)^2 |\hat y|^2 + 2\sigma^2 \sum h`.
    """
    if sigma == 0.0 or not squares.any():
        return NO_NOISE

    def risk(log_weight: float) -> float:
        kept = np.divide(power, power + math.exp(log_weight) * rough, out=np.ones_like(power), where=rough > 0)
        return float(np.sum((1.0 - kept) ** 2 * squares) + 2.0 * sigma**2 * np.sum(kept))

    grid = np.linspace(*LOG_WEIGHTS, N_WEIGHTS)  # of a few pixels the risk may have several valleys
    best, width = grid[int(np.argmin([risk(point) for point in grid]))], grid[1] - grid[0]
    near = (max(best - width, grid[0]), min(best + width, grid[-1]))
    found = minimize_scalar(risk, bounds=near, method="bounded", options={"xatol": 1e-4})
    return math.exp(found.x if found.fun <= risk(best) else best)


def _divided(above: Array, down: Array) -> Array:
    """Return the quotient, 0 where nothing of the image was measured."""
    return np.divide(above, down, out=np.zeros_like(above), where=down > 0)


@dataclass(frozen=True)
class Wiener(RestorationMethod):
    r"""The linear filter of least expected error for an image whose spectrum falls as a power of the frequency.

    .. math:: \hat x_f = \frac{\bar a_f\, S_f}{|a_f|^2 S_f + \sigma^2}\, \hat y_f, \qquad S_f = \frac{s}{g_f^{\,p}}

    where :math:`g_f = 4\sin^2` of the frequency, summed over both axes, is about the square of the frequency. The mean
    of the image is kept as it is.

    Parameters
    ----------
    amplitude : float, default=None
        :math:`s`, above 0. None takes the one that makes the measured spectrum likeliest.
    exponent : float, default=None
        :math:`p`, at least 0. None takes the likeliest, at most 8.

    Examples
    --------
    >>> from pellucid.vision.restoration import Identity
    >>> step = np.array([[0.0, 0.0, 4.0, 4.0]])
    >>> Wiener(amplitude=1.0, exponent=1.0).solve(step, Identity(), 1.0, 255.0).image.round(3)  # Tikhonov's
    array([[0.571, 1.143, 2.857, 3.429]])
    """

    takes: ClassVar[tuple[str, ...]] = ("Identity", "Blur")
    amplitude: float | None = None
    exponent: float | None = None

    def __post_init__(self) -> None:
        if self.amplitude is not None:
            check_positive(amplitude=self.amplitude)
        if self.exponent is not None:
            check_nonnegative(exponent=self.exponent)

    def solve(self, y: Array, operator: Operator, sigma: float, peak: float) -> RestoredPlane:
        """Return the filtered image; borders that no basis makes diagonal are continued smoothly and cut off again."""
        y, operator, inner = _as_periodic(y, operator)
        spectrum = operator.spectrum((y.shape[0], y.shape[1]))
        assert spectrum is not None  # what _as_periodic makes has one
        coefficients, rough = spectrum.coefficients(y), spectrum.roughness()
        power = np.abs(spectrum.values) ** 2
        amplitude, exponent = self._spectrum(np.abs(coefficients) ** 2, power, rough, sigma)
        chosen = {"amplitude": amplitude, "exponent": exponent}
        down = np.power(rough, exponent, out=rough)  # in place from here on: a large image fills the memory
        down *= sigma**2 / amplitude
        down[0, 0] = 0.0
        down += power
        coefficients *= spectrum.values.conj()
        filtered = _divided(coefficients, down)
        trace = Trace()
        trace.add(iteration=1, amplitude=amplitude, exponent=exponent)
        left = {name: value for name, value in chosen.items() if getattr(self, name) is None}
        return RestoredPlane(spectrum.image(filtered)[inner], left, trace)

    def _spectrum(self, squares: Array, power: Array, rough: Array, sigma: float) -> tuple[float, float]:
        """Return amplitude and exponent under which the measured spectrum is likeliest, of those not given."""
        if self.amplitude is not None and self.exponent is not None:
            return self.amplitude, self.exponent
        inside = rough.ravel() > 0
        squares, power, log_rough = (v.ravel()[inside] for v in (squares, power, np.log(np.where(rough > 0, rough, 1))))
        unit = float(squares.mean()) if squares.size else 0.0
        if unit == 0.0:
            return self.amplitude or 1.0, 1.0 if self.exponent is None else self.exponent

        def unlikelihood(free: Array) -> float:
            p = self.exponent if self.exponent is not None else free[1]
            log_signal = (math.log(self.amplitude / unit) if self.amplitude else free[0]) - p * log_rough
            variance = power * np.exp(np.clip(log_signal, -80.0, 80.0)) + max(sigma**2 / unit, 1e-12)
            return float(np.mean(np.log(variance) + squares / unit / variance))

        precision = {"xatol": 1e-3, "fatol": 1e-7}
        bounds = [(-60.0, 60.0), (0.0, STEEPEST)]
        tried = [
            minimize(unlikelihood, np.array(start), method="Nelder-Mead", bounds=bounds, options=precision)
            for start in ((0.0, 1.0), (-8.0, 2.0))[: 2 if squares.size < FEW_NUMBERS else 1]
        ]
        found = min(tried, key=lambda one: float(one.fun))
        amplitude = self.amplitude or unit * math.exp(float(found.x[0]))
        return amplitude, float(found.x[1]) if self.exponent is None else self.exponent


def _as_periodic(y: Array, operator: Operator) -> tuple[Array, Operator, tuple[slice, slice]]:
    """Return the problem with borders that make it diagonal: where they do not, the image is continued to a period.

    What stands beyond the border of a mirrored or cut image is not known. A continuation that leads smoothly from one
    side to the other leaves the fewest waves there (Liu and Jia 2008); its pixels are cut off again.
    """
    whole = (slice(None), slice(None))
    if not isinstance(operator, Blur) or operator.spectrum((y.shape[0], y.shape[1])) is not None:
        return y, operator, whole
    rows, columns = operator.kernel.shape
    continued = closed_to_a_period(y, (rows, columns))
    if operator.border != "valid":
        inner = (slice(0, y.shape[0]), slice(0, y.shape[1]))
        return continued, Blur(operator.kernel, "periodic"), inner
    # a valid blur starts at the pixel (size - 1 - middle) of the image sought: the pixels before it are at the end
    before = (rows - 1 - rows // 2, columns - 1 - columns // 2)
    moved = np.roll(continued, before, axis=(0, 1))
    inner = (slice(0, y.shape[0] + rows - 1), slice(0, y.shape[1] + columns - 1))
    return moved, Blur(operator.kernel, "periodic"), inner


def closed_to_a_period(image: Array, size: tuple[int, int]) -> Array:
    """Return an image with twice as many rows and columns more as a kernel has, leading from its last to its first."""
    for axis in (0, 1):
        image = _continued(image, axis, 2 * (size[axis] // 2) + size[axis])
    return image


def _continued(image: Array, axis: int, n: int) -> Array:
    """Return an image with ``n`` more rows that lead from its last to its first by a smooth weight."""
    image = np.moveaxis(image, axis, 0)
    share = 0.5 - 0.5 * np.cos(np.pi * (np.arange(n) + 1) / (n + 1))[:, None]
    places = np.arange(n)
    size = len(image)
    last = image[np.maximum(size - 1 - places, 0)]
    first = image[np.minimum(places[::-1], size - 1)]
    return np.moveaxis(np.concatenate([image, (1 - share) * last + share * first]), 0, axis)
