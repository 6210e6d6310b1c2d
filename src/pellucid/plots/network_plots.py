"""Inside a network: its layers, the filters of a convolution, and what they make of an image."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.plots.component_images import plot_tiles
from pellucid.plots.drawing.style import INK, LABEL_SIZE, QUIET, TEXT_SIZE, color, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_TILES = 64
MOST_UNITS = 10


def plot_network_filters(
    model: Any, ax: Axes | None = None, *, layer: str | None = None, most: int = MOST_TILES
) -> Axes:
    """Draw the filters of a convolution as pictures: what one adds is dark, what it takes away red.

    Parameters
    ----------
    model : fitted network, or a module of torch
        With at least one convolution over images.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    layer : str, default=None
        Name of the convolution; None takes the first.
    most : int, default=64
        Most filters drawn. One that sees several channels is drawn as the mean over these.
    """
    name, convolution = _convolution(model, layer)
    weights = convolution.weight.detach().cpu().numpy()  # (maps, channels, height, width)
    pictures = weights.mean(axis=1)[:most]
    ax = plot_tiles(pictures.reshape(len(pictures), -1), pictures.shape[1:], ax)
    size = " x ".join(str(side) for side in pictures.shape[1:])
    ax.set_title(f"{name}: {len(weights)} filters of {size}", fontsize=LABEL_SIZE, color=INK)
    return ax


def plot_feature_maps(
    model: Any, image: Data, ax: Axes | None = None, *, layer: str | None = None, most: int = MOST_TILES
) -> Axes:
    """Draw what the filters of a convolution make of an image: one map for each, before its activation.

    Parameters
    ----------
    model : fitted network, or a module of torch
        With at least one convolution over images.
    image : array-like of shape (height, width) or (channels, height, width)
        One image, in the values the network was trained on.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    layer : str, default=None
        Name of the convolution; None takes the first.
    most : int, default=64
        Most maps drawn.
    """
    import torch

    name, convolution = _convolution(model, layer)
    module, seen = _module(model), []
    weight = next(module.parameters())
    pixels = torch.as_tensor(np.array(image)).to(weight.device, weight.dtype)
    pixels = pixels[None, None] if pixels.ndim == 2 else pixels[None]
    if pixels.ndim != 4:
        raise ValueError(f"image must be one, of two or three dimensions, got shape {np.shape(image)}.")
    watch = convolution.register_forward_hook(lambda _layer, _given, made: seen.append(made.detach()))
    was_training = module.training
    try:
        module.eval()
        with torch.no_grad():
            module(pixels)
    finally:
        watch.remove()
        module.train(was_training)
    maps: Array = seen[0][0].cpu().numpy()
    ax = plot_tiles(maps[:most].reshape(min(len(maps), most), -1), maps.shape[1:], ax)
    size = " x ".join(str(side) for side in maps.shape[1:])
    ax.set_title(f"{name}: {len(maps)} maps of {size}", fontsize=LABEL_SIZE, color=INK)
    return ax


def plot_layers(network: Any, ax: Axes | None = None, *, most: int = MOST_UNITS) -> Axes:
    """Draw a dense network as its layers of units: blue weights are above 0, orange ones below, wider if larger.

    Parameters
    ----------
    network : fitted MLPClassifier or MLPRegressor, or sequence of int
        The model, or the numbers of units from inputs to outputs.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    most : int, default=10
        Units drawn of each layer; of more, some are left out and counted below.
    """
    weights = [np.asarray(coef, dtype=float) for coef in getattr(network, "coefs_", ())]
    sizes = [len(coef) for coef in weights] + [weights[-1].shape[1]] if weights else [int(n) for n in network]
    if len(sizes) < 2 or min(sizes) < 1:
        raise ValueError(f"network must have at least two layers of one unit or more, got {sizes}.")
    shown = [min(n, most) for n in sizes]
    tallest = max(shown)
    ax = tidy_axes(ax, (2.0 * len(sizes) + 1.0, 0.5 * tallest + 1.4))
    heights = [(tallest - n) / 2 + np.arange(n)[::-1] for n in shown]
    for layer, (left, right) in enumerate(pairwise(heights)):
        largest = float(np.abs(weights[layer]).max()) or 1.0 if weights else 1.0
        for i, j in np.ndindex(len(left), len(right)):
            value = float(weights[layer][i, j]) / largest if weights else 0.4
            ink = QUIET if not weights else color(0 if value >= 0 else 1)
            ax.plot([layer, layer + 1], [left[i], right[j]], color=ink, linewidth=0.2 + 2.2 * abs(value), zorder=1)
    for layer, (places, n) in enumerate(zip(heights, sizes, strict=True)):
        ax.scatter(np.full(len(places), layer), places, s=220, color="white", edgecolors=INK, linewidths=1.4, zorder=2)
        kind = "input" if layer == 0 else "output" if layer == len(sizes) - 1 else f"hidden {layer}"
        units = f"{n} unit{'' if n == 1 else 's'}" + (f", {len(places)} drawn" if n > len(places) else "")
        ax.text(layer, -1.0, f"{kind}\n{units}", ha="center", va="top", fontsize=TEXT_SIZE, color=INK)
    ax.set(xlim=(-0.5, len(sizes) - 0.5), ylim=(-2.2, tallest - 0.4))
    ax.set_axis_off()
    return ax


def _module(model: Any) -> Any:
    return getattr(model, "module_", model)


def _convolution(model: Any, layer: str | None) -> tuple[str, Any]:
    """Return a convolution over images by its name, or the first, with its name."""
    from torch import nn

    module = _module(model)
    if not isinstance(module, nn.Module):
        raise TypeError(f"model must be a fitted network or a module of torch, got {type(model).__name__}.")
    known = {name: part for name, part in module.named_modules() if isinstance(part, nn.Conv2d)}
    if not known:
        raise ValueError(f"model must have a convolution over images, got {type(module).__name__} without one.")
    if layer is not None and layer not in known:
        raise ValueError(f"layer must be one of {list(known)}, got {layer!r}.")
    name = next(iter(known)) if layer is None else layer
    return name, known[name]
