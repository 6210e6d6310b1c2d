"""The last frame of a recording as a small SVG, for cards: what can be seen at a glance, without axes."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np

from pellucid.app.playing.layers import Layer
from pellucid.app.playing.recording import Recording
from pellucid.core.types import Array
from pellucid.plots.drawing.style import INK, PALETTE, QUIET

WIDTH, HEIGHT = 240, 160
PAD = 6
CELLS = 48
"""Cells of regions across: a small picture shows no more."""
MOST_POINTS = 400

Place = Callable[[Any, Any], tuple[Array, Array]]


def thumbnail(recording: Recording, frame: int = -1, *, panels: bool = False) -> str:
    """Return a frame as SVG: what stands on the axes, or, if asked for or nothing stands there, the first panels."""
    layers = [*recording.layers, *recording.frames[frame].layers]
    drawn = "".join(DATA[layer.kind](layer, _scale(recording)) for layer in _in_order(layers) if layer.kind in DATA)
    if panels or not drawn:
        shown = [layer for layer in layers if layer.kind in PANELS][:2]
        side = WIDTH / max(len(shown), 1)
        drawn = "".join(PANELS[layer.kind](layer, (k * side, 0.0, side, HEIGHT)) for k, layer in enumerate(shown))
    title = escape(recording.title)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fdfdfb"/>{drawn}</svg>'
    )


def _in_order(layers: Sequence[Layer]) -> list[Layer]:
    return sorted(layers, key=lambda layer: layer.kind not in ("regions", "heat"))


def _scale(recording: Recording) -> Place:
    (x0, x1), (y0, y1) = recording.axes["x"]["range"], recording.axes["y"]["range"]
    wide, high = WIDTH - 2 * PAD, HEIGHT - 2 * PAD
    across, up = wide / (x1 - x0 or 1), high / (y1 - y0 or 1)
    if recording.axes["equal"]:
        across = up = min(across, up)
    left, bottom = (WIDTH - across * (x1 - x0)) / 2, (HEIGHT + up * (y1 - y0)) / 2

    def place(x: Any, y: Any) -> tuple[Array, Array]:
        return left + across * (_floats(x) - x0), bottom - up * (_floats(y) - y0)

    return place


def _floats(values: Any) -> Array:
    return np.array(
        [np.nan if value is None else value for value in np.atleast_1d(np.array(values, dtype=object))], float
    )


def _color(code: Any) -> str:
    return INK if code is None else str(PALETTE[int(code) % len(PALETTE)])


def _item(values: Any, i: int) -> Any:
    return values[i] if isinstance(values, (tuple, list)) else values


def _points(layer: Any, place: Place) -> str:
    x, y = place(layer.x, layer.y)
    known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    shown = known[:: max(1, len(known) // MOST_POINTS)].tolist()
    radius = 4.5 if layer.marker else 2.2
    look = 'fill="none" stroke-width="1.2"' if layer.marker == "ring" else 'stroke-width="0.6"'
    parts = []
    for i in shown:
        color = _color(_item(layer.classes, i))
        size = radius * (1.0 if layer.size is None else float(_item(layer.size, i)))
        paint = f'stroke="{color}"' if layer.marker == "ring" else f'fill="{color}" stroke="#fdfdfb"'
        parts.append(f'<circle cx="{x[i]:.1f}" cy="{y[i]:.1f}" r="{size:.1f}" {look} {paint}/>')
    return "".join(parts)


def _line(layer: Any, place: Place) -> str:
    x, y = place(layer.x, layer.y)
    path, is_down = [], False
    for a, b in zip(x, y, strict=True):
        is_known = bool(np.isfinite(a) and np.isfinite(b))
        path += [f"{'L' if is_down else 'M'}{a:.1f} {b:.1f}"] if is_known else []
        is_down = is_known
    width = 1.2 * (1.0 if layer.width is None else layer.width)
    return f'<path d="{"".join(path)}" fill="none" stroke="{_color(layer.classes)}" stroke-width="{width:.2g}"/>'


def _segments(layer: Any, place: Place) -> str:
    (x1, y1), (x2, y2) = place(layer.x1, layer.y1), place(layer.x2, layer.y2)
    ends = zip(x1, y1, x2, y2, strict=True)
    path = "".join(f"M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" for a, b, c, d in ends if np.isfinite([a, b, c, d]).all())
    return f'<path d="{path}" fill="none" stroke="{QUIET}" stroke-width="0.7"/>'


def _band(layer: Any, place: Place) -> str:
    (x, low), (_, high) = place(layer.x, layer.low), place(layer.x, layer.high)
    way = [*zip(x, low, strict=True), *zip(x[::-1], high[::-1], strict=True)]
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b in way)
    return f'<polygon points="{path}" fill="{_color(layer.classes)}" fill-opacity="0.2"/>'


def _ellipses(layer: Any, place: Place) -> str:
    turn = np.linspace(0.0, 2.0 * np.pi, 37)
    parts = []
    for i in range(len(layer.x)):
        u, v, angle = layer.a[i] * np.cos(turn), layer.b[i] * np.sin(turn), layer.angle[i]
        x, y = place(
            layer.x[i] + u * np.cos(angle) - v * np.sin(angle), layer.y[i] + u * np.sin(angle) + v * np.cos(angle)
        )
        path, color = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True)), _color(_item(layer.classes, i))
        parts.append(f'<polygon points="{path}" fill="{color}" fill-opacity="0.1" stroke="{color}"/>')
    return "".join(parts)


def _arrows(layer: Any, place: Place) -> str:
    (x, y), ends = (
        place(layer.x, layer.y),
        place(_floats(layer.x) + _floats(layer.dx), _floats(layer.y) + _floats(layer.dy)),
    )
    path = "".join(f"M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" for a, b, c, d in zip(x, y, *ends, strict=True))
    return f'<path d="{path}" fill="none" stroke="{INK}" stroke-width="1.2"/>'


def _regions(layer: Any, place: Place) -> str:
    codes = np.frombuffer(b64decode(layer.cells), np.uint8).reshape(layer.height, layer.width)
    colors = np.array([[int(_color(code)[k : k + 2], 16) for k in (1, 3, 5)] for code in range(int(codes.max()) + 1)])
    pale = (255 - 0.3 * (255 - colors)).astype(np.uint8)
    return _picture(pale[codes[::-1]], layer.extent, place)


def _heat(layer: Any, place: Place) -> str:
    values = np.frombuffer(b64decode(layer.values), "<f4").reshape(layer.height, layer.width)[::-1].astype(float)
    known = np.where(np.isfinite(values), values, np.nanmax(values[np.isfinite(values)]))
    order = np.argsort(np.argsort(known.ravel())).reshape(known.shape) / max(known.size - 1, 1)
    level = np.floor(10 * order) / 10  # ten steps, as contours would be
    blue = np.array([int(PALETTE[0][k : k + 2], 16) for k in (1, 3, 5)])
    return _picture((255 - level[..., np.newaxis] * 0.6 * (255 - blue)).astype(np.uint8), layer.extent, place)


def _picture(pixels: Array, extent: Any, place: Place) -> str:
    x0, x1, y0, y1 = extent
    step = max(1, pixels.shape[1] // CELLS)
    x, y = place([x0, x1], [y0, y1])
    box = (float(x[0]), float(y[1]), float(x[1] - x[0]), float(y[0] - y[1]))
    return _embedded(pixels[::step, ::step], box, preserve=False)


def _embedded(pixels: Array, box: tuple[float, float, float, float], *, preserve: bool) -> str:
    from io import BytesIO

    from matplotlib.image import imsave

    target = BytesIO()
    imsave(target, pixels, format="png", cmap="gray", vmin=0, vmax=255)
    content, keep = b64encode(target.getvalue()).decode(), "" if preserve else ' preserveAspectRatio="none"'
    left, top, width, height = box
    return (
        f'<image x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"{keep} '
        f'style="image-rendering:pixelated" href="data:image/png;base64,{content}"/>'
    )


def _image(layer: Any, box: tuple[float, float, float, float]) -> str:
    pixels = np.frombuffer(b64decode(layer.values), np.uint8).reshape(layer.height, layer.width, -1)
    return _embedded(pixels[..., 0] if pixels.shape[2] == 1 else pixels, _inside(box), preserve=True)


def _matrix(layer: Any, box: tuple[float, float, float, float]) -> str:
    values = np.array([[np.nan if value is None else value for value in row] for row in layer.values], dtype=float)
    most = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    colors = np.array([[int(PALETTE[k][j : j + 2], 16) for j in (1, 3, 5)] for k in (0, 1)])
    share = np.nan_to_num(np.abs(values) / most)[..., np.newaxis]
    return _embedded(
        (255 - share * (255 - colors[(values < 0).astype(int)])).astype(np.uint8), _inside(box), preserve=True
    )


def _graph(layer: Any, box: tuple[float, float, float, float]) -> str:
    left, top, width, height = _inside(box)
    places = [(left + node["x"] * width, top + (1 - node["y"]) * height) for node in layer.graph_nodes]
    lines = "".join(
        "M{:.1f} {:.1f}L{:.1f} {:.1f}".format(*places[start], *places[end]) for start, end, _ in layer.links
    )
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{PALETTE[0]}"/>' for x, y in places)
    return f'<path d="{lines}" fill="none" stroke="{QUIET}" stroke-width="1.2"/>{dots}'


def _inside(box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    left, top, width, height = box
    return left + PAD, top + PAD, width - 2 * PAD, height - 2 * PAD


DATA: dict[str, Callable[[Any, Place], str]] = {
    "points": _points,
    "polyline": _line,
    "segments": _segments,
    "band": _band,
    "ellipses": _ellipses,
    "arrows": _arrows,
    "regions": _regions,
    "heat": _heat,
}
PANELS: dict[str, Callable[[Any, tuple[float, float, float, float]], str]] = {
    "image": _image,
    "matrix": _matrix,
    "graph": _graph,
}
