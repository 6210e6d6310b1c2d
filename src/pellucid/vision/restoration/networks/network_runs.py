"""A network applied to a plane of any size, tile by tile, so that its maps take the memory of a few images at most."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import nn

from pellucid.core.types import Array
from pellucid.vision.restoration.operators import Blur, bicubic_resize

LEAST_TILE = 256
"""Pixels a side: smaller tiles would compute as much of their surroundings as of themselves."""


def settings_of(module: nn.Module) -> Any:
    """Return the architecture that a module was built by."""
    return module.architecture


def denoise(module: nn.Module, y: Array, peak: float) -> Array:
    """Return y denoised by a network whose layers put zeros beyond the borders."""
    reach = settings_of(module).reach
    found = np.empty_like(y)
    for rows, columns in tiles(y.shape, tile_side(module, y.shape)):
        seen = tuple(slice(max(0, s.start - reach), s.stop + reach) for s in (rows, columns))
        inner = tuple(slice(s.start - w.start, s.stop - w.start) for s, w in zip((rows, columns), seen, strict=True))
        found[rows, columns] = _through(module, y[seen], peak)[inner]
    return found


def enlarge(module: nn.Module, y: Array, peak: float) -> Array:
    """Return y enlarged by bicubic interpolation, then sharpened; beyond the borders stand the pixels at them."""
    scale = settings_of(module).scale
    return _valid(module, bicubic_resize(y, scale), peak, "edge")


def deblur(module: nn.Module, y: Array, blur: Blur, peak: float) -> Array:
    """Return y deblurred; beyond the borders it goes on as the blur says, or, where it says nothing, as at them."""
    if blur.border == "valid":
        y = np.pad(y, [(n // 2, n // 2) for n in blur.kernel.shape], mode="edge")
    borders: dict[str, Any] = {"periodic": "wrap", "reflect": "symmetric", "valid": "edge"}
    return _valid(module, y, peak, borders[blur.border])


def _valid(module: nn.Module, y: Array, peak: float, border: Any) -> Array:
    """Return the answer of a network that loses ``reach`` pixels at each side, the plane continued by as many."""
    reach = settings_of(module).reach
    padded = np.pad(y, reach, mode=border)
    found = np.empty_like(y)
    for rows, columns in tiles(y.shape, tile_side(module, y.shape)):
        seen = tuple(slice(s.start, s.stop + 2 * reach) for s in (rows, columns))
        found[rows, columns] = _through(module, padded[seen], peak)
    return found


def _through(module: nn.Module, plane: Array, peak: float) -> Array:
    """Return what a network makes of a plane in units of its peak, in float32 within."""
    weight = next(module.parameters())
    with torch.no_grad(), torch.backends.cudnn.flags(enabled=True, allow_tf32=False):  # 13 bits less would show
        given = torch.from_numpy(np.ascontiguousarray(plane / peak, dtype=np.float32)).to(weight.device)
        found: Array = module(given[None, None])[0, 0].double().cpu().numpy()
    return peak * found


def tile_side(module: nn.Module, shape: tuple[int, ...]) -> int:
    """Return the side of a tile whose maps take about four times the memory of the plane; on a card, all of it."""
    if next(module.parameters()).is_cuda:
        return max(shape)
    widest = max((weight.shape[0] for weight in module.parameters() if weight.ndim == 4), default=1)
    reach = settings_of(module).reach
    pixels = 4 * 8 * shape[0] * shape[1] / (3 * 4 * widest)  # two maps and what a convolution unfolds, in float32
    return max(LEAST_TILE, int(np.sqrt(pixels)) - 2 * reach)


def tiles(shape: tuple[int, ...], side: int) -> Iterator[tuple[slice, slice]]:
    """Yield rows and columns of tiles of about equal size that cover a plane."""
    rows, columns = (_parts(n, side) for n in shape)
    yield from ((row, column) for row in rows for column in columns)


def _parts(n: int, side: int) -> list[slice]:
    count = max(1, -(-n // side))
    edges = [n * i // count for i in range(count + 1)]
    return [slice(start, stop) for start, stop in pairwise(edges)]
