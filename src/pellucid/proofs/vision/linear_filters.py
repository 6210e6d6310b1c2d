r"""Proofs of Tikhonov's and Wiener's filters.

Tikhonov's image solves :math:`(A'A + wD'D)x = A'y`. That is checked pixel by pixel, with sums over the kernel and
differences of neighbors, where the fit multiplied spectra. Wiener's is made again, and what it leaves of the noise and
takes from the image is counted apart.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import fft

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import EPSILON
from pellucid.proofs.seen import Seen
from pellucid.proofs.vision.measurement import Measurement, mirrored

SOLVED = 1e-9
"""Residual of the equations, relative to their right-hand side, that counts as solved."""
CLOSE = 1e-9
"""Difference of two filtered images, relative to the largest number, that counts as rounding."""
ROTATED = 1e-5
NEARLY_BEST = 1e-4
"""A weight may have a risk above the least one of a grid by so much of the gap from there to the worst."""


def prove_tikhonov(fitted: Seen, parameters: Seen, data: Measurement) -> Certificate:
    """Prove that the image solves its equations, and that the weight was the one to take."""
    weight = parameters.weight if parameters.weight is not None else fitted.weight
    if not _is_positive(weight):
        return Certificate("exact", (Claim("weight", "it is no number above 0", 1.0, 0.0, "Restore it again."),))
    x, operator = fitted.image, data.operator
    is_periodic = operator.parts.get("border") == "periodic" and operator.name == "Blur"
    right = operator.adjoint(data.y)
    residual = operator.adjoint(operator.apply(x)) + weight * _roughened(x, is_periodic) - right
    size = np.linalg.norm(right) + np.linalg.norm(x) * min(1.0 + 8.0 * weight, 1e3)
    turned = 0.0 if data.luminance is None else float(np.linalg.norm(data.luminance))
    size += ROTATED * turned  # what turning colors leaves of it in the other planes
    relative = float(np.linalg.norm(residual) / size) if size > 0 else 0.0
    remedy = "Raise the weight: without noise and with many pixels missing the equations are nearly singular."
    claims = [Claim("equations", "residual of (A'A + w D'D) x = A'y, relative", relative, SOLVED, remedy)]
    if operator.name == "Identity":
        in_levels = float(np.linalg.norm(residual) / math.sqrt(x.size))
        statement = "RMSE to the minimizer, at most, in gray levels: no eigenvalue is below 1"
        allowed = SOLVED * ((1.0 + 8.0 * weight) * _largest(data.y, x) + ROTATED * turned)
        claims.append(Claim("distance", statement, in_levels, allowed))
    if parameters.weight is None:
        claims.append(_claim_of_weight(x, weight, data, is_periodic))
    return Certificate("exact", tuple(claims))


def _claim_of_weight(x: Array, weight: float, data: Measurement, is_periodic: bool) -> Claim:
    """Return the claim that the weight is the one of least estimated error, or of a residual as large as the noise."""
    spectrum = _spectrum(data, is_periodic)
    if spectrum is None:
        residual = data.y - data.operator.apply(x)
        n = np.count_nonzero(~data.operator.parts["missing"]) if data.operator.name == "Mask" else data.y.size
        off = abs(float(np.sum(residual**2)) / (n * data.sigma**2) - 1.0) if data.sigma > 0 else 0.0
        is_least = weight <= 2e-6  # less than the least one would be asked for, or there is no noise
        return Claim("weight", "residual's distance from the noise, as a share of it", 0.0 if is_least else off, 0.25)
    power, rough, squares = spectrum
    if data.sigma == 0.0 or not squares.any():
        return Claim("weight", "without noise the least weight is taken", abs(weight / 1e-6 - 1.0), CLOSE)

    def risk(w: float) -> float:
        kept = np.where(rough > 0, power / np.where(rough > 0, power + w * rough, 1.0), 1.0)
        return float(np.sum((1 - kept) ** 2 * squares) + 2 * data.sigma**2 * np.sum(kept))

    risks = [risk(math.exp(k)) for k in np.linspace(-14, 14, 29)]
    span = max(max(risks) - min(risks), EPSILON * max(risks))
    statement = "estimated error above the least one of a grid of weights, as a share of the span"
    return Claim("weight", statement, max(risk(weight) - min(risks), 0.0) / span, NEARLY_BEST)


def _spectrum(data: Measurement, is_periodic: bool) -> tuple[Array, Array, Array] | None:
    """Return powers of the operator and of differences, and squared coefficients of y, where they are diagonal."""
    operator, y = data.operator, data.y
    if is_periodic:
        transfer = fft.fft2(operator.apply(_point(y.shape)))
        return np.abs(transfer) ** 2, _wave_roughness(y.shape, 1.0), np.abs(fft.fft2(y, norm="ortho")) ** 2
    is_symmetric = operator.name == "Blur" and operator.parts["border"] == "reflect" and _is_symmetric(operator.parts)
    if operator.name != "Identity" and not is_symmetric:
        return None
    point = _point(y.shape)
    transfer = fft.dctn(operator.apply(point), norm="ortho") / fft.dctn(point, norm="ortho")
    return transfer**2, _wave_roughness(y.shape, 0.5), fft.dctn(y, norm="ortho") ** 2


def prove_wiener(fitted: Seen, parameters: Seen, data: Measurement) -> Certificate:
    """Prove that the image is the filtered one, and say how much noise it keeps and how much of the image it loses."""
    amplitude = parameters.amplitude if parameters.amplitude is not None else fitted.amplitude
    exponent = parameters.exponent if parameters.exponent is not None else fitted.exponent
    if not (_is_positive(amplitude) and _is_positive(exponent + 1.0) and exponent >= 0):
        said = "amplitude and exponent are no numbers above 0"
        return Certificate("exact", (Claim("spectrum", said, 1.0, 0.0, "Restore it again."),))
    transfer, rough, coefficients, back = _diagonal_problem(data)
    signal = np.where(rough > 0, amplitude / np.where(rough > 0, rough, 1.0) ** exponent, 0.0)
    power = np.abs(transfer) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.where(rough > 0, transfer.conj() * signal / (power * signal + data.sigma**2), 1.0 / transfer)
    gain = np.where(np.isfinite(gain), gain, 0.0)
    wanted = back(gain * coefficients)
    worst = float(np.max(np.abs(wanted - fitted.image)))
    noise = data.sigma * math.sqrt(float(np.mean(np.abs(gain) ** 2)))
    lost = math.sqrt(float(np.mean(np.abs(1.0 - gain * transfer) ** 2 * signal)))
    whole = math.sqrt(float(np.mean(signal)))
    most = data.sigma * float(np.abs(gain).max())
    rounding = CLOSE * float(np.abs(gain).max()) * _largest(data.y, fitted.image)
    losing = "what is expected to be lost of an image of this spectrum, in gray levels"
    claims = (
        Claim("filter", "largest difference from the filtered image", worst, rounding),
        Claim("noise", "noise that is left, root mean square in gray levels", noise, most * (1 + CLOSE)),
        Claim("bias", losing, lost, whole * (1 + CLOSE)),
        _claim_of_spectrum(amplitude, exponent, parameters, np.abs(coefficients) ** 2, power, rough, data.sigma),
    )
    return Certificate("exact", claims)


def _claim_of_spectrum(
    amplitude: float, exponent: float, parameters: Seen, squares: Array, power: Array, rough: Array, sigma: float
) -> Claim:
    """Return the claim that no spectrum near by is likelier, along the parameters that were not given."""
    inside = rough > 0
    squares, power, rough = squares[inside], power[inside], rough[inside]
    unit = float(squares.mean()) if squares.size else 0.0
    if unit == 0.0 or (parameters.amplitude is not None and parameters.exponent is not None):
        return Claim("spectrum", "it was given, or the image is constant", 0.0, 0.0)

    def unlikelihood(s: float, p: float) -> float:
        variance = power * np.clip(s / unit / rough**p, math.exp(-80), math.exp(80)) + max(sigma**2 / unit, 1e-12)
        return float(np.mean(np.log(variance) + squares / unit / variance))

    here = unlikelihood(amplitude, exponent)
    scales = (0.8, 1.0, 1.25) if parameters.amplitude is None else (1.0,)
    shifts = (-0.1, 0.0, 0.1) if parameters.exponent is None else (0.0,)
    steepest = max(8.0, exponent)
    nearby = [(amplitude * s, min(max(exponent + p, 0.0), steepest)) for s in scales for p in shifts]
    best = min(unlikelihood(*one) for one in nearby)
    statement = "log-likelihood per number that another spectrum near by would gain"
    is_at_end = abs(math.log(amplitude / unit)) > 59.9  # a constant image, or nothing but noise
    return Claim("spectrum", statement, 0.0 if is_at_end else here - min(best, here), 1e-4)


def _diagonal_problem(data: Measurement) -> tuple[Array, Array, Array, Any]:
    """Return transfer function, roughness and coefficients of what was measured, and the way back to the image."""
    operator, y = data.operator, data.y
    if operator.name == "Identity" or (operator.parts["border"] == "reflect" and _is_symmetric(operator.parts)):
        point = _point(y.shape)
        transfer = fft.dctn(operator.apply(point), norm="ortho") / fft.dctn(point, norm="ortho")
        coefficients = fft.dctn(y, norm="ortho")
        return transfer + 0j, _wave_roughness(y.shape, 0.5), coefficients, lambda c: fft.idctn(c.real, norm="ortho")
    kernel, border = operator.parts["kernel"], operator.parts["border"]
    starts = (0, 0)
    if border != "periodic":
        y = _closed(_closed(y, kernel.shape[0]).T, kernel.shape[1]).T
        if border == "valid":
            starts = tuple(k - 1 - k // 2 for k in kernel.shape)  # type: ignore[assignment]
            y = np.roll(y, starts, (0, 1))
    around = np.zeros(y.shape)
    for i in range(kernel.shape[0]):
        for j in range(kernel.shape[1]):
            around[(i - kernel.shape[0] // 2) % y.shape[0], (j - kernel.shape[1] // 2) % y.shape[1]] += kernel[i, j]
    height, width = operator.shape
    coefficients = fft.fft2(y, norm="ortho")

    def back(c: Array) -> Array:
        return np.asarray(fft.ifft2(c, norm="ortho").real[:height, :width])

    return fft.fft2(around), _wave_roughness(y.shape, 1.0), coefficients, back


def _closed(image: Array, size: int) -> Array:
    """Return an image with more rows that lead from its last, mirrored, to its first, mirrored, by half a cosine."""
    n = 2 * (size // 2) + size
    rows = []
    for k in range(n):
        share = 0.5 - 0.5 * math.cos(math.pi * (k + 1) / (n + 1))
        rows.append((1 - share) * image[max(len(image) - 1 - k, 0)] + share * image[min(n - 1 - k, len(image) - 1)])
    return np.vstack([image, np.array(rows)])


def _roughened(x: Array, is_periodic: bool) -> Array:
    """Return the sum of each pixel's differences from its neighbors; the border's are 0, or round to the other side."""
    around = np.pad(x, 1, mode="wrap") if is_periodic else np.pad(x, 1, mode="edge")
    return 4 * x - around[:-2, 1:-1] - around[2:, 1:-1] - around[1:-1, :-2] - around[1:-1, 2:]


def _wave_roughness(shape: tuple[int, ...], turns: float) -> Array:
    rows, columns = (2 - 2 * np.cos(2 * np.pi * turns * np.arange(n) / n) for n in shape)
    return rows[:, None] + columns


def _point(shape: tuple[int, ...]) -> Array:
    point = np.zeros(shape)
    point[0, 0] = 1.0
    return point


def _is_symmetric(parts: Any) -> bool:
    kernel = parts["kernel"]
    is_odd = all(n % 2 for n in kernel.shape)
    return is_odd and np.array_equal(kernel, kernel[::-1]) and np.array_equal(kernel, kernel[:, ::-1])


def _is_positive(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value) and value > 0


def _largest(*images: Array) -> float:
    return max(float(np.abs(image).max()) for image in images)


def prove_bicubic(fitted: Seen, _parameters: Seen, data: Measurement) -> Certificate:
    """Prove that each pixel is the mean of its neighbors, weighted by the cubic of its distances from them."""
    scale, planes = data.operator.parts["scale"], []
    for n in data.y.shape:
        weights = np.zeros((n * scale, n))
        for i in range(n * scale):
            center = (i + 0.5) / scale - 0.5
            reached = math.floor(center) + np.arange(-1, 3)
            t = np.abs(reached - center)
            cubic = np.where(t <= 1, 1.5 * t**3 - 2.5 * t**2 + 1, -0.5 * t**3 + 2.5 * t**2 - 4 * t + 2)
            np.add.at(weights[i], mirrored(reached, n), cubic)
        planes.append(weights)
    worst = float(np.max(np.abs(planes[0] @ data.y @ planes[1].T - fitted.image)))
    statement = "largest difference from the weighted means"
    return Certificate("exact", (Claim("interpolation", statement, worst, CLOSE * _largest(data.y)),))


PROVES = {"Bicubic": prove_bicubic, "Tikhonov": prove_tikhonov, "Wiener": prove_wiener}
