"""A vault for test rows: they are handed out once, at the end, and every other use is on record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, train_test_split
from sklearn.utils import _safe_indexing, check_consistent_length, indexable
from sklearn.utils.multiclass import type_of_target

from pellucid.core.types import Array, Data, RandomState
from pellucid.model_selection.score_interval import ScoreInterval, score_interval

LEAST_PER_CLASS = 2
"""Rows of a class that a stratified split needs."""


@dataclass(frozen=True)
class Opening:
    """One look at the test rows."""

    number: int
    """1 for the first look, and so on."""
    reason: str
    """Why, in the words of who looked."""
    when: datetime
    """The moment, in UTC."""

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
    groups : array-like of shape (n_samples,), default=None
        Rows of one group, such as a customer, are all in the vault or all out of it.
    order : array-like of shape (n_samples,), default=None
        When each row was: the vault holds the latest. Rows of one moment stay together.
    test : tuple of X and y, default=None
        Rows of your own for the vault; all others are then to learn from.

    Attributes
    ----------
    learning_rows, test_rows : ndarray
        Positions, among the rows given, of those to learn from and of those in the vault (none if they are your own).

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
        self,
        X: Data,
        y: Data,
        *,
        test_size: float = 0.2,
        stratify: bool | None = None,
        random_state: RandomState = 0,
        groups: Data | None = None,
        order: Data | None = None,
        test: tuple[Data, Data] | None = None,
    ) -> None:
        X, y = indexable(X, y)
        check_consistent_length(X, y, groups, order)
        if sum(given is not None for given in (groups, order, test)) > 1:
            raise ValueError("groups, order and test must be given one at a time, got two of them or more.")
        by_class = _can_stratify(y) if stratify is None else stratify
        rows = np.arange(len(y))
        if test is not None:
            check_consistent_length(*test)
            self.learning_rows, self.test_rows = rows, np.empty(0, dtype=np.intp)
        elif order is not None:
            self.learning_rows, self.test_rows = latest_apart(order, test_size)
        elif groups is not None:
            n_parts = max(2, round(1 / test_size))
            folds = group_folds(groups, y, n_parts, by_class=by_class, random_state=random_state)
            self.learning_rows, self.test_rows = folds[0]
        else:
            self.learning_rows, self.test_rows = train_test_split(
                rows, test_size=test_size, stratify=y if by_class else None, random_state=random_state
            )
        self._learning: tuple[Data, Data] = _rows_of(X, y, self.learning_rows)
        self._test: tuple[Data, Data] = _rows_of(X, y, self.test_rows) if test is None else test
        self._log: list[Opening] = []

    @property
    def learning(self) -> tuple[Data, Data]:
        """The rows to learn from, as often as you like."""
        return self._learning

    @property
    def n_test(self) -> int:
        """Number of rows in the vault."""
        return len(self._test[1])

    @property
    def log(self) -> tuple[Opening, ...]:
        """Every opening so far."""
        return tuple(self._log)

    def open(self, reason: str) -> tuple[Data, Data]:
        """Return the test rows and record why; only the first opening gives an honest estimate."""
        if not isinstance(reason, str) or not reason.strip():
            raise ValueError(f"reason must say why the vault is opened, got {reason!r}. Say 'final estimate'.")
        self._log.append(Opening(len(self._log) + 1, reason, datetime.now(UTC)))
        return self._test

    def estimate(
        self,
        model: Any,
        metric: str | Callable[..., float] = "accuracy",
        *,
        reason: str = "final estimate",
        **options: Any,
    ) -> VaultEstimate:
        """Open the vault, score a fitted model on the test rows, and say whether the score can be trusted."""
        X, y = self.open(reason)
        return VaultEstimate(score_interval(y, model.predict(X), metric, **options), self._log[-1])

    def __repr__(self) -> str:
        times = {0: "never opened", 1: "opened once"}.get(len(self._log), f"opened {len(self._log)} times")
        return f"TestVault({self.n_test} rows, {times})"


@dataclass(frozen=True, repr=False)
class VaultEstimate:
    """A score on test rows, and the opening of the vault that it comes from."""

    interval: ScoreInterval
    """The score, with its interval."""
    opening: Opening
    """The look at the test rows; only the first is unbiased."""

    @property
    def is_biased(self) -> bool:
        """Whether the test rows had been looked at before."""
        return self.opening.is_biased

    def __repr__(self) -> str:
        note = f"; biased: look number {self.opening.number} at the test rows" if self.is_biased else ""
        return f"{self.interval!r}{note}"


def _rows_of(X: Data, y: Data, rows: Array) -> tuple[Data, Data]:
    return _safe_indexing(X, rows), _safe_indexing(y, rows)


def _can_stratify(y: Data) -> bool:
    if type_of_target(y) not in ("binary", "multiclass") or np.asarray(y).dtype.kind == "f":
        return False
    return int(np.unique(np.asarray(y), return_counts=True)[1].min()) >= LEAST_PER_CLASS


Split = tuple[Array, Array]
"""Positions of the rows to learn from and of those to validate with."""


def group_folds(groups: Data, y: Data, n_splits: int, *, by_class: bool, random_state: RandomState = 0) -> list[Split]:
    """Return folds that share no group, of about equal size, the classes spread over them where that is asked for."""
    groups = np.asarray(groups)
    n_groups = len(np.unique(groups))
    if n_groups < n_splits:
        raise ValueError(f"groups must be at least {n_splits} different ones for as many parts, got {n_groups}.")
    kind = StratifiedGroupKFold if by_class else GroupKFold
    folds = kind(n_splits, shuffle=True, random_state=random_state)
    return list(folds.split(np.zeros(len(groups)), y, groups))


def forward_folds(order: Data, n_splits: int) -> list[Split]:
    """Return splits that learn from all rows before a moment and validate on the next part; none looks back.

    The rows are cut into one part more than there are splits; rows of the same moment stay in one part.

    Examples
    --------
    >>> for learn, validate in forward_folds([2020, 2021, 2021, 2022, 2023, 2024], 2):
    ...     print(learn, validate)
    [0] [1 2 3]
    [0 1 2 3] [4 5]
    """
    moments = np.unique(np.asarray(order), return_inverse=True)[1]
    in_time = np.sort(moments)
    starts = (np.arange(1, n_splits + 1) * len(moments)) // (n_splits + 1)
    cuts = [*np.unique(in_time[starts]), in_time[-1] + 1]
    pairs = [(start, stop) for start, stop in pairwise(cuts) if start > 0]
    if not pairs:
        raise ValueError(f"order must have moments enough for {n_splits + 1} parts, got {in_time[-1] + 1}.")
    return [
        (np.flatnonzero(moments < start), np.flatnonzero((moments >= start) & (moments < stop)))
        for start, stop in pairs
    ]


def latest_apart(order: Data, share: float) -> Split:
    """Return the rows before the latest part and that part, about a share of all; no moment is in both.

    Examples
    --------
    >>> latest_apart([3, 1, 2, 3, 1], 0.2)
    (array([1, 2, 4]), array([0, 3]))
    """
    moments = np.unique(np.asarray(order), return_inverse=True)[1]
    n_late = max(1, round(share * len(moments)))
    start = max(1, np.sort(moments)[-n_late])
    late = moments >= start
    if not late.any():
        raise ValueError("order must have two moments or more, got one.")
    return np.flatnonzero(~late), np.flatnonzero(late)
