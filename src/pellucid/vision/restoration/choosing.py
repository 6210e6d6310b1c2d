"""Which method to take: each is tried on a part of the image, and the best by its own estimate restores all of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.vision.restoration.images import Format
from pellucid.vision.restoration.method import RestorationMethod
from pellucid.vision.restoration.operators import Blur, Downscale, Identity, Mask, Operator
from pellucid.vision.restoration.restoring import Restoration, restore
from pellucid.vision.restoration.unbiased_risk import EstimatedPSNR

LARGEST_PART = 320
"""Rows and columns, at most, that methods are compared on."""
PACKAGE = "pellucid.vision.restoration"

Listener = Callable[[str, int, int], None]


@dataclass(frozen=True)
class TriedMethod:
    """A method that was tried: how good it says it is, and how long it took."""

    method: RestorationMethod
    psnr: EstimatedPSNR
    seconds: float
    whole: Restoration | None = None
    """The restored image, where it was small enough to be tried as a whole."""

    @property
    def name(self) -> str:
        """What to call it."""
        inner = getattr(self.method, "denoiser", None)
        return type(self.method).__name__ + (f" with {type(inner).__name__}" if inner is not None else "")


def candidates(operator: Operator) -> list[RestorationMethod]:
    """Return the methods worth trying for an operator, the quickest first, without those that are not installed."""
    return [method for method in _candidates(operator) if operator.name in method.takes]


def _candidates(operator: Operator) -> Iterator[RestorationMethod]:
    room = import_module(PACKAGE)
    if isinstance(operator, Identity):
        yield room.Tikhonov()
        yield room.Wiener()
        yield room.WaveletThresholding()
        yield room.NonLocalMeans()
        yield room.TotalVariation()
        if "DnCNN" in room.__all__:
            yield room.DnCNN()
        return
    if isinstance(operator, Downscale):
        if "SRCNN" in room.__all__ and operator.scale in (2, 3, 4):
            yield room.SRCNN()
        yield room.Bicubic()
        return
    if isinstance(operator, Blur):
        yield room.Wiener()
    yield room.Tikhonov()
    yield room.TotalVariation()
    yield room.PlugAndPlay(room.DnCNN() if "DnCNN" in room.__all__ else room.BM3D())


def usual_method(operator: Operator) -> RestorationMethod:
    """Return what to take where nothing is said: what restores best, whether or not it can say how well."""
    room = import_module(PACKAGE)
    if isinstance(operator, Identity):
        return room.DnCNN() if "DnCNN" in room.__all__ else room.BM3D()
    return candidates(operator)[0 if isinstance(operator, Downscale) else -1]


def compare_methods(
    image: Data,
    operator: Operator,
    sigma: float,
    *,
    sigma_error: float = 0.0,
    methods: Sequence[RestorationMethod] | None = None,
    seconds: float = 60.0,
    peak: float | None = None,
    listen: Listener | None = None,
) -> list[TriedMethod]:
    """Return the methods tried within a time, best first; what has no estimate of its error comes last.

    They restore the middle of the image, at most 320 pixels a side, so that an hour's image takes no hour to choose
    for. Estimates of images that were blurred or reduced are about A x, and only hint at x.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, 3)
        What was measured, in whole numbers or floats.
    operator : Operator
        What happened to the image: ``Identity()``, or a ``Mask``, ``Blur``, ``BlurDecimate``, ``Downscale``.
    sigma : float
        Standard deviation of the white noise, in units of the image; where nobody knows it, ``estimate_sigma(image)``.
    sigma_error : float, default=0.0
        Standard error of sigma as a share of it; it widens the intervals of the PSNR.
    methods : sequence of RestorationMethod, default=None
        What to try, in this order; None: the methods suited to the operator, the quickest first.
    seconds : float, default=60.0
        No method begins after this time, but for the first.
    peak : float or None, default=None
        Largest gray value there can be. None: that of an unsigned dtype; else 1 for floats up to 2, 255 for numbers up
        to 510, 65535 or more above.
    listen : callable (name, number, count), default=None
        Called before each method with its name, its number from 0, and how many there are.
    """
    part, its_operator = _middle(np.asarray(image), operator)
    peak = Format.of(image, peak, operator).peak
    tried: list[TriedMethod] = []
    methods = candidates(operator) if methods is None else methods
    start = time.perf_counter()
    for k, method in enumerate(methods):
        if tried and time.perf_counter() - start > seconds:
            break
        begun = time.perf_counter()
        if listen is not None:
            listen(type(method).__name__, k, len(methods))
        found = restore(part, its_operator, sigma, method, sigma_error=sigma_error, peak=peak)
        whole = found if part.shape == np.shape(image) else None
        tried.append(TriedMethod(method, found.psnr, time.perf_counter() - begun, whole))
    return sorted(tried, key=lambda trial: -trial.psnr.value if trial.psnr.is_known else np.inf)


def _middle(image: Array, operator: Operator) -> tuple[Array, Operator]:
    """Return the middle of an image, and the operator that made it; a periodic one must stay whole."""
    if getattr(operator, "border", "") == "periodic":
        return image, operator
    starts = [max(0, (n - LARGEST_PART) // 2) for n in image.shape[:2]]
    rows, columns = (slice(a, a + LARGEST_PART) for a in starts)
    if isinstance(operator, Mask):
        part = operator.missing[rows, columns]
        if part.all() or not part.any():
            return image, operator
        return image[rows, columns], Mask(part)
    if isinstance(operator, Blur) and image[rows, columns].shape != image.shape:
        return image[rows, columns], Blur(operator.kernel, "valid")
    return image[rows, columns], operator
