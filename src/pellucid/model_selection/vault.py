"""A vault for test rows: they are handed out once, at the end, and every other use is on record."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils import check_consistent_length, indexable
from sklearn.utils.multiclass import type_of_target

from pellucid.core.types import Data
from pellucid.model_selection.score_interval import ScoreInterval, score_interval

LEAST_PER_CLASS = 2
"""Rows of a class that a stratified split needs."""


@dataclass(frozen=True)
class Opening:
    """One look at the test rows."""

    number: int
    reason: str
    when: datetime

    @property
    def is_biased(self) -> bool:
        """Whether somebody had looked before: what was learned then may have steered what is measured now."""
        return self.number > 1


class TestVault:
    """Splits off test rows and watches who looks at them.

    Parameters
    ----------
    X, y : array-like of shape (n_samples, n_features), (n_samples,)
        All rows.
    test_size : float or int, default=0.2
        Share or number of rows to lock away.
    stratify : bool, default=None
        Whether each class has the same share in the vault; None does it for labels if every class has enough rows.
    random_state : int, RandomState or None, default=0
        Seed of the split.

    Examples
    --------
    >>> vault = TestVault([[0], [1], [2], [3], [4]], [0.0, 1.5, 2.5, 3.5, 4.5])
    >>> X, y = vault.learning
    >>> len(y), vault.n_test
    (4, 1)
    >>> _ = vault.open("final estimate")
    >>> _ = vault.open("just curious")
    >>> [opening.is_biased for opening in vault.log]
    [False, True]
    """

    __test__ = False  # the name is for readers, not for pytest

    def __init__(
        self, X: Data, y: Data, *, test_size: float = 0.2, stratify: bool | None = None, random_state: Any = 0
    ) -> None:
        X, y = indexable(X, y)
        check_consistent_length(X, y)
        by_class = _can_stratify(y) if stratify is None else stratify
        self._learning_X, self._test_X, self._learning_y, self._test_y = train_test_split(
            X, y, test_size=test_size, stratify=y if by_class else None, random_state=random_state
        )
        self._log: list[Opening] = []

    @property
    def learning(self) -> tuple[Data, Data]:
        """The rows to learn from, as often as you like."""
        return self._learning_X, self._learning_y

    @property
    def n_test(self) -> int:
        """Number of rows in the vault."""
        return len(self._test_y)

    @property
    def log(self) -> tuple[Opening, ...]:
        """Every opening so far."""
        return tuple(self._log)

    def open(self, reason: str) -> tuple[Data, Data]:
        """Return the test rows and record why; only the first opening gives an honest estimate."""
        if not isinstance(reason, str) or not reason.strip():
            raise ValueError(f"reason must say why the vault is opened, got {reason!r}. Say 'final estimate'.")
        self._log.append(Opening(len(self._log) + 1, reason, datetime.now(UTC)))
        return self._test_X, self._test_y

    def estimate(
        self, model: Any, metric: Any = "accuracy", *, reason: str = "final estimate", **options: Any
    ) -> Estimate:
        """Open the vault, score a fitted model on the test rows, and say whether the score can be trusted."""
        X, y = self.open(reason)
        return Estimate(score_interval(y, model.predict(X), metric, **options), self._log[-1])

    def __repr__(self) -> str:
        times = {0: "never opened", 1: "opened once"}.get(len(self._log), f"opened {len(self._log)} times")
        return f"TestVault({self.n_test} rows, {times})"


@dataclass(frozen=True, repr=False)
class Estimate:
    """A score on test rows, and the opening of the vault that it comes from."""

    interval: ScoreInterval
    opening: Opening

    @property
    def is_biased(self) -> bool:
        """Whether the test rows had been looked at before."""
        return self.opening.is_biased

    def __repr__(self) -> str:
        note = f"; biased: look number {self.opening.number} at the test rows" if self.is_biased else ""
        return f"{self.interval!r}{note}"


def _can_stratify(y: Data) -> bool:
    if type_of_target(y) not in ("binary", "multiclass") or np.asarray(y).dtype.kind == "f":
        return False
    return int(np.unique(np.asarray(y), return_counts=True)[1].min()) >= LEAST_PER_CLASS
