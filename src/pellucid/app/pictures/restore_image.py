"""From an image file to a restored one: the noise is estimated, methods are compared, the best restores all of it."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from pellucid.app.pictures.image_files import ImageFile
from pellucid.core.types import Array
from pellucid.vision.restoration.choosing import (
    LARGEST_PART,
    Listener,
    TriedMethod,
    candidates,
    compare_methods,
    usual_method,
)
from pellucid.vision.restoration.method import RestorationMethod
from pellucid.vision.restoration.noise_level import SIGMA_ERROR
from pellucid.vision.restoration.operators import Blur, Downscale, Identity, Mask, Operator
from pellucid.vision.restoration.restoring import Restoration, noise_of, restore


@dataclass(frozen=True, eq=False)
class RestoredFile:
    """What became of an image file."""

    before: ImageFile
    """The image as it was read."""
    after: ImageFile
    """The restored image, of the same kind of file and as opaque."""
    found: Restoration
    """The restored image with its certificate, its trace and what its error is estimated to be."""
    trials: list[TriedMethod]
    """Methods compared, best first; none where one was asked for."""
    chosen: TriedMethod | None
    """The best one that restores the whole image in the time given."""
    seconds: float
    """How long all of it took."""


def operator_of(kernel: Array | None, mask: Array | None, scale: int | None) -> Operator:
    """Return what happened to the image, of which one thing at most may be said."""
    given = [name for name, value in (("kernel", kernel), ("mask", mask), ("scale", scale)) if value is not None]
    if len(given) > 1:
        raise ValueError(f"{' and '.join(given)} must not be given together, got both. Restore in two steps.")
    if kernel is not None:
        return Blur(kernel)
    if mask is not None:
        return Mask(mask)
    return Identity() if scale is None else Downscale(scale)


def restore_image(
    image: ImageFile,
    operator: Operator,
    *,
    sigma: float | None = None,
    method: RestorationMethod | None = None,
    seconds: float = 60.0,
    listen: Listener | None = None,
) -> RestoredFile:
    """Return a restored image, by the method that is asked for or the best of several.

    Parameters
    ----------
    image : ImageFile
        What ``read_image`` returns.
    operator : Operator
        What happened to the image before noise came: ``Identity()``, ``Mask(...)``, ``Blur(...)`` and the like.
    sigma : float or None, default=None
        Standard deviation of the noise, in units of the pixels; None estimates it.
    method : RestorationMethod or None, default=None
        How to restore; None compares the methods that can invert the operator on the middle of the image.
    seconds : float, default=60.0
        How long to compare methods. The best that needs no longer for the whole image is taken, or the quickest if all
        do.
    listen : callable, default=None
        Called with the name of a method, how many are done, and how many there are; None tells nobody.
    """
    start = time.perf_counter()
    pixels, trials, chosen = image.pixels, list[TriedMethod](), None
    noise, error = (noise_of(pixels, operator), SIGMA_ERROR) if sigma is None else (sigma, 0.0)
    if method is None:
        if len(candidates(operator)) > 1 and not isinstance(operator, Downscale):
            trials = compare_methods(pixels, operator, noise, sigma_error=error, seconds=seconds, listen=listen)
        chosen = _in_time(trials, pixels.shape[0] * pixels.shape[1], seconds)
        method = usual_method(operator) if chosen is None else chosen.method
    found = None if chosen is None else chosen.whole
    if found is None:
        if listen is not None:
            listen(f"{type(method).__name__} on the whole image", len(trials), len(trials) + 1)
        found = restore(pixels, operator, noise, method, sigma_error=error)
    opacity = image.opacity
    if opacity is not None and isinstance(operator, Downscale):
        opacity = np.repeat(np.repeat(opacity, operator.scale, 0), operator.scale, 1)
    after = ImageFile(found.image, image.kind, opacity)
    return RestoredFile(image, after, found, trials, chosen, time.perf_counter() - start)


def _in_time(trials: list[TriedMethod], n_pixels: int, seconds: float) -> TriedMethod | None:
    """Return the best method that restores the whole image in this time, or the quickest if all would take longer."""
    known = [trial for trial in trials if trial.psnr.is_known]
    share = max(1.0, n_pixels / LARGEST_PART**2)
    quick = [trial for trial in known if trial.whole is not None or trial.seconds * share <= seconds]
    return next(iter(quick or sorted(known, key=lambda trial: trial.seconds)), None)
