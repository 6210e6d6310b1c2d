"""The methods that a bake-off compares, the cheap and promising first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from pellucid.app.tables.preparation import (
    averaged,
    coded,
    is_sparse,
    many_words,
    prepared_width,
    standardized,
    standardized_averages,
    stepped,
    unchanged,
)
from pellucid.app.tables.reading import TableError
from pellucid.app.tables.understanding import TEXT, WORD_KINDS, Columns
from pellucid.core.types import Array
from pellucid.decomposition import PCA
from pellucid.discriminant_analysis import LinearDiscriminantAnalysis
from pellucid.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from pellucid.kernel_ridge import KernelRidge
from pellucid.kernels import RBF
from pellucid.linear_model import LassoCV, LinearRegression, LogisticRegression, RidgeCV
from pellucid.naive_bayes import MixedNB
from pellucid.neighbors import KNeighborsClassifier, KNeighborsRegressor
from pellucid.neural_network import MLPClassifier, MLPRegressor
from pellucid.svm import SVC, SVR, LinearSVC
from pellucid.tree import DecisionTreeClassifier, DecisionTreeRegressor

RIDGE_PENALTIES = tuple(float(alpha) for alpha in np.logspace(-3, 5, 41))
MOST_COMPARED_ROWS = 10_000
"""Kernel ridge keeps the products of all rows with each other."""
FREE_LEVEL = 1e4
"""The constant in the kernel of kernel ridge, which has no intercept: with it the level of a target costs nothing."""
INNER_FOLDS = 5
BOOSTING_GROWTH = 0.8
"""A tree has as many splits to look for in few rows as in many."""
QUICK_BOOSTING: dict[str, Any] = {"max_iter": 400, "early_stopping": True, "n_iter_no_change": 20, "random_state": 0}
SLOW_BOOSTING = QUICK_BOOSTING | {"max_iter": 1000, "n_iter_no_change": 30, "learning_rate": 0.05, "max_leaf_nodes": 15}
"""Early stopping sets a tenth of the rows aside to see when more trees do no good."""
LARGE_BOOSTING: dict[str, Any] = {"max_iter": 200, "max_leaf_nodes": 63, "early_stopping": False, "random_state": 0}
"""Larger trees, no rows aside: where a class is found by many conditions at once."""
COUNT_BOOSTING = QUICK_BOOSTING | {"loss": "poisson"}
AMOUNT_BOOSTING = QUICK_BOOSTING | {"loss": "gamma"}
TUNED_BOOSTING: dict[str, Any] = {
    "max_iter": 200,
    "learning_rate": 0.1,
    "max_leaf_nodes": 15,
    "min_samples_leaf": 10,
    "l2_regularization": 0.0,
    "max_features": 1.0,
    "early_stopping": False,
    "random_state": 0,
}
"""Where tuning begins: every setting that it changes."""
FEWEST_TUNED = 200
"""Fewer rows cannot tell settings apart."""
FIRM_BOOSTING: dict[str, Any] = {"max_iter": 200, "learning_rate": 0.05, "max_leaf_nodes": 7, "min_samples_leaf": 5}
"""For tables too small to set rows aside."""
FOREST: dict[str, Any] = {"n_estimators": 100, "min_samples_leaf": 2, "random_state": 0}
"""Leaves of two rows: as good as leaves of one, and half the file."""
NETWORK: dict[str, Any] = {
    "hidden_layer_sizes": (64, 32),
    "alpha": 0.01,
    "learning_rate_init": 0.003,
    "max_iter": 200,
    "early_stopping": True,
    "random_state": 0,
}
"""Two layers that stop when a tenth of the rows, set aside, are no better predicted."""
LARGEST_RATE, TRAVEL = 0.3, 12.0
"""Fewer rounds of boosting get steps that add up to this, but none larger than the first."""
SMALL_TREE: dict[str, Any] = {"max_depth": 4, "max_leaf_nodes": 16, "min_samples_leaf": 5}
"""A tree that fits on a page."""
SKEWED = 1.5
"""A tail is long if it reaches so many times as far above the median as the other below."""
MOST_CURVED = 40
"""With more columns than this, squares and products are too many to offer."""
MOST_AVERAGED_CLASSES = 10
"""With more classes than this, each word would become too many columns."""
FEWEST_CONDENSED, SHARE_KEPT = 20, 0.9
"""With fewer columns than this there is little to condense; the share of the variance that components keep."""


def curved(columns: Columns, read: pd.DataFrame) -> Any:
    """Return the transformer that adds squares and products of all columns."""
    return make_pipeline(
        standardized(columns, read), PolynomialFeatures(2, include_bias=False), StandardScaler(with_mean=True)
    )


def condensed(columns: Columns, read: pd.DataFrame) -> Any:
    """Return the transformer that keeps the principal components with nine tenths of the variance."""
    return make_pipeline(standardized(columns, read), PCA(SHARE_KEPT, svd_solver="full"))


@dataclass(frozen=True)
class Contestant:
    """A method with the sentence that says what it does, and what it needs."""

    name: str
    sentence: str
    make: Callable[[], Any]
    prepare: Callable[[Columns, pd.DataFrame], Any] = standardized
    is_baseline: bool = False
    takes_sparse: bool = True
    fewest_rows: int = 0
    takes_categories: bool = False
    """Whether it splits by categories itself: the words stand first among the prepared columns."""
    growth: float = 1.0
    """The time of a fit and its predictions grows like this power of the number of rows."""
    rounds: int = 0
    """Most rounds of a method that can be given fewer, with larger steps; 0 for others."""
    learning_rate: float = 0.0
    """The size of a step of such a method."""
    suits_target: Callable[[Array], bool] | None = None
    """Whether it suits the values of a target; None if it suits all."""
    limit: int = 0
    """To how many rounds the time limits it; 0 if it does not."""
    most_rows: int = 0
    """Rows of a table that it can still keep the products of; 0 for no limit."""
    adapt: Callable[[Any, int, float], Any] | None = None
    """Sets what is measured in units of the columns or of the target, from their number and its spread."""
    is_users: bool = False
    """Whether the user brought it."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of boosting."""
    is_blend: bool = False
    """Whether it is the mean of other methods."""
    is_tuned: bool = False
    """Whether its settings may be changed in the time that is left."""

    def unsuited(self, columns: Columns, read: pd.DataFrame, y: Array | None = None) -> str:
        """Return why the method does not suit a table; an empty text if it does."""
        if self.suits_target is not None and y is not None and not self.suits_target(y):
            return "the target is no skewed count or amount"
        if len(read) < self.fewest_rows:
            return f"it wants {self.fewest_rows} rows to learn from"
        if self.most_rows and len(read) > self.most_rows:
            return f"it compares all rows with each other, and there are more than {self.most_rows:,}"
        if not self.takes_sparse and is_sparse(columns, read):
            return "the table is too wide for it"
        if self.prepare is curved and (is_sparse(columns, read) or prepared_width(columns, read) > MOST_CURVED):
            return "there would be too many products of columns"
        if self.prepare is condensed and (is_sparse(columns, read) or prepared_width(columns, read) < FEWEST_CONDENSED):
            return "there are too few columns to condense, or too many"
        if self.prepare in (averaged, standardized_averages):
            if not many_words(columns, read):
                return "no column has very many words"
            if y is not None and y.dtype.kind != "f" and len(np.unique(y)) > MOST_AVERAGED_CLASSES:
                return "there are too many classes to take means of"
        if self.prepare is unchanged and set(columns.kinds.values()) == {TEXT}:
            return "it does not read texts"
        return ""

    @property
    def n_rounds(self) -> int:
        """Most rounds, as far as they are limited; 0 for methods without."""
        return min(self.limit or self.rounds, self.rounds)

    def with_rounds(self, rounds: int) -> Contestant:
        """Return the method with so many rounds at most, whose steps are larger in turn."""
        return replace(self, limit=0 if rounds >= self.rounds else rounds)

    def with_settings(self, settings: Mapping[str, Any]) -> Contestant:
        """Return boosted trees with other settings."""
        kind: Callable[..., Any] = type(self.make())
        sentence = f"adds {settings['max_iter']} trees of up to {settings['max_leaf_nodes']} leaves"
        steps = {"rounds": settings["max_iter"], "learning_rate": settings["learning_rate"], "limit": 0}
        return replace(self, sentence=sentence, make=partial(kind, **settings), settings=dict(settings), **steps)

    def method(self, columns: Columns, y: Array | None = None) -> Any:
        """Return the method, not yet fitted, for a table with these columns, and a target like this."""
        return self.method_for(columns, _spread(y))

    def method_for(self, columns: Columns, spread: float) -> Any:
        """Return the same for a target of numbers with this standard deviation."""
        made = self.make()
        if self.adapt is not None:
            made = self.adapt(made, max(1, len(columns.kinds)), spread)
        if self.limit:
            rate = min(LARGEST_RATE, max(self.learning_rate, TRAVEL / self.limit))
            made.set_params(max_iter=self.limit, learning_rate=rate)
        n_words = len(columns.of(*WORD_KINDS))
        return made.set_params(categorical_features=list(range(n_words))) if self.takes_categories and n_words else made

    def pipeline(self, columns: Columns, read: pd.DataFrame, y: Array | None = None) -> Pipeline:
        """Return the method with its preparation, not yet fitted, for a table as read and its target."""
        return Pipeline([("prepare", self.prepare(columns, read)), ("method", self.method(columns, y))])


def _of_trees(name: str, sentence: str, make: Callable[[], Any], prepare: Any = coded, **needs: Any) -> Contestant:
    """Return a method that takes categories and gaps as they are."""
    return Contestant(name, sentence, make, prepare, takes_categories=True, **needs)


def _boosted(name: str, sentence: str, make: Callable[..., Any], settings: dict[str, Any], **needs: Any) -> Contestant:
    """Return boosted trees, whose rounds may be cut to the time there is."""
    steps = {"rounds": settings["max_iter"], "learning_rate": settings.get("learning_rate", 0.1)}
    return _of_trees(
        name, sentence, partial(make, **settings), growth=BOOSTING_GROWTH, settings=settings, **steps, **needs
    )


def _spread(y: Array | None) -> float:
    """Return the standard deviation of numbers; 1 for classes, or if all are the same."""
    if y is None or y.dtype.kind not in "fiu":
        return 1.0
    return float(np.std(y.astype(np.float64))) or 1.0


def _by_column(method: Any, n_columns: int, _spread_of_target: float) -> Any:
    """Return kernel ridge whose kernel is as wide as rows are apart, with a constant: it has no intercept."""
    return method.set_params(kernel=RBF(1.0 / n_columns) + FREE_LEVEL)


def _by_target(method: Any, _n_columns: int, spread: float) -> Any:
    """Return a regression whose tube and cost are in units of the spread of the target."""
    return method.set_params(C=method.C * spread, epsilon=method.epsilon * spread)


def _kernel_ridge(name: str, sentence: str, alpha: float) -> Contestant:
    needs: dict[str, Any] = {"takes_sparse": False, "growth": 3.0, "most_rows": MOST_COMPARED_ROWS}
    return Contestant(name, sentence, lambda: KernelRidge(alpha), adapt=_by_column, **needs)


def is_skewed_count(y: Array) -> bool:
    """Return whether numbers are none below 0, some of them 0, and their upper tail is long."""
    return bool(y.min() >= 0 and (y == 0).any()) and _is_skewed(y)


def is_skewed_amount(y: Array) -> bool:
    """Return whether numbers are all above 0, and their upper tail is long."""
    return bool(y.min() > 0) and _is_skewed(y)


def _is_skewed(y: Array) -> bool:
    low, middle, high = np.quantile(y, [0.05, 0.5, 0.95])
    return bool(high - middle > SKEWED * (middle - low))


CLASSIFIERS = (
    Contestant("most frequent class", "always says the same", DummyClassifier, coded, is_baseline=True),
    Contestant("logistic regression", "weighs the columns", LogisticRegression),
    Contestant("logistic with steps", "follows curves in each number", lambda: LogisticRegression(C=0.1), stepped),
    _boosted("boosted trees", "adds many small trees", HistGradientBoostingClassifier, QUICK_BOOSTING),
    _boosted("boosted trees, slow", "adds smaller trees with care", HistGradientBoostingClassifier, SLOW_BOOSTING),
    _boosted("boosted trees, few rows", "adds tiny trees to all rows", HistGradientBoostingClassifier, FIRM_BOOSTING),
    _boosted("boosted trees, large", "adds large trees", HistGradientBoostingClassifier, LARGE_BOOSTING),
    _boosted(
        "boosted trees on means of words",
        "splits by what each word stands for",
        HistGradientBoostingClassifier,
        SLOW_BOOSTING,
        prepare=averaged,
    ),
    Contestant(
        "logistic on means of words", "weighs what each word stands for", LogisticRegression, standardized_averages
    ),
    _boosted(
        "boosted trees, tuned",
        "adds as many trees as do good",
        HistGradientBoostingClassifier,
        TUNED_BOOSTING,
        fewest_rows=FEWEST_TUNED,
        is_tuned=True,
    ),
    _of_trees("random forest", "asks 100 trees for their votes", lambda: RandomForestClassifier(**FOREST)),
    _of_trees("decision tree", "asks a few questions", lambda: DecisionTreeClassifier(**SMALL_TREE)),
    Contestant("naive Bayes", "takes the columns for independent", MixedNB, unchanged),
    Contestant("linear discriminant", "one Gaussian cloud per class", LinearDiscriminantAnalysis, takes_sparse=False),
    Contestant("logistic, weak penalty", "weighs the columns freely", lambda: LogisticRegression(C=10.0)),
    Contestant("logistic, strong penalty", "weighs the columns with care", lambda: LogisticRegression(C=0.01)),
    Contestant("linear SVM", "leaves a wide margin", lambda: LinearSVC(C=0.1)),
    Contestant(
        "kernel SVM",
        "leaves a wide margin along curves",
        lambda: SVC(break_ties=True, probability=True, random_state=0),
        takes_sparse=False,
        growth=2.0,
    ),
    Contestant(
        "kernel SVM, weak penalty",
        "follows curves closely",
        lambda: SVC(C=10.0, break_ties=True, probability=True, random_state=0),
        takes_sparse=False,
        growth=2.0,
    ),
    Contestant(
        "logistic with steps, strong penalty",
        "follows curves with care",
        lambda: LogisticRegression(C=0.01),
        stepped,
    ),
    Contestant(
        "logistic with steps, weak penalty", "follows curves closely", lambda: LogisticRegression(C=1.0), stepped
    ),
    Contestant(
        "logistic with products", "adds squares and products of columns", lambda: LogisticRegression(C=0.01), curved
    ),
    Contestant(
        "nearest neighbors",
        "asks the 15 most similar rows",
        lambda: KNeighborsClassifier(15),
        takes_sparse=False,
        fewest_rows=40,
        growth=2.0,
    ),
    Contestant(
        "neural network",
        "mixes the columns in two layers of units",
        lambda: MLPClassifier(**NETWORK),
        fewest_rows=300,
    ),
    Contestant("logistic on components", "weighs a few mixtures of columns", LogisticRegression, condensed),
    Contestant(
        "neighbors on components",
        "asks the 15 rows that are most similar in outline",
        lambda: KNeighborsClassifier(15),
        condensed,
        fewest_rows=40,
        growth=2.0,
    ),
)

REGRESSORS = (
    Contestant("mean", "always says the mean", DummyRegressor, coded, is_baseline=True),
    Contestant("least squares", "fits a plane, no penalty", LinearRegression, takes_sparse=False),
    Contestant("ridge", "shrinks all coefficients", lambda: RidgeCV(alphas=RIDGE_PENALTIES)),
    Contestant("ridge with steps", "follows curves in each number", lambda: RidgeCV(alphas=RIDGE_PENALTIES), stepped),
    _boosted("boosted trees", "adds many small trees", HistGradientBoostingRegressor, QUICK_BOOSTING),
    _boosted("boosted trees, slow", "adds smaller trees with care", HistGradientBoostingRegressor, SLOW_BOOSTING),
    _boosted("boosted trees, few rows", "adds tiny trees to all rows", HistGradientBoostingRegressor, FIRM_BOOSTING),
    _boosted("boosted trees, large", "adds large trees", HistGradientBoostingRegressor, LARGE_BOOSTING),
    _boosted(
        "boosted trees on means of words",
        "splits by what each word stands for",
        HistGradientBoostingRegressor,
        SLOW_BOOSTING,
        prepare=averaged,
    ),
    Contestant(
        "ridge on means of words",
        "weighs what each word stands for",
        lambda: RidgeCV(alphas=RIDGE_PENALTIES),
        standardized_averages,
    ),
    _boosted(
        "boosted trees, tuned",
        "adds as many trees as do good",
        HistGradientBoostingRegressor,
        TUNED_BOOSTING,
        fewest_rows=FEWEST_TUNED,
        is_tuned=True,
    ),
    _boosted(
        "boosted trees for counts",
        "multiplies, is never below 0",
        HistGradientBoostingRegressor,
        COUNT_BOOSTING,
        suits_target=is_skewed_count,
    ),
    _boosted(
        "boosted trees for amounts",
        "multiplies, is always above 0",
        HistGradientBoostingRegressor,
        AMOUNT_BOOSTING,
        suits_target=is_skewed_amount,
    ),
    _of_trees(
        "random forest", "takes the mean of 100 trees", lambda: RandomForestRegressor(max_features=0.4, **FOREST)
    ),
    _of_trees("decision tree", "asks a few questions", lambda: DecisionTreeRegressor(**SMALL_TREE)),
    Contestant("lasso", "keeps few columns", lambda: LassoCV(cv=INNER_FOLDS)),
    _kernel_ridge("kernel ridge", "adds a bump at every row", 0.03),
    _kernel_ridge("kernel ridge, strong penalty", "adds low bumps with care", 0.3),
    _kernel_ridge("kernel ridge, weak penalty", "follows the rows closely", 0.003),
    Contestant(
        "kernel SVM",
        "lays a tube along the rows",
        lambda: SVR(C=3.0, epsilon=0.1),
        takes_sparse=False,
        growth=2.0,
        adapt=_by_target,
    ),
    Contestant(
        "kernel SVM, weak penalty",
        "lays a narrow tube along the rows",
        lambda: SVR(C=30.0, epsilon=0.02),
        takes_sparse=False,
        growth=2.0,
        adapt=_by_target,
    ),
    Contestant(
        "ridge with products",
        "adds squares and products of columns",
        lambda: RidgeCV(alphas=RIDGE_PENALTIES),
        curved,
    ),
    Contestant(
        "nearest neighbors",
        "asks the 10 most similar rows",
        lambda: KNeighborsRegressor(10),
        takes_sparse=False,
        fewest_rows=40,
        growth=2.0,
    ),
    Contestant(
        "neural network",
        "mixes the columns in two layers of units",
        lambda: MLPRegressor(standardize_target=True, **NETWORK),
        fewest_rows=300,
    ),
    Contestant(
        "least squares on components", "fits a plane through a few mixtures of columns", LinearRegression, condensed
    ),
    Contestant(
        "neighbors on components",
        "asks the 10 rows that are most similar in outline",
        lambda: KNeighborsRegressor(10),
        condensed,
        fewest_rows=40,
        growth=2.0,
    ),
)


def contestants_for(*, is_classification: bool) -> tuple[Contestant, ...]:
    """Return the methods that suit a task, the baseline first."""
    return CLASSIFIERS if is_classification else REGRESSORS


def own_contestants(estimators: Mapping[str, Any], *, is_classification: bool) -> tuple[Contestant, ...]:
    """Return estimators of the user as methods: on gaps filled, numbers scaled and words as indicator columns."""
    known = {one.name for one in contestants_for(is_classification=is_classification)}
    for name, estimator in estimators.items():
        if not hasattr(estimator, "fit") or isinstance(estimator, type):
            raise TableError(f"also must hold estimators such as Ridge(), got {estimator!r} for {name!r}.")
        if is_classifier(estimator) != is_classification:
            wanted = "classifiers" if is_classification else "regressors"
            raise TableError(f"also must hold {wanted} for this target, got {type(estimator).__name__}.")
        if name in known:
            raise TableError(f"also must name methods anew, got {name!r}, which is one already.")
    return tuple(
        Contestant(name, "is yours", partial(clone, estimator), is_users=True) for name, estimator in estimators.items()
    )
