"""Convolution of a small image: the window, the kernel laid on it, the products, and the sum that is written down."""

from __future__ import annotations

import numpy as np

from pellucid.app.playing.given.given_data import GivenData
from pellucid.app.playing.layers import Layer, MatrixLayer
from pellucid.app.playing.performance import Performance
from pellucid.app.playing.play import idea
from pellucid.app.playing.recording import Frame, Recording
from pellucid.app.playing.stages import ANSWER, Report
from pellucid.app.playing.telling import told_certificate, told_columns, told_workings
from pellucid.core.kinds.plain import OneOf, Whole
from pellucid.core.types import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import sum_error

LARGEST_SIDE = 12
"""Pixels along a side: more windows than a person would watch."""
KERNELS: dict[str, tuple[tuple[float, ...], ...]] = {
    "vertical edges": ((-1, 0, 1), (-1, 0, 1), (-1, 0, 1)),
    "horizontal edges": ((-1, -1, -1), (0, 0, 0), (1, 1, 1)),
    "blur": ((1 / 9,) * 3,) * 3,
    "sharpen": ((0, -1, 0), (-1, 5, -1), (0, -1, 0)),
    "outline": ((-1, -1, -1), (-1, 8, -1), (-1, -1, -1)),
}


def perform_convolution(
    data: GivenData, report: Report | None = None, *, kernel: str = "vertical edges", stride: int = 1, padding: int = 0
) -> Performance:
    """Lay a kernel on every window of an image.

    Parameters
    ----------
    kernel : {"vertical edges", "horizontal edges", "blur", "sharpen", "outline"}, default="vertical edges"
        What each window is multiplied by, entry by entry.
    stride : int, default=1
        Pixels from one window to the next.
    padding : int, default=0
        Rows and columns of zeros around the image.
    """
    from pellucid.neural_network import correlate

    image, weights = np.asarray(data.image, dtype=float), np.array(KERNELS[kernel], dtype=float)
    if max(image.shape) > LARGEST_SIDE:
        raise ValueError(f"image must be at most {LARGEST_SIDE} pixels wide and high, got {image.shape}. Try 'letter'.")
    wide = np.pad(image, padding)
    library = np.asarray(correlate(image, weights, stride=stride, padding=padding))
    written = np.full(library.shape, np.nan)
    frames = []
    for number, (i, j) in enumerate(np.ndindex(library.shape)):
        row, column = i * stride, j * stride
        products = wide[row : row + 3, column : column + 3] * weights
        written[i, j] = products.sum()
        is_last = number == library.size - 1
        label = ANSWER if is_last else f"window at row {row + 1}, column {column + 1}"
        frames.append(Frame(label, _layers(wide, weights, products, written, (row, column), (i, j)), number))
        if report is not None:
            report(number + 1, label, 0.0)
    difference = float(np.abs(written - library).max())
    bound = sum_error(weights.size) * float(np.abs(weights).sum() * np.abs(image).max())
    claim = Claim("library", "largest difference to what the library's own convolution gives", difference, bound)
    given = (image.tolist(), weights.tolist())
    recording = Recording(
        title=f"Convolution of {data.name} by {kernel}",
        method="convolution",
        parameters={"kernel": repr(kernel), "stride": str(stride), "padding": str(padding)},
        python=_python(data, weights, stride, padding),
        data={"name": data.name, "columns": [], "rows": len(image), "classes": None},
        axes={axis: {"label": "", "range": [0, 1]} for axis in "xy"} | {"equal": True},
        layers=(),
        frames=tuple(frames),
        trace=told_columns({"iteration": np.arange(1, library.size + 1), "sum": written.ravel()}),
        certificate=told_certificate(Certificate("exact", (claim,))),
        workings=told_workings("convolution layer", *given, stride=stride, padding=padding),
    )
    return Performance(recording)


def _layers(
    image: Array, weights: Array, products: Array, written: Array, window: tuple[int, int], place: tuple[int, int]
) -> tuple[Layer, ...]:
    return (
        MatrixLayer(image, title="the image and its window", marked=(*window, *weights.shape)),
        MatrixLayer(weights, title="the kernel"),
        MatrixLayer(products, title=f"window times kernel: sum {products.sum():.4g}"),
        MatrixLayer(written.copy(), title="what is written down", marked=(*place, 1, 1)),
    )


def _python(data: GivenData, weights: Array, stride: int, padding: int) -> str:
    return (
        "from pellucid.app.playing import read_data\nfrom pellucid.neural_network import correlate\n\n"
        f"{data.loading}\nkernel = {weights.tolist()}\n"
        f"print(correlate(data.image, kernel, stride={stride}, padding={padding}))\n"
    )


CONVOLUTION = idea(
    "convolution",
    "Convolution, window by window",
    perform_convolution,
    {"kernel": OneOf(tuple(KERNELS)), "stride": Whole(low=1, high=4), "padding": Whole(low=0, high=2)},
    first={"image": "letter"},
    data="image",
)
