"""Fitted models for every class of the registry, and some that combine them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures, StandardScaler

from pellucid.app.tables.column_reader import ColumnReader
from pellucid.app.tables.comparable_numbers import ComparableNumbers
from pellucid.app.tables.preparation import TableOfCodes
from pellucid.app.tables.step_features import StepFeatures
from pellucid.app.tables.target_means import TargetMeans
from pellucid.app.tables.word_encoder import WordEncoder
from pellucid.core.files.saving import model_bytes
from tests.public_estimators import public_estimators, usual

TEXTS = ["a plain text", "another text", "что-то другое"]


def numbers(seed: int = 0, n: int = 24, p: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, X @ np.array([2.0, -1.0, 0.5])[:p] + 4.0 + 0.1 * rng.standard_normal(n)


def fitted(model: Any, X: Any, y: Any = None) -> Any:
    """Fit without a word about convergence: these tests are about files."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def suited(kind: type, X: np.ndarray) -> np.ndarray:
    """Return the numbers, or for an estimator of counts or categories ones and zeros: which of them are large."""
    return (np.abs(X) > 1).astype(float) if kind().__sklearn_tags__().input_tags.positive_only else X


def fitted_estimator(kind: type) -> Any:
    X, y = numbers()
    X = suited(kind, X)
    return fitted(usual(kind), X, np.where(y > 4.0, "high", "low") if is_classifier(kind()) else y)


def table() -> tuple[pd.DataFrame, np.ndarray]:
    X, y = numbers()
    frame = pd.DataFrame(X, columns=["length", "width", "height"])
    frame.loc[3, "width"] = np.nan
    frame["maker"] = ["Ада", "b&w", None, "Ада"] * 6
    return frame, y


def preparation() -> ColumnTransformer:
    numeric = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    words = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    )
    return ColumnTransformer([("numeric", numeric, ["length", "width", "height"]), ("words", words, ["maker"])])


def fitted_transformers() -> dict[str, tuple[Any, Any]]:
    """Return each transformer of the registry with data it can transform."""
    X, _ = numbers()
    frame, _ = table()
    makers, gappy = frame[["maker"]].fillna("none"), frame[["length", "width"]]
    return {
        "StandardScaler": (StandardScaler().fit(X), X),
        "SimpleImputer": (SimpleImputer(add_indicator=True).fit(gappy), gappy),
        "MissingIndicator": (MissingIndicator().fit(gappy), gappy),
        "OrdinalEncoder": (
            OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=2).fit(makers),
            makers,
        ),
        "OneHotEncoder": (OneHotEncoder(max_categories=2).fit(makers), makers),
        "TfidfTransformer": (TfidfTransformer().fit(np.abs(X)), np.abs(X)),
        "TfidfVectorizer": (TfidfVectorizer(max_features=3).fit(TEXTS), TEXTS),
        "ColumnReader": (ColumnReader({"length": "number", "maker": "words"}).fit(frame), frame.assign(maker="b&w")),
        "WordEncoder": (WordEncoder(2, indicators=True).fit(makers), makers),
        "StepFeatures": (StepFeatures(4).fit(X), X),
        "ComparableNumbers": (ComparableNumbers().fit(X), X),
        "TableOfCodes": (TableOfCodes((), ["a", "b", "c"]).fit(X), X),
        "TargetMeans": (TargetMeans().fit(makers, X[:, 0]), makers),
        "PolynomialFeatures": (PolynomialFeatures((1, 3), include_bias=False).fit(X), X),
        "ColumnTransformer": (preparation().fit(frame), frame),
        "Pipeline": (Pipeline([("all", preparation()), ("nothing", "passthrough")]).fit(frame), frame),
    }


def sample_files() -> list[bytes]:
    """Return the bytes of one file per class of the registry."""
    models = [model for model, _ in fitted_transformers().values()]
    models += [fitted_estimator(kind) for kind in public_estimators().values()]
    return [model_bytes(model) for model in models]
