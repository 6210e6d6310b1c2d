"""rate_distortion: how few bits describe a source within a given distortion, by Blahut's method."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import rel_entr, xlogy

from pellucid.core.checks import check_nonnegative, check_positive, check_whole
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.core.user_warnings import warn_unless_holds
from pellucid.probability.frozen import finite_array
from pellucid.probability.information import nats_per_unit
from pellucid.probability.multiplicative_ascent import Ascent, ascend
from pellucid.probability.probability_vector import probability_vector
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.probability.channel import certify_rate

MOST_CHORDS = 200


@dataclass(frozen=True, eq=False)
class RateDistortion:
    """One point of the rate-distortion curve: the channel that reaches it, the slope and outputs that prove it."""

    rate: float
    distortion: float
    slope: float
    test_channel: Array
    output_distribution: Array
    n_iter: int
    trace: Trace
    certificate: Certificate


def rate_distortion(
    source: Data,
    distortion: Data,
    *,
    slope: float | None = None,
    target: float | None = None,
    base: float = 2.0,
    tol: float = 1e-9,
    max_iter: int = 10_000,
) -> RateDistortion:
    r"""Return a point of :math:`R(D) = \min I(X; Y)` over channels with :math:`E\,d(X, Y) \le D`.

    .. math:: Q(y \mid x) \propto q_y e^{-\beta d(x, y)}, \qquad q_y \leftarrow \sum_x p_x Q(y \mid x)

    Parameters
    ----------
    source : array-like of shape (n_inputs,)
        Probabilities :math:`p_x` of the source letters.
    distortion : array-like of shape (n_inputs, n_outputs)
        Costs :math:`d(x, y)`, at least 0.
    slope : float, default=None
        :math:`\beta = -R'(D)` in the unit of ``base``, at least 0. Give it or ``target``.
    target : float, default=None
        The distortion :math:`D` to reach.
    base : float, default=2
        2 for bits per letter, e for nats.
    tol : float, default=1e-9
        Gap to the lower bound to reach, in the unit of ``base``.
    max_iter : int, default=10000
        Most iterations for one slope.

    Examples
    --------
    >>> found = rate_distortion([0.5, 0.5], [[0, 1], [1, 0]], target=0.1)  # 1 - H(0.1)
    >>> round(found.rate, 6), round(found.distortion, 6)
    (0.531004, 0.1)
    """
    unit = nats_per_unit(base)
    check_positive(tol=tol)
    check_whole(max_iter=max_iter)
    if (slope is None) == (target is None):
        raise ValueError(f"slope or target must be given, one of them, got slope={slope!r} and target={target!r}.")
    solver = _Blahut(*_source_and_costs(source, distortion), goal=tol * unit / 4, max_iter=max_iter, unit=unit)
    if slope is not None:
        check_nonnegative(slope=slope)
        found = solver.at(slope * unit)
    else:
        check_nonnegative(target=target)
        found = _reach(solver, float(target), tol * unit)  # type: ignore[arg-type]  # one of the two is given
    certificate = certify_rate(solver.p, solver.d, found.channel, found.multiplier, found.output, tol=tol, base=base)
    warn_unless_holds(certificate, "rate_distortion")
    return RateDistortion(
        rate=solver.rate(found.channel) / unit,
        distortion=solver.cost(found.channel),
        slope=found.multiplier / unit,
        test_channel=found.channel,
        output_distribution=found.output,
        n_iter=len(solver.trace),
        trace=solver.trace,
        certificate=certificate,
    )


@dataclass(frozen=True, eq=False)
class _Point:
    """A test channel, and the multiplier and output distribution that prove how good it is."""

    channel: Array
    output: Array
    multiplier: float


class _Blahut:
    """Solves for one multiplier after the other and keeps one trace of it all; rates are in nats."""

    def __init__(self, p: Array, d: Array, *, goal: float, max_iter: int, unit: float) -> None:
        self.p, self.d, self.goal, self.max_iter, self.unit = p, d, goal, max_iter, unit
        self.excess = d - d.min(axis=1, keepdims=True)
        self.trace = Trace()

    def cost(self, Q: Array) -> float:
        """Return the expected distortion."""
        return float(self.p @ (Q * self.d).sum(axis=1))

    def rate(self, Q: Array) -> float:
        """Return the mutual information."""
        sent = self.p > 0  # a letter that is never sent may use an output of probability 0
        return float(self.p[sent] @ rel_entr(Q[sent], self.p @ Q).sum(axis=1))

    def at(self, multiplier: float, near: Array | None = None) -> _Point:
        """Return the point that minimizes rate plus multiplier times distortion."""
        kernel = (self.excess == 0).astype(float) if multiplier == np.inf else np.exp(-multiplier * self.excess)
        uniform = np.full(kernel.shape[1], 1 / kernel.shape[1])
        q = ascend(
            lambda q: _look(self.p, kernel, q),
            uniform if near is None else 0.9 * near + 0.1 * uniform,  # a letter at 0 could not come back
            goal=self.goal,
            max_iter=self.max_iter,
            trace=self.trace,
            unit=self.unit,
        )
        weight = kernel * q
        unreached = weight.sum(axis=1) == 0  # a letter that the source never sends may be left without an output
        weight[unreached] = kernel[unreached]
        return _Point(weight / weight.sum(axis=1, keepdims=True), q, multiplier)


def _look(p: Array, kernel: Array, q: Array) -> Ascent:
    """Return minus the Lagrangian, and the factors on each ``q_y``: at the optimum 1, or less where ``q_y`` is 0."""
    sent = p > 0
    normalizers = kernel[sent] @ q
    growth = (p[sent] / normalizers) @ kernel[sent]
    with np.errstate(divide="ignore"):
        exponents = np.log(growth)
    gap = float(exponents.max() - q @ xlogy(growth, growth))
    return Ascent(float(p[sent] @ np.log(normalizers)), gap, exponents)


def _reach(solver: _Blahut, target: float, goal: float) -> _Point:
    """Return the point of this distortion: chords of the curve give slopes, whose points give shorter chords.

    A chord lies above the convex curve and the tangent of its slope below, so their distance at the target is the gap.
    On a straight piece of the curve they meet at once.
    """
    costs = solver.p @ solver.d
    least, most = float(solver.p @ solver.d.min(axis=1)), float(costs.min())
    silent = (costs == most) / np.count_nonzero(costs == most)
    coarse = _Point(np.tile(silent, (len(solver.p), 1)), silent, 0.0)
    if target >= most:  # always sending one letter is good enough
        return coarse
    if target < least:
        raise ValueError(f"target must be at least {least!r}, the distortion of the nearest letters, got {target!r}.")
    fine = solver.at(np.inf)
    if target == least:
        return fine
    for _ in range(MOST_CHORDS):
        far, near = solver.cost(coarse.channel), solver.cost(fine.channel)
        high, low = solver.rate(fine.channel), solver.rate(coarse.channel)
        share = (target - near) / (far - near)
        between = solver.at((high - low) / (far - near), near=share * coarse.output + (1 - share) * fine.output)
        mixed = replace(between, channel=share * coarse.channel + (1 - share) * fine.channel)
        reached = solver.cost(between.channel)
        tangent = solver.rate(between.channel) + between.multiplier * (reached - target)
        if solver.rate(mixed.channel) - tangent <= goal / 2 or not near < reached < far:
            break
        coarse, fine = (between, fine) if reached > target else (coarse, between)
    return mixed


def _source_and_costs(source: Data, distortion: Data) -> tuple[Array, Array]:
    p, d = probability_vector("source", source), finite_array("distortion", distortion, 2)
    if len(d) != len(p):
        raise ValueError(f"distortion must have {len(p)} rows, one per letter of the source, got {len(d)}.")
    if d.min() < 0:
        raise ValueError(f"distortion must be at least 0, got {float(d.min())!r}.")
    return p / p.sum(), d
