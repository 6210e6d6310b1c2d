"""Settings beyond the defaults survive, and what cannot survive is refused by name."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pellucid
from pellucid.core.files import NotSaveableError
from pellucid.linear_model import (
    BasisExpansion,
    BridgeRegression,
    ElasticNet,
    ElasticNetCV,
    Lars,
    Lasso,
    LassoCV,
    LassoLars,
    LinearRegression,
    Ridge,
    RidgeClassifier,
    RidgeCV,
)
from tests.core.files.sample_models import fitted, numbers
from tests.core.files.test_round_trip import again, assert_same_state

X, Y = numbers()
PAIR = np.column_stack([Y, -Y])
CLASSES = np.digitize(Y, np.quantile(Y, [0.3, 0.6]))
RIDGE_SOLVERS = ("svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga")


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (LinearRegression(fit_intercept=False), Y),
        (LinearRegression(positive=True), Y),
        (Ridge(alpha=np.array([0.5, 2.0])), PAIR),
        (Ridge(alpha=2, fit_intercept=False), Y),
        (Ridge(positive=True), Y),
        *((Ridge(solver=solver, random_state=0), Y) for solver in RIDGE_SOLVERS),
        (RidgeCV(alphas=[0.1, 1, 10]), Y),
        (RidgeCV(alphas=np.logspace(-2, 2, 5), store_cv_results=True), Y),
        (RidgeCV(alpha_per_target=True, store_cv_results=True), PAIR),
        (RidgeCV(cv=3, scoring="neg_mean_absolute_error"), Y),
        (RidgeClassifier(class_weight={0: 1.0, 1: 2, 2: 0.5}), CLASSES),
        (RidgeClassifier(class_weight="balanced"), CLASSES > 0),
        (RidgeClassifier(), np.column_stack([CLASSES > 0, CLASSES > 1]).astype(int)),
        (RidgeClassifier(), np.array(["low", "middle", "high"], dtype=object)[CLASSES]),
        (Lasso(alpha=0.1, selection="random", random_state=3, positive=True), Y),
        (Lasso(alpha=0.1, precompute=True, warm_start=True), PAIR),
        (ElasticNet(alpha=0.1, precompute=X.T @ X, fit_intercept=False), Y),
        (LassoCV(alphas=[0.1, 0.01], cv=3), Y),
        (LassoCV(alphas=[0.1], cv=2), Y),
        (ElasticNetCV(l1_ratio=[0.2, 0.9], alphas=7, cv=3), Y),
        (ElasticNetCV(l1_ratio=(0.5,), alphas=np.array([0.1, 0.01]), cv=3), Y),
        (Lars(n_nonzero_coefs=2), Y),
        (Lars(fit_path=False), Y),
        (Lars(jitter=1e-9, random_state=0), PAIR),
        (LassoLars(alpha=0.01, positive=True), Y),
        (BridgeRegression(q=0.5, alpha=0.1), Y),
        (BasisExpansion(degree=3, interaction_only=True, include_bias=True), None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_settings_come_back_whole(model, target, tmp_path):
    model = fitted(model, X, target)
    assert_same_state(model, again(model, tmp_path))


@pytest.mark.parametrize("kind", [LinearRegression, Ridge, Lasso, ElasticNet])
def test_a_fit_to_sparse_data_comes_back_whole(kind, tmp_path):
    model = fitted(kind(), sparse.csr_array(np.where(X > 0, X, 0.0)), Y)
    assert_same_state(model, again(model, tmp_path))


def test_names_of_features_come_back(tmp_path):
    import pandas as pd

    model = Ridge().fit(pd.DataFrame(X, columns=["läng e", "b\n", '"c"']), Y)
    assert list(again(model, tmp_path).feature_names_in_) == ["läng e", "b\n", '"c"']


def test_imputers_of_words_and_scalers_of_gaps_come_back_whole(tmp_path):
    words = np.array([["a"], [np.nan], ["b"]], dtype=object)
    gaps = np.where(X > 1.5, np.nan, X)
    for model, data in (
        (SimpleImputer(strategy="constant", fill_value="none"), words),
        (StandardScaler(with_mean=False), gaps),
        (StandardScaler(with_std=False), gaps),
        (OneHotEncoder(dtype=np.float32), np.array([[1], [2], [7]])),
    ):
        assert_same_state(model.fit(data), again(model, tmp_path))


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (LassoCV(cv=KFold(3)), "cv"),
        (RidgeCV(cv=KFold(3)), "cv"),
        (RidgeCV(scoring=lambda model, X, y: 0.0), "scoring"),
        (Lasso(alpha=0.1, selection="random", random_state=np.random.RandomState(0)), "random_state"),
    ],
)
def test_objects_in_settings_are_refused_by_name(model, name, tmp_path):
    model = fitted(model, X, Y)
    with pytest.raises(NotSaveableError, match=f"{name} of {type(model).__name__} must be None or"):
        pellucid.save(model, tmp_path / "model.safetensors")
    assert not list(tmp_path.iterdir())
