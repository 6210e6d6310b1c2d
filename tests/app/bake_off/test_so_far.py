"""The best model so far is handed over while the comparison goes on, and says of itself what it is."""

from itertools import pairwise

import numpy as np
import pytest

import pellucid
from pellucid.app.bake_off import bake_off, so_far
from pellucid.app.bake_off.comparison import FittedMethod
from pellucid.app.bake_off.contestants import Contestant
from pellucid.app.bake_off.scores import MethodScore, Pace
from pellucid.app.bake_off.so_far import BestSoFar
from pellucid.app.table_model.class_scores import HeldOut
from tests.app.bake_off.sample_tables import mixed_table, numeric_table

QUICK = ["least squares", "ridge", "decision tree", "kernel SVM", "nearest neighbors"]
SLOW = ["boosted trees", "boosted trees, slow", "boosted trees, large", "neural network", "random forest"]


@pytest.fixture
def often(monkeypatch):
    """Keep every improvement, whatever it costs."""
    monkeypatch.setattr(so_far, "SHARE", float("inf"))


def kept_from(table, target, **options):
    kept = []
    result = bake_off(table, target, keep_so_far=kept.append, folds=2, **options)
    return kept, result


@pytest.mark.parametrize(
    ("table", "target", "options"),
    [
        (numeric_table(), "price", {"only": QUICK}),
        (numeric_table(), "price", {"recipe": "resample", "only": QUICK}),
        (numeric_table(400), "price", {"weights": "age", "only": ["ridge", "boosted trees, few rows"]}),
        (mixed_table(), "churn", {"metric": "f1_macro", "only": ["naive Bayes", "logistic regression", "kernel SVM"]}),
        (mixed_table(), "churn", {"recipe": "split", "only": ["random forest"]}),
    ],
)
@pytest.mark.usefixtures("often")
def test_every_model_on_the_way_predicts_and_is_verified_on_its_table(table, target, options):
    kept, result = kept_from(table, target, **options)
    assert len(kept) >= 2
    rows = table[table[target].notna()]
    weights = {"sample_weight": rows["age"].to_numpy()} if "weights" in options else {}
    for one in kept:
        found = pellucid.verify(one.model, rows, rows[target], **weights)
        assert found.holds, (one, found)
        assert len(one.model.predict(table)) == len(table)
        assert one.model.judged_ is None
    assert kept[-1].is_final_fit
    assert kept[-1].chosen.name == result.chosen.name
    assert np.array_equal(kept[-1].model.predict(rows), result.model.predict(rows))


@pytest.mark.usefixtures("often")
def test_each_is_better_than_the_one_before_or_the_same_method_tried_on_more():
    kept, _ = kept_from(mixed_table(), "churn", without=SLOW)
    for before, after in pairwise(kept[:-1]):
        assert after.chosen.mean < before.chosen.mean or after.chosen.name == before.chosen.name
        assert len(after.tried) >= len(before.tried)
    assert not any(one.chosen.contestant.is_baseline for one in kept)


@pytest.mark.usefixtures("often")
def test_the_rows_kept_aside_are_not_looked_at_before_the_end():
    table, learned = numeric_table(), []

    def keep(one):
        learned.append(one.model.learned_rows_)

    result = bake_off(table, "price", folds=2, keep_so_far=keep, only=["ridge", "lasso"])
    assert [opening.number for opening in result.vault_log] == [1]
    on_the_way = [rows for rows in learned if rows is not None]
    assert on_the_way
    assert all(rows.sum() == 32 for rows in on_the_way)  # 80 rows, 64 to learn from, two folds
    assert "the rows kept aside have not been looked at" in _final(table).sentence


def _final(table):
    kept = []
    bake_off(table, "price", folds=2, keep_so_far=kept.append, only=["ridge"])
    return kept[-1]


def test_one_that_cannot_be_kept_is_a_caution_and_the_fit_goes_on():
    def full(_so_far):
        raise OSError(28, "No space left on device")

    result = bake_off(numeric_table(), "price", folds=2, keep_so_far=full, only=["ridge"])
    assert [caution for caution in result.cautions if "No space left on device" in caution]
    assert result.chosen.name == "ridge"


# the order of things, without a bake-off


class Bench:
    """A keeper whose models are the methods themselves, on a clock of its own."""

    def __init__(self, monkeypatch, cost):
        self.now, self.cost, self.names = 0.0, cost, []
        monkeypatch.setattr(so_far, "time", self)
        table, budget = type("Table", (), {})(), type("Budget", (), {"seconds": 100.0})()
        table.vault = type("Vault", (), {"learning_rows": np.arange(100)})()
        self.keeper = BestSoFar(table, None, None, budget, lambda *_: None, self._keep)
        monkeypatch.setattr(self.keeper, "_so_far", lambda best, *_, **__: best.name)

    def monotonic(self):
        return self.now

    def _keep(self, name):
        self.names.append(name)
        self.now += self.cost

    def offer(self, name, error, *, rows=10, splits=1, is_baseline=False):
        contestant = Contestant(name, "", list, is_baseline=is_baseline)
        held_out = HeldOut(np.zeros(1), np.zeros(1))
        errors = np.full(splits, float(error))
        score = MethodScore(contestant, errors, None, 1.0, Pace(rows, 0.1), 0.1, held_out=held_out)
        self.keeper.offer(score, FittedMethod(None, None, np.arange(rows)))


def test_the_first_is_kept_at_once_and_later_ones_only_if_they_are_better(monkeypatch):
    bench = Bench(monkeypatch, cost=0.0)
    bench.offer("mean", 0.1, is_baseline=True)
    bench.offer("first", 3.0)
    bench.offer("worse", 4.0)
    bench.offer("better", 2.0)
    bench.offer("better", 2.5, rows=40)  # the same, from more rows: other rows to validate with, so another error
    bench.offer("other", 2.3, rows=40)
    bench.offer("other", 2.6, rows=40, splits=5)
    assert bench.names == ["first", "better", "better", "other", "other"]


def test_keeping_takes_a_small_part_of_the_time_and_the_best_waits_for_its_turn(monkeypatch):
    bench = Bench(monkeypatch, cost=1.0)
    bench.offer("first", 5.0)  # at 0, until 1
    bench.offer("second", 4.0)
    bench.offer("third", 3.0)
    assert bench.names == ["first"]
    bench.now = 1.0 / so_far.SHARE - 0.1
    bench.offer("worse", 9.0)
    assert bench.names == ["first"]
    bench.now += 0.2
    bench.offer("worse still", 9.5)  # no better, but now there is time for the one that waits
    assert bench.names == ["first", "third"]
