"""hoeffding_interval: a confidence interval for the mean of bounded values that needs no other assumption."""

from __future__ import annotations

from math import isfinite, log, sqrt

from pellucid.core.checks import check_level, is_number
from pellucid.core.types import Data
from pellucid.probability.sample_data import scalar_data


def hoeffding_interval(values: Data, low: float, high: float, level: float = 0.95) -> tuple[float, float]:
    r"""Return ends between which the true mean lies with at least this probability, for any number of values.

    .. math:: \bar x \pm (b - a) \sqrt{\frac{\log(2 / \delta)}{2n}}, \qquad \delta = 1 - \text{level},

    cut to :math:`[a, b]`, where the mean must be.

    Parameters
    ----------
    values : array-like of shape (n,)
        Independent values between ``low`` and ``high``.
    low, high : float
        The smallest and largest values possible, :math:`a < b`; known beforehand, not read off the data.
    level : float, default=0.95
        Probability of covering the mean, between 0 and 1.

    Examples
    --------
    >>> hoeffding_interval([0, 1] * 500, 0, 1)  # half width sqrt(log(40) / 2000)
    (0.457..., 0.542...)
    """
    if not (is_number(low) and is_number(high) and isfinite(high - low) and low < high):
        raise ValueError(f"low and high must be finite numbers, low below high, got low={low!r} and high={high!r}.")
    check_level(level)
    data = scalar_data(values)
    if data.values.min() < low or data.values.max() > high:
        got = float(data.values.min() if data.values.min() < low else data.values.max())
        raise ValueError(f"values must be between low={low!r} and high={high!r}, got {got!r}.")
    mean = float(data.values.mean())
    reach = (high - low) * sqrt(log(2 / (1 - level)) / (2 * data.total))
    return max(float(low), mean - reach), min(float(high), mean + reach)
