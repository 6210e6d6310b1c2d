"""A transposed convolution by hand: every entry stamps the kernel onto the output, and the stamps add up."""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.neural_network.convolution.convolution_layer import transposed_convolution
from pellucid.neural_network.convolution.windows import per_axis
from pellucid.neural_network.workings.convolution_layer_workings import entry, rows_of, small_image
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step
from pellucid.show.notation import Words, fenced, math, matrix

MOST_ENTRIES, MOST_KERNEL, MOST_OUTPUT = 3, 3, 8


def show_transposed_convolution(image: Data, kernel: Data, *, stride: int = 2, padding: int = 0) -> Document:
    """Return what a transposed convolution of one channel does to a small image.

    Parameters
    ----------
    image, kernel : array-like of two axes
        At most 3 by 3 each.
    stride, padding : int, default=2, 0
        Steps between stamps, and entries cut off all around the output.

    Returns
    -------
    Document
        ``answer["output"]`` holds the rows that come out.

    Examples
    --------
    >>> show_transposed_convolution([[1, 2]], [[1, 3]], stride=1).answer["output"]
    [[1, 5, 6]]
    """
    x, w = small_image(image, "image", MOST_ENTRIES), small_image(kernel, "kernel", MOST_KERNEL)
    s, p = per_axis(stride, 2, "stride"), per_axis(padding, 2, "padding", low=0)
    whole = _spread(x, w, s)
    if max(whole.shape) > MOST_OUTPUT:
        raise ValueError(
            f"the output must be at most {MOST_OUTPUT} wide to show the work, got {whole.shape}. Lower stride."
        )
    y = transposed_convolution(x[None, None], w[None, None], stride=s, padding=p)[0, 0]
    introduction = (
        sentence(f"Every entry of the image stamps the kernel, times itself, onto the output. The stride is {stride}:"),
        formula("x =", matrix(rows_of(x)), ", w =", matrix(rows_of(w))),
    )
    steps = (_sizes_step(x, w, s, p), _stamps_step(x, w, s), _sum_step(whole, y, p))
    return Document("A transposed convolution, stamp by stamp", introduction, steps, {"output": rows_of(y)})


def _spread(x: Array, w: Array, s: tuple[int, ...]) -> Array:
    """Return all stamps added up, before anything is cut off."""
    return sum(_stamp(x, w, s, place) for place in np.ndindex(x.shape))  # type: ignore[return-value]  # arrays add up


def _stamp(x: Array, w: Array, s: tuple[int, ...], place: tuple[int, ...]) -> Array:
    """Return the output with the stamp of one entry alone."""
    shape = [(n - 1) * step_ + k for n, step_, k in zip(x.shape, s, w.shape, strict=True)]
    found = np.full(shape, 0, dtype=object)
    top, left = (i * step_ for i, step_ in zip(place, s, strict=True))
    found[top : top + w.shape[0], left : left + w.shape[1]] = x[place] * w
    return found


def _sizes_step(x: Array, w: Array, s: tuple[int, ...], p: tuple[int, ...]) -> Step:
    blocks: list[Block] = [
        sentence("Along an axis of ", math("n"), " entries:"),
        formula(Words("size"), "=", fenced("n − 1"), "s + k − 2 p"),
    ]
    for name, axis in (("rows", 0), ("columns", 1)):
        n, k = x.shape[axis], w.shape[axis]
        size = (n - 1) * s[axis] + k - 2 * p[axis]
        blocks.append(
            formula(Words(name), ":", fenced(math(n, "− 1")), "·", s[axis], "+", k, "− 2 ·", p[axis], "=", size)
        )
    return step("How large the output is", *blocks)


def _stamps_step(x: Array, w: Array, s: tuple[int, ...]) -> Step:
    stamps = [
        formula(entry("x", *place), "=", x[place], ":", matrix(rows_of(_stamp(x, w, s, place))))
        for place in np.ndindex(x.shape)
    ]
    return step("The stamps", sentence("One for each entry of the image:"), *stamps)


def _sum_step(whole: Array, y: Array, p: tuple[int, ...]) -> Step:
    blocks: list[Block] = [sentence("Where stamps overlap their entries add up:"), formula(matrix(rows_of(whole)))]
    if any(p):
        blocks.append(sentence(f"Padding cuts {p[0]} off at every side:"))
    return step(
        "Add them up",
        *blocks,
        result("y =", matrix(rows_of(y))),
        remark(
            "It is the transpose of the matrix of a convolution with the same stride and padding, not its inverse: it "
            "gives back the size, not the image. It is also how gradients go back through a convolution."
        ),
    )
