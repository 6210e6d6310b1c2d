"""Two models on the same rows: by how much one is better, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from pellucid.core.short_html import short_html
from pellucid.core.types import Array, Data

CONFIDENCE = 0.95
FEWEST_ROWS = 2
LEAST_CHANCE = 1e-15
"""A probability of 0 for what came true would cost infinitely much."""


@dataclass(frozen=True)
class PairedDifference:
    """A mean error of two models over the same rows, and an interval for the difference, the second less the first.

    Errors of the same row are compared with each other, so that rows which are hard for both do not widen it.
    """

    measure: str
    first: float
    second: float
    low: float
    high: float
    n_rows: int

    @property
    def difference(self) -> float:
        """By how much the second model is off more than the first, on average."""
        return self.second - self.first

    @property
    def better(self) -> int:
        """1 or 2 for the model whose errors are clearly smaller, 0 where chance may have done it."""
        return 1 if self.low > 0.0 else 2 if self.high < 0.0 else 0


class ModelComparison(tuple[PairedDifference, ...]):
    """The differences of two models, one for every measure that both have."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        said = {0: "chance may have done it", 1: "the first is better", 2: "the second is better"}
        rows = [
            (
                one.measure,
                *(f"{value:.4g}" for value in (one.first, one.second, one.difference)),
                f"{one.low:.3g} to {one.high:.3g}",
                said[one.better],
            )
            for one in self
        ]
        return short_html(
            f"Two models on {self[0].n_rows:,} rows" if self else "Two models without a common measure",
            head=("Mean", "First", "Second", "Difference", f"{100 * CONFIDENCE:g} % interval", ""),
            rows=rows,
        )


def paired_difference(measure: str, first: Array, second: Array) -> PairedDifference:
    """Return the difference of two models' errors row by row, with Student's interval of its mean.

    Examples
    --------
    >>> found = paired_difference("error", np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.5, 1.5]))
    >>> found.difference, found.better  # the differences are -1, -0.5 and -1.5: -1 +- 1.24
    (-1.0, 0)
    """
    n = len(first)
    if n < FEWEST_ROWS or len(second) != n:
        raise ValueError(f"errors must be those of the same {FEWEST_ROWS} rows or more, got {n} and {len(second)}.")
    apart = second - first
    room = float(stdtrit(n - 1, (1.0 + CONFIDENCE) / 2.0) * apart.std(ddof=1) / np.sqrt(n))
    middle = float(apart.mean())
    return PairedDifference(measure, float(first.mean()), float(second.mean()), middle - room, middle + room, n)


def compare_models(
    first: tuple[Any, Any], second: tuple[Any, Any], actual: Array, *, is_class: bool
) -> ModelComparison:
    """Return by how much two fitted models, each with the rows as it takes them, differ in every measure both have."""
    ours, theirs = (dict(_errors(model, X, actual, is_class=is_class)) for model, X in (first, second))
    return ModelComparison(paired_difference(name, ours[name], theirs[name]) for name in ours if name in theirs)


def _errors(model: Any, X: Data, actual: Array, *, is_class: bool) -> Iterator[tuple[str, Array]]:
    """Yield the errors of a model row by row, measure by measure."""
    predicted = np.asarray(model.predict(X))
    if not is_class:
        off = np.abs(predicted.astype(np.float64) - actual)
        yield "absolute error", off
        yield "squared error", off**2
        return
    yield "mistakes", (predicted.astype(str) != actual.astype(str)).astype(np.float64)
    if hasattr(model, "predict_proba"):
        chances = np.asarray(model.predict_proba(X), dtype=np.float64)
        place = {str(label): j for j, label in enumerate(model.classes_)}
        own = np.array([place.get(str(label), -1) for label in actual])
        came_true = np.where(own >= 0, chances[np.arange(len(own)), own], 0.0)
        yield "log loss", -np.log(np.maximum(came_true, LEAST_CHANCE))
