r"""Proof of independent components: white, a fixed point of the rotation, inverted rightly, and more than noise or not.

The directions :math:`K` of the whitening make the covariance of the centered rows the identity, and are principal ones,
in order, their first entries above 0; the rotation :math:`R = sAK^+` of the components :math:`A` is orthonormal; the
mixing matrix is the inverse. Rounding of stored numbers grows by the quotient of the largest and the least deviation
that is used, :math:`\kappa`.

One more step, taken here, turns no row of the rotation by more than ``tol`` (1 less the cosine). For spacings, no angle
of a grid lowers the sum of entropies of a pair by more than a few times ``tol``, as other pairs are turned after it;
where there are more than ``ROWS_OF_SPACINGS`` rows, by what those drawn can tell, :math:`1/\sqrt n`.

Gaussian noise has no independent components, but some rotation of a sample of it looks best. Its gain in
non-Gaussianity, :math:`n\sum_k (E\log\cosh s_k - c)^2`, does not depend on n; draws of noise
tell how often it is as large.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from scipy.linalg import eigh, svdvals

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import EPSILON, TINY, rounding_unit
from pellucid.proofs.sampling import drawn, is_fitting
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

WHITE = 1e-8
"""What covariances of float64 rows may differ from those of white ones, besides the rounding of stored numbers."""

LOSES_DIGITS = 1e-8
"""Quotient of the least and the largest eigenvalue below which the least is taken from the rows themselves."""

ROWS_AT_ONCE = 4096

LARGE, NARROW_TOL = 1 << 17, 1e-8
"""Numbers from which a fit looks at float32, and the tolerance below which it does not."""

ROWS_OF_SPACINGS = 4000
"""Rows whose spacings tell entropies."""

ANGLES_TRIED = 32
"""Of a quarter turn, evenly spaced: those that the search for the least entropies begins with."""
DRAWS, ROWS_OF_NOISE, STEPS_ON_NOISE = 19, 300, 30
ROWS_OF_GAIN = 8192
"""Rows from which the gain in non-Gaussianity is taken."""

ROUGH = 1e-6
"""Nats by which rounding changes entropies from spacings."""

MEAN_LOG_COSH = 0.3745672074914377
"""Of a standard normal number."""


def prove_fast_ica(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the rows; a fit looks at many in float32."""
    A, mixing = (np.asarray(part, dtype=np.float64) for part in (fitted.components_, fitted.mixing_))
    n, d = data.X.shape
    if A.shape != mixing.T.shape or A.shape[1] != d or (parameters.whiten and fitted.whitening_.shape != A.shape):
        return Certificate("stationary", (Claim("shapes", "sizes that do not fit together", 1.0, 0.0),))
    unit = rounding_unit(data.X.dtype)
    is_narrow = data.X.dtype == np.float32 or (n * len(A) >= LARGE and parameters.tol >= NARROW_TOL)
    dtype = np.float32 if is_fitting() and is_narrow else np.float64
    if parameters.whiten:
        K = np.asarray(fitted.whitening_, dtype=np.float64)
        seen = _CenteredRows.of(data.X, K, dtype)
        kappa, claims = _whitening_claims(K, seen, data.X, unit)
        claims = [_mean_claim(fitted.mean_, seen, n, unit), *claims]
        back = (K / np.einsum("ij,ij->i", K, K)[:, None]).T
        length = 1.0 / np.sqrt(n) if parameters.whiten == "unit-variance" else 1.0
        rotation = length * A @ back
        outside = np.abs(rotation @ K / length - A).max() / max(np.abs(A).max(), TINY)
        Z = seen.Z
    else:
        kappa, claims, rotation, outside = 1.0, [], A, 0.0
        Z = data.X.T.astype(dtype)
    bound = max(WHITE, 4.0 * unit * kappa * np.sqrt(d))
    claims += [
        _rotation_claim(rotation, float(outside), bound),
        _inverse_claim(A, mixing, bound * kappa),
        _fixed_point_claim(Z, rotation, parameters),
    ]
    return Certificate("stationary", tuple(claims), _noise_report(rotation, Z))


@dataclass(frozen=True)
class _CenteredRows:
    """What one pass over the centered rows tells, in blocks."""

    mean: Array
    largest: Array
    """Of each column, in size."""
    products: Array
    """Of the columns."""
    white: Array
    """Products of the coordinates of white rows, which should be the identity."""
    Z: Array
    """White rows of variance 1, of shape (q, n)."""

    @classmethod
    def of(cls, X: Array, K: Array, dtype: type) -> _CenteredRows:
        n, d = X.shape
        mean, largest = X.mean(axis=0, dtype=np.float64), np.zeros(d)
        products, white = np.zeros((d, d)), np.zeros((len(K), len(K)))
        Z: Array = np.empty((len(K), n), dtype=dtype)
        for start in range(0, n, ROWS_AT_ONCE):
            rows = slice(start, min(n, start + ROWS_AT_ONCE))
            centered = X[rows] - mean
            largest = np.maximum(largest, np.abs(centered).max(axis=0))
            products += centered.T @ centered
            projected = K @ centered.T
            white += projected @ projected.T
            Z[:, rows] = np.sqrt(n) * projected
        return cls(mean, largest, products, white, Z)


def _mean_claim(stored: Array, seen: _CenteredRows, n: int, unit: float) -> Claim:
    """Return the claim about the mean, column by column, in units of what is summed."""
    size = np.maximum(seen.largest + np.abs(seen.mean) * (1.0 if unit > 1e-9 else 1e-3), TINY)
    off = np.max(np.abs(np.asarray(stored, dtype=np.float64) - seen.mean) / size)
    statement = "distance of mean_ from the mean of the rows, in parts of the largest number of its column"
    return Claim("mean", statement, float(off), max(unit, n * EPSILON))


def _whitening_claims(K: Array, seen: _CenteredRows, X: Array, unit: float) -> tuple[float, list[Claim]]:
    """Return how much rounding grows, and claims that the directions are white, principal, in order and of a sign."""
    n, d = X.shape
    q = len(K)
    values = _squared_singular_values(seen, X)
    kappa = float(np.sqrt(values[0] / max(values[q - 1], EPSILON**2 * values[0], TINY)))
    bound = max(WHITE, 4.0 * unit * kappa * np.sqrt(d))
    off = float(np.max(np.abs(seen.white - np.eye(q))))
    squares = 1.0 / np.einsum("ij,ij->i", K, K)
    captured = abs(float(squares.sum() - values[:q].sum())) / max(float(values[:q].sum()), TINY)
    disorder = int(np.sum(squares[1:] > squares[:-1] * (1.0 + bound)))
    disorder += int(np.sum(K[:, 0] * np.sqrt(squares) < -bound * np.sqrt(n)))
    return kappa, [
        Claim("white", "largest distance of the covariance of white rows from the identity", off, bound),
        Claim(
            "principal", "distance of the captured spread from the most of any directions, relative", captured, bound
        ),
        Claim("order", "directions out of order, or with a first entry below 0", float(disorder), 0.0),
    ]


def _squared_singular_values(seen: _CenteredRows, X: Array) -> Array:
    """Return them in falling order: from products of columns where these lose no digit that matters."""
    n, d = X.shape
    values = eigh(seen.products, eigvals_only=True, check_finite=False)[::-1] if n > d else np.zeros(1)
    if values[-1] > LOSES_DIGITS * values[0]:
        return np.asarray(values)
    return np.asarray(svdvals(X - seen.mean, check_finite=False)) ** 2


def _rotation_claim(rotation: Array, outside: float, bound: float) -> Claim:
    off = float(np.max(np.abs(rotation @ rotation.T - np.eye(len(rotation)))))
    statement = "distance of the rotation from an orthonormal one, and of the components from their directions"
    return Claim("rotation", statement, float(np.max([off, outside])), bound)


def _inverse_claim(A: Array, mixing: Array, bound: float) -> Claim:
    """Return the claim that both products with the mixing matrix are what Penrose asks for."""
    once, other = A @ mixing, mixing @ A
    off = np.max(
        [np.max(np.abs(once - np.eye(len(A)))), np.max(np.abs(other - other.T)) / max(np.abs(other).max(), TINY)]
    )
    return Claim("inverse", "distance of mixing_ from the inverse of components_", float(off), bound)


def _fixed_point_claim(Z: Array, rotation: Array, parameters: Seen) -> Claim:
    if parameters.algorithm == "spacings":
        return _spacings_claim(Z, rotation, parameters)
    contrast = _contrast(parameters)
    if parameters.algorithm == "parallel":
        turned = _turned(rotation, _stepped(Z, rotation, contrast))
    else:
        turned = np.zeros(len(rotation))
        for k, w in enumerate(rotation):
            new = _stepped(Z, w[None], contrast)[0]
            new = new - (new @ rotation[:k].T) @ rotation[:k]
            turned[k] = abs(abs(float(new @ w)) / max(float(np.linalg.norm(new)), TINY) - 1.0)
    return Claim(
        "fixed point",
        "turn of a row of the rotation by one more step, 1 less its cosine",
        float(np.max(turned)),
        max(float(parameters.tol), 1e-9 if Z.dtype == np.float32 else 1e-12),
        "FastICA did not converge. Consider increasing tolerance or the maximum number of iterations.",
    )


def _stepped(Z: Array, W: Array, contrast: Any) -> Array:
    projected = W.astype(Z.dtype) @ Z
    slope, curvature = contrast(projected if len(W) > 1 else projected[0])
    product = np.asarray(slope).reshape(projected.shape) @ Z.T / Z.shape[1]
    return np.asarray(product - np.atleast_1d(curvature)[:, None] * W, dtype=np.float64)


def _contrast(parameters: Seen) -> Callable[[Array], tuple[Array, Any]]:
    """Return the function that gives the slopes of the contrast and the means of their derivatives, row by row."""
    options = dict(parameters.fun_args or {})
    if callable(parameters.fun):
        return lambda s: _with_means(*parameters.fun(s, **options))
    alpha = options.get("alpha", 1.0)

    def slopes(s: Array) -> tuple[Array, Any]:
        if parameters.fun == "logcosh":
            g = np.tanh(alpha * s)
            return g, alpha * np.mean(1.0 - g * g, axis=-1, dtype=np.float64)
        if parameters.fun == "cube":
            return s**3, np.mean(3.0 * s**2, axis=-1, dtype=np.float64)
        bell = np.exp(-(s**2) / 2.0)
        return s * bell, np.mean((1.0 - s**2) * bell, axis=-1, dtype=np.float64)

    return slopes


def _with_means(slope: Array, derivative: Array) -> tuple[Array, Array]:
    """Return the slopes of a user's contrast with the means of the derivative, which may come as it is for one row."""
    is_whole = np.ndim(derivative) == np.ndim(slope)
    return np.asarray(slope), np.asarray(np.mean(derivative, axis=-1) if is_whole else derivative, dtype=np.float64)


def _entropy(values: Array) -> Array:
    r"""Return :math:`\frac1{n - m}\sum_i\log\frac{n + 1}{m}(s_{(i + m)} - s_{(i)})` of sorted rows, m the root of n."""
    ordered, n = np.sort(values, axis=-1), values.shape[-1]
    m = max(1, int(np.sqrt(n)))
    gaps = np.maximum(ordered[..., m:] - ordered[..., : n - m], TINY)
    return np.asarray(np.log((n + 1) / m) + np.mean(np.log(gaps), axis=-1))


def _turned(W: Array, stepped: Array) -> Array:
    """Return how far the rows turn when a step is made orthonormal, symmetrically."""
    values, vectors = np.linalg.eigh(stepped @ stepped.swapaxes(-1, -2))
    new = (vectors / np.sqrt(np.maximum(values, TINY))[..., None, :]) @ vectors.swapaxes(-1, -2) @ stepped
    return np.asarray(np.abs(np.abs(np.einsum("...ij,...ij->...i", new, W)) - 1.0))


def _spacings_claim(Z: Array, rotation: Array, parameters: Seen) -> Claim:
    rows = drawn(Z.shape[1], ROWS_OF_SPACINGS)
    sources = rotation @ Z[:, rows].astype(np.float64)
    angles = np.pi / 4 * ((2.0 * np.arange(ANGLES_TRIED) + 1.0) / ANGLES_TRIED - 1.0)
    cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]
    gains = [0.0]
    for i, j in combinations(range(len(rotation)), 2):
        one, other = sources[i], sources[j]
        before = np.sum(_entropy(sources[[i, j]]))
        after = _entropy(cos * one + sin * other) + _entropy(cos * other - sin * one)
        gains.append(float(before - after.min()))
    return Claim(
        "fixed point",
        f"most that turning a pair of sources by one of {len(angles)} angles lowers their summed entropies, in nats",
        float(np.max(gains)),
        4.0 * float(parameters.tol) + ROUGH + (1.0 / np.sqrt(len(rows)) if len(rows) < Z.shape[1] else 0.0),
        "Raise max_iter.",
    )


def _noise_report(rotation: Array, Z: Array) -> str:
    """Return how many draws of noise look as independent: few say that the sources are more than noise."""
    rows = drawn(Z.shape[1], ROWS_OF_GAIN)
    sources = rotation.astype(Z.dtype) @ Z[:, rows]
    sources -= sources.mean(axis=1, keepdims=True)
    sources /= np.maximum(sources.std(axis=1, keepdims=True), TINY)
    gain = float(_gain(sources))
    larger = int(np.sum(noise_gains(len(rotation)) >= gain)) if np.isfinite(gain) else DRAWS
    said = "the sources are more than noise" if larger == 0 else "the sources may be noise"
    return f"{larger} of {DRAWS} draws of Gaussian noise have a rotation as far from Gaussian: {said}."


@cache
def noise_gains(q: int) -> Array:
    """Return the gain in non-Gaussianity of the best rotation of Gaussian rows, for each draw."""
    n = ROWS_OF_NOISE + 10 * q
    rng = np.random.default_rng(q)
    Z = rng.standard_normal((DRAWS, q, n))
    Z -= Z.mean(axis=-1, keepdims=True)
    factor = np.linalg.cholesky(Z @ Z.swapaxes(-1, -2) / n)
    Z = np.linalg.solve(factor, Z)
    W = np.linalg.qr(rng.standard_normal((DRAWS, q, q)))[0]
    for _ in range(STEPS_ON_NOISE):
        slope = np.tanh(W @ Z)
        step = slope @ Z.swapaxes(-1, -2) / n - (1.0 - np.mean(slope**2, axis=-1))[..., None] * W
        left, _, right = np.linalg.svd(step)
        W = left @ right
    return _gain(W @ Z)


def _gain(sources: Array) -> Array:
    """Return n times the sum of squared distances of the mean of log cosh from that of a normal number."""
    size = np.abs(sources)
    means = np.mean(size + np.log1p(np.exp(-2.0 * size)), axis=-1, dtype=np.float64) - np.log(2.0)
    return np.asarray(sources.shape[-1] * np.sum((means - MEAN_LOG_COSH) ** 2, axis=-1))


PROVES = {"FastICA": prove_fast_ica}
