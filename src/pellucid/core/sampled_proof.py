"""What it proves to look at some, drawn at random, of many."""

from __future__ import annotations

MISSED = 0.01
"""The chance that more are wrong than is said."""


def most_wrong(n_checked: int) -> float:
    r"""Return the share of all that may be wrong, at most, if none of those checked is: :math:`1 - 0.01^{1/k}`.

    Were more wrong, the chance to draw ``n_checked`` right ones would be below 1 %.

    Examples
    --------
    >>> round(most_wrong(1000), 4)
    0.0046
    """
    return float(1.0 - MISSED ** (1.0 / max(n_checked, 1)))
