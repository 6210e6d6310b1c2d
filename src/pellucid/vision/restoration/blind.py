r"""Blind deblurring: the kernel and the image in turn, from coarse to fine.

A blurred image has few sharp edges, so of all images that explain it the one with the fewest is looked for,

.. math:: \min_x \|k * x - y\|^2 + \lambda\|\nabla x\|_0,

which is a cartoon: flat between its edges. From cartoon and image the kernel follows by least squares on gradients,

.. math:: \min_k \|k * \nabla x - \nabla y\|^2 + \gamma\|k\|^2,

and both are improved in turn on images of growing size (Xu, Zheng and Jia 2013; Pan et al. 2014). The problem is not
convex: nothing is proved about the kernel; given the kernel, the image has the proof of the method that deblurs it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import fft

from pellucid.core.checks import check_positive, check_whole
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.vision.restoration.images import Format, as_planes
from pellucid.vision.restoration.linear_filters import closed_to_a_period
from pellucid.vision.restoration.operators import Blur, bicubic_matrix

ROUNDS = 5
"""Of kernel and image at each size."""
SHRINK = math.sqrt(0.5)
"""From one size to the next smaller one."""
SMALLEST_KERNEL = 5
FEWER, LEAST = 1.1, 1e-4
"""By which the weight of the edges falls each round, and where it stops."""
STIFFEST = 1e5
"""At which the cartoon's gradients have to be those that were kept."""
NEGLIGIBLE = 0.05
"""Share of the kernel's largest number below which others are taken for noise."""


@dataclass(frozen=True, eq=False)
class KernelEstimate:
    """A kernel that was found, the cartoon it was found with, and how."""

    kernel: Array
    cartoon: Array
    trace: Trace


def estimate_kernel(image: Data, size: int, *, edges: float = 1e-2, ridge: float = 10.0) -> KernelEstimate:
    """Return the kernel, of at most ``size`` pixels a side, by which an image seems to be blurred.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, 3)
        The blurred image.
    size : int
        Odd, at least 3; larger than the blur, and smaller than the image.
    edges : float, default=1e-2
        What an edge costs in the cartoon, for gray values from 0 to 1.
    ridge : float, default=10.0
        The weight of the kernel's squares.
    """
    check_whole(3, size=size)
    check_positive(edges=edges, ridge=ridge)
    format_ = Format.of(image, None)
    gray = as_planes(image, "each").mean(axis=0) / format_.peak
    if size % 2 == 0 or size >= min(gray.shape):
        raise ValueError(
            f"size must be odd and smaller than the image, {gray.shape[0]} x {gray.shape[1]}, got {size}. "
            "Give an odd number a little larger than the blur."
        )
    if not np.isfinite(gray).all():
        raise ValueError("image must hold finite numbers, got nan or infinity. Replace them.")
    trace, cost = Trace(), edges
    kernel = np.zeros((0, 0))
    for side, shape in _sizes(size, gray.shape):
        small = _resized(gray, shape)
        kernel = _first_kernel(side) if not kernel.size else _grown_kernel(kernel, side)
        y = closed_to_a_period(small, (side, side))
        for _ in range(ROUNDS):
            cartoon = _cartoon(y, kernel, cost)
            before, kernel = kernel, _centered(_kernel_of(cartoon, y, side, ridge))
            trace.add(iteration=len(trace) + 1, size=side, edges=cost, moved=float(np.abs(kernel - before).sum()))
            cost = max(cost / FEWER, LEAST)
    return KernelEstimate(kernel, cartoon[: gray.shape[0], : gray.shape[1]] * format_.peak, trace)


def _sizes(size: int, shape: tuple[int, ...]) -> list[tuple[int, tuple[int, int]]]:
    """Return the sides of the kernel and the shapes of the image, from coarse to fine."""
    n = max(0, math.ceil(math.log(SMALLEST_KERNEL / size) / math.log(SHRINK)))
    found = []
    for level in range(n, -1, -1):
        share = SHRINK**level
        side = max(3, 2 * round((size * share - 1) / 2) + 1)
        found.append((side, (max(1, round(shape[0] * share)), max(1, round(shape[1] * share)))))
    return found


def _cartoon(y: Array, kernel: Array, cost: float) -> Array:
    """Return the image of few edges that explains y: edges are kept where they pay, ever more of them exactly."""
    transfer = Blur(kernel, "periodic").spectrum(y.shape[:2]).values  # type: ignore[union-attr]  # periodic ones have one
    steps = [_difference(y.shape, axis) for axis in (0, 1)]
    rough = sum(np.abs(step) ** 2 for step in steps)
    explained, power = transfer.conj() * fft.fft2(y), np.abs(transfer) ** 2
    x, stiffness = y, 2.0 * cost
    while stiffness < STIFFEST:
        along = [np.roll(x, -1, axis) - x for axis in (0, 1)]
        is_edge = along[0] ** 2 + along[1] ** 2 >= cost / stiffness
        wanted = sum(step.conj() * fft.fft2(np.where(is_edge, d, 0.0)) for step, d in zip(steps, along, strict=True))
        x = fft.ifft2((explained + stiffness * wanted) / (power + stiffness * rough)).real
        stiffness *= 2.0
    return x


def _kernel_of(cartoon: Array, y: Array, side: int, ridge: float) -> Array:
    """Return the kernel that makes the gradients of y of those of the cartoon, none of its numbers below 0."""
    above, below = np.zeros(y.shape, dtype=complex), np.full(y.shape, ridge)
    for axis in (0, 1):
        of_x, of_y = (fft.fft2(np.roll(image, -1, axis) - image) for image in (cartoon, y))
        above += of_x.conj() * of_y
        below += np.abs(of_x) ** 2
    wide = fft.ifft2(above / below).real
    half = side // 2
    found = np.roll(wide, (half, half), axis=(0, 1))[:side, :side]
    found = np.where(found < NEGLIGIBLE * found.max(), 0.0, found)
    return found / found.sum() if found.max() > 0 else _first_kernel(side)


def _centered(kernel: Array) -> Array:
    """Return the kernel moved by whole pixels so that its center of mass is in the middle."""
    half = kernel.shape[0] // 2
    shift = [half - round(float(np.sum(kernel.sum(axis=1 - axis) * np.arange(len(kernel))))) for axis in (0, 1)]
    moved = np.zeros_like(kernel)
    rows, columns = np.nonzero(kernel)
    inside = np.all(
        [(at + s >= 0) & (at + s < len(kernel)) for at, s in zip((rows, columns), shift, strict=True)], axis=0
    )
    moved[rows[inside] + shift[0], columns[inside] + shift[1]] = kernel[rows[inside], columns[inside]]
    return moved / moved.sum()


def _first_kernel(side: int) -> Array:
    """Return a short horizontal blur: the point alone would be an answer already."""
    kernel = np.zeros((side, side))
    kernel[side // 2, side // 2 - 1 : side // 2 + 1] = 0.5
    return kernel


def _grown_kernel(kernel: Array, side: int) -> Array:
    grown = np.maximum(_resized(kernel, (side, side)), 0.0)
    return _centered(grown / grown.sum())


def _resized(image: Array, shape: tuple[int, int]) -> Array:
    rows, columns = (bicubic_matrix(n, m, m / n) for n, m in zip(image.shape, shape, strict=True))
    return np.asarray((columns @ (rows @ image).T).T)


def _difference(shape: tuple[int, ...], axis: int) -> Array:
    """Return the transfer function of the difference from the next pixel along an axis."""
    kernel = np.zeros(shape)
    kernel[0, 0] = -1.0
    kernel[(-1, 0) if axis == 0 else (0, -1)] += 1.0
    return np.asarray(fft.fft2(kernel))
