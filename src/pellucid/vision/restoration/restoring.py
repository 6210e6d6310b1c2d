"""restore: the one verb. An image, what happened to it, how much noise, and by which method it is undone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from pellucid.core.checks import check_nonnegative
from pellucid.core.random_state import generator
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data, RandomState
from pellucid.core.user_warnings import warn_unless_holds
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.sampling import drawing
from pellucid.proofs.vision.restored_image import prove_estimated_error, prove_restored_image
from pellucid.vision.restoration.images import Format, as_planes
from pellucid.vision.restoration.method import RestorationMethod
from pellucid.vision.restoration.noise_level import SIGMA_ERROR, estimate_sigma
from pellucid.vision.restoration.operators import Blur, Downscale, Identity, Mask, Operator
from pellucid.vision.restoration.unbiased_risk import EstimatedPSNR, Risk, stein_risk

KERNEL_ERROR = 0.02
"""What an estimated kernel explains wrongly, as a share of the peak: it counts as noise."""
HIDDEN = 0.1
"""Share of the seen pixels that are hidden once more to measure how well missing ones are found."""


@dataclass(frozen=True, eq=False, repr=False)
class Restoration:
    """A restored image, and what is known about it."""

    image: Array
    """Of the dtype that came in; whole numbers are rounded and clipped."""
    estimate: Array
    """The same in float64, neither rounded nor clipped."""
    psnr: EstimatedPSNR
    """Its estimated PSNR with an interval, that of A x where it was blurred or reduced; or why there is none."""
    certificate: Certificate
    """What was proved of the answer, without the clean image."""
    trace: Trace
    """One row for each iteration, with a column ``plane`` where there are several planes."""
    method: RestorationMethod
    """The method by which it was restored."""
    operator: Operator
    """What had happened to the image, beside noise."""
    sigma: float
    """Standard deviation of the noise, in units of the image."""
    peak: float
    """Largest gray value there can be."""
    chosen: tuple[Mapping[str, Any], ...]
    """For each plane, what the method took for the parameters that were left to it."""
    evidence: tuple[Mapping[str, Array], ...] = field(repr=False)
    """For each plane, arrays that its proof needs beside the image, such as dual fields or dictionaries."""
    sigma_error: float = 0.0
    """Standard error of sigma as a share of it: 0 where it was given."""

    @property
    def sigma_was_estimated(self) -> bool:
        """Whether nobody said how much noise there is."""
        return self.sigma_error > 0

    def __repr__(self) -> str:
        size = " x ".join(str(n) for n in self.image.shape[:2])
        told = "estimated" if self.sigma_was_estimated else "given"
        name = type(self.method).__name__
        return f"Restoration({size} by {name}, sigma {self.sigma:.3g} {told}; {self.psnr}; {self.certificate.verdict})"

    def removed(self, image: Data) -> Array:
        """Return what was taken away from the measured image: y - A x, which should look like noise."""
        planes = as_planes(self.estimate, "each")
        made = np.stack([self.operator.apply(plane) for plane in planes])
        rest = as_planes(image, "each") - made
        if isinstance(self.operator, Mask):
            rest = np.where(self.operator.missing, 0.0, rest)
        return np.asarray(np.moveaxis(rest, 0, 2)) if self.estimate.ndim == 3 else rest[0]


def restore(
    image: Data,
    operator: Operator | None = None,
    sigma: float | None = None,
    method: RestorationMethod | None = None,
    *,
    sigma_error: float = 0.0,
    peak: float | None = None,
    estimate_psnr: bool = True,
    random_state: RandomState = 0,
) -> Restoration:
    r"""Return the image :math:`x` behind :math:`y = Ax + e`, with its certificate and its estimated PSNR.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, 3)
        What was measured, in whole numbers or floats.
    operator : Operator, default=None
        What happened to the image: ``Identity()`` if None, or a ``Mask``, ``Blur``, ``BlurDecimate``, ``Downscale``.
    sigma : float, default=None
        Standard deviation of the white noise, in units of the image; None estimates it.
    method : RestorationMethod, default=None
        How to restore, as a value such as ``TotalVariation()``. None takes ``DnCNN`` against noise alone, ``SRCNN`` to
        enlarge 2, 3 or 4 times, else ``PlugAndPlay`` with ``DnCNN``; without PyTorch ``BM3D``, or ``Bicubic``.
    sigma_error : float, default=0.0
        Standard error of a sigma that is given, as a share of it; it widens the interval of the PSNR.
    peak : float, default=None
        Largest gray value there can be. None: that of an unsigned dtype; else 1 for floats up to 2, 255 for numbers up
        to 510, 65535 or more above.
    estimate_psnr : bool, default=True
        Whether to estimate the PSNR, for which the method is asked twice more.
    random_state : int, Generator or None, default=0
        What the directions are drawn from in which the estimate changes the image.

    Returns
    -------
    Restoration
        ``image``, ``trace``, ``certificate``, ``psnr`` and what they rest on; ``pellucid.verify(result, image)`` proves
        it once more.

    Examples
    --------
    >>> from pellucid.vision.restoration import Tikhonov
    >>> flat = restore(np.full((8, 8), 7.0), sigma=1.0, method=Tikhonov(weight=2.0), peak=255)
    >>> bool(np.allclose(flat.image, 7)), flat.certificate.holds
    (True, True)
    """
    operator = Identity() if operator is None else operator
    if not isinstance(operator, Operator):
        raise TypeError(f"operator must be Identity(), Mask, Blur, BlurDecimate or Downscale, got {operator!r}.")
    if method is None:
        from pellucid.vision.restoration.choosing import usual_method  # it restores, too

        method = usual_method(operator)
    if not isinstance(method, RestorationMethod):
        raise TypeError(f"method must be a value such as TotalVariation(), got {method!r}. Add the brackets.")
    if operator.name not in method.takes:
        raise ValueError(
            f"method must be one that can invert {operator.name}, got {type(method).__name__}, which takes "
            f"{', '.join(method.takes)}. Take TotalVariation() or PlugAndPlay()."
        )
    format_ = Format.of(image, peak, operator)
    y = _checked_planes(image, operator, method.color)
    if sigma is None:
        sigma, sigma_error = noise_of(image, operator), SIGMA_ERROR
    check_nonnegative(sigma_error=sigma_error)
    check_nonnegative(sigma=sigma, hint="It is the noise's standard deviation, in units of the image.")
    sigma = float(sigma)

    answers = method.solve_planes(y, operator, sigma, format_.peak)
    restored = np.stack([answer.image for answer in answers])
    estimate = format_.back(restored, method.color)
    found = Restoration(
        image=format_.as_it_came(estimate),
        estimate=estimate,
        psnr=EstimatedPSNR.none("it was not asked for."),
        certificate=Certificate("none", reason="not yet proved"),
        trace=Trace.joined([answer.trace for answer in answers], numbered="plane" if len(answers) > 1 else ""),
        method=method,
        operator=operator,
        sigma=sigma,
        peak=format_.peak,
        chosen=tuple(dict(answer.chosen) for answer in answers),
        evidence=tuple(dict(answer.evidence) for answer in answers),
        sigma_error=sigma_error,
    )
    if estimate_psnr:
        found = replace(found, psnr=_estimated_psnr(found, y, restored, generator(random_state)))
    found = replace(found, certificate=_proof(found, image))
    warn_unless_holds(found.certificate, f"restore by {type(method).__name__}")
    return found


def denoise(
    image: Data, sigma: float | None = None, method: RestorationMethod | None = None, **options: Any
) -> Restoration:
    """Return an image without its noise.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, 3)
        The noisy image, in whole numbers or floats.
    sigma : float or None, default=None
        Standard deviation of the white noise, in units of the image; None estimates it.
    method : RestorationMethod, default=None
        How, as a value such as ``TotalVariation()``; None takes ``DnCNN``, or ``BM3D`` without PyTorch.
    **options
        ``sigma_error``, ``peak``, ``estimate_psnr`` and ``random_state`` of :func:`restore`.
    """
    return restore(image, Identity(), sigma, method, **options)


def deblur(
    image: Data,
    kernel: Data = None,
    sigma: float | None = None,
    method: RestorationMethod | None = None,
    *,
    border: str = "valid",
    size: int | None = None,
    **options: Any,
) -> Restoration:
    """Return an image without a blur.

    The errors of a kernel that is not given but found (:func:`estimate_kernel`) are taken for noise of at least 2 % of
    the peak; the certificate is about the image given that kernel.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, 3)
        The blurred image, in whole numbers or floats.
    kernel : array of shape (rows, columns), default=None
        The blur: numbers that sum to 1. None finds one first, and needs ``size``.
    sigma : float or None, default=None
        Standard deviation of the white noise, in units of the image; None estimates it.
    method : RestorationMethod, default=None
        How, as a value such as ``TotalVariation()``; None takes ``PlugAndPlay`` with ``DnCNN``, or with ``BM3D``
        without PyTorch.
    border : {"valid", "reflect", "periodic"}, default="valid"
        What lies beyond the image: nothing that is known, so that the result is larger by the size of the kernel less
        one; its mirror image; or its other side.
    size : int or None, default=None
        Most pixels a side of a kernel to be found, odd, at least 3; None where the kernel is given.
    **options
        ``sigma_error``, ``peak``, ``estimate_psnr`` and ``random_state`` of :func:`restore`.
    """
    if (kernel is None) == (size is None):
        raise ValueError(
            f"kernel or size must be given, and not both, got kernel={'None' if kernel is None else 'one'} and "
            f"size={size!r}. Without the kernel, say how large it may be: size=25."
        )
    if size is not None:
        from pellucid.vision.restoration.blind import estimate_kernel  # few need it

        kernel = estimate_kernel(image, size).kernel
        sigma = max(noise_of(image, Identity()) if sigma is None else sigma, KERNEL_ERROR * Format.of(image, None).peak)
    return restore(image, Blur(kernel, border), sigma, method, **options)


def upscale(
    image: Data, scale: int, sigma: float | None = 0.0, method: RestorationMethod | None = None, **options: Any
) -> Restoration:
    """Return an image enlarged along both axes.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, 3)
        The small image, in whole numbers or floats.
    scale : int
        How many times as many rows and columns come out, at least 1.
    sigma : float or None, default=0.0
        Standard deviation of the white noise, in units of the image; None estimates it.
    method : RestorationMethod, default=None
        How, as a value such as ``TotalVariation()``; None takes ``SRCNN`` for a scale of 2, 3 or 4, and ``Bicubic`` for
        others and without PyTorch.
    **options
        ``sigma_error``, ``peak``, ``estimate_psnr`` and ``random_state`` of :func:`restore`.
    """
    return restore(image, Downscale(scale), sigma, method, **options)


def inpaint(
    image: Data, missing: Data, sigma: float | None = None, method: RestorationMethod | None = None, **options: Any
) -> Restoration:
    """Return an image with its missing pixels filled in.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, 3)
        The image with holes, in whole numbers or floats; in its holes it may be NaN.
    missing : array of bool, shape (height, width)
        Where nothing is known, in all channels; not everywhere.
    sigma : float or None, default=None
        Standard deviation of the white noise, in units of the image; None estimates it from the rows without holes, and
        takes 0 if there are fewer than eight.
    method : RestorationMethod, default=None
        How, as a value such as ``TotalVariation()``; None takes ``PlugAndPlay`` with ``DnCNN``, or with ``BM3D``
        without PyTorch.
    **options
        ``sigma_error``, ``peak``, ``estimate_psnr`` and ``random_state`` of :func:`restore`.
    """
    return restore(image, Mask(missing), sigma, method, **options)


def verify_restoration(found: Restoration, image: Data, *, random_state: RandomState = None) -> Certificate:
    """Prove a restored image once more, from what was measured; ``pellucid.verify`` calls this."""
    with drawing(generator(random_state)):
        certificate = _proof(found, image)
        if not found.psnr.is_known or certificate.failed:
            return certificate
        y = _checked_planes(image, found.operator, found.method.color)
        restored = as_planes(found.estimate, found.method.color)
        again = _estimated_psnr(found, y, restored, generator(random_state))
        return certificate.with_claims(prove_estimated_error(found.psnr, again, found.peak))


def _checked_planes(image: Data, operator: Operator, color: str) -> Array:
    """Return what was measured as planes; missing pixels read 0, whatever stood there."""
    pixels = np.asarray(image)
    operator.restored_shape((pixels.shape[0], pixels.shape[1]))
    pixels = operator.seen(pixels)
    if not np.isfinite(pixels).all():
        raise ValueError(
            f"image must hold finite numbers, got {np.count_nonzero(~np.isfinite(pixels))} that are not. "
            "Say that these pixels are missing: inpaint(image, ~np.isfinite(image))."
        )
    return as_planes(pixels, color)


def noise_of(image: Data, operator: Operator) -> float:
    """Return the standard deviation of the noise of an image; where pixels are missing, of the rows that are whole."""
    if not isinstance(operator, Mask):
        return estimate_sigma(image)
    seen = ~operator.missing
    rows = np.flatnonzero(seen.all(axis=1))
    return estimate_sigma(np.asarray(image)[rows]) if len(rows) >= 8 else 0.0


def _proof(found: Restoration, image: Data) -> Certificate:
    """Return what the trusted base says of a restored image."""
    given = Format.of(image, found.peak)
    return prove_restored_image(
        type(found.method).__name__,
        found.image,
        found.estimate,
        planes=[{**chosen, **evidence} for chosen, evidence in zip(found.chosen, found.evidence, strict=True)],
        parameters=_parts(found.method),
        color=found.method.color,
        operator=(found.operator.name, _parts(found.operator)),
        y=np.asarray(image),
        dtype=given.dtype,
        sigma=found.sigma,
        peak=found.peak,
    )


def _parts(value: Any) -> dict[str, Any]:
    return {one.name: getattr(value, one.name) for one in fields(value)}


def _estimated_psnr(found: Restoration, y: Array, restored: Array, rng: np.random.Generator) -> EstimatedPSNR:
    """Return the estimated PSNR, or why there is none."""
    if isinstance(found.operator, Mask):
        return _psnr_of_hidden_pixels(found, found.operator, y, rng)
    if found.method.not_smooth:
        return EstimatedPSNR.none(found.method.not_smooth)
    if found.sigma == 0.0:
        return EstimatedPSNR.none("without noise there is nothing that Stein's formula could use.")
    settled = [settle(found.method, chosen) for chosen in found.chosen]

    def made(planes: Array) -> Array:
        """Return A f(y): what the answer would have been measured as."""
        return np.stack(
            [
                found.operator.apply(one.solve(plane, found.operator, found.sigma, found.peak).image)
                for one, plane in zip(settled, planes, strict=True)
            ]
        )

    seen = np.stack([found.operator.apply(plane) for plane in restored])
    risk = stein_risk(made, y, seen, found.sigma, rng)
    is_whole = isinstance(found.operator, Identity)
    about = "" if is_whole else f"of A x, what {found.operator.name} would make of the image: of x nobody can know it"
    return EstimatedPSNR.of_error(risk.mse, _standard_error(risk, found), risk.probe_error, found.peak, about)


def _standard_error(risk: Risk, found: Restoration) -> float:
    """Return the standard error of an estimate; a sigma that was estimated adds its own."""
    from_sigma = 2.0 * found.sigma * (found.sigma * found.sigma_error) * risk.sensitivity
    return math.hypot(risk.standard_error, from_sigma)


def _psnr_of_hidden_pixels(found: Restoration, mask: Mask, y: Array, rng: np.random.Generator) -> EstimatedPSNR:
    """Return how well missing pixels are found, by hiding some that were seen and looking for them, too."""
    seen = np.flatnonzero(~mask.missing.ravel())
    n_hidden = int(HIDDEN * len(seen))
    if n_hidden < 1:
        return EstimatedPSNR.none("too few pixels were seen to hide some of them.")
    places = rng.choice(seen, n_hidden, replace=False)
    missing = mask.missing.copy()
    missing.ravel()[places] = True
    again = Mask(missing)
    answers = [
        settle(found.method, chosen).solve(again.apply(plane), again, found.sigma, found.peak)
        for chosen, plane in zip(found.chosen, y, strict=True)
    ]
    squares = np.mean(
        [(answer.image.ravel()[places] - plane.ravel()[places]) ** 2 for answer, plane in zip(answers, y, strict=True)],
        axis=0,
    )
    error = float(squares.std() / math.sqrt(n_hidden))
    said = f"of missing pixels, measured on {n_hidden:,} seen ones that were hidden: right if pixels miss at random"
    return EstimatedPSNR.of_error(float(squares.mean()) - found.sigma * found.sigma, error, error, found.peak, said)


def settle(method: RestorationMethod, chosen: Mapping[str, Any]) -> RestorationMethod:
    """Return a method with the parameters it chose, so that it chooses no more."""
    known = {one.name for one in fields(method)}  # type: ignore[arg-type]  # each method is a dataclass
    settled: RestorationMethod = replace(method, **{k: v for k, v in chosen.items() if k in known})  # type: ignore[type-var]
    return settled
