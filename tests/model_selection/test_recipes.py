"""Recipes, the vault, nested cross-validation and the corrected t-test."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.model_selection import GridSearchCV, LeaveOneOut
from sklearn.tree import DecisionTreeClassifier

from pellucid.linear_model import LinearRegression, Ridge, RidgeClassifier
from pellucid.model_selection import (
    CrossValidationTest,
    ResamplingTest,
    TestVault,
    TrainValidationTest,
    compare_methods,
    corrected_t_test,
    nested_cross_validation,
)
from pellucid.model_selection.recipes import chosen_by

IRIS, DIABETES = load_iris(return_X_y=True), load_diabetes(return_X_y=True)
CLASSIFIERS = {
    "majority": DummyClassifier(),
    "ridge": RidgeClassifier(),
    "tree": DecisionTreeClassifier(random_state=0),
}

every_recipe = pytest.mark.parametrize(
    "recipe", [TrainValidationTest(), CrossValidationTest(), ResamplingTest(n_splits=5)], ids=lambda r: type(r).__name__
)


# the vault


def test_learning_and_test_rows_are_all_rows_once():
    X = np.arange(50)[:, None]
    vault = TestVault(X, np.arange(50.0), test_size=0.3)
    rows = [*vault.learning[0][:, 0], *vault.open("count them")[0][:, 0]]
    assert sorted(rows) == list(range(50))
    assert vault.n_test == 15


def test_classes_keep_their_shares():
    vault = TestVault(*IRIS)
    assert np.bincount(vault.open("look")[1]).tolist() == [10, 10, 10]


def test_every_look_after_the_first_is_marked():
    vault = TestVault(*IRIS)
    model = RidgeClassifier().fit(*vault.learning)
    first, second = vault.estimate(model), vault.estimate(model, reason="tuned it a little")
    assert not first.is_biased
    assert second.is_biased
    assert "biased: look number 2" in repr(second)
    assert [opening.reason for opening in vault.log] == ["final estimate", "tuned it a little"]
    assert repr(vault) == "TestVault(30 rows, opened 2 times)"


def test_the_same_seed_locks_away_the_same_rows():
    once, again = (TestVault(*DIABETES, random_state=3).open("compare")[1] for _ in range(2))
    np.testing.assert_array_equal(once, again)


def test_an_opening_needs_a_reason():
    with pytest.raises(ValueError, match="reason must say why the vault is opened, got ''"):
        TestVault(*IRIS).open("")


# by hand


def test_the_first_of_equal_candidates_wins():
    errors = {"a": np.array([0.2, 0.2]), "b": np.array([0.1, 0.3]), "c": np.array([0.5, 0.5])}
    assert chosen_by(errors, "best") == "a"


def test_one_standard_error_prefers_the_simple():
    # best is c with mean 0.2 and standard error 0.1 / sqrt(2) / ... = 0.1: limit 0.3
    errors = {"a": np.array([0.5, 0.5]), "b": np.array([0.28, 0.3]), "c": np.array([0.1, 0.3])}
    assert chosen_by(errors, "best") == "c"
    assert chosen_by(errors, "one standard error") == "b"


def test_the_corrected_t_test_by_hand():
    # differences -1, -2, -3: mean -2, variance 1; error sqrt((1/3 + 1/4) * 1)
    found = corrected_t_test([0, 0, 0], [1, 2, 3], share=0.25)
    assert found.difference == -2.0
    assert (found.high - found.low) / 2 == pytest.approx(4.302652729911275 * np.sqrt(7 / 12))


# properties


@every_recipe
def test_the_better_candidate_is_chosen_and_estimated_once(recipe):
    choice = recipe.choose(CLASSIFIERS, *IRIS)
    assert choice.name in ("ridge", "tree")
    assert len(choice.vault.log) == 1
    assert not choice.estimate.is_biased
    assert choice.estimate.interval.high < 0.4
    assert choice.frame().set_index("candidate").loc[choice.name, "chosen"]


@every_recipe
def test_the_chosen_model_is_fitted_to_all_learning_rows(recipe):
    choice = recipe.choose({"line": LinearRegression()}, *DIABETES)
    again = LinearRegression().fit(*choice.vault.learning)
    np.testing.assert_allclose(choice.model.coef_, again.coef_)


def test_recipes_take_frames_and_searches():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=3)
    choice = CrossValidationTest(n_splits=3).choose({"mean": DummyRegressor(), "ridge": search}, X, y)
    assert choice.name == "ridge"
    assert isinstance(choice.vault.learning[0], pd.DataFrame)


def test_leave_one_out_is_a_recipe():
    assert isinstance(CrossValidationTest(n_splits=None).splitter(is_classification=False), LeaveOneOut)
    choice = CrossValidationTest(n_splits=None).choose({"mean": DummyRegressor()}, DIABETES[0][:20], DIABETES[1][:20])
    assert len(choice.errors["mean"]) == 16


def test_the_same_seed_gives_the_same_choice():
    once, again = (ResamplingTest(n_splits=5, random_state=4).choose(CLASSIFIERS, *IRIS) for _ in range(2))
    assert once.name == again.name
    np.testing.assert_array_equal(once.errors["tree"], again.errors["tree"])


def test_nested_cross_validation_predicts_every_row_once():
    nested = nested_cross_validation(CLASSIFIERS, *IRIS, outer=4, inner=3)
    assert len(nested.chosen) == len(nested.errors) == 4
    assert set(nested.chosen) <= set(CLASSIFIERS)
    assert nested.interval.score == pytest.approx(np.mean(nested.predictions != IRIS[1]))
    assert "times" in repr(nested)


def test_choosing_on_noise_does_not_look_good_from_outside():
    # among many useless features, some tree looks good on its validation folds; nested folds are not fooled
    random = np.random.default_rng(0)
    X, y = random.standard_normal((60, 5)), random.integers(0, 2, 60)
    candidates = {str(k): DecisionTreeClassifier(max_depth=2, random_state=k, splitter="random") for k in range(12)}
    nested = nested_cross_validation(candidates, X, y, outer=5, inner=3)
    assert nested.interval.low <= 0.5 <= nested.interval.high


def test_the_correction_makes_the_test_more_careful():
    X, y = IRIS
    tree, deeper = DecisionTreeClassifier(max_depth=2, random_state=0), DecisionTreeClassifier(random_state=0)
    found = compare_methods(tree, deeper, X, y)
    naive = ttest_rel(*found.errors).pvalue
    assert found.p_value > naive


def test_a_clear_difference_is_found():
    found = compare_methods(RidgeClassifier(), DummyClassifier(), *IRIS)
    assert found.verdict == "the first is better"
    assert compare_methods(DummyClassifier(), DummyClassifier(), *IRIS).verdict == "no difference shown"


# errors


def test_bad_arguments_get_one_sentence():
    with pytest.raises(ValueError, match="candidates must be all classifiers or all regressors"):
        CrossValidationTest().choose({"a": DummyClassifier(), "b": DummyRegressor()}, *IRIS)
    with pytest.raises(ValueError, match="candidates must be all classifiers or all regressors, at least one, got"):
        CrossValidationTest().choose({}, *IRIS)
    with pytest.raises(ValueError, match="rule must be one of .* got 'luck'"):
        CrossValidationTest(rule="luck")
    with pytest.raises(ValueError, match="outer must be at least 2, got 1"):
        nested_cross_validation(CLASSIFIERS, *IRIS, outer=1)
    with pytest.raises(ValueError, match=r"errors must be two vectors of equal length of at least 2, got \(1,\)"):
        corrected_t_test([0.1], [0.2], share=0.25)
