"""Out of bag by hand: bags, votes and errors as scikit-learn's forests have them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, RandomForestRegressor

import pellucid
from pellucid.ensemble import RandomForestClassifier as RandomForest
from pellucid.ensemble import RandomForestRegressor as RandomForestOfNumbers
from pellucid.ensemble.out_of_bag_workings import out_of_bag_workings

X = np.array([[1, 5], [2, 3], [3, 6], [4, 1], [5, 4], [6, 2.5], [7, 1], [8, 5]])
LETTERS = ["a", "a", "b", "a", "b", "b", "a", "b"]


def test_the_score_is_that_of_the_forest():
    forest = RandomForestClassifier(5, random_state=1, oob_score=True).fit(X, LETTERS)
    work = out_of_bag_workings(forest, X, LETTERS)
    assert float(work.answer["oob_score_"]) == forest.oob_score_ == 0.375
    assert "2, 3, 3, 5, 5, 5, 7, 8  1, 4, 6" in str(work)
    for printed in (work.html(), work.latex(), work.markdown()):
        assert "rows left out" in printed


def test_the_squared_error_is_that_of_the_forest():
    y = [1, 2, 3, 4, 5, 6, 7, 9]
    forest = RandomForestRegressor(5, random_state=1, oob_score=True).fit(X, y)
    work = out_of_bag_workings(forest, X, y)
    assert float(work.answer["squared_error"]) == pytest.approx(np.mean((forest.oob_prediction_ - y) ** 2))


def test_our_forests_show_their_bags():
    model = RandomForest(5, random_state=1, oob_score=True).fit(X, LETTERS)
    work = pellucid.show_work(RandomForest(5, random_state=1, oob_score=True), X, LETTERS)
    assert float(work.answer["oob_score_"]) == model.oob_score_
    assert "Compare with the program" in str(work)
    assert str(pellucid.show_work(model, X, LETTERS)) == str(work)
    y = np.arange(8.0)
    forest = RandomForestOfNumbers(5, random_state=1, oob_score=True).fit(X, y)
    exact = pellucid.show_work(forest, X, y).answer["oob_prediction_"]
    np.testing.assert_allclose([float(mean) for mean in exact], forest.oob_prediction_)


def test_bags_that_cannot_be_drawn_again_are_refused():
    with pytest.raises(ValueError, match="random_state must be a number, or the forest fitted"):
        out_of_bag_workings(RandomForest(5), X, LETTERS)
    assert pellucid.show_work(RandomForest(5), X, LETTERS) == pellucid.show_work(RandomForest(5), X, LETTERS)


def test_rows_in_every_bag_cannot_be_asked():
    bagging = BaggingClassifier(n_estimators=1, random_state=1).fit(X, LETTERS)
    work = out_of_bag_workings(bagging, X, LETTERS)
    assert work.answer["asked"] < 8
    assert "in every bag, so nobody can be asked" in str(work).replace("\n│ ", " ")


def test_refuses_many_trees():
    with pytest.raises(ValueError, match="n_estimators must be at most 5 and bootstrap True to be worked by hand"):
        out_of_bag_workings(RandomForestClassifier(9), X, LETTERS)
