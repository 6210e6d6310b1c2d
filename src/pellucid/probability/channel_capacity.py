"""channel_capacity: how much a noisy channel can carry, by Blahut and Arimoto's method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import rel_entr

from pellucid.core.checks import check_positive, check_whole
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.core.user_warnings import warn_unless_holds
from pellucid.probability.frozen import finite_array
from pellucid.probability.information import nats_per_unit
from pellucid.probability.multiplicative_ascent import Ascent, ascend
from pellucid.probability.probability_vector import SUM_ERROR
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.probability.channel import certify_capacity


@dataclass(frozen=True, eq=False)
class ChannelCapacity:
    """The capacity of a channel and the input distribution that reaches it."""

    capacity: float
    input_distribution: Array
    output_distribution: Array
    n_iter: int
    trace: Trace
    certificate: Certificate


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
