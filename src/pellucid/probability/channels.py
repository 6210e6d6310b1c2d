"""How much a channel carries, and how few bits a source needs: Blahut and Arimoto's multiplicative ascent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import rel_entr, xlogy

from pellucid.core.checks import check_nonnegative, check_positive, check_whole
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.core.user_warnings import warn_unless_holds
from pellucid.probability.information import nats_per_unit
from pellucid.probability.sample_data import SUM_ERROR, finite_array, probability_vector
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.probability.channel import certify_capacity, certify_rate


@dataclass(frozen=True, eq=False)
class ChannelCapacity:
    """The capacity of a channel and the input distribution that reaches it."""

    capacity: float
    """Capacity for each use of the channel, in the unit of ``base``."""
    input_distribution: Array
    """Probabilities of the inputs that reach the capacity, of shape (n_inputs,)."""
    output_distribution: Array
    """Probabilities of the outputs with these inputs, of shape (n_outputs,)."""
    n_iter: int
    """Iterations done."""
    trace: Trace
    """Information, gap and step of each iteration."""
    certificate: Certificate
    """Bounds how far the capacity can be above the answer."""


def channel_capacity(
    transition: Data, *, base: float = 2.0, tol: float = 1e-9, max_iter: int = 10_000
) -> ChannelCapacity:
    r"""Return the capacity :math:`\max_p I(X; Y)` of a channel :math:`W(y \mid x)` without memory.

    .. math:: p_x \leftarrow p_x\, e^{\mu D(W_x \| q)} / Z, \qquad q = \sum_x p_x W_x

    For every :math:`p`, :math:`I(p) \le C \le \max_x D(W_x \| q)`: the certificate is the gap between the two. The step
    :math:`\mu` is 1, for which the information never falls, or longer as long as it rises.

    Parameters
    ----------
    transition : array-like of shape (n_inputs, n_outputs)
        Rows of probabilities :math:`W(y \mid x)` that add up to 1.
    base : float, default=2
        2 for bits per use, e for nats.
    tol : float, default=1e-9
        Gap to reach, in the unit of ``base``.
    max_iter : int, default=10000
        Most iterations.

    Examples
    --------
    >>> found = channel_capacity([[0.9, 0.1], [0.1, 0.9]])  # 1 - H(0.1)
    >>> round(found.capacity, 6), found.input_distribution
    (0.531004, array([0.5, 0.5]))
    >>> found.certificate.grade
    'optimal'
    """
    unit = nats_per_unit(base)
    check_positive(tol=tol)
    check_whole(max_iter=max_iter)
    W = _transition(transition)
    trace = Trace()
    uniform = np.full(len(W), 1 / len(W))
    p = ascend(lambda p: _look(W, p), uniform, goal=tol * unit, max_iter=max_iter, trace=trace, unit=unit)
    certificate = certify_capacity(W, p, tol=tol, base=base)
    warn_unless_holds(certificate, "channel_capacity")
    q = p @ W
    return ChannelCapacity(_information(p, _divergences(W, q)) / unit, p, q, len(trace), trace, certificate)


def _look(W: Array, p: Array) -> Ascent:
    divergences = _divergences(W, p @ W)
    information = _information(p, divergences)
    return Ascent(information, float(divergences.max()) - information, divergences)


def _divergences(W: Array, q: Array) -> Array:
    """Return ``D(W_x || q)`` of each row in nats."""
    return np.asarray(rel_entr(W, q).sum(axis=1))


def _information(p: Array, divergences: Array) -> float:
    used = p > 0  # an input that is never used may be infinitely far from what comes out
    return float(p[used] @ divergences[used])


def _transition(values: Data) -> Array:
    W = finite_array("transition", values, 2)
    if W.min() < 0:
        raise ValueError(f"transition must be at least 0, got {float(W.min())!r}.")
    sums = W.sum(axis=1)
    worst = int(np.abs(sums - 1).argmax())
    if abs(sums[worst] - 1) > SUM_ERROR:
        got = f"{float(sums[worst])!r} in row {worst}"
        raise ValueError(f"rows of transition must add up to 1, got {got}. Divide each by its sum.")
    return np.asarray(W / sums[:, None])


# Maximize a concave function of a probability vector by multiplying it with exponentials.
#
# .. math:: p \leftarrow p\, e^{\mu g(p)} / Z
#
# Blahut and Arimoto's methods are of this form: with their :math:`g` and :math:`\mu = 1` the objective never falls.
# Longer steps are tried as long as it keeps rising.


LONGER = 1.5
"""Factor on the step after one that raised the objective."""

SHORTER = 0.25
"""Factor on the step after one that did not."""


class Ascent(NamedTuple):
    """What a method says about a point: its value, how far below the maximum it can be, and where to go."""

    objective: float
    gap: float
    exponents: Array


def ascend(
    look: Callable[[Array], Ascent], p: Array, *, goal: float, max_iter: int, trace: Trace, unit: float = 1.0
) -> Array:
    """Return a probability vector whose gap is at most the goal, or the last one; the trace is in the unit given."""
    here, step = look(p), 1.0
    for _ in range(max_iter):
        trace.add(iteration=len(trace) + 1, objective=here.objective / unit, gap=here.gap / unit, step=step)
        trace.keep(p=p)
        if here.gap <= goal:
            break
        further = _tilted(p, step * here.exponents)
        there = look(further)
        if step > 1 and not there.objective >= here.objective:
            step = max(1.0, SHORTER * step)
            further = _tilted(p, here.exponents)
            there = look(further)
        else:
            step *= LONGER
        p, here = further, there
    return p


def _tilted(p: Array, exponents: Array) -> Array:
    raised = p * np.exp(exponents - exponents.max())
    return np.asarray(raised / raised.sum())


MOST_CHORDS = 200


@dataclass(frozen=True, eq=False)
class RateDistortion:
    """One point of the rate-distortion curve: the channel that reaches it, the slope and outputs that prove it."""

    rate: float
    """Mutual information of the channel, in the unit of ``base``, for each letter."""
    distortion: float
    """Expected cost of the channel."""
    slope: float
    r""":math:`\beta = -R'(D)`, in the unit of ``base``: what less distortion costs; it may be infinite at the least."""
    test_channel: Array
    """The channel: rows of probabilities of the outputs, of shape (n_inputs, n_outputs)."""
    output_distribution: Array
    """Probabilities of the outputs that prove the bound, of shape (n_outputs,)."""
    n_iter: int
    """Iterations done, for all slopes tried."""
    trace: Trace
    """Objective, gap and step of each iteration."""
    certificate: Certificate
    """Bounds how far the rate can be above the least for this distortion."""


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
class _ChannelPoint:
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

    def at(self, multiplier: float, near: Array | None = None) -> _ChannelPoint:
        """Return the point that minimizes rate plus multiplier times distortion."""
        kernel = (self.excess == 0).astype(float) if multiplier == np.inf else np.exp(-multiplier * self.excess)
        uniform = np.full(kernel.shape[1], 1 / kernel.shape[1])
        q = ascend(
            lambda q: _look_at_slope(self.p, kernel, q),
            uniform if near is None else 0.9 * near + 0.1 * uniform,  # a letter at 0 could not come back
            goal=self.goal,
            max_iter=self.max_iter,
            trace=self.trace,
            unit=self.unit,
        )
        weight = kernel * q
        unreached = weight.sum(axis=1) == 0  # a letter that the source never sends may be left without an output
        weight[unreached] = kernel[unreached]
        return _ChannelPoint(weight / weight.sum(axis=1, keepdims=True), q, multiplier)


def _look_at_slope(p: Array, kernel: Array, q: Array) -> Ascent:
    """Return minus the Lagrangian, and the factors on each ``q_y``: at the optimum 1, or less where ``q_y`` is 0."""
    sent = p > 0
    normalizers = kernel[sent] @ q
    growth = (p[sent] / normalizers) @ kernel[sent]
    with np.errstate(divide="ignore"):
        exponents = np.log(growth)
    gap = float(exponents.max() - q @ xlogy(growth, growth))
    return Ascent(float(p[sent] @ np.log(normalizers)), gap, exponents)


def _reach(solver: _Blahut, target: float, goal: float) -> _ChannelPoint:
    """Return the point of this distortion: chords of the curve give slopes, whose points give shorter chords.

    A chord lies above the convex curve and the tangent of its slope below, so their distance at the target is the gap.
    On a straight piece of the curve they meet at once.
    """
    costs = solver.p @ solver.d
    least, most = float(solver.p @ solver.d.min(axis=1)), float(costs.min())
    silent = (costs == most) / np.count_nonzero(costs == most)
    coarse = _ChannelPoint(np.tile(silent, (len(solver.p), 1)), silent, 0.0)
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
