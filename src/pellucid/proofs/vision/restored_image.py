"""The proof of a restored image: its planes by the proof of the method, and what was made of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim, worst_of
from pellucid.proofs.index import find_proof
from pellucid.proofs.seen import Seen, refusal
from pellucid.proofs.vision.measurement import Measurement, SeenOperator, planes_of

AGREE = 6.0
"""In units of the standard error: estimates from two random directions differ by more once in many millions."""
FEW = 10.0
"""By which factor standard errors may differ that come from few pixels."""


def prove_restored_image(
    method: str,
    image: Array,
    estimate: Array,
    *,
    planes: Sequence[Mapping[str, Any]],
    parameters: Mapping[str, Any],
    color: str,
    operator: tuple[str, Mapping[str, Any]],
    y: Array,
    dtype: np.dtype,
    sigma: float,
    peak: float,
) -> Certificate:
    """Return the claims of the method's proof, each for the plane where it is weakest, and that the image is theirs."""
    name, parts = operator
    restored = planes_of(estimate, color)
    wrong = _misfit(restored, y, planes, name, parts, sigma, peak)
    if wrong:
        return refusal("what was restored", wrong)
    if name == "Mask":
        seen = ~parts["missing"]
        y = np.where(seen if y.ndim == 2 else seen[:, :, None], y, 0)
    measured = planes_of(y, color)
    seen_parameters = Seen(**parameters)
    first = Seen(image=restored[0], **planes[0])
    found = []
    for k, (plane, own) in enumerate(zip(measured, planes, strict=True)):
        fitted = first if k == 0 else Seen(image=restored[k], first=first, **own)
        shape = (restored.shape[1], restored.shape[2])
        data = Measurement(plane, sigma, peak, SeenOperator(name, parts, shape), k, measured[0])
        with np.errstate(all="ignore"):  # a broken image may overflow; its claims read inf or nan
            found.append(find_proof(method)(fitted, seen_parameters, data))  # type: ignore[arg-type]
    names = {tuple(claim.name for claim in one.claims) for one in found}
    # a plane that nothing can be said of has other claims than the others: then all are listed
    together = (
        worst_of(found) if len(names) == 1 else found[0].with_claims(*(c for one in found[1:] for c in one.claims))
    )
    return together.with_claims(_same_image(image, estimate, dtype))


def _misfit(
    restored: Array, y: Array, planes: Sequence[Any], name: str, parts: Mapping[str, Any], sigma: float, peak: float
) -> str:
    """Return why no proof can be about these numbers, if so."""
    if not (math.isfinite(sigma) and sigma >= 0 and math.isfinite(peak) and peak > 0):
        return "sigma and peak are no numbers above 0"
    if not np.isfinite(restored).all():
        return "the restored image holds numbers that are not finite"
    if len(restored) != len(planes) or (y.ndim != 2 and y.shape[2] != len(planes)):
        return "the image has other channels than the one that was measured"
    scale = parts.get("scale", 1)
    cut = [0, 0] if parts.get("border") != "valid" else [n - 1 for n in parts["kernel"].shape]
    wanted = tuple(n * scale + c for n, c in zip(y.shape[:2], cut, strict=True))
    return "" if restored.shape[1:] == wanted else f"it is of {restored.shape[1:]}, and {name} asks for {wanted}"


def _same_image(image: Array, estimate: Array, dtype: np.dtype) -> Claim:
    """Return the claim that the image is the estimate, in the kind of numbers that came in."""
    if image.shape != estimate.shape or image.dtype != dtype:
        return Claim("image", "it is not of the shape and kind of the estimate", 1.0, 0.0, "Restore it again.")
    wanted = estimate
    if dtype.kind != "f":
        limits = np.iinfo(dtype)
        wanted = np.clip(np.rint(estimate), limits.min, limits.max)
    worst = float(np.max(np.abs(wanted.astype(dtype).astype(np.float64) - image.astype(np.float64))))
    return Claim("image", "largest difference of the image from the estimate in its kind of numbers", worst, 0.0)


def prove_estimated_error(stored: Any, again: Any, peak: float) -> Claim:
    """Return the claim that an estimated error is found again from another random direction, or other hidden pixels.

    What is stored may widen the bound a little, where few hidden pixels made it, but not at will.
    """
    rounding = 1e-9 * (abs(again.mse) + abs(stored.mse)) + math.ulp(0.0)
    repeat = min(max(stored.repeat_error, again.repeat_error), FEW * again.repeat_error) + rounding
    errors = (stored.standard_error, again.standard_error)
    off = abs(math.log(errors[0] / errors[1])) / math.log(FEW) if min(errors) > 0 else float(errors[0] != errors[1])
    in_decibels = 20.0 * math.log10(peak / math.sqrt(stored.mse)) if stored.mse > 0 else math.inf
    is_converted = stored.value == in_decibels or abs(stored.value - in_decibels) <= 1e-9
    value = max(abs(stored.mse - again.mse) / (math.sqrt(2.0) * repeat), AGREE * off, 0.0 if is_converted else math.inf)
    statement = "difference from the estimate made by other random numbers, in standard errors of that"
    return Claim("estimated error", statement, value, AGREE, "Restore it again.")
