"""Rules and paths in words: by hand, agreement with predictions, wrong input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble

from pellucid.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ID3Classifier,
    OptimalTreeClassifier,
    explain_path,
    rules,
)
from pellucid.tree.explaining.rules_in_words import Condition, joined
from tests.tree.test_id3_classifier import PLAY, WEATHER

seeds = pytest.mark.parametrize("seed", range(4))


def holds(condition, value):
    if condition.categories is None:
        return condition.low < value <= condition.high
    return (value in condition.categories) != condition.is_excluded


# by hand


def test_the_rules_of_the_weather():
    found = rules(ID3Classifier().fit(WEATHER, PLAY))
    assert str(found).splitlines() == [
        "1. if outlook = overcast: yes (100.0% of 4 rows)",
        "2. if outlook = rain and wind = strong: no (100.0% of 2 rows)",
        "3. if outlook = rain and wind = weak: yes (100.0% of 3 rows)",
        "4. if outlook = sunny and humidity = high: no (100.0% of 3 rows)",
        "5. if outlook = sunny and humidity = normal: yes (100.0% of 2 rows)",
    ]
    frame = found.frame()
    assert frame["condition"].tolist()[0] == "outlook = overcast"
    assert frame["weight"].sum() == 14


def test_conditions_on_one_column_are_joined():
    low, high = Condition(0, "age", low=20.0), Condition(0, "age", high=41.5)
    other = Condition(1, "town", categories=("a", "b", "c"))
    without = Condition(1, "town", categories=("b",), is_excluded=True)
    assert [str(c) for c in joined([low, other, high, without])] == ["20 < age ≤ 41.5", "town is one of a, c"]
    assert str(without & Condition(1, "town", categories=("c",), is_excluded=True)) == "town is none of b, c"
    assert str(without) == "town ≠ b"


def test_a_path_in_words():
    model = ID3Classifier().fit(WEATHER, PLAY)
    said = explain_path(model, WEATHER.iloc[5])
    assert str(said) == (
        "no, because outlook = rain and wind = strong: of the 2 rows of this kind 100.0% are no, of all 35.7%."
    )
    assert [prediction for _, prediction in said.steps] == ["yes", "no"]


def test_a_category_that_training_did_not_have_is_named():
    model = ID3Classifier().fit(WEATHER, PLAY)
    said = str(explain_path(model, ["rain", "hot", "high", "gale"]))
    assert said.startswith("yes, because outlook = rain and wind = gale, which training did not have: of the 5 rows")


def test_a_tree_of_one_leaf():
    model = OptimalTreeClassifier(0).fit([[1.0], [2.0], [3.0]], [0, 0, 1])
    assert str(rules(model)) == "1. always: 0 (66.7% of 3 rows)"
    assert str(explain_path(model, [1.0])).startswith("0, whatever the row")


def test_codes_of_categories():
    X, y = [[0], [1], [2], [1], [0], [2]], [0, 1, 0, 1, 0, 0]
    model = OptimalTreeClassifier(1, categorical_features=[0]).fit(X, y)
    assert [str(rule.conditions[0]) for rule in rules(model, ["color"])] == ["color = 1", "color ≠ 1"]
    assert "color ≠ 1 (it is 2)" in str(explain_path(model, [2], ["color"]))


def test_categories_of_a_data_frame_and_missing_values_are_told():
    X = pd.DataFrame({"town": pd.Categorical(["rome", "oslo", "bern", "rome"] * 5), "age": np.arange(20.0)})
    y = np.where(X["town"] == "rome", "yes", "no")
    model = DecisionTreeClassifier(categorical_features="from_dtype").fit(X, y)
    assert sorted(str(rule.conditions[0]) for rule in rules(model)) == ["town = rome", "town is one of bern, oslo"]
    assert "town is one of bern, oslo (it is oslo)" in str(explain_path(model, X.iloc[1]))
    mean = DecisionTreeRegressor(max_depth=1).fit([[0.0], [1.0], [np.nan]], [0.0, 4.0, 4.0])
    assert str(explain_path(mean, [np.nan], ["age"])) == (
        "4, because age > 0.5 (it is missing): the mean of the 2 rows of this kind; of all it is 2.66667."
    )


# properties


@seeds
def test_each_row_fits_one_rule_and_gets_its_prediction(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(5, size=(60, 4)).astype(float), rng.integers(3, size=60)
    for model in (OptimalTreeClassifier(3, categorical_features=[1]), ID3Classifier(numeric=[0, 2])):
        found = rules(model.fit(X, y))
        said = model.predict(X)
        for x, prediction in zip(X, said, strict=True):
            fitting = [rule for rule in found if all(holds(c, x[c.feature]) for c in rule.conditions)]
            assert [rule.prediction for rule in fitting] == [prediction]
            path = explain_path(model, x)
            assert path.rule == fitting[0]
        assert sum(rule.weight for rule in found) == 60


# errors


def test_refuses_what_it_cannot_tell():
    X, y = np.arange(12.0).reshape(6, 2), [0, 0, 0, 1, 1, 1]
    model = OptimalTreeClassifier(1).fit(X, y)
    with pytest.raises(ValueError, match="feature_names must have a name for each of the 2 columns, got 1"):
        rules(model, ["a"])
    with pytest.raises(ValueError, match="x must be one row, got 2"):
        explain_path(model, X[:2])
    forest = sklearn.ensemble.RandomForestClassifier(3).fit(X, y)
    with pytest.raises(TypeError, match="tree must be one decision tree of pellucid with one target, got RandomForest"):
        rules(forest)


def test_names_of_a_data_frame_are_used():
    X = pd.DataFrame({"age": [20, 30, 50, 60], "pay": [1, 2, 1, 2]})
    model = OptimalTreeClassifier(1).fit(X, ["no", "no", "yes", "yes"])
    assert str(rules(model)[1]) == "if age > 40: yes (100.0% of 2 rows)"
    assert str(explain_path(model, [45, 1])) == str(explain_path(model, X.iloc[2])).replace("is 50", "is 45")


def test_a_split_of_missing_values_from_all_others_is_told():
    assert [str(Condition(0, "age", high=np.inf)), str(Condition(0, "age", low=np.inf))] == [
        "age is known",
        "age is missing",
    ]
