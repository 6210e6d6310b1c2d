"""Nothing was learned is said of noise, and not of a weak signal."""

import numpy as np
import pandas as pd
import pytest

from pellucid.app.bake_off import bake_off
from pellucid.app.bake_off.contestants import Contestant
from pellucid.app.bake_off.learned import LEARNED, LITTLE, NOTHING, UNCONFIRMED, baseline_answers, has_learned
from pellucid.app.bake_off.measures import Answers, measure_for
from pellucid.app.bake_off.options import RowFacts
from pellucid.app.bake_off.scores import MethodScore, Pace

QUICK = {"folds": 3, "seconds": 60, "only": ["least squares", "decision tree"]}
QUICK_CLASSES = {"folds": 3, "seconds": 60, "only": ["logistic regression", "decision tree"]}


def score(errors, is_baseline=False):
    return MethodScore(
        Contestant("m", "", list, is_baseline=is_baseline), np.array(errors), None, 1, Pace(10, 0.1), 0.1
    )


def asked(actual, predicted, facts=None, comparison=((1.0, 1.0), (1.0, 1.0))):
    """Return what is found about predictions of numbers; ``comparison`` are errors of the method and the baseline."""
    measure = measure_for(None, actual, is_classification=False, weighted=False)
    chosen, usual = score(comparison[0]), score(comparison[1], is_baseline=True)
    baseline = baseline_answers(actual, None, measure, len(actual))
    return has_learned(actual, Answers(predicted), baseline, measure, facts or RowFacts(), chosen, [chosen, usual])


def noise(n=150, seed=0, classes=False):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.standard_normal((n, 5)), columns=list("abcde"))
    return frame.assign(y=rng.choice(["no", "yes"], n) if classes else rng.standard_normal(n))


def test_the_chance_of_noise_is_even():
    rng = np.random.default_rng(0)
    found = [asked(rng.standard_normal(40), rng.standard_normal(40)).p_value for _ in range(60)]
    assert 0.3 < np.mean(found) < 0.7
    assert np.mean(np.array(found) < 0.05) <= 0.12


def test_predictions_that_go_with_the_truth_are_no_chance():
    y = np.arange(40.0)
    found = asked(y, y + np.sin(y))
    assert found.state == LEARNED
    assert found.p_value == 1 / 2000
    assert "p < 0.0005" in found.sentence


def test_a_constant_prediction_has_learned_nothing():
    found = asked(np.arange(40.0), np.full(40, 3.0))
    assert (found.state, found.p_value) == (NOTHING, 1.0)
    assert found.sentence.startswith("Nothing was learned")


def test_what_the_comparison_knows_and_the_vault_does_not_is_unconfirmed():
    rng = np.random.default_rng(2)
    sure = ([0.5, 0.52, 0.49], [1.0, 1.01, 0.99])
    found = asked(rng.standard_normal(10), np.zeros(10), comparison=sure)
    assert found.state == UNCONFIRMED
    assert "More rows would tell" in found.sentence


def test_a_lead_in_the_comparison_counts_less_among_many_methods():
    rng = np.random.default_rng(0)
    actual = rng.standard_normal(30)
    measure = measure_for(None, actual, is_classification=False, weighted=False)
    chosen, usual = score([0.5, 0.6, 0.5]), score([1.0, 1.01, 0.99], is_baseline=True)
    baseline = baseline_answers(actual, None, measure, 30)
    alone, among = (
        has_learned(actual, baseline, baseline, measure, RowFacts(), chosen, [chosen, usual, *others]).p_comparison
        for others in ([], [score([1.0, 1.0, 1.0])] * 4)
    )
    assert among == pytest.approx(5 * alone)


def test_a_few_rows_prove_nothing_either_way():
    assert asked(np.arange(4.0), np.array([0.0, 2.0, 1.0, 3.0])).state == UNCONFIRMED


def test_a_ranking_without_a_gain_is_little():
    y = np.arange(40.0)
    assert asked(y, 1e6 * y).state == LITTLE  # in order, and far off


def test_rows_of_one_group_count_once():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(6), 30)
    alike, other = rng.standard_normal(6)[groups], rng.standard_normal(6)[groups]
    by_rows = asked(alike, other).p_value
    by_groups = asked(alike, other, RowFacts(groups=groups)).p_value
    assert min(by_groups, 1 - by_groups) > min(by_rows, 1 - by_rows)


def test_a_series_is_shifted_not_shuffled():
    rng = np.random.default_rng(3)
    walk, other = np.cumsum(rng.standard_normal((2, 200)), axis=1)
    shuffled = asked(walk, other).p_value
    shifted = asked(walk, other, RowFacts(order=np.arange(200.0)))
    assert shifted.test == "shifting the target in time"
    assert min(shifted.p_value, 1 - shifted.p_value) > min(shuffled, 1 - shuffled)


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_noise_is_called_noise(classes, seed):
    result = bake_off(noise(seed=seed, classes=classes), "y", **(QUICK_CLASSES if classes else QUICK))
    assert result.learned.state in (NOTHING, UNCONFIRMED)
    assert result.cautions[0] == result.learned.sentence


def test_a_weak_signal_is_not_called_noise():
    table = noise(n=1500)
    table["y"] += 0.35 * table["a"]  # 11 % of the variation
    result = bake_off(table, "y", **QUICK)
    assert result.learned.state == LEARNED
    assert not any("earned" in caution for caution in result.cautions)


def test_a_rare_class_that_can_be_ranked_is_not_called_noise():
    table = noise(n=1500, classes=True)
    chance = 0.02 + 0.2 * (table["a"] > 0.8)
    table["y"] = np.where(np.random.default_rng(5).random(1500) < chance, "rare", "usual")
    result = bake_off(table, "y", **QUICK_CLASSES)
    assert result.learned.state in (LEARNED, LITTLE)
