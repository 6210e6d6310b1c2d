"""Where training patches come from: all images stand on the device, and patches are drawn there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from pellucid.core.types import Array
from pellucid.vision.restoration.operators import bicubic_resize

ENDINGS = (".png", ".bmp", ".jpg", ".jpeg", ".tif", ".tiff")
SCALES = (1.0, 0.9, 0.8, 0.7)
"""Sizes at which each image is seen, as Zhang et al. do: details of all sizes from few images."""


def read_images(folder: str | Path) -> list[Array]:
    """Return the images of a folder in the order of their names: gray (height, width) or color, as they are stored."""
    from PIL import Image  # matplotlib brings it

    folder = Path(folder)
    paths = sorted(path for path in folder.glob("*") if path.suffix.lower() in ENDINGS)
    if not paths:
        raise ValueError(f"images must be a folder with images, got {folder}. Name one with PNG files in it.")
    found = []
    for path in paths:
        with Image.open(path) as image:
            found.append(np.asarray(image))
    return found


@dataclass(frozen=True)
class Patches:
    """Pairs of what a network is given and what it should find, as stacks of images (N, H, W), one per scale.

    What is given reaches ``context`` pixels beyond what is wanted, on every side.
    """

    given: tuple[Tensor, ...]
    wanted: tuple[Tensor, ...]
    context: int

    def draw(self, step: int, batch: int, size: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return patches of one scale, each at a random place, mirrored and turned at random: twice (B, 1, h, w)."""
        given, wanted = (stacks[step % len(stacks)] for stacks in (self.given, self.wanted))
        size = min(size, *wanted.shape[1:])
        numbers = _below(len(wanted), batch, generator)
        tops, lefts = (_below(n - size + 1, batch, generator) for n in wanted.shape[1:])
        turns = torch.rand((3, batch), generator=generator, device=wanted.device) < 0.5
        cut = [
            _windows(stack, numbers, tops, lefts, length, turns)
            for stack, length in ((given, size + 2 * self.context), (wanted, size))
        ]
        return cut[0], cut[1]


def patches_of(
    images: list[Array], device: torch.device, context: int, given: Callable[[Array], Array] | None = None, *, step: int
) -> Patches:
    """Return patches of gray images of one size, at several scales, in units of the largest gray value.

    Parameters
    ----------
    images : list of array
        8-bit images; color is turned into its mean.
    context : int
        How many pixels more the network is given on each side; beyond the image stands its mirror image.
    given : callable, optional
        What the network is given in place of an image, of the same size.
    step : int
        Images are cut to a multiple of it at every scale.
    """
    shapes = {image.shape[:2] for image in images}
    if len(shapes) > 1:
        raise ValueError(f"images must be of one size, got {len(shapes)} sizes. Cut them to patches first.")
    stacks: tuple[list[Tensor], list[Tensor]] = ([], [])
    for scale in SCALES:
        clean = [_cut(_gray(image), scale, step) for image in images]
        seen = clean if given is None else [given(image) for image in clean]
        seen = [np.pad(image, context, mode="symmetric") for image in seen] if context else seen
        for stack, arrays in zip(stacks, (seen, clean), strict=True):
            stack.append(torch.from_numpy(np.stack(arrays).astype(np.float32)).to(device))
    return Patches(tuple(stacks[0]), tuple(stacks[1]), context)


def _gray(image: Array) -> Array:
    image = image.astype(np.float64) / 255.0
    return image if image.ndim == 2 else image[:, :, :3].mean(axis=2)


def _cut(image: Array, scale: float, step: int) -> Array:
    resized = image if scale == 1.0 else bicubic_resize(image, scale)
    height, width = (n // step * step for n in resized.shape)
    return resized[:height, :width]


def _below(n: int, batch: int, generator: torch.Generator) -> Tensor:
    return torch.randint(n, (batch,), generator=generator, device=generator.device)


def _windows(stack: Tensor, numbers: Tensor, tops: Tensor, lefts: Tensor, size: int, turns: Tensor) -> Tensor:
    """Return windows of images, mirrored up to down, left to right and along the diagonal where ``turns`` says so."""
    steps = torch.arange(size, device=stack.device)
    rows, columns = (
        start[:, None] + torch.where(turn[:, None], size - 1 - steps, steps)
        for start, turn in zip((tops, lefts), turns[:2], strict=True)
    )
    windows = stack[numbers[:, None, None], rows[:, :, None], columns[:, None, :]]  # (B, size, size)
    return torch.where(turns[2][:, None, None], windows.transpose(1, 2), windows)[:, None]
