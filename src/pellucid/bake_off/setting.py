"""What the steps of a bake-off share: the table, the target, the plan, the vault, the clock."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import pandas as pd
from sklearn.pipeline import Pipeline

from pellucid.bake_off.comparing import Score, Stage
from pellucid.bake_off.contestants import Contestant
from pellucid.bake_off.learning_rows import LearningRows
from pellucid.bake_off.result import Plan
from pellucid.core.budget import Budget
from pellucid.model_selection import CrossValidationTest, Recipe, ResamplingTest, TestVault, TrainValidationTest
from pellucid.tables.column_reader import ColumnReader
from pellucid.tables.understanding import Columns, Target

TEST_SHARE = 0.2
RECIPES: dict[str, Callable[[int, int], Recipe]] = {
    "cv": lambda folds, seed: CrossValidationTest(TEST_SHARE, random_state=seed, n_splits=folds),
    "split": lambda _folds, seed: TrainValidationTest(TEST_SHARE, random_state=seed),
    "resample": lambda folds, seed: ResamplingTest(TEST_SHARE, random_state=seed, n_splits=folds),
}


class Setting:
    """The table as read, its test rows locked away, and who is told about the stages."""

    def __init__(
        self,
        frame: pd.DataFrame,
        target: Target,
        columns: Columns,
        plan: Plan,
        budget: Budget,
        listen: Callable[[Stage], None],
    ) -> None:
        self.start = time.monotonic()
        self.target, self.columns, self.plan, self.budget, self.listen = target, columns, plan, budget, listen
        self.reader = ColumnReader(dict(columns.kinds)).fit(frame, target.values)
        self.X = self.reader.transform(frame)
        self.vault = TestVault(self.X, target.values, test_size=TEST_SHARE, random_state=plan.seed)

    @property
    def is_classification(self) -> bool:
        """Whether the target is a class."""
        return self.target.is_classification

    def learning_rows(self) -> LearningRows:
        """Return the rows to learn from with the splits of the recipe."""
        X, y = self.vault.learning
        splitter = RECIPES[self.plan.recipe](self.plan.folds, self.plan.seed).splitter(
            is_classification=self.is_classification
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a class with fewer rows than folds: some have none of it
            splits = list(splitter.split(X, y))
        return LearningRows(self.columns, X, y, splits, self.is_classification)

    def pipeline(self, contestant: Contestant, read: pd.DataFrame) -> Pipeline:
        """Return a method with its preparation, not yet fitted, for the table as read."""
        return Pipeline([("prepare", contestant.prepare(self.columns, read)), ("method", contestant.make())])

    def groups(self) -> dict[str, list[str]]:
        """Return the columns of the table as read that stand for each column of the table."""
        return {name: self.reader.names_of(name) for name in self.columns.kinds}

    def say(self, what: str, chosen: Score) -> None:
        """Tell who listens what is done now."""
        self.listen(Stage(what, 1, 1, chosen, self.budget.seconds_left(), self.budget.interrupted))
