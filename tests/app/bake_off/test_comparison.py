"""Methods are compared on the same splits; what does not fit into the time is not started."""

import time
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.model_selection import KFold

from pellucid.app.bake_off import compile_time_kernels, heats, validation_splits
from pellucid.app.bake_off.closing import plan_final_fit, report_seconds
from pellucid.app.bake_off.comparison import compare
from pellucid.app.bake_off.contestants import REGRESSORS, Contestant, coded, curved
from pellucid.app.bake_off.heats import for_heat, within_time
from pellucid.app.bake_off.scores import MethodScore, Pace, choose, why
from pellucid.app.bake_off.validation_splits import ValidationSplits
from pellucid.app.tables.understanding import Columns
from pellucid.core import budget as budget_module
from pellucid.core.budget import Budget
from pellucid.linear_model import LinearRegression


def rows(n=12, n_splits=3, labels=False):
    X = pd.DataFrame({"x": np.arange(float(n))})
    y = np.where(np.arange(n) % 3 == 0, "a", "b").astype(object) if labels else 2.0 * np.arange(n)
    return ValidationSplits(Columns({"x": "number"}, {}), X, y, list(KFold(n_splits).split(X)), labels)


class Clock:
    """Stands still, but for those who sleep."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    for module in (compile_time_kernels, validation_splits, budget_module):
        monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(Slow, "clock", clock)
    Slow.rows_seen.clear()
    return clock


class Slow(DummyRegressor):
    """Takes its time."""

    rows_seen: ClassVar[list[int]] = []
    clock: ClassVar[Clock] = Clock()

    def fit(self, X, y):
        self.rows_seen.append(len(X))
        self.clock.sleep(len(X) / 160)
        return super().fit(X, y)


LINE = Contestant("line", "", LinearRegression)
MEAN = Contestant("mean", "", DummyRegressor, is_baseline=True)
SLOW = Contestant("slow", "", Slow)


class Ahead:
    """Compiles for a method, until the clock says so."""

    def __init__(self, contestant, clock, until):
        self.contestant, self.clock, self.until = contestant, clock, until

    def covers(self, contestant):
        return contestant.name == self.contestant.name and self.clock.now < self.until

    def wait(self, seconds):
        self.clock.sleep(seconds)


def compared(contestants, table, seconds=60.0, ahead=None):
    stages = []
    with Budget(seconds + report_seconds(0)) as budget:
        scores, untried = compare(contestants, table, budget, stages.append, ahead)
    return scores, untried, stages


def score(name, errors, n_coefficients, is_baseline=False):
    contestant = Contestant(name, "", list, is_baseline=is_baseline)
    return MethodScore(contestant, np.array(errors, dtype=float), None, n_coefficients, Pace(100, 0.1), 0.25)


BASE = score("mean", [0.1, 0.1], 0, is_baseline=True)
EXACT = score("exact", [1.0, 2.0], 10)  # mean 1.5, standard error 0.5
FEW = score("few", [1.9, 2.1], 2)  # mean 2.0: just within one standard error
ROUGH = score("rough", [2.5, 2.5], 1)
NEIGHBORS = score("neighbors", [1.8, 2.0], 0)


def test_the_standard_error_is_that_of_the_mean():
    assert (EXACT.mean, EXACT.standard_error) == pytest.approx((1.5, 0.5))


def test_one_split_has_the_standard_error_of_its_rows():
    assert score("one", [1.0], 1).standard_error == 0.25


def test_the_least_error_wins():
    assert choose([BASE, FEW, EXACT, ROUGH], one_standard_error=False) is EXACT
    assert why(EXACT, [FEW, EXACT]).startswith("Exact made the smallest error")


def test_one_standard_error_prefers_fewer_coefficients_and_counts_none_as_many():
    assert choose([BASE, EXACT, NEIGHBORS, FEW, ROUGH], one_standard_error=True) is FEW
    assert "few is within one standard error of it" in why(FEW, [EXACT, FEW])


def test_a_fit_to_every_row_may_be_a_little_late():
    chosen = MethodScore(LINE, np.array([1.0]), None, 0, Pace(1000, 1.0), 0.1)  # 2.8 seconds for both fits
    left = report_seconds(1000) + 2.0
    assert not plan_final_fit(chosen, 1000, left).on_all_rows
    assert plan_final_fit(chosen, 1000, left, grace=1.0).on_all_rows


def test_a_line_is_found_exactly_and_the_mean_is_off_by_its_spread():
    (mean, line), untried, _ = compared([LINE, MEAN], rows())
    assert untried == []
    assert line.mean == pytest.approx(0.0, abs=1e-10)
    # validation rows 0..3, training mean of 2 * (4..11) = 15
    assert mean.errors[0] == pytest.approx(np.sqrt(np.mean((np.array([0.0, 2.0, 4.0, 6.0]) - 15.0) ** 2)))
    assert line.n_coefficients == 1


def test_classes_are_scored_by_mistakes_and_by_class():
    (usual,), _, _ = compared([Contestant("usual", "", DummyClassifier)], rows(labels=True))
    assert usual.mean == pytest.approx(4 / 12)
    assert usual.balanced.mean() == pytest.approx(0.5)


def test_stages_tell_the_method_the_folds_and_the_best():
    _, _, stages = compared([LINE, SLOW], rows())
    # each on the first split, then each on all others, which are so quick that they are done at a time
    assert [(stage.method, stage.done) for stage in stages] == [
        ("line", 0), ("line", 1), ("slow", 1), ("slow", 2), ("line", 2), ("slow", 4),
    ]  # fmt: skip
    assert stages[-1].best.contestant is LINE
    assert stages[-1].total == 6


@pytest.mark.parametrize(("until", "n_tried"), [(5.0, 3), (90.0, 2)])
def test_compiling_counts_and_who_waits_for_it_comes_last(clock, until, n_tried):
    waits = Contestant("waits", "", LinearRegression)
    found, untried, stages = compared([waits, LINE, MEAN], rows(), ahead=Ahead(waits, clock, until))
    assert {len(one.errors) for one in found} == {3}
    assert [one.name for one in found][:2] == ["mean", "line"]
    assert len(found) == n_tried
    assert [(one.name, one.reason) for one in untried] == [("waits", "no time left")][n_tried - 2 :]
    assert clock.now == pytest.approx(min(until, 60.0), abs=1.0)
    assert "compiling trees, once on this machine" in [stage.method for stage in stages]


def test_a_method_that_would_not_end_in_time_is_given_up_after_the_first_fold(clock):
    _, untried, _ = compared([LINE, SLOW], rows(n=160, n_splits=10), seconds=3.0)
    # a fold takes 0.9 seconds: ten of them do not fit, and one tells
    assert [(one.name, one.reason) for one in untried] == [("slow", "no time left")]
    assert clock.now == pytest.approx(0.9)


def test_a_large_table_has_heats_first_and_what_falls_behind_is_named(monkeypatch, clock):
    monkeypatch.setattr(heats, "FIRST_ROWS", 20)
    monkeypatch.setattr(heats, "FEWEST_KEPT", 1)
    scores, untried, _ = compared([MEAN, LINE, SLOW], rows(n=400, n_splits=10), seconds=100.0)
    # heats of 20 and 80 of the 360 training rows; the mean is clearly behind a line after the first
    assert [(one.name, one.reason) for one in untried] == [("slow", "clearly behind after 20 rows")]
    assert Slow.rows_seen == [20]
    assert [one.name for one in scores] == ["mean", "line"]
    assert len(scores[1].errors) == 10


def test_a_heat_tells_what_a_fold_will_take(monkeypatch, clock):
    monkeypatch.setattr(heats, "FIRST_ROWS", 20)
    _, untried, _ = compared([LINE, SLOW], rows(n=400, n_splits=10), seconds=10.0)
    # a fold of 360 rows takes 2.25 seconds: ten do not fit, so the first is the last
    assert [(one.name, one.reason) for one in untried] == [("slow", "no time left")]
    assert Slow.rows_seen == [20, 80, 360]


def test_the_first_split_speaks_where_the_best_ends_no_other(clock):
    class Perfect(Slow):
        def predict(self, X):
            return 2.0 * X[:, 0]

    perfect = Contestant("perfect", "", Perfect, coded)
    scores, untried, _ = compared([perfect, LINE, MEAN], rows(n=800, n_splits=10), seconds=18.0)
    # a fold of 720 rows takes 4.5 seconds, nine more do not fit, and a line that ends all of them is no better
    assert {one.name: len(one.errors) for one in scores} == {"perfect": 1, "line": 1, "mean": 1}
    assert untried == []


def test_boosting_has_the_rounds_that_the_time_allows_and_larger_steps():
    boosting = next(one for one in REGRESSORS if one.name == "boosted trees")
    # 200 rounds took a second for 1,000 rows
    paces = {boosting.name: Pace(1000, 1.0, 1.0, rounds=200)}
    limits = [within_time([boosting], paces, 10_000, seconds)[0] for seconds in (30.0, 12.0, 6.0, 1.0)]
    assert [one.n_rounds for one in limits] == [400, 200, 100, 100]
    columns = Columns({"x": "number"}, {})
    assert [one.method(columns).max_iter for one in limits] == [400, 200, 100, 100]
    assert [one.method(columns).learning_rate for one in limits] == [0.1, 0.1, 0.12, 0.12]


def test_a_heat_makes_do_with_few_rounds():
    boosting = next(one for one in REGRESSORS if one.name == "boosted trees")
    pace = Pace(1000, 1.0, 1.0, rounds=200)
    assert for_heat(boosting, pace, 4000, 8.0) is boosting
    assert for_heat(boosting, pace, 4000, 1.0).n_rounds == 50
    assert for_heat(boosting, pace, 4000, 0.1).n_rounds == 25


@pytest.mark.parametrize(
    ("seconds", "n_rows", "on_all_rows", "rounds"),
    [
        (1000.0, 10_000, True, 400),
        (32.0, 10_000, True, 200),
        (18.0, 10_000, True, 100),
        (16.6, 10_000, False, 200),
        (6.0, 4444, False, 100),
    ],
)
def test_the_final_fit_is_what_the_time_allows(seconds, n_rows, on_all_rows, rounds):
    boosting = next(one for one in REGRESSORS if one.name == "boosted trees")
    pace = Pace(1000, 1.0, 1.0, rounds=200)  # so 100 rounds for 10,000 rows take 5 seconds
    chosen = MethodScore(boosting, np.array([1.0]), None, 0, pace, 0.1, is_from_heat=True)
    final = plan_final_fit(chosen, 10_000, seconds + report_seconds(10_000) - 3.0)
    assert (final.on_all_rows, final.score.contestant.n_rounds) == (on_all_rows, rounds)
    assert final.n_rows == n_rows


def test_where_no_method_ends_the_heats_speak(monkeypatch, clock):
    monkeypatch.setattr(heats, "FIRST_ROWS", 20)
    scores, untried, _ = compared([MEAN, SLOW], rows(n=4000, n_splits=10), seconds=5.0)
    assert {one.name for one in scores} == {"mean", "slow"}
    slow = next(one for one in scores if one.name == "slow")
    assert slow.pace.seconds_for(160) == pytest.approx(1.0)
    assert slow.pace.rows_within(1.0) == 160
    assert untried == []


def test_the_pace_of_two_fits_has_a_constant_and_a_power():
    # 1 second plus the square of the rows: 2 seconds for 1, 5 for 2, so 17 for 4
    pace = Pace(2, 5.0, 2.0).after(Pace(1, 2.0, 2.0))
    assert pace.constant == pytest.approx(1.0)
    assert pace.seconds_for(4) == pytest.approx(17.0)
    assert pace.rows_within(17.0) == 4
    assert Pace(2, 5.0).after(Pace(1, 9.0)).constant == 0.0  # the first one compiled something


def test_a_fit_that_hangs_is_cut_short():
    class Hanging(DummyRegressor):
        def fit(self, X, y):
            time.sleep(30.0)

    start = time.monotonic()
    scores, untried, _ = compared([LINE, Contestant("hanging", "", Hanging)], rows(), seconds=4.0)
    assert [one.contestant.name for one in scores] == ["line"]
    assert untried[0].reason == "no time left"
    assert time.monotonic() - start < 20.0


def test_a_method_that_fails_is_listed_with_its_reason():
    class Failing(DummyRegressor):
        def fit(self, X, y):
            raise ValueError("X must be kinder.\nAsk it.")

    _, untried, _ = compared([Contestant("failing", "", Failing), LINE], rows())
    assert [(one.name, one.reason) for one in untried] == [("failing", "failed: X must be kinder. Ask it.")]


def test_a_split_is_prepared_once_for_methods_that_want_the_same(monkeypatch):
    table, made = rows(), []
    prepared = table._prepared
    monkeypatch.setattr(table, "_prepared", lambda *a: made.append(a) or prepared(*a))
    compared([LINE, MEAN], table)
    assert len(made) == 3


def test_a_method_that_does_not_suit_the_table_is_listed_with_the_reason():
    few = Contestant("few", "", LinearRegression, fewest_rows=13)
    wide = Contestant("wide", "", LinearRegression, curved)
    table = rows()
    table.X = table.X.assign(**{f"x{i}": 0.0 for i in range(50)})
    _, untried, _ = compared([few, wide], table)
    assert [(one.name, one.reason) for one in untried] == [
        ("few", "it wants 13 rows to learn from"),
        ("wide", "there would be too many products of columns"),
    ]


def test_loading_compiled_loops_is_no_part_of_the_pace_of_boosting(clock):
    class Loading(Slow):
        is_loaded = False
        max_iter, learning_rate = 10, 0.1

        def set_params(self, **_params):
            return self

        def fit(self, X, y):
            if not type(self).is_loaded:
                type(self).is_loaded = True
                self.clock.sleep(30.0)
            return super().fit(X, y)

    boosting = Contestant("boosting", "", Loading, rounds=10)
    (found,), _, _ = compared([boosting], rows(), seconds=200.0)
    assert found.pace.seconds == pytest.approx(8 / 160)  # of 12 rows, those of two splits of three


def test_the_comparison_ends_earlier_where_explanations_take_time(clock):
    class Explained(Slow):
        def predict(self, X):
            self.clock.sleep(len(X) * self.seconds_per_row)
            return 2.0 * X[:, 0]

    class Quick(Explained):
        seconds_per_row = 0.0

    class Tedious(Explained):
        seconds_per_row = 5e-6  # 0.3 seconds more for the explanations

    found = {}
    for kind in (Quick, Tedious):
        first = Contestant("first", "", kind)
        # two fits of half a second each; then 0.25 for the explanations and 1.4 for the last fits
        scores, _, _ = compared([first, SLOW], rows(n=160, n_splits=2), seconds=2.0 + 1.65 + 0.1)
        found[kind] = {one.name: len(one.errors) for one in scores}
    assert found[Quick] == {"first": 2, "slow": 2}
    assert found[Tedious] == {"first": 2}


def test_the_first_heat_begins_with_cheap_methods_so_that_there_is_an_answer_soon(monkeypatch):
    monkeypatch.setattr(heats, "FIRST_ROWS", 20)
    offered = []
    named = [Contestant(name, "", LinearRegression) for name in ("a plane", "ridge", "another")]
    with Budget(60.0) as budget:
        compare([*named, MEAN], rows(n=400), budget, lambda _: None, None, lambda score, _: offered.append(score.name))
    assert offered[:4] == ["ridge", "mean", "a plane", "another"]
