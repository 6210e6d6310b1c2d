"""Networks that restored an image: the weights are the ones shipped, and squares of it are computed by plain sums."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.model_file import UnreadableModelError, read_model
from pellucid.proofs.sampling import at_most_wrong, drawn, graded, is_fitting
from pellucid.proofs.seen import Seen
from pellucid.proofs.vision.measurement import Measurement, mirrored

DIGESTS = {
    ("DnCNN", "0-55"): "b26a8d217ba0c507cb6620ab06b0178cd52fb56e297ad2f73dea7d1c081f6b37",
    ("DnCNN", "0-10"): "4e31a0c70bab09223f8de7c6a5b5fbf2acd8c9dea53f3d014fa340b7e24ddbbd",
    ("BiasFreeDnCNN", "0-10"): "05d9a9418bd70d66c587ef7a1f449adfeb6e4cef0e75c3be575c4f5b86abb72e",
    ("SRCNN", "x2"): "aeae250758bd617f9c9ca1302654759058cb4484d0b9da7a17df0e9ca3e0ff5e",
    ("SRCNN", "x3"): "e7488fae8e2e2d0029cbd347e8a8b822fa178c344853fe5d65cbfa315e4688a6",
    ("SRCNN", "x4"): "f351df5a2e0c9ec966bbacbda76df38625d43105d27330ba579d984c99c2cfb8",
    ("DeconvolutionNetwork", "disk"): "fb65589475d1d259c6e0b11c1340fc17f5938cc31d015f4406b2e5045bfb3c7c",
}
"""SHA-256 of the weights that ship with the package, by method and name."""

SQUARE = 8
"""Side of the squares that are computed again: their surroundings cost more than they do."""
AT_FIT, AT_VERIFY = 2e9, 2e10
"""Products to spend on squares: of 20 layers of 64 maps these are 3 and 38 squares, of three layers 50 and 500."""
UNIT = 2.0**-24
"""Half the distance of two float32 numbers near 1."""
SPREAD = 32.0
"""Standard deviations of rounding that are allowed. Up to 8 were seen, where a ramp was deblurred."""
SAME_KERNEL = 1e-6
DECIBELS = 0.01
"""How far a PSNR may be from its row of the table: other libraries round otherwise, by less than a thousandth."""

Layers = list[tuple[Array, Array | None]]
"""Weight (out, in, height, width) and bias (out,) of each convolution."""
Square = Callable[[slice, slice], tuple[Array, float]]
"""Rows and columns of a square -> what the network makes of them, and the variance of its rounding, both in peaks."""


@dataclass(frozen=True)
class Rounded:
    """Maps (C, H, W) in float64, and for each the variance of what float32 would have made of it."""

    values: Array
    variance: Array

    @classmethod
    def read(cls, plane: Array) -> Rounded:
        """Return numbers as they are read into float32."""
        return cls(plane[None], UNIT**2 * _mean_squares(plane[None]))

    def cut(self, rows: slice, columns: slice) -> Rounded:
        """Return a part of all maps."""
        return Rounded(self.values[:, rows, columns], self.variance)

    def padded(self) -> Rounded:
        """Return the maps with a border of zeros, one pixel wide."""
        return Rounded(np.pad(self.values, ((0, 0), (1, 1), (1, 1))), self.variance)

    def convolved(self, weight: Array, bias: Array | None) -> Rounded:
        """Return the sums of products with a weight (out, in, height, width), where it lies inside the maps.

        A running sum of n products of random sign misses by about the root of n / 2 roundings of their root sum of
        squares. Errors of the maps pass through the weights: where an image is flat they are alike at all pixels of a
        map, and add up as the weights do; else as the squares of the weights do.
        """
        values = _products(self.values, weight) + (0.0 if bias is None else bias[:, None, None])
        squares = np.sum(weight**2, axis=(2, 3))  # (out, in)
        passed = np.maximum(squares, np.sum(weight, axis=(2, 3)) ** 2) @ self.variance
        added = 0.5 * weight[0].size * squares @ _mean_squares(self.values) + _mean_squares(values)
        return Rounded(values, passed + UNIT**2 * added)

    def rectified(self) -> Rounded:
        """Return the maps with 0 for what is below 0."""
        return Rounded(np.maximum(self.values, 0.0), self.variance * np.mean(self.values > 0.0, axis=(1, 2)))


def _mean_squares(maps: Array) -> Array:
    return np.mean(maps**2, axis=(1, 2))


def _products(maps: Array, weight: Array) -> Array:
    windows = sliding_window_view(maps, weight.shape[2:], axis=(1, 2))  # (C, H, W, height, width)
    height, width = windows.shape[1:3]
    columns = np.moveaxis(windows, (1, 2), (3, 4)).reshape(-1, height * width)
    return (weight.reshape(len(weight), -1) @ columns).reshape(-1, height, width)


def prove_dncnn(fitted: Seen, parameters: Seen, data: Measurement) -> Certificate:
    """Prove that the image is what the network of these weights makes of the plane; without noise, the plane itself."""
    return _certificate(_denoiser_claims("DnCNN", fitted, parameters, data))


def prove_bias_free(fitted: Seen, parameters: Seen, data: Measurement) -> Certificate:
    """Prove the same of a network without biases, and that it answers an image three times as bright by thrice."""
    claims = _denoiser_claims("BiasFreeDnCNN", fitted, parameters, data)
    biases = float(sum(name.endswith("bias") for name in vars(fitted)))
    claims += (Claim("biases", "numbers that are added after convolutions", biases, 0.0),)
    return _certificate((*claims, _claim_of_scaling(fitted, data, all(claim.holds for claim in claims))))


def _denoiser_claims(name: str, fitted: Seen, parameters: Seen, data: Measurement) -> tuple[Claim, ...]:
    weights = _claim_of_weights(name, parameters.weights, fitted)
    if data.sigma == 0.0:
        worst = float(np.max(np.abs(fitted.image - data.y)))
        return weights, Claim("squares", "without noise, largest difference from what was measured", worst, 0.0)
    if not weights.holds:
        return weights, _nothing("squares")
    layers = _layers(fitted)
    plane = data.y / data.peak
    return weights, _claim_of_squares(
        lambda *at: _denoised(plane, layers, *at), _work(layers, len(layers)), fitted, data
    )


def _denoised(plane: Array, layers: Layers, rows: slice, columns: slice) -> tuple[Array, float]:
    """Return a square of y - g(y), where each layer sees one pixel less around it and zeros beyond the image."""
    area = [_grown(part, len(layers), n) for part, n in zip((rows, columns), plane.shape, strict=True)]
    maps = Rounded.read(plane[area[0], area[1]])
    for k, (weight, bias) in enumerate(layers, start=1):
        maps = maps.padded().convolved(weight, bias)
        smaller = [_grown(part, len(layers) - k, n) for part, n in zip((rows, columns), plane.shape, strict=True)]
        maps = maps.cut(*(slice(s.start - a.start, s.stop - a.start) for s, a in zip(smaller, area, strict=True)))
        area = smaller
        maps = maps.rectified() if k < len(layers) else maps
    y = plane[rows, columns]
    found = y - maps.values[0]
    return found, float(maps.variance[0]) + 2.0 * UNIT**2 * float(np.mean(y**2 + found**2))


def prove_srcnn(fitted: Seen, parameters: Seen, data: Measurement) -> Certificate:
    """Prove that the image is what the network of the scale makes of the bicubic enlargement."""
    scale = data.operator.parts["scale"]
    name = f"x{scale}" if parameters.weights == "auto" else parameters.weights
    weights = _claim_of_weights("SRCNN", name, fitted)
    if not weights.holds:
        return _certificate((weights, _nothing("squares")))
    layers = _layers(fitted)
    reach = sum(weight.shape[2] // 2 for weight, _ in layers)

    def square(rows: slice, columns: slice) -> tuple[Array, float]:
        down, across = (
            _cubic_weights(np.clip(np.arange(part.start - reach, part.stop + reach), 0, n * scale - 1), n, scale)
            for part, n in zip((rows, columns), data.y.shape, strict=True)
        )
        maps = _chain(Rounded.read(down @ data.y @ across.T / data.peak), layers)
        return maps.values[0], float(maps.variance[0])

    return _certificate((weights, _claim_of_squares(square, _work(layers, reach), fitted, data)))


def _cubic_weights(places: Array, n: int, scale: int) -> Array:
    """Return the weights of n pixels in an enlargement at these places: the cubic of Keys, borders mirrored."""
    weights = np.zeros((len(places), n))
    for i, place in enumerate(places):
        center = (place + 0.5) / scale - 0.5
        reached = math.floor(center) + np.arange(-1, 3)
        t = np.abs(reached - center)
        cubic = np.where(t <= 1, 1.5 * t**3 - 2.5 * t**2 + 1, -0.5 * t**3 + 2.5 * t**2 - 4 * t + 2)
        np.add.at(weights[i], mirrored(reached, n), cubic)
    return weights


def prove_deconvolution(fitted: Seen, parameters: Seen, data: Measurement) -> Certificate:
    """Prove that the image is what both networks make of the plane, and that they were trained for its blur."""
    weights = _claim_of_weights("DeconvolutionNetwork", parameters.weights, fitted)
    if not weights.holds:
        return _certificate((weights, _nothing("kernel"), _nothing("squares")))
    own = np.asarray(fitted.kernel, dtype=np.float64)
    kernel, border = data.operator.parts["kernel"], data.operator.parts["border"]
    apart = float(np.max(np.abs(own / own.sum() - kernel))) if own.shape == kernel.shape else math.inf
    same = Claim("kernel", "largest difference of the blur from the one trained for", apart, SAME_KERNEL)
    columns_weight, rows_weight = (_float64(getattr(fitted, name)) for name in ("columns_weight", "rows_weight"))
    layers = _layers(fitted)
    depth, reach = len(layers), columns_weight.shape[2] // 2 + len(layers)
    offsets = [n // 2 if border == "valid" else 0 for n in kernel.shape]

    def square(rows: slice, columns: slice) -> tuple[Array, float]:
        places = [
            _continued(np.arange(part.start - reach, part.stop + reach) - offset, n, border)
            for part, n, offset in zip((rows, columns), data.y.shape, offsets, strict=True)
        ]
        seen = Rounded.read(data.y[np.ix_(*places)] / data.peak)
        inverted = seen.convolved(columns_weight, None).convolved(rows_weight, None)
        found = _chain(inverted, layers)
        middle = inverted.cut(slice(depth, -depth), slice(depth, -depth))
        values = middle.values.sum(axis=0) - found.values[0]
        added = UNIT**2 * (len(middle.values) * np.sum(_mean_squares(middle.values)) + np.mean(values**2))
        return values, float(middle.variance.sum() + found.variance[0] + added)

    work = _work([*layers, (columns_weight, None), (rows_weight, None)], reach)
    return _certificate((weights, same, _claim_of_squares(square, work, fitted, data)))


def _continued(places: Array, n: int, border: str) -> Array:
    """Return which of n pixels stands at places beyond them."""
    if border == "periodic":
        return places % n
    return mirrored(places, n) if border == "reflect" else np.clip(places, 0, n - 1)


def _chain(maps: Rounded, layers: Layers) -> Rounded:
    """Return the maps after all layers, none of which goes on beyond its input."""
    for weight, bias in layers[:-1]:
        maps = maps.convolved(weight, bias).rectified()
    return maps.convolved(*layers[-1])


def _claim_of_squares(square: Square, work: float, fitted: Seen, data: Measurement) -> Claim:
    """Return the claim that squares drawn at random are what plain sums find there."""
    image = fitted.image
    down, across = (-(-n // SQUARE) for n in image.shape)
    places = drawn(down * across, max(1, int((AT_FIT if is_fitting() else AT_VERIFY) / work)))
    worst = 0.0
    for place in places:
        rows, columns = (
            slice(SQUARE * k, min(SQUARE * (k + 1), n))
            for k, n in zip(divmod(int(place), across), image.shape, strict=True)
        )
        wanted, variance = square(rows, columns)
        allowed = SPREAD * data.peak * math.sqrt(variance) + np.finfo(np.float64).tiny
        worst = max(worst, _largest(np.abs(image[rows, columns] - data.peak * wanted)) / allowed)
    said = f"largest difference at {len(places):,} of {down * across:,} squares of 8 x 8 pixels from plain sums, "
    said += f"in units of what float32 may round{at_most_wrong(len(places), down * across)}"
    return Claim("squares", said, worst, 1.0, "Restore it again.")


def _work(layers: Layers, reach: int) -> float:
    """Return about how many products a square costs, its surroundings counted in."""
    return float(sum(weight.size for weight, _ in layers) * (SQUARE + reach) ** 2)


def _claim_of_scaling(fitted: Seen, data: Measurement, is_sound: bool) -> Claim:
    """Return the claim that a square of an image three times as bright is three times as bright."""
    if not is_sound:
        return _nothing("scaling")
    layers, plane = _layers(fitted), data.y / data.peak
    at = [slice(0, min(SQUARE, n)) for n in plane.shape]
    once, thrice = (_denoised(factor * plane, layers, *at)[0] for factor in (1.0, 3.0))
    size = max(_largest(np.abs(thrice)), np.finfo(np.float64).tiny)
    said = "difference of f(3 y) from 3 f(y) at the first square, as a share of the largest"
    return Claim("scaling", said, _largest(np.abs(thrice - 3.0 * once)) / size, 1e-9)


def _claim_of_weights(method: str, weights: Any, fitted: Seen) -> Claim:
    """Return the claim that the weights are those that the name, the file or the module stands for."""
    found = {name: value for name, value in vars(fitted).items() if name.endswith(("_weight", "_bias", "kernel"))}
    if (method, weights if isinstance(weights, str) else "") in DIGESTS:
        wrong = digest(found) != DIGESTS[method, weights]
        said = "whether the weights have another digest than those shipped"
    else:
        wrong = not _same(found, _given_weights(weights))
        said = "whether the weights are others than those given"
    return Claim("weights", said, float(wrong), 0.0, "Restore it again.")


def _given_weights(weights: Any) -> Mapping[str, Any]:
    """Return the weights in a file, or those of a module."""
    if hasattr(weights, "state_dict"):
        return {name: tensor.detach().cpu().numpy() for name, tensor in weights.state_dict().items()}
    try:
        found: Mapping[str, Any] = read_model(weights).attributes.weights
    except (UnreadableModelError, OSError, AttributeError):
        return {}
    return found


def _same(found: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    given = {name.replace(".", "_"): value for name, value in given.items()}
    return bool(given) and set(found) == set(given) and all(np.array_equal(found[name], given[name]) for name in given)


def digest(weights: Mapping[str, Any]) -> str:
    """Return the SHA-256 of arrays with their names and shapes, as float32.

    Examples
    --------
    >>> digest({"a_weight": np.zeros((1, 2), np.float32)})[:8]
    '4dc7cda6'
    """
    found = hashlib.sha256()
    for name in sorted(weights):
        array = np.ascontiguousarray(weights[name])
        found.update(f"{name} {array.dtype.name} {array.shape};".encode() + array.tobytes())
    return found.hexdigest()


def prove_filter(weights: Array, seen: Array, output: float) -> Certificate:
    """Prove that an output pixel is a weighted sum of the pixels seen: the weights are the filter behind it."""
    total = float(np.sum(weights * seen))
    size = max(float(np.sum(np.abs(weights * seen))), abs(output), np.finfo(np.float64).tiny)
    said = "difference of the output from the weighted sum, as a share of the sum of sizes"
    return Certificate("exact", (Claim("filter", said, abs(total - output) / size, 1e-9),))


def table_claims(table: Mapping[str, float], measured: Mapping[str, float]) -> tuple[Claim, ...]:
    """Return for each row that was measured the claim that it is the one in the table.

    Examples
    --------
    >>> [claim.holds for claim in table_claims({"set5 x2": 36.65}, {"set5 x2": 36.64})]
    [True]
    """
    return tuple(
        Claim(name, f"decibels from the {table.get(name, math.nan):.3f} of the table", value, DECIBELS)
        for name, value in ((name, abs(found - table.get(name, math.nan))) for name, found in measured.items())
    )


def _certificate(claims: tuple[Claim, ...]) -> Certificate:
    return graded("exact", claims)


def _nothing(name: str) -> Claim:
    return Claim(name, "not looked at: other claims do not hold", math.inf, 0.0)


def _layers(fitted: Seen) -> Layers:
    """Return weight and bias of each short convolution, the first one first."""
    found: Layers = []
    while (weight := vars(fitted).get(f"convolutions_{len(found)}_weight")) is not None:
        bias = vars(fitted).get(f"convolutions_{len(found)}_bias")
        found.append((_float64(weight), None if bias is None else _float64(bias)))
    return found


def _float64(values: Any) -> Array:
    return np.asarray(values, dtype=np.float64)


def _grown(part: slice, by: int, n: int) -> slice:
    return slice(max(0, part.start - by), min(n, part.stop + by))


def _largest(values: Array) -> float:
    """Return the largest of all, NaN if there is one."""
    return float(np.max(values)) if not np.isnan(values).any() else math.inf


PROVES = {
    "BiasFreeDnCNN": prove_bias_free,
    "DeconvolutionNetwork": prove_deconvolution,
    "DnCNN": prove_dncnn,
    "SRCNN": prove_srcnn,
}
