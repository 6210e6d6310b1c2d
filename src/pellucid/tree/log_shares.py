"""Logarithms of shares of classes."""

from __future__ import annotations

from typing import overload

import numpy as np

from pellucid.core.types import Array


@overload
def log_shares(shares: Array) -> Array: ...
@overload
def log_shares(shares: list[Array]) -> list[Array]: ...


def log_shares(shares: Array | list[Array]) -> Array | list[Array]:
    """Return the logarithms of shares, of one output or of each of several; that of 0 is minus infinity."""
    if isinstance(shares, list):
        return [log_shares(part) for part in shares]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shares))
