"""The tables of PSNRs by which networks are judged, measured on folders of clean images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pellucid.core.types import Array
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.vision.networks import table_claims
from pellucid.vision.restoration.images import luminance
from pellucid.vision.restoration.metrics import psnr
from pellucid.vision.restoration.networks.network_methods import (
    SRCNN,
    DeconvolutionNetwork,
    DnCNN,
    NetworkMethod,
)
from pellucid.vision.restoration.networks.network_runs import deblur, denoise, enlarge
from pellucid.vision.restoration.networks.shipped import record_of_shipped
from pellucid.vision.restoration.networks.training_patches import read_images
from pellucid.vision.restoration.operators import Blur, Downscale

Restore = Callable[[Array], Array]
"""A measured plane of gray values up to 255, restored."""


def denoising_row(restore: Restore, folder: Path, sigma: float) -> float:
    """Return the mean PSNR over a folder of gray images; the noise of the i-th, from 0, is drawn by seed i."""
    found = []
    for seed, image in enumerate(read_images(folder)):
        clean = image.astype(np.float64)
        noise = np.random.default_rng(seed).standard_normal(clean.shape)
        found.append(psnr(clean, restore(clean + sigma * noise), peak=255.0))
    return float(np.mean(found))


def enlarging_row(restore: Restore, folder: Path, scale: int) -> float:
    """Return the mean PSNR of the Y channel, ``scale`` pixels left out at each border, as the papers count it."""
    found = []
    for image in read_images(folder):
        clean = np.rint(luminance(image))
        height, width = (n // scale * scale for n in clean.shape)
        clean = clean[:height, :width]
        enlarged = restore(Downscale(scale).apply(clean))
        inner = (slice(scale, height - scale), slice(scale, width - scale))
        found.append(psnr(clean[inner], np.rint(np.clip(enlarged[inner], 0.0, 255.0)), peak=255.0))
    return float(np.mean(found))


def deblurring_row(restore: Restore, folder: Path, kernel: Array, sigma: float) -> float:
    """Return the mean PSNR over a folder of gray images, blurred with mirrored borders, noise by seeds as above."""
    blur, found = Blur(kernel, "reflect"), []
    for seed, image in enumerate(read_images(folder)):
        clean = image.astype(np.float64)
        noise = np.random.default_rng(seed).standard_normal(clean.shape)
        found.append(psnr(clean, restore(blur.apply(clean) + sigma * noise), peak=255.0))
    return float(np.mean(found))


def denoising_table(
    restore: Restore, images: Path, folders: Sequence[str], sigmas: Sequence[float]
) -> dict[str, float]:
    """Return the rows of several folders and noise levels by name, such as ``bsd68 sigma 25``."""
    return {
        f"{folder} sigma {sigma:g}": round(denoising_row(restore, images / folder, sigma), 3)
        for folder in folders
        for sigma in sigmas
    }


def shipped_table(method: NetworkMethod) -> dict[str, float]:
    """Return the PSNRs that the weights of a method reach, as they were measured when it was trained.

    Examples
    --------
    >>> shipped_table(DnCNN())["set12 sigma 25"]
    30.272
    """
    names = tuple(method.files) if method.weights == "auto" else (method.weights,)
    if not all(isinstance(name, str) and name in method.files for name in names):
        raise ValueError(
            f"weights must be shipped to have a table, got {method.weights!r}. Take {tuple(method.files)}."
        )
    rows: dict[str, float] = {}
    for name in names:
        rows |= record_of_shipped(method.files[name])["table"]
    return rows


def verify_table(method: NetworkMethod, images: str | Path, rows: Sequence[str] | None = None) -> Certificate:
    """Measure the table of a method once more, and prove that it is the one that ships with its weights.

    Parameters
    ----------
    method : DnCNN, BiasFreeDnCNN, SRCNN or DeconvolutionNetwork
        With shipped weights.
    images : path
        The folder that holds the folders ``bsd68``, ``set12``, ``set5`` and ``set14``.
    rows : sequence of str, optional
        Which rows, such as ``["set5 x2"]``; all of those whose folder is there if None.
    """
    images, table = Path(images), shipped_table(method)
    if rows is None:
        rows = [row for row in table if (images / row.split()[0]).is_dir()]
    unknown = [row for row in rows if row not in table]
    if unknown or not rows:
        raise ValueError(
            f"rows must be some of {tuple(table)}, got {tuple(unknown)}. See that their folders are there."
        )
    return Certificate("bounded", table_claims(table, {row: _measured(method, images, row) for row in rows}))


def _measured(method: NetworkMethod, images: Path, row: str) -> float:
    """Return one row of the table of a method."""
    folder, what = row.split(maxsplit=1)
    level = float(what.split()[-1].lstrip("x"))
    return ROWS[method.kind](method, images / folder, level)


def _denoising(method: Any, folder: Path, sigma: float) -> float:
    module = method.module()
    return denoising_row(lambda y: denoise(module, y, 255.0), folder, sigma)


def _enlarging(method: Any, folder: Path, scale: float) -> float:
    module = method.module(f"x{scale:g}")
    return enlarging_row(lambda y: enlarge(module, y, 255.0), folder, int(scale))


def _deblurring(method: Any, folder: Path, sigma: float) -> float:
    module, kernel = method.module(), method.kernel
    return deblurring_row(lambda y: deblur(module, y, Blur(kernel), 255.0), folder, kernel, sigma)


ROWS = {DnCNN.kind: _denoising, SRCNN.kind: _enlarging, DeconvolutionNetwork.kind: _deblurring}
"""Architecture -> how a row of its table is measured."""
