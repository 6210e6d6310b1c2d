"""What trees say for themselves."""

import numpy as np
import pandas as pd
import pytest

from pellucid.app.bake_off.contestants import CLASSIFIERS, REGRESSORS
from pellucid.app.bake_off.importance import effects
from pellucid.app.bake_off.tree_story import TreeStory, tell_trees
from pellucid.app.tables.understanding import Columns

COLUMNS = Columns({"age": "number", "city": "words"}, {})
RNG = np.random.default_rng(0)
READ = pd.DataFrame({"age": RNG.integers(18, 80, 200).astype(float), "city": RNG.choice(["Bern", "Basel"], 200)})
READ["city"] = READ["city"].astype(object)
BUYS = np.where((READ["age"] > 41) & (READ["city"] == "Bern"), "buys", "waits").astype(object)


def fitted(name, y=BUYS, among=CLASSIFIERS):
    contestant = next(one for one in among if one.name == name)
    return contestant.pipeline(COLUMNS, READ).fit(READ, y)


def test_a_tree_is_told_with_its_words_and_its_rows():
    story = tell_trees(fitted("decision tree"), COLUMNS, READ, BUYS)
    questions = {node.question for node in story.nodes if node.question}
    assert questions in ({"city = Basel", "age ≤ 41.5"}, {"city = Bern", "age ≤ 41.5"})
    assert sum(node.rows for node in story.nodes if not node.question) == 200
    assert {node.share for node in story.nodes if not node.question} == {1.0}
    buys = next(example for example in story.examples if example.prediction == "buys")
    assert "age > 41.5" in buys.sentence
    assert "city = Bern" in buys.sentence


def test_a_small_tree_is_compared_with_the_best_of_its_depth():
    story = tell_trees(fitted("decision tree"), COLUMNS, READ, BUYS, (READ, BUYS))
    assert story.gap.startswith("Of depth 2, the best tree is proved to make 0.00% errors")


@pytest.mark.parametrize("name", ["boosted trees, few rows", "random forest"])
def test_an_ensemble_says_what_drives_it(name):
    story = tell_trees(fitted(name), COLUMNS, READ, BUYS)
    assert {reason.column for reason in story.drivers} == {"age", "city"}
    assert len(story.examples) == 3
    assert {reason.value for example in story.examples for reason in example.reasons} >= {"Bern"}
    assert not story.nodes


def test_a_number_is_told_too_and_its_curve_rises():
    y = np.where(READ["age"] > 41, 10.0, 0.0)
    model = fitted("decision tree", y, REGRESSORS)
    story = tell_trees(model, COLUMNS, READ, y)
    assert {node.answer for node in story.nodes} >= {"0", "10"}
    (curve,) = effects(model, READ)
    assert curve.column == "age"
    assert curve.change[-1] - curve.change[0] == pytest.approx(10.0)


def test_another_method_has_no_story():
    assert tell_trees(fitted("logistic regression"), COLUMNS, READ, BUYS) == TreeStory()
