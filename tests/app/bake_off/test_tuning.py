"""Boosting is tuned by changes that do good, from the best on, and ends when nothing does or time is up."""

import numpy as np
import pytest

from pellucid.app.bake_off.contestants import CLASSIFIERS, REGRESSORS
from pellucid.app.bake_off.measures import RMSE, Measure
from pellucid.app.bake_off.scores import MethodScore, Pace
from pellucid.app.bake_off.tuning import FAR_APART, MOST_ROUNDS, MOST_TRIES, start_of, tuned

TUNED = next(one for one in REGRESSORS if one.is_tuned)


def scored(contestant, error, rounds=200):
    return MethodScore(
        contestant, np.array([error] * 5), None, 3, Pace(100, 1.0, rounds=rounds), 0.1, measure=Measure(RMSE, None)
    )


def search(error_of, limit=1000):
    """Return the errors that were yielded and the settings tried, where settings have these errors."""
    tried = []

    def attempt(contestant, _best):
        if len(tried) == limit:
            return "no time left"
        tried.append(dict(contestant.settings))
        return scored(contestant, error_of(contestant.settings))

    start = start_of(scored(TUNED, 1.0))
    best = scored(TUNED, error_of(start))
    return [score.mean for score in tuned(TUNED, start, best, attempt)], tried


def test_every_score_yielded_is_better_and_the_best_is_found():
    def error(settings):
        return 1 + abs(np.log(settings["max_iter"] / 1600)) + abs(np.log(settings["min_samples_leaf"] / 1.0))

    found, tried = search(error)
    assert found == sorted(found, reverse=True)
    assert found[-1] == pytest.approx(1.0)
    assert len({str(sorted(one.items())) for one in tried}) == len(tried) < MOST_TRIES  # none twice


def test_settings_far_apart_come_first_and_time_ends_the_search():
    found, tried = search(lambda _settings: 1.0, limit=3)
    assert found == []
    assert [{name: one[name] for name in FAR_APART[0]} for one in tried] == list(FAR_APART[:3])


def test_nothing_grows_without_bounds():
    _, tried = search(lambda settings: 1 / settings["max_iter"])
    assert max(one["max_iter"] for one in tried) <= MOST_ROUNDS
    assert len(tried) < MOST_TRIES


def test_a_method_that_is_behind_is_passed_over():
    def attempt(_contestant, _best):
        return None

    assert list(tuned(TUNED, start_of(scored(TUNED, 1.0)), scored(TUNED, 1.0), attempt)) == []


@pytest.mark.parametrize("name", ["boosted trees", "boosted trees, large", "boosted trees for counts"])
def test_tuning_starts_from_what_boosting_had(name):
    contestant = next(one for one in REGRESSORS if one.name == name)
    start = start_of(scored(contestant, 1.0, rounds=77))
    usual = contestant.make().get_params()
    assert start["max_iter"] == (77 if usual["early_stopping"] is True else usual["max_iter"])
    assert start["loss"] == usual["loss"]
    assert (start["max_leaf_nodes"], start["min_samples_leaf"]) == (usual["max_leaf_nodes"], usual["min_samples_leaf"])
    assert start["early_stopping"] is False


def test_both_tasks_have_one_method_to_tune_and_it_takes_the_settings():
    for contestants in (CLASSIFIERS, REGRESSORS):
        (one,) = [contestant for contestant in contestants if contestant.is_tuned]
        changed = one.with_settings({**one.settings, "max_iter": 50, "max_leaf_nodes": 5})
        made = changed.make()
        assert (made.max_iter, made.max_leaf_nodes, changed.n_rounds) == (50, 5, 50)
        assert "50 trees of up to 5 leaves" in changed.sentence
