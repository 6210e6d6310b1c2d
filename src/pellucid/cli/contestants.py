"""The methods that ``pellucid fit`` compares, and how a table is prepared for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

from pellucid.cli.tables import Columns
from pellucid.linear_model import ElasticNetCV, LassoCV, LinearRegression, RidgeCV

RIDGE_PENALTIES = tuple(float(alpha) for alpha in np.logspace(-3, 5, 41))
L1_SHARES = (0.1, 0.5, 0.9)
INNER_FOLDS = 5
MOST_CURVED = 40
"""With more features than this, squares and products are too many to offer."""


@dataclass(frozen=True)
class Contestant:
    """A method with the sentence that says what it does."""

    name: str
    sentence: str
    make: Callable[[], list[Any]]
    is_baseline: bool = False


CONTESTANTS = (
    Contestant("mean", "predicts the mean for every row", lambda: [DummyRegressor()], is_baseline=True),
    Contestant("least squares", "fits a plane, no penalty", lambda: [LinearRegression()]),
    Contestant("ridge", "shrinks all coefficients", lambda: [RidgeCV(alphas=RIDGE_PENALTIES)]),
    Contestant("lasso", "keeps few features", lambda: [LassoCV(cv=INNER_FOLDS)]),
    Contestant(
        "elastic net", "keeps groups of related features", lambda: [ElasticNetCV(l1_ratio=L1_SHARES, cv=INNER_FOLDS)]
    ),
    Contestant(
        "ridge with curves",
        "adds squares and products of features, then shrinks",
        lambda: [PolynomialFeatures(2, include_bias=False), StandardScaler(), RidgeCV(alphas=RIDGE_PENALTIES)],
    ),
)


def contestants_for(columns: Columns) -> list[Contestant]:
    """Return the methods suited to a table."""
    return [one for one in CONTESTANTS if "curves" not in one.name or len(columns.used) <= MOST_CURVED]


def build(contestant: Contestant, columns: Columns) -> Pipeline:
    """Return the unfitted pipeline: prepare the columns, then the method."""
    *before, method = contestant.make()
    curves = [(f"expand{i}", step) for i, step in enumerate(before)]
    return Pipeline([("prepare", preparation(columns)), *curves, ("method", method)])


def preparation(columns: Columns) -> ColumnTransformer:
    """Return the transformer: fill in and standardize numbers, turn words into indicator columns."""
    numeric = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    words = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="missing"),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    branches = [("numeric", numeric, list(columns.numeric)), ("words", words, list(columns.words))]
    return ColumnTransformer(
        [branch for branch in branches if branch[2]], sparse_threshold=0.0, verbose_feature_names_out=False
    )
