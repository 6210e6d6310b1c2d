"""Who is chosen: the least error; of as few mistakes the best probabilities; of as good ones the blend."""

from dataclasses import replace

import numpy as np
import pytest

from pellucid.app.bake_off.contestants import CLASSIFIERS
from pellucid.app.bake_off.measures import ACCURACY, Measure
from pellucid.app.bake_off.scores import MethodScore, Pace, choose, why
from pellucid.app.table_model.class_scores import HeldOut

CLASSES = np.array(["no", "yes"])
ACTUAL = np.array(["no", "yes"] * 200)


def scored(name, n_mistakes, sureness, *, is_blend=False):
    """Return a method that is wrong in its first rows, and as sure of right ones as said."""
    chances = np.full(400, sureness)
    chances[:n_mistakes] = 0.4
    is_yes = ACTUAL == "yes"
    second = np.where(is_yes, chances, 1.0 - chances)
    held_out = HeldOut(ACTUAL, np.log(np.column_stack([1.0 - second, second])))
    contestant = next(one for one in CLASSIFIERS if one.name == name)
    errors = np.array([n_mistakes / 400])
    options = {"measure": Measure(ACCURACY, CLASSES), "held_out": held_out}
    return MethodScore(replace(contestant, is_blend=is_blend), errors, errors, 3, Pace(100, 1.0), 0.1, **options)


def test_of_as_few_mistakes_the_better_probabilities_are_chosen():
    fewest, sure = scored("logistic regression", 40, 0.7), scored("random forest", 41, 0.95)
    assert fewest.mean < sure.mean
    assert choose([fewest, sure], one_standard_error=False) is sure
    assert "does as well, up to chance, and its probabilities fit better" in why(sure, [fewest, sure])


def test_clearly_more_mistakes_are_not_made_good_by_probabilities():
    fewest, sure = scored("logistic regression", 10, 0.7), scored("random forest", 41, 0.95)
    assert not sure.is_as_good_as(fewest)
    assert choose([fewest, sure], one_standard_error=False) is fewest
    assert why(fewest, [fewest, sure]).startswith("Logistic regression made the smallest error")


def test_a_blend_that_is_as_good_is_chosen_and_a_worse_one_is_not():
    alone = scored("random forest", 40, 0.95)
    same, worse = (scored("decision tree", 40, sureness, is_blend=True) for sureness in (0.9497, 0.8))
    assert same.worth > alone.worth
    assert choose([alone, same], one_standard_error=False) is same
    assert "does not owe that to being picked" in why(same, [replace(alone, errors=alone.errors - 1e-9), same])
    assert choose([alone, worse], one_standard_error=False) is alone


def test_the_temperature_is_taken_out_of_the_comparison():
    timid, bold = scored("random forest", 40, 0.9), scored("decision tree", 40, 0.9)
    colder = HeldOut(ACTUAL, 5.0 * bold.held_out.said)  # far too sure, but the order of the rows is the same
    bold = replace(bold, held_out=colder)
    assert bold.calibrated_log_loss == pytest.approx(timid.calibrated_log_loss, rel=0.02)
