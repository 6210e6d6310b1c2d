"""The steps of a pipeline before its last one, verified too."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pellucid
from pellucid.decomposition import PCA
from pellucid.ensemble import RandomForestClassifier
from pellucid.linear_model import Ridge
from pellucid.tree import DecisionTreeRegressor


def failed(model, X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [claim.name for claim in pellucid.verify(model, X, y, **options).failed]


def rows(n=60):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(50, 9, n), rng.normal(size=n), rng.integers(0, 3, n)])
    X[::7, 0] = np.nan
    return X, np.nan_to_num(X[:, 0]) + 5 * X[:, 2] + rng.normal(size=n)


def prepared():
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    return ColumnTransformer([("numbers", numbers, [0, 1]), ("words", OneHotEncoder(), [2])])


def change_median(step):
    step.named_transformers_["numbers"][0].statistics_[0] *= 1.01


def change_mean(step):
    step.named_transformers_["numbers"][1].mean_ += 0.01


def change_categories(step):
    step.named_transformers_["words"].categories_[0][2] = 7.0


def test_a_whole_pipeline_holds_and_says_what_is_not_covered():
    X, y = rows()
    model = make_pipeline(prepared(), Ridge()).fit(X, y)
    found = pellucid.verify(model, X, y)
    assert found.holds
    assert "of 1 steps" in found["steps"].statement
    assert "Not covered: the parameters of the steps" in found.reason


@pytest.mark.parametrize("change", [change_median, change_mean, change_categories])
def test_a_changed_transformer_is_found(change):
    X, y = rows()
    model = make_pipeline(prepared(), DecisionTreeRegressor()).fit(X, y)
    change(model[0])
    assert "steps" in failed(model, X, y)


def test_a_transformer_of_ours_is_proved_by_its_own_proof():
    X, y = rows()
    model = make_pipeline(SimpleImputer(), PCA(2), Ridge()).fit(X, y)
    assert not failed(model, X, y)
    model[1].components_ = model[1].components_ * 1.01
    assert "steps" in failed(model, X, y)


def test_texts_raise_no_alarm_although_a_transform_rounds_otherwise_than_the_fit():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["ann", "bob", "cyd", "dan", "eve", "fay"], 5)) for _ in range(80)]
    y = rng.integers(0, 2, 80)
    model = make_pipeline(TfidfVectorizer(), RandomForestClassifier(5, random_state=0)).fit(texts, y)
    assert not failed(model, texts, y)
    model[0]._tfidf.idf_ = model[0].idf_ * np.linspace(1.0, 1.02, len(model[0].idf_))
    assert "steps" in failed(model, texts, y)


def test_weights_of_a_step_are_tried():
    X, y = rows()
    X, weight = np.nan_to_num(X), np.linspace(1.0, 3.0, len(X))
    steps = make_pipeline(StandardScaler(), Ridge())
    steps.fit(X, y, standardscaler__sample_weight=weight, ridge__sample_weight=weight)
    assert not failed(steps, X, y, sample_weight=weight)


class Noisy(TransformerMixin, BaseEstimator):
    """Adds noise that nobody can draw again."""

    def fit(self, X, y=None):
        """Draw the noise."""
        self.noise_ = np.random.default_rng().normal(size=np.shape(X)[1])
        return self

    def transform(self, X):
        """Add it."""
        return X + self.noise_


def test_a_step_that_draws_at_random_is_named_as_not_covered():
    X, y = rows()
    model = make_pipeline(SimpleImputer(), Noisy(), Ridge()).fit(X, y)
    found = pellucid.verify(model, X, y)
    assert found.holds
    assert "noisy, which draws at random" in found.reason
