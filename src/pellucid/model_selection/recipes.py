"""Three recipes for choosing among models: select by validation error, retrain on all learning rows, estimate once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import (
    GroupShuffleSplit,
    KFold,
    LeaveOneOut,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.utils import _safe_indexing

from pellucid.core.checks import check_one_of
from pellucid.core.types import Array, Data
from pellucid.core.watching import tracked
from pellucid.model_selection.vault import Split, TestVault, VaultEstimate, forward_folds, group_folds, latest_apart

if TYPE_CHECKING:
    import pandas as pd

RULES = ("best", "one standard error")


@dataclass(frozen=True, repr=False)
class Choice:
    """What a recipe chose, and the one honest estimate of its error."""

    name: str
    """Name of the candidate chosen."""
    model: Any
    """The candidate chosen, fitted to all learning rows."""
    errors: dict[str, Array]
    """Validation errors of each candidate, one per split, in the order of the candidates."""
    estimate: VaultEstimate
    """Score of the candidate chosen on the test rows, with an interval."""
    vault: TestVault
    """Holds the test rows, and a log of who looked at them."""
    rule: str
    """The rule it was chosen by: ``best`` or ``one standard error``."""

    def frame(self) -> pd.DataFrame:
        """Return the table of candidates: mean validation error, its standard error, and who was chosen."""
        import pandas as pd

        rows = [
            {"candidate": name, "error": e.mean(), "standard_error": standard_error(e), "chosen": name == self.name}
            for name, e in self.errors.items()
        ]
        return pd.DataFrame(rows)

    def __repr__(self) -> str:
        return f"{self.name} of {len(self.errors)} candidates ({self.rule}); test {self.estimate!r}"


@dataclass(frozen=True)
class Recipe:
    """How to split the learning rows for validation; the subclasses are the recipes of the lecture."""

    test_size: float = 0.2
    """Share of the rows that goes to the vault."""
    rule: str = "best"
    """``best``, or ``one standard error``: the first candidate whose mean error is within one standard error of the
    best: list the simplest first."""
    random_state: int = 0
    """Seed of all splits."""

    def __post_init__(self) -> None:
        check_one_of(RULES, rule=self.rule)

    def splitter(self, *, is_classification: bool) -> Any:
        """Return scikit-learn's splitter of the learning rows."""
        raise NotImplementedError

    def group_splits(self, y: Data, groups: Data, *, is_classification: bool) -> list[Split]:
        """Return splits whose parts share no group."""
        raise NotImplementedError

    def forward_splits(self, order: Data) -> list[Split]:
        """Return splits that validate on later rows than they learn from."""
        raise NotImplementedError

    def splits(
        self, X: Data, y: Data, *, is_classification: bool, groups: Data | None = None, order: Data | None = None
    ) -> list[Split]:
        """Return the positions of learning and validation rows: at random, by whole groups, or forward in time."""
        if order is not None:
            return self.forward_splits(order)
        if groups is not None:
            return self.group_splits(y, groups, is_classification=is_classification)
        return list(self.splitter(is_classification=is_classification).split(X, y))

    def choose(
        self,
        candidates: Mapping[str, Any],
        X: Data,
        y: Data,
        *,
        metric: str | Callable[..., float] | None = None,
        progress: bool = False,
        groups: Data | None = None,
        order: Data | None = None,
    ) -> Choice:
        """Choose among named estimators and estimate the error of the chosen one on rows nobody has seen.

        Parameters
        ----------
        candidates : dict of str to estimator
            All classifiers or all regressors, the simplest first.
        X, y : array-like of shape (n_samples, n_features), (n_samples,)
        metric : str or callable, default=None
            Of :func:`score_interval`; an error rate or a mean squared error if not given. Smaller must be better.
        progress : bool, default=False
            Whether to show a progress bar.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group are never in two parts.
        order : array-like of shape (n_samples,), default=None
            When each row was: no part is learned from that is later than the rows it is tried on.
        """
        is_classification = one_task(candidates)
        metric = metric or ("error rate" if is_classification else "mse")
        vault = TestVault(X, y, test_size=self.test_size, random_state=self.random_state, groups=groups, order=order)
        X_learn, y_learn = vault.learning
        apart = {
            name: np.asarray(given)[vault.learning_rows]
            for name, given in {"groups": groups, "order": order}.items()
            if given is not None
        }
        splits = self.splits(X_learn, y_learn, is_classification=is_classification, **apart)
        errors = {
            name: validation_errors(estimator, X_learn, y_learn, splits, is_classification)
            for name, estimator in tracked(list(candidates.items()), "candidates", show=progress)
        }
        name = chosen_by(errors, self.rule)
        model = clone(candidates[name]).fit(X_learn, y_learn)
        return Choice(name, model, errors, vault.estimate(model, metric), vault, self.rule)


@dataclass(frozen=True)
class TrainValidationTest(Recipe):
    """Recipe 1: one validation set. The other fields are those of :class:`Recipe`.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.linear_model import LinearRegression, Ridge
    >>> X = np.arange(60.0)[:, None]
    >>> choice = TrainValidationTest().choose({"line": LinearRegression(), "flat": Ridge(1e9)}, X, 2 * X[:, 0])
    >>> choice.name
    'line'
    """

    validation_size: float = 0.25
    """Share of the learning rows that validates, between 0 and 1."""

    def splitter(self, *, is_classification: bool) -> Any:
        """Return one random split."""
        kind = StratifiedShuffleSplit if is_classification else ShuffleSplit
        return kind(1, test_size=self.validation_size, random_state=self.random_state)

    def group_splits(self, y: Data, groups: Data, *, is_classification: bool) -> list[Split]:
        """Return one split by whole groups."""
        n_parts = max(2, round(1 / self.validation_size))
        return group_folds(groups, y, n_parts, by_class=is_classification, random_state=self.random_state)[:1]

    def forward_splits(self, order: Data) -> list[Split]:
        """Return one split: the latest rows validate."""
        return [latest_apart(order, self.validation_size)]


@dataclass(frozen=True)
class CrossValidationTest(Recipe):
    """Recipe 2: K folds, each the validation set once. The other fields are those of :class:`Recipe`."""

    n_splits: int | None = 5
    """The number K of folds, at least 2; None leaves one row, or one group, out at a time."""

    def splitter(self, *, is_classification: bool) -> Any:
        """Return the folds."""
        if self.n_splits is None:
            return LeaveOneOut()
        kind = StratifiedKFold if is_classification else KFold
        return kind(self.n_splits, shuffle=True, random_state=self.random_state)

    def group_splits(self, y: Data, groups: Data, *, is_classification: bool) -> list[Split]:
        """Return folds of whole groups; ``n_splits=None`` leaves one group out at a time."""
        n_splits = self.n_splits or len(np.unique(np.asarray(groups)))
        return group_folds(groups, y, n_splits, by_class=is_classification, random_state=self.random_state)

    def forward_splits(self, order: Data) -> list[Split]:
        """Return splits forward in time: each part but the first is the validation set once."""
        return forward_folds(order, self.n_splits or len(np.asarray(order)) - 1)


@dataclass(frozen=True)
class ResamplingTest(Recipe):
    """Recipe 3: random validation sets, again and again. The other fields are those of :class:`Recipe`."""

    n_splits: int = 20
    """Random splits; with ``order``, parts of time that validate once each."""
    validation_size: float = 0.25
    """Share of the learning rows in each validation set, between 0 and 1."""

    def splitter(self, *, is_classification: bool) -> Any:
        """Return the random splits."""
        kind = StratifiedShuffleSplit if is_classification else ShuffleSplit
        return kind(self.n_splits, test_size=self.validation_size, random_state=self.random_state)

    def group_splits(self, y: Data, groups: Data, *, is_classification: bool) -> list[Split]:
        """Return random splits by whole groups."""
        kind = GroupShuffleSplit(self.n_splits, test_size=self.validation_size, random_state=self.random_state)
        return list(kind.split(np.zeros(len(np.asarray(groups))), y, groups))

    def forward_splits(self, order: Data) -> list[Split]:
        """Return splits forward in time: there is one order only, so nothing is drawn at random."""
        return forward_folds(order, self.n_splits)


def one_task(candidates: Mapping[str, Any]) -> bool:
    """Return whether all candidates are classifiers; refuse a mixture."""
    kinds = {is_classifier(estimator) for estimator in candidates.values()}
    if len(kinds) != 1:
        raise ValueError(f"candidates must be all classifiers or all regressors, at least one, got {list(candidates)}.")
    return kinds.pop()


def validation_errors(
    estimator: Any, X: Data, y: Data, splits: list[tuple[Array, Array]], is_classification: bool
) -> Array:
    """Return the error of an estimator on each validation set: the rate of mistakes, or the mean squared error."""
    errors = []
    for train, validation in splits:
        model = clone(estimator).fit(_safe_indexing(X, train), _safe_indexing(y, train))
        given = np.asarray(model.predict(_safe_indexing(X, validation)))
        right = np.asarray(_safe_indexing(y, validation))
        errors.append(split_error(right, given, is_classification))
    return np.array(errors, dtype=np.float64)


def split_error(right: Array, given: Array, is_classification: bool) -> float:
    """Return the error on one validation set: the rate of mistakes, or the mean squared error."""
    return float(np.mean(given != right) if is_classification else np.mean(np.square(given - right)))


def chosen_by(errors: dict[str, Array], rule: str) -> str:
    """Return the first candidate with the smallest mean error, or the first within one standard error of it."""
    means = {name: float(values.mean()) for name, values in errors.items()}
    best = min(means, key=lambda name: means[name])
    if rule == "best":
        return best
    limit = means[best] + standard_error(errors[best])
    return next(name for name, mean in means.items() if mean <= limit)


def standard_error(errors: Array) -> float:
    """Return the standard error of the mean error; 0 if there is one split only."""
    return float(errors.std(ddof=1) / np.sqrt(len(errors))) if len(errors) > 1 else 0.0
