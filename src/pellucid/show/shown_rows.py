"""Which rows a method that learns row by row was shown, and in what order: what chance decides, and no hand."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from sympy import Matrix

from pellucid.core.trace import record
from pellucid.core.types import Data, RandomState
from pellucid.core.user_warnings import UncertifiedWarning
from pellucid.show.document import Block, sentence
from pellucid.show.exact_data import require


@dataclass(frozen=True)
class ShownRows:
    """What each row weighs when it is shown, and the order of each epoch; equal rows of one class are shown once."""

    weights: tuple[int, ...]
    """0 for a row that another one stands for."""
    orders: tuple[tuple[int, ...], ...] = ()
    """Those of the epochs of the program; none where rows come as given."""

    def order(self, epoch: int) -> tuple[int, ...]:
        """Return the order of an epoch, counted from 1."""
        if not self.orders:
            return tuple(range(len(self.weights)))
        if epoch > len(self.orders):
            raise ValueError(
                f"max_iter must end the work after {len(self.orders)} epochs, where the program stopped: its rounding "
                "sees other mistakes from there on. Set max_iter."
            )
        return self.orders[epoch - 1]

    @property
    def total(self) -> int:
        """The weight of all rows."""
        return sum(self.weights)

    def notes(self, random_state: RandomState) -> list[Block]:
        """Return what a reader must know of the order and of equal rows."""
        if not self.orders:
            return []
        blocks: list[Block] = [
            sentence(
                f"Every epoch shows the rows in a new random order: the one that the program drew with random_state="
                f"{random_state}."
            )
        ]
        twice = [f"row {i + 1} counts {w} times" for i, w in enumerate(self.weights) if w > 1]
        if twice:
            blocks.append(
                sentence(f"Equal rows of one class are shown once, with their weights added: {', '.join(twice)}.")
            )
        return blocks


def read_shown_rows(estimator: Any, X: Data, y: Data, features: Matrix, signs: list[int]) -> ShownRows:
    """Return the orders in which the estimator shows its rows; one that is not fitted yet is fitted to tell them."""
    if hasattr(X, "toarray"):
        raise ValueError(
            "X must be dense to show the work, got a sparse matrix, whose rows move the intercept less. "
            "Pass X.toarray()."
        )
    if not estimator.shuffle:
        return ShownRows((1,) * features.rows)
    if type(estimator).__module__.startswith("sklearn."):
        require(estimator, "shuffle", False)  # its orders are not written down anywhere
    orders = [tuple(state["order"][0].tolist()) for state in _recorded(estimator, X, y).trace_.states]
    shown = set(orders[0])
    same = [
        [j for j in range(len(signs)) if features.row(j) == features.row(i) and signs[j] == signs[i]] for i in shown
    ]
    weights = dict(zip(shown, map(len, same), strict=True))
    return ShownRows(tuple(weights.get(i, 0) for i in range(features.rows)), tuple(orders))


def _recorded(estimator: Any, X: Data, y: Data) -> Any:
    """Return the model with the states of its epochs: as it is, fitted now, or fitted again with the same seed."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        with record():
            return estimator.fit(X, y)
    if estimator.trace_.states:
        return estimator
    if not isinstance(estimator.random_state, int):
        raise ValueError(
            f"random_state must be a whole number to show the work of a fitted model that shuffles, got "
            f"{estimator.random_state!r}. Show it before it is fitted, or fit it inside pellucid.record()."
        )
    with record(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UncertifiedWarning)  # the first fit has said so
        return clone(estimator).fit(X, y)
