"""How far the computed values of a function scatter around the function, because of rounding."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np

from pellucid.core.types import Array

EPS = float(np.finfo(np.float64).eps)
SINGLE_EPS = float(np.finfo(np.float32).eps)
POINTS = 8
ORDERS = range(3, 7)
"""Orders of differences at which a smooth function has vanished at this spacing, and only its rounding is left."""
SPACINGS = tuple(8 * EPS * 64.0**k for k in range(8))
"""Relative distances of the points: from a few units in the last place to where a coarse function changes."""


def rounding_noise(function: Callable[[Array], Array | float], x: Array) -> Array:
    r"""Return the size of the rounding errors of each output of a function near ``x``.

    Along a line of close points the differences of high order of a smooth function vanish, those of its rounding errors
    do not: with errors of standard deviation :math:`\sigma`, the variance of a difference of order :math:`k` is
    :math:`\binom{2k}{k}\sigma^2`. If all points have equal values they are moved apart: the function may compute in
    single precision, and then its values are steps, whose height counts as noise.

    Examples
    --------
    >>> single = lambda x: np.float32(1.0) + np.float32(x[0])
    >>> bool(1e-9 < rounding_noise(single, np.array([0.3]))[0] < 1e-6)
    True
    """
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=x.shape)
    own, unit = np.where(x == 0, 1.0, np.abs(x)), np.maximum(np.abs(x), 1.0)
    here = _vector(function(x))
    noise, unknown, single = np.zeros_like(here), np.ones(here.shape, dtype=bool), _is_single(here)
    for scale, spacing in product((own, unit), SPACINGS):
        values = np.stack([here, *(_vector(function(x + k * spacing * signs * scale)) for k in range(1, POINTS))])
        settled = unknown & (values != here).any(axis=0) & np.isfinite(values).all(axis=0)
        noise = np.where(settled, _scatter(values), noise)
        unknown &= ~settled
        single &= _is_single(values).all(axis=0)
        if not unknown.any():
            break
    return np.maximum(noise, np.where(single, SINGLE_EPS, EPS) * np.abs(here))


def _is_single(values: Array) -> Array:
    """Return which values are numbers of single precision: if all are, that is how they were computed."""
    with np.errstate(over="ignore"):
        return np.asarray(values.astype(np.float32) == values)


def _vector(answer: Array | float) -> Array:
    return np.atleast_1d(np.asarray(answer, dtype=float))


def _scatter(values: Array) -> Array:
    """Return the standard deviation that differences of high order speak of, and no less than a part of a step."""
    with np.errstate(invalid="ignore", over="ignore"):
        sizes = [
            np.sqrt(np.mean(np.diff(values, n=order, axis=0) ** 2, axis=0) / math.comb(2 * order, order))
            for order in ORDERS
        ]
        moves = np.abs(np.diff(values, axis=0))
    smallest = np.where(moves > 0, moves, np.inf).min(axis=0)
    coarse = np.where((moves > 0).mean(axis=0) < 0.5, 1.0, 1 / 8)  # values that rarely move: each move is a step
    return np.maximum(np.max(sizes, axis=0), coarse * smallest)
