"""Groups are never shared between parts, and no part is learned from that is later than the rows it is tried on."""

import numpy as np
import pandas as pd
import pytest

from pellucid.linear_model import LinearRegression
from pellucid.model_selection import CrossValidationTest, ResamplingTest, TestVault, TrainValidationTest
from pellucid.model_selection.vault import forward_folds, group_folds, latest_apart

RECIPES = [TrainValidationTest(), CrossValidationTest(n_splits=4), ResamplingTest(n_splits=3)]


def customers(n=200, seed=0):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 40, n)
    return rng.standard_normal((n, 2)), rng.choice(["no", "yes"], n), groups


def test_the_latest_part_by_hand():
    early, late = latest_apart([5, 1, 4, 2, 3], 0.4)
    assert (early.tolist(), late.tolist()) == ([1, 3, 4], [0, 2])


def test_rows_of_one_moment_are_not_torn_apart():
    early, late = latest_apart([1, 2, 2, 2, 2], 0.2)
    assert (early.tolist(), late.tolist()) == ([0], [1, 2, 3, 4])


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: type(recipe).__name__)
@pytest.mark.parametrize("is_classification", [True, False])
def test_no_recipe_shares_a_group_between_parts(recipe, is_classification):
    X, y, groups = customers()
    y = y if is_classification else X[:, 0]
    splits = recipe.splits(X, y, is_classification=is_classification, groups=groups)
    for learn, validate in splits:
        assert not set(groups[learn]) & set(groups[validate])
        assert len(learn) > len(validate) > 0


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: type(recipe).__name__)
def test_no_recipe_learns_from_the_future(recipe):
    X, y, _ = customers()
    order = np.random.default_rng(1).integers(0, 60, len(y))
    for learn, validate in recipe.splits(X, y, is_classification=True, order=order):
        assert order[learn].max() < order[validate].min()


def test_the_parts_of_folds_forward_in_time_cover_all_but_the_first():
    folds = forward_folds(np.arange(100), 4)
    assert np.concatenate([validate for _, validate in folds]).tolist() == list(range(20, 100))


def test_a_vault_of_groups_shares_none_and_holds_about_its_share():
    X, y, groups = customers(400)
    vault = TestVault(X, y, groups=groups)
    inside = groups[np.setdiff1d(np.arange(400), vault.learning_rows)]
    assert not set(inside) & set(groups[vault.learning_rows])
    assert 60 <= vault.n_test <= 100


def test_a_vault_in_time_holds_the_latest():
    dates = pd.Series(pd.date_range("2024-01-01", periods=50)).sample(frac=1, random_state=0)
    vault = TestVault(np.arange(50.0)[:, None], np.arange(50.0), order=dates)
    assert vault.n_test == 10
    assert dates.iloc[vault.learning_rows].max() == pd.Timestamp("2024-02-09")


def test_a_test_set_of_ones_own_is_all_that_the_vault_holds():
    vault = TestVault([[0.0], [1.0]], [0.0, 1.0], test=([[5.0]], [6.0]))
    assert vault.learning_rows.tolist() == [0, 1]
    assert vault.open("final estimate") == ([[5.0]], [6.0])


def test_a_recipe_keeps_groups_apart_from_the_vault_to_the_choice():
    X, _, groups = customers()
    choice = CrossValidationTest().choose({"line": LinearRegression()}, X, 2 * X[:, 0], groups=groups)
    outside = groups[choice.vault.learning_rows]
    assert set(outside) != set(groups)
    assert choice.estimate.interval.score < 1e-9


def test_too_few_groups_or_moments_are_told():
    with pytest.raises(ValueError, match="groups must be at least 5 different ones for as many parts, got 2"):
        group_folds([0, 1, 0, 1], [0.0, 1.0, 2.0, 3.0], 5, by_class=False)
    with pytest.raises(ValueError, match="order must have moments enough for 3 parts, got 1"):
        forward_folds([1, 1, 1, 1], 2)
    with pytest.raises(ValueError, match="order must have two moments or more, got one"):
        latest_apart([1, 1], 0.5)


def test_ways_to_split_exclude_each_other():
    with pytest.raises(ValueError, match="must be given one at a time"):
        TestVault([[0.0], [1.0]], [0.0, 1.0], groups=[0, 1], order=[0, 1])
