"""Regions of feature maps brought to one size: RoI pool (Girshick 2015) and RoI align (He 2017)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional


def roi_align(maps: Tensor, boxes: Tensor, size: int, scale: float = 1.0, samples: int = 2) -> Tensor:
    """Return each region as ``size`` x ``size`` cells, each the mean of samples x samples values between the places.

    Parameters
    ----------
    maps : Tensor (B, C, H, W)
        What a network made of the images.
    boxes : Tensor (n, 5)
        Number of the image, then left, top, right, bottom in pixels of the image.
    size, samples : int
        Cells per side, and places per side of a cell at which the maps are read.
    scale : float, default=1.0
        Places of the map per pixel of the image.

    Examples
    --------
    >>> ramp = torch.arange(6.0).reshape(1, 1, 1, 6).expand(1, 1, 6, 6)
    >>> roi_align(ramp, torch.tensor([[0.0, 1.0, 1.0, 5.0, 5.0]]), size=2)[0, 0]
    tensor([[2., 4.],
            [2., 4.]])
    """
    if not len(boxes):
        return maps.new_zeros((0, maps.shape[1], size, size))
    corners = boxes[:, 1:] * scale
    sides = (corners[:, 2:] - corners[:, :2]).clamp(min=1.0)
    steps = (torch.arange(size * samples, device=maps.device, dtype=boxes.dtype) + 0.5) / (size * samples)
    x = corners[:, 0, None] + steps * sides[:, 0, None]  # (n, size * samples)
    y = corners[:, 1, None] + steps * sides[:, 1, None]
    batch, channels, height, width = maps.shape
    columns, of_column = _places_of_cells(x, width, size)
    rows, of_row = _places_of_cells(y, height, size)
    first = boxes[:, 0].long() * (height * width)  # where an image begins in the list of all places
    places = first.reshape(-1, 1, 1, 1, 1) + rows[:, :, None, :, None] * width + columns[:, None, :, None, :]
    shares = of_row[:, :, None, :, None] * of_column[:, None, :, None, :] / samples**2
    reads = (2 * samples) ** 2
    # Channels last, a place is one row of memory, and a cell a weighted sum of a few rows: nothing larger is kept.
    cells = functional.embedding_bag(
        places.reshape(-1, reads),
        maps.permute(0, 2, 3, 1).reshape(batch * height * width, channels),
        per_sample_weights=shares.reshape(-1, reads).to(maps.dtype),
        mode="sum",
    )
    return cells.reshape(len(boxes), size, size, channels).permute(0, 3, 1, 2)


def _places_of_cells(at: Tensor, count: int, size: int) -> tuple[Tensor, Tensor]:
    """Return the places along one side that each cell reads, and the share of each, both (n, size, 2 * samples)."""
    before, after, later, earlier = _neighbors(at, count)
    places, shares = torch.stack((before, after), dim=-1), torch.stack((earlier, later), dim=-1)
    return places.reshape(len(at), size, -1), shares.reshape(len(at), size, -1)


def _neighbors(at: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the places before and after a coordinate, and the shares of the later and the earlier; none outside."""
    is_inside = (at >= -1.0) & (at <= count)
    at = at.clamp(0.0, count - 1.0)
    before = at.floor().long().clamp(max=count - 1)
    after = (before + 1).clamp(max=count - 1)
    later = (at - before) * is_inside
    return before, after, later, is_inside.to(at.dtype) - later


def roi_pool(maps: Tensor, boxes: Tensor, size: int, scale: float = 1.0) -> Tensor:
    """Return each region as ``size`` x ``size`` cells, each the largest value of its places, rounded to whole ones.

    A window of any length is the union of two windows whose length is a power of two: so all windows are read from
    a few maps of largest values, each made from the one before.

    Parameters
    ----------
    maps : Tensor (B, C, H, W)
        What a network made of the images.
    boxes : Tensor (n, 5)
        Number of the image, then left, top, right, bottom in pixels of the image.
    size : int
        Cells per side; one without any place of the map is 0.
    scale : float, default=1.0
        Places of the map per pixel of the image.

    Examples
    --------
    >>> maps = torch.arange(16.0).reshape(1, 1, 4, 4)
    >>> roi_pool(maps, torch.tensor([[0.0, 0.0, 0.0, 3.0, 3.0]]), size=2)[0, 0]
    tensor([[ 5.,  7.],
            [13., 15.]])
    """
    n_boxes, (_, channels, height, width) = len(boxes), maps.shape
    if not n_boxes:
        return maps.new_zeros((0, channels, size, size))
    corners = torch.round(boxes[:, 1:] * scale).long()
    left, right = _bins(corners[:, 0], corners[:, 2], size, width)
    top, bottom = _bins(corners[:, 1], corners[:, 3], size, height)
    image = boxes[:, 0].long()
    across = _range_max(maps, left, right, image)
    found = _range_max_rows(across, top, bottom)
    is_empty = (bottom <= top)[:, :, None] | (right <= left)[:, None, :]
    return found.masked_fill(is_empty[:, None], 0.0)


def _bins(first: Tensor, last: Tensor, size: int, count: int) -> tuple[Tensor, Tensor]:
    """Return where each of ``size`` bins begins and ends, the ends left out; bins may share a place."""
    length = (last - first + 1).clamp(min=1).to(torch.float32)
    edges = torch.arange(size + 1, device=first.device, dtype=torch.float32) * (length / size)[:, None]
    start = edges[:, :-1].floor().long() + first[:, None]
    stop = edges[:, 1:].ceil().long() + first[:, None]
    return start.clamp(0, count), stop.clamp(0, count)


def _doubled(maps: Tensor, levels: int) -> Tensor:
    """Return (levels, ...) largest values of windows of 1, 2, 4, ... places of the last axis, from each place on."""
    found = [maps]
    for level in range(levels - 1):
        step = 2**level
        moved = functional.pad(found[-1], (0, step), value=float("-inf"))[..., step:]
        found.append(torch.maximum(found[-1], moved))
    return torch.stack(found)


def _window(start: Tensor, stop: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the power of two to read each window with, and the two places from which on."""
    length = (stop - start).clamp(min=1)
    level = torch.floor(torch.log2(length.to(torch.float32) + 0.5)).long()
    return level, start.clamp(max=count - 1), (stop - 2**level).clamp(0, count - 1)


def _levels(count: int) -> int:
    return max(1, count.bit_length())


def _range_max(maps: Tensor, start: Tensor, stop: Tensor, image: Tensor) -> Tensor:
    """Return (n, C, H, size): the largest value of each row between start and stop (n, size)."""
    width = maps.shape[-1]
    table = _doubled(maps, _levels(width)).permute(0, 1, 4, 2, 3)  # (levels, B, W, C, H)
    level, begin, end = _window(start, stop, width)
    of_image = image[:, None]
    return torch.maximum(table[level, of_image, begin], table[level, of_image, end]).permute(0, 2, 3, 1)


def _range_max_rows(maps: Tensor, start: Tensor, stop: Tensor) -> Tensor:
    """Return (n, C, size, size'): the largest value of each column of (n, C, H, size') between start and stop."""
    height = maps.shape[2]
    table = _doubled(maps.transpose(2, 3), _levels(height)).permute(0, 1, 4, 2, 3)  # (levels, n, H, C, size')
    level, begin, end = _window(start, stop, height)
    own = torch.arange(len(maps), device=maps.device)[:, None]
    return torch.maximum(table[level, own, begin], table[level, own, end]).permute(0, 2, 1, 3)


def numbered(boxes: Sequence[Tensor]) -> Tensor:
    """Return the boxes of several images in one table, the number of the image in front."""
    return torch.cat([torch.cat((own.new_full((len(own), 1), image), own), dim=1) for image, own in enumerate(boxes)])


def pool_levels(levels: Sequence[Tensor], boxes: Sequence[Tensor], size: int, strides: Sequence[int]) -> Tensor:
    """Return regions aligned on the level of a pyramid that fits their size: of 224 x 224 pixels, the third one.

    ``boxes`` are those of each image, (n_b, 4); the regions of all of them come out one after the other.
    """
    table = numbered(boxes)
    if len(levels) == 1:
        return roi_align(levels[0], table, size, 1.0 / strides[0])
    sides = (table[:, 3:] - table[:, 1:3]).clamp(min=0.0)
    coarse = torch.floor(4.0 + torch.log2(sides.prod(dim=1).sqrt() / 224.0) + 1e-6)
    first = int(strides[0]).bit_length() - 1
    level = coarse.clamp(first, first + len(levels) - 1).long() - first
    found = levels[0].new_zeros((len(table), levels[0].shape[1], size, size))
    for k, (maps, stride) in enumerate(zip(levels, strides, strict=True)):
        places = torch.nonzero(level == k)[:, 0]
        found[places] = roi_align(maps, table[places], size, 1.0 / stride).to(found.dtype)
    return found
