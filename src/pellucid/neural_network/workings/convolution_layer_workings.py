"""A 2-D convolution layer by hand: stride, padding and dilation, window by window."""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Matrix

from pellucid.core.types import Array, Data
from pellucid.neural_network.convolution.convolve import correlate
from pellucid.neural_network.convolution.windows import padded, per_axis, windows
from pellucid.neural_network.workings.exact_network import exact_matrix, exactly
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step
from pellucid.show.notation import Math, Script, Symbol, Words, factor, fenced, math, matrix, over, total

MOST_SIZE, MOST_KERNEL, MOST_OUTPUTS = 7, 3, 16


def show_convolution_layer(
    image: Data, kernel: Data, bias: float = 0, *, stride: int = 1, padding: int = 0, dilation: int = 1
) -> Document:
    """Return what a convolution layer of one channel does to a small image.

    Parameters
    ----------
    image, kernel : array-like of two axes
        At most 7 by 7, and 3 by 3; at most 16 entries come out.
    bias : number, default=0
        Added to every entry.
    stride, padding, dilation : int, default=1, 0, 1
        Steps between windows, zeros around the image, and steps inside a window.

    Returns
    -------
    Document
        ``answer["output"]`` holds the rows that come out.

    Examples
    --------
    >>> show_convolution_layer([[1, 2, 3], [4, 5, 6]], [[1, 0], [0, -1]]).answer["output"]
    [[-4, -4]]
    """
    x, w = small_image(image, "image", MOST_SIZE), small_image(kernel, "kernel", MOST_KERNEL)
    b, s, d = exactly(bias, "bias"), per_axis(stride, 2, "stride"), per_axis(dilation, 2, "dilation")
    p = per_axis(padding, 2, "padding", low=0)
    y = correlate(x, w, stride=s, padding=p, dilation=d) + b
    if y.size > MOST_OUTPUTS:
        raise ValueError(f"at most {MOST_OUTPUTS} entries may come out to show the work, got {y.shape}. Raise stride.")
    steps = (*_padding_step(x, p), _sizes_step(x, w, s, p, d), _windows_step(padded(x, p), w, b, s, d, y))
    introduction = (
        sentence(
            f"Lay the kernel on the image, multiply entry by entry, add up. The stride is {stride}, the "
            f"padding {padding}, "
            f"the dilation {dilation}:"
        ),
        formula("x =", matrix(rows_of(x)), ", w =", matrix(rows_of(w)), *([", b =", b] if b else [])),
    )
    return Document("A convolution layer, window by window", introduction, steps, {"output": rows_of(y)})


def _padding_step(x: Array, p: tuple[int, ...]) -> list[Step]:
    if not any(p):
        return []
    return [step("Pad the image", sentence("Zeros all around:"), formula(matrix(rows_of(padded(x, p)))))]


def _sizes_step(x: Array, w: Array, s: tuple[int, ...], p: tuple[int, ...], d: tuple[int, ...]) -> Step:
    blocks: list[Block] = [sentence("Along an axis of ", math("n"), " entries, rounded down:")]
    blocks.append(formula(Words("size"), "=", over(math("n + 2 p − d", fenced("k − 1"), "− 1"), "s"), "+ 1"))
    for name, axis in (("rows", 0), ("columns", 1)):
        n, k = x.shape[axis], w.shape[axis]
        above = n + 2 * p[axis] - d[axis] * (k - 1) - 1
        written = math(n, "+ 2 ·", p[axis], "−", d[axis], "·", fenced(math(k, "− 1")), "− 1")
        rounded = "→" if above % s[axis] else "="
        blocks.append(formula(Words(name), ":", over(written, s[axis]), "+ 1", rounded, above // s[axis] + 1))
    return step("How large the output is", *blocks)


def _windows_step(x: Array, w: Array, b: object, s: tuple[int, ...], d: tuple[int, ...], y: Array) -> Step:
    view = windows(x, w.shape, s, d)
    blocks: list[Block] = []
    if max(d) > 1:
        blocks.append(sentence(f"Inside a window, neighbors are {d[0]} rows and {d[1]} columns apart."))
    for i, j in np.ndindex(y.shape):
        shift = ["+", b] if b else []
        blocks.append(formula(entry("y", i, j), "=", sum_of_products(view[i, j], w), *shift, "=", y[i, j]))
    return step(
        "Window by window",
        *blocks,
        result("y =", matrix(rows_of(y))),
        remark("Products with a kernel entry of 0 are left out. With several channels the sums of all are added."),
    )


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
