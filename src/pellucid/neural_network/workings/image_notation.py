"""Small images in workings: read exactly, refused when they are too large, shown as matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Matrix

from pellucid.core.types import Array, Data
from pellucid.neural_network.workings.exact_network import exact_matrix
from pellucid.workings.notation import Math, Script, Symbol, factor, math, total


def small_image(values: Data, name: str, most: int) -> Array:
    """Return an image as an array of rationals, or refuse one that has no two axes or is too large."""
    if np.ndim(values) != 2 or max(np.shape(values)) > most:
        raise ValueError(
            f"{name} must be a table of at most {most} rows and columns to show the work, got shape {np.shape(values)}."
        )
    return as_array(exact_matrix(values, name))


def as_array(image: Matrix) -> Array:
    """Return a matrix of SymPy as an array of objects, which the plain functions take."""
    return np.array(image.tolist(), dtype=object)


def rows_of(image: Array) -> list[list[Any]]:
    """Return the rows of an image as lists."""
    return [list(row) for row in image]


def entry(letter: str, i: int, j: int) -> Math:
    """Return the symbol of an entry; rows and columns count from 1."""
    return Script(Symbol(letter), math(f"{i + 1}" if j < 0 else f"{i + 1}{j + 1}"))


def sum_of_products(window: Array, kernel: Array) -> Math:
    """Return a window times a kernel, entry by entry, as a sum; entries of the kernel that are 0 are left out."""
    pairs = [(w, k) for w, k in zip(window.flat, kernel.flat, strict=True) if k != 0]
    return total([math(factor(w), "·", factor(k)) for w, k in pairs]) if pairs else math(0)
