"""Hyperparameters as the workings need them: exact, and of the kinds that can be worked by hand."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sympy import Rational

from pellucid.core.checks import check_nonnegative
from pellucid.workings.exact_data import exact_number


def exact_parameter(estimator: Any, name: str) -> Rational:
    """Return a hyperparameter of at least 0 as a rational, read to its last digit."""
    value = getattr(estimator, name)
    check_nonnegative(**{name: value})
    simple, rounded = exact_number(value, name)
    return Rational(str(Decimal(str(value)))) if rounded else simple


def require(estimator: Any, name: str, wanted: Any) -> None:
    """Refuse a setting whose steps are not written down."""
    value = getattr(estimator, name, wanted)
    if value is not wanted:
        raise ValueError(
            f"{name} must be {wanted!r} to show the work, got {value!r}. The other steps are not written down."
        )
