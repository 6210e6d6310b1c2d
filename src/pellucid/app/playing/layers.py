"""Layers: what a page can draw, in the coordinates of the data. The page knows these kinds and no method.

A layer is plain and frozen: numbers are rounded when it is made, so that what is written and read back is equal.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from pellucid.core.types import Array

DIGITS = 5
"""Significant digits of a number in a recording: a screen shows no more."""
WIDEST_BYTE = 255


def plain(value: Any) -> Any:
    """Return a value as JSON has it, with tuples for lists: numbers of five digits, None for what is not finite.

    Examples
    --------
    >>> plain(np.array([0.123456789, np.nan, 3.0]))
    (0.12346, None, 3)
    """
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return tuple(plain(item) for item in value)
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return _rounded(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return value


def _rounded(value: float) -> float | int | None:
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 10**DIGITS else rounded


@dataclass(frozen=True)
class Layer:
    """Something to draw; what is None is left to the page."""

    kind: ClassVar[str]

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, plain(getattr(self, field.name)))

    def to_json(self) -> dict[str, Any]:
        """Return the layer as JSON has it."""
        told = {JSON_NAMES.get(field.name, field.name): getattr(self, field.name) for field in fields(self)}
        return {"kind": self.kind} | {name: value for name, value in told.items() if value is not None}


JSON_NAMES = {"classes": "class", "tree_nodes": "nodes", "graph_nodes": "nodes"}
"""Fields whose name in JSON is another: ``class`` is a word of Python."""


@dataclass(frozen=True)
class PointsLayer(Layer):
    """Points; ``movable`` says which fitted numbers they stand for, ``row`` that point k is row k of the data.

    Where the points are some rows only, ``row`` is the list of their numbers.
    """

    kind = "points"
    x: Any
    y: Any
    classes: Any = None
    size: Any = None
    marker: str | None = None
    label: Any = None
    movable: Any = None
    row: Any = None


@dataclass(frozen=True)
class SegmentsLayer(Layer):
    """Straight pieces from (x1, y1) to (x2, y2)."""

    kind = "segments"
    x1: Any
    y1: Any
    x2: Any
    y2: Any
    classes: Any = None
    dash: bool | None = None


@dataclass(frozen=True)
class PolylineLayer(Layer):
    """One line through points."""

    kind = "polyline"
    x: Any
    y: Any
    classes: int | None = None
    width: float | None = None
    label: str | None = None


@dataclass(frozen=True)
class BandLayer(Layer):
    """What lies between two curves."""

    kind = "band"
    x: Any
    low: Any
    high: Any
    classes: int | None = None


@dataclass(frozen=True)
class RegionsLayer(Layer):
    """A class for each cell of a grid, the lowest row first, as bytes in base64; made by :func:`regions`."""

    kind = "regions"
    width: int
    height: int
    cells: str
    extent: Any


@dataclass(frozen=True)
class HeatLayer(Layer):
    """A number for each cell of a grid, the lowest row first, as float32 in base64; made by :func:`heat`."""

    kind = "heat"
    width: int
    height: int
    values: str
    extent: Any
    log: bool | None = None


@dataclass(frozen=True)
class EllipsesLayer(Layer):
    """Ellipses by center, half axes and the angle of the first axis in radians."""

    kind = "ellipses"
    x: Any
    y: Any
    a: Any
    b: Any
    angle: Any
    classes: Any = None


@dataclass(frozen=True)
class ArrowsLayer(Layer):
    """Arrows from (x, y) by (dx, dy)."""

    kind = "arrows"
    x: Any
    y: Any
    dx: Any
    dy: Any
    label: Any = None


@dataclass(frozen=True)
class TreeLayer(Layer):
    """Nodes ``{x, y, text, parent, class, cut?}``, places from 0 to 1, the root on top at y = 1."""

    kind = "tree"
    tree_nodes: Any
    title: str | None = None


@dataclass(frozen=True)
class BarsLayer(Layer):
    """Bars with names."""

    kind = "bars"
    labels: Any
    values: Any
    classes: Any = None
    title: str | None = None


@dataclass(frozen=True)
class MatrixLayer(Layer):
    """Numbers in rows and columns, with names if they have some; ``marked`` is a window: row, column, rows, columns."""

    kind = "matrix"
    values: Any
    rows: Any = None
    columns: Any = None
    title: str | None = None
    marked: Any = None


@dataclass(frozen=True)
class TextLayer(Layer):
    """Words at a place."""

    kind = "text"
    x: float
    y: float
    text: str


@dataclass(frozen=True)
class ImageLayer(Layer):
    """Pixels as bytes in base64, gray or red, green and blue, the topmost row first; made by :func:`image`."""

    kind = "image"
    width: int
    height: int
    values: str
    title: str | None = None


@dataclass(frozen=True)
class GraphLayer(Layer):
    """Nodes ``{x, y, text, class?}`` at places from 0 to 1, y = 1 on top, and links ``(from, to, weight or None)``."""

    kind = "graph"
    graph_nodes: Any
    links: Any
    title: str | None = None


def handle(attribute: str, rows: Any = None, columns: Any = None) -> dict[str, Any]:
    """Return what ``movable`` says: point k stands for ``attribute[rows[k], columns]``, or for ``attribute[k]``."""
    return {"attribute": attribute, "rows": rows, "columns": columns}


KINDS: dict[str, type[Layer]] = {layer.kind: layer for layer in Layer.__subclasses__()}


def regions(codes: Array, extent: tuple[float, float, float, float]) -> RegionsLayer:
    """Return the layer of classes ``codes`` (height, width), whose first row is the lowest."""
    if codes.max(initial=0) > WIDEST_BYTE:
        raise ValueError(f"codes must be at most {WIDEST_BYTE} to be drawn, got {int(codes.max())}.")
    height, width = codes.shape
    return RegionsLayer(width, height, b64encode(codes.astype(np.uint8).tobytes()).decode(), extent)


def heat(values: Array, extent: tuple[float, float, float, float], *, log: bool = False) -> HeatLayer:
    """Return the layer of numbers ``values`` (height, width), whose first row is the lowest."""
    height, width = values.shape
    return HeatLayer(width, height, b64encode(values.astype("<f4").tobytes()).decode(), extent, log or None)


def image(values: Array, *, title: str | None = None) -> ImageLayer:
    """Return the layer of grays from 0 to 1, (height, width), whose first row is the topmost; others are cut off."""
    height, width = values.shape
    pixels = np.clip(np.nan_to_num(values) * WIDEST_BYTE, 0, WIDEST_BYTE).round().astype(np.uint8)
    return ImageLayer(width, height, b64encode(pixels.tobytes()).decode(), title)


def read_layer(node: Any) -> Layer:
    """Return the layer that JSON describes."""
    if not isinstance(node, dict) or node.get("kind") not in KINDS:
        got = node.get("kind") if isinstance(node, dict) else type(node).__name__
        raise ValueError(f"layer must be of one of the kinds {tuple(KINDS)}, got {got!r}.")
    kind = KINDS[node["kind"]]
    told = {str(name): value for name, value in node.items() if name != "kind"}
    own = {JSON_NAMES.get(field.name, field.name): field.name for field in fields(kind)}
    given: dict[str, Any] = {own.get(name, name): value for name, value in told.items()}
    unknown = given.keys() - {field.name for field in fields(kind)}
    if unknown:
        raise ValueError(f"layer of kind {kind.kind!r} must have none but its own fields, got {sorted(unknown)}.")
    try:
        return kind(**given)
    except TypeError:
        raise ValueError(f"layer of kind {kind.kind!r} must have all its fields, got {sorted(given)}.") from None
