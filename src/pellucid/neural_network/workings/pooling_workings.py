"""Pooling by hand, and three ways back: nearest, bed of nails, and to where the maximum stood."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.neural_network.convolution.pooling import (
    average_pool,
    max_pool_with_places,
    unpool_bed_of_nails,
    unpool_max,
    unpool_nearest,
)
from pellucid.neural_network.convolution.windows import per_axis, windows
from pellucid.neural_network.workings.convolution_layer_workings import entry, rows_of, small_image
from pellucid.show.document import Block, Document, Step, formula, remark, sentence, step, table
from pellucid.show.notation import Words, matrix
from pellucid.show.text_printer import first_that_fits

MOST_ENTRIES = 6


def show_pooling(image: Data, size: int = 2, *, stride: int | None = None) -> Document:
    """Return maximum and mean pooling of a small image, and what unpooling makes of them.

    Parameters
    ----------
    image : array-like of two axes
        At most 6 by 6.
    size : int, default=2
        Of the windows.
    stride : int, default=None
        Steps between windows; None takes ``size``, and then nearest and bed-of-nails unpooling are shown too.

    Returns
    -------
    Document
        ``answer`` has ``max``, ``places``, ``mean``, ``unpool_max`` and, for windows side by side, ``nearest`` and
        ``bed_of_nails`` of the maxima.

    Examples
    --------
    >>> work = show_pooling([[1, 5], [3, 4]])
    >>> work.answer["max"], work.answer["mean"], work.answer["unpool_max"]
    ([[5]], [[13/4]], [[0, 5], [0, 0]])
    """
    x = small_image(image, "image", MOST_ENTRIES)
    k = per_axis(size, 2, "size")
    s = k if stride is None else per_axis(stride, 2, "stride")
    largest, places = max_pool_with_places(x, k, stride=s)
    mean = average_pool(x, k, stride=s)
    answer: dict[str, Any] = {
        "max": rows_of(largest),
        "places": places.tolist(),
        "mean": rows_of(mean),
        "unpool_max": rows_of(unpool_max(largest, places, x.shape)),
    }
    steps = [_windows_step(x, k, s, largest, places, mean), _back_step(largest, places, x.shape)]
    if s == k:
        answer |= {
            "nearest": rows_of(unpool_nearest(largest, k)),
            "bed_of_nails": rows_of(unpool_bed_of_nails(largest, k)),
        }
        steps.append(_enlarging_step(answer))
    introduction: tuple[Block, ...] = (
        sentence(f"Windows of {k[0]} by {k[1]}, {s[0]} apart:"),
        formula("x =", matrix(rows_of(x))),
    )
    return Document("Pooling and unpooling", introduction, tuple(steps), answer)


def _windows_step(x: Array, k: tuple[int, ...], s: tuple[int, ...], largest: Array, places: Array, mean: Array) -> Step:
    view = windows(x, k, s, (1, 1))
    rows = []
    for i, j in np.ndindex(largest.shape):
        row, column = divmod(int(places[i, j]), x.shape[1])
        where = f"row {row + 1}, column {column + 1}"
        rows.append([entry("y", i, j), matrix(rows_of(view[i, j])), largest[i, j], where, mean[i, j]])
    head = ["", "window", "largest", "where", "mean"]
    without_windows = [[row[0], *row[2:]] for row in rows]
    return step(
        "Window by window",
        *first_that_fits([table(head, rows)], [table([head[0], *head[2:]], without_windows)]),
        formula(Words("largest"), ":", matrix(rows_of(largest))),
        formula(Words("mean"), ":", matrix(rows_of(mean))),
        remark(
            "Of equal entries the first in reading order counts as the largest. Backward, it alone gets the gradient; "
            "a mean shares it equally."
        ),
    )


def _back_step(largest: Array, places: Array, shape: tuple[int, ...]) -> Step:
    return step(
        "Max unpooling: back to where they stood",
        sentence("The places remembered from pooling take the values back, all else is 0:"),
        formula(matrix(rows_of(unpool_max(largest, places, shape)))),
    )


def _enlarging_step(answer: dict[str, Any]) -> Step:
    return step(
        "Unpooling without a memory",
        sentence("Nearest repeats each value over its block; a bed of nails puts it into the first corner:"),
        formula(Words("nearest"), ":", matrix(answer["nearest"])),
        formula(Words("bed of nails"), ":", matrix(answer["bed_of_nails"])),
    )
