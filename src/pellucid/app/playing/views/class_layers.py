"""What a classifier shows beside its regions: level lines, margins, ellipses of classes, kernel matrix, network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.app.playing.layers import EllipsesLayer, GraphLayer, ImageLayer, Layer, MatrixLayer, PolylineLayer, image
from pellucid.app.playing.views.scene import FitScene
from pellucid.core.checks import is_number
from pellucid.core.random_state import some_rows
from pellucid.core.types import Array

DEVIATIONS = 2.0
"""An ellipse holds the places within so many deviations, an arrow is as long."""
MOST_PRODUCTS = 40
"""Rows of a kernel matrix that are drawn."""
MOST_UNITS = 12
"""Units of a layer that are drawn."""
UNIT_CELLS = 24
"""Cells along one side of the picture of a unit."""


def level_lines(
    values: Array, extent: tuple[float, float, float, float], levels: Sequence[float], classes: Sequence[int | None]
) -> list[Layer]:
    """Return the lines along which a grid of numbers, the lowest row first, has some levels; one layer for each."""
    from contourpy import contour_generator

    (height, width), (x0, x1, y0, y1) = values.shape, extent
    across = x0 + (x1 - x0) * (np.arange(width) + 0.5) / width
    up = y0 + (y1 - y0) * (np.arange(height) + 0.5) / height
    found = contour_generator(across, up, values)
    layers: list[Layer] = []
    for level, code in zip(levels, classes, strict=True):
        pieces = [np.vstack([np.asarray(piece), [np.nan, np.nan]]) for piece in found.lines(level)]
        if pieces:
            x, y = np.vstack(pieces)[:-1].T
            layers.append(PolylineLayer(x, y, code, width=0.8))
    return layers


def ellipses(means: Array, covariances: Sequence[Array], classes: Array) -> EllipsesLayer:
    """Return ellipses of two deviations around means in a plane."""
    values, vectors = np.linalg.eigh(np.array(covariances))
    b, a = DEVIATIONS * np.sqrt(np.maximum(values, 0.0)).T
    x, y = means.T
    return EllipsesLayer(x, y, a, b, np.arctan2(vectors[:, 1, 1], vectors[:, 0, 1]), classes)


def class_densities(model: Any, pair: Sequence[int]) -> list[Layer]:
    """Return the ellipses of the Gaussian classes that a model assumes: of own, shared or no covariances."""
    means = getattr(model, "theta_", getattr(model, "means_", None))
    parts = class_covariances(model, 0 if means is None else len(means))
    if means is None or not parts or means.ndim != 2:
        return []
    cut = [part[np.ix_(pair, pair)] for part in parts]
    return [ellipses(means[:, pair], cut, np.arange(len(means)))]


def class_covariances(model: Any, n: int) -> list[Array]:
    """Return the covariance of each class; none if the model knows none."""
    if hasattr(model, "var_") and hasattr(model, "theta_"):
        return [np.diag(row) for row in model.var_]
    found = vars(model).get("covariance_")
    if found is None:
        return []
    return list(found) if isinstance(found, list) or np.ndim(found) == 3 else [np.asarray(found)] * n


def kernel_matrix(scene: FitScene, model: Any) -> list[Layer]:
    """Return the products of some rows, sorted by class, by the kernel of a model."""
    from pellucid.kernels.choice import kernel_from

    name = getattr(model, "kernel", None)
    if not isinstance(name, str) or name == "precomputed":
        return []
    settings: dict[str, Any] = {key: float(getattr(model, key)) for key in ("degree", "coef0") if hasattr(model, key)}
    gamma: Any = getattr(model, "gamma_", getattr(model, "gamma", None))
    if is_number(gamma):
        settings["gamma"] = float(gamma)
    rows = some_rows(len(scene.numbers), MOST_PRODUCTS)
    if scene.codes is not None:
        rows = rows[np.argsort(scene.codes[rows], kind="stable")]
    kernel = kernel_from(name, **settings)
    return [MatrixLayer(np.asarray(kernel(scene.numbers[rows])), title=f"{name} kernel of {len(rows)} rows, by class")]


def hidden_units(model: Any, rows: Array, side: int) -> list[Layer]:
    """Return how the first hidden units of a network answer over a plane of ``side`` cells each way, as tiles."""
    from pellucid.neural_network.mlp.activations import ACTIVATIONS

    weights = getattr(model, "coefs_", None)
    if not weights or len(weights) < 2 or model.activation not in ACTIVATIONS or model.batch_normalization:
        return []
    chosen = strongest_units(weights)
    inputs = np.asarray(rows @ weights[0][:, chosen] + model.intercepts_[0][chosen], dtype=float)
    values = np.empty_like(inputs)
    ACTIVATIONS[model.activation]().forward(inputs, values)
    tiles = [tile(column.reshape(side, side)[::-1]) for column in values.T]
    return [mosaic(tiles, f"{len(tiles)} of {weights[0].shape[1]} hidden units over the plane, dark is low")]


def vote_shares(model: Any, rows: Array, side: int) -> list[Layer]:
    """Return the share of the members of an ensemble that answer the second of two classes, over a plane."""
    is_forest = hasattr(model, "estimators_") and not hasattr(model, "estimator_weights_")
    if not is_forest or len(model.classes_) != 2 or not hasattr(model, "predict_proba"):
        return []
    shares = np.asarray(model.predict_proba(rows))[:, 1].reshape(side, side)[::-1]
    return [image(shares, title=f"share of votes for {model.classes_[1]}: white is all")]


def strongest_units(weights: Sequence[Array]) -> Array:
    """Return the units of the first hidden layer that send most on, in their order."""
    sent = np.abs(weights[1]).sum(axis=1)
    return np.sort(np.argsort(-sent, kind="stable")[:MOST_UNITS])


def tile(values: Array) -> Array:
    """Return numbers as grays from 0 to 1, the largest white."""
    low, high = float(values.min()), float(values.max())
    return np.asarray((values - low) / (high - low) if high > low else np.full(values.shape, 0.5))


def mosaic(tiles: Sequence[Array], title: str, columns: int | None = None) -> ImageLayer:
    """Return pictures of one size side by side, a line between them."""
    height, width = tiles[0].shape
    columns = columns or int(np.ceil(np.sqrt(len(tiles))))
    rows = int(np.ceil(len(tiles) / columns))
    whole = np.ones((rows * (height + 1) - 1, columns * (width + 1) - 1))
    for k, part in enumerate(tiles):
        top, left = (k // columns) * (height + 1), (k % columns) * (width + 1)
        whole[top : top + height, left : left + width] = part
    return image(whole, title=title)


def network_graph(scene: FitScene, model: Any) -> list[Layer]:
    """Return the units of a small network and the weights between them."""
    weights = getattr(model, "coefs_", None)
    if not weights or any(part.ndim != 2 for part in weights):
        return []
    sizes = [len(weights[0]), *(part.shape[1] for part in weights)]
    kept = [np.arange(min(size, MOST_UNITS)) for size in sizes]
    if len(weights) > 1:
        kept[1] = strongest_units(weights)
    nodes: list[dict[str, Any]] = []
    places: dict[tuple[int, int], int] = {}
    for level, units in enumerate(kept):
        for k, unit in enumerate(units.tolist()):
            places[level, unit] = len(nodes)
            text = scene.names[unit] if level == 0 else ""
            node = {"x": level / (len(sizes) - 1), "y": 1 - (k + 0.5) / len(units), "text": text}
            nodes.append(node)
    links = [
        (places[level, i], places[level + 1, j], float(part[i, j]))
        for level, part in enumerate(weights)
        for i in kept[level].tolist()
        for j in kept[level + 1].tolist()
    ]
    left_out = " (some units only)" if any(len(k) < size for k, size in zip(kept, sizes, strict=True)) else ""
    return [GraphLayer(nodes, links, title=f"weights: blue above 0, orange below{left_out}")]
