"""From a table to a certified model, in Python."""

import sys
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.pipeline import Pipeline

import pellucid
from pellucid.app.bake_off import bake_off, contestants, tuning
from pellucid.app.bake_off.contestants import Contestant
from pellucid.app.report import Origin, figures, render_fit_report, standing_of
from pellucid.app.tables import TableError
from pellucid.core.files.saving import model_bytes
from pellucid.linear_model import LinearRegression
from pellucid.model_selection import ErrorCurve
from tests.app.bake_off.sample_tables import mixed_table, numeric_table


@pytest.fixture(scope="module")
def mixed():
    return bake_off(mixed_table(), "churn", folds=3)


TUNED_AND_OTHERS = ["boosted trees, tuned", "ridge", "random forest"]


@pytest.fixture(scope="module")
def numeric():
    return bake_off(numeric_table(), "price", folds=2, simple=True)


def test_every_kind_of_column_is_used_and_the_rest_is_explained(mixed):
    assert mixed.columns.kinds == {
        "age": "number", "city": "words", "street": "words", "joined": "date", "seen": "date, day first",
        "member": "yes or no", "note": "text",
    }  # fmt: skip
    assert set(mixed.columns.left_out) == {"customer_id", "empty"}
    cautions = " ".join(mixed.cautions)
    assert "4 rows without churn were left out" in cautions
    assert "Column customer_id was left out: it looks like an id" in cautions


def test_the_chosen_method_beats_the_baseline_and_is_certified(mixed):
    assert mixed.chosen.mean < 0.7 * mixed.baseline.mean
    assert mixed.certificate.holds
    assert mixed.chosen in mixed.scores
    assert mixed.chosen is mixed.scores[0] or mixed.chosen.is_as_good_as(mixed.scores[0])
    assert mixed.judgement.headline.score > 0.6


def test_the_certificate_is_what_verify_found_after_the_fit(mixed, numeric):
    for result in (mixed, numeric):
        assert result.certificate is result.verified
        assert result.certificate.holds
        assert standing_of(result)[1] == "holds"
        unverified = replace(result, verified="There was no time left for it.")
        assert unverified.certificate is result.model[-1].certificate_
        assert standing_of(unverified) == (
            "claimed by the fit, not verified (there was no time left for it)",
            "proves-nothing",
        )


def test_the_vault_was_opened_once(mixed):
    assert [opening.reason for opening in mixed.vault_log] == [f"final estimate of {mixed.chosen.contestant.name}"]
    assert len(mixed.judgement.actual) + mixed.n_learning == len(mixed.target.values)


def test_the_model_takes_the_table_as_it_is_and_proves_its_answer(mixed, tmp_path):
    table = mixed_table()
    pellucid.save(mixed.model, tmp_path / "model.safetensors")
    loaded = pellucid.load(tmp_path / "model.safetensors")
    assert isinstance(loaded, Pipeline)
    np.testing.assert_array_equal(loaded.predict(table), mixed.model.predict(table))
    rows = table[table["churn"].notna()]
    assert pellucid.verify(loaded, rows, rows["churn"].to_numpy(dtype=object)).holds


def test_new_words_new_texts_and_gaps_are_taken_in_stride(mixed):
    new = mixed_table(n=20, seed=5).drop(columns=["churn", "customer_id", "empty"])
    new["city"], new["street"], new["note"] = "Genf", "nowhere", "unheard of things happen here"
    new.loc[0] = None
    assert set(mixed.model.predict(new)) <= {"yes", "no"}


def test_the_learning_curve_and_the_importances_are_there(mixed):
    assert isinstance(mixed.curve, ErrorCurve)
    assert {one.column for one in mixed.importances} == set(mixed.columns.kinds)
    assert mixed.importances[0].column in {"age", "note", "city"}


def test_a_line_is_found(numeric):
    assert numeric.target.task == "regression"
    assert numeric.judgement.scores["R²"] > 0.95
    assert {one.name for one in numeric.coefficients} >= {"size", "age"}
    assert numeric.frame().loc[0, "chosen"]
    assert "rmse" in repr(numeric)


@pytest.mark.parametrize(("recipe", "n_splits"), [("split", 1), ("resample", 2), ("cv", 2)])
def test_every_recipe_gives_scores_with_an_interval(recipe, n_splits):
    found = bake_off(numeric_table(), "price", recipe=recipe, folds=2)
    assert all(len(score.errors) == n_splits for score in found.scores)
    assert found.chosen.standard_error > 0


def test_the_same_seed_gives_the_same_model(numeric):
    again = bake_off(numeric_table(), "price", folds=2, simple=True)
    assert model_bytes(again.model) == model_bytes(numeric.model)


def test_the_same_seed_gives_the_same_blend_of_tuned_methods(monkeypatch):
    monkeypatch.setattr(tuning, "MOST_TRIES", 4)
    once, again = (bake_off(numeric_table(n=260), "price", folds=2, only=TUNED_AND_OTHERS) for _ in range(2))
    assert "boosted trees, tuned" in once.frame()["method"].tolist()
    assert model_bytes(once.model) == model_bytes(again.model)


def test_uneven_classes_are_noticed():
    table = numeric_table(n=120)
    table["price"] = np.where(np.arange(120) % 8 == 0, "rare", "usual")
    cautions = " ".join(bake_off(table, "price", folds=2).cautions)
    assert "The classes are uneven: 88 % of the rows are usual, 15 rows are rare" in cautions
    assert "balanced accuracy" in cautions
    assert "Nothing was learned" in cautions


def test_leaks_and_copies_are_named():
    table = mixed_table(n=60).dropna(subset="churn")[["age", "city", "churn"]]
    table["left_on"] = np.where(table["churn"] == "yes", "2024", None)
    table = pd.concat([table, table], ignore_index=True)
    cautions = " ".join(bake_off(table, "churn", folds=2).cautions)
    assert "Column left_on alone takes away 100 % of the baseline's error" in cautions
    assert "repeat a row that was learned from" in cautions


class Brittle(LinearRegression):
    """The best method of all, as long as it has few rows."""

    def fit(self, X, y, sample_weight=None):
        if len(y) > 55:
            raise RuntimeError("X must be\nkinder.")
        return super().fit(X, y, sample_weight)


def test_a_method_that_fails_in_the_end_leaves_its_place_to_the_next():
    table = numeric_table()
    result = bake_off(table, "price", also={"brittle": Brittle()}, only=["decision tree", "brittle"], folds=3)
    assert result.chosen.name == "decision tree"
    assert "Brittle was dropped, for it failed: X must be kinder." in result.cautions
    assert ("brittle", "failed: X must be kinder.") in [(one.name, one.reason) for one in result.untried]
    assert "brittle" not in {score.name for score in result.scores}
    with pytest.raises(TableError, match="none could be fitted .*brittle: failed: X must be kinder"):
        bake_off(table, "price", also={"brittle": Brittle()}, only=["brittle"], folds=3)


def test_a_part_of_the_report_that_fails_is_named_and_the_rest_is_there(monkeypatch):
    def fail(*_args, **_options):
        raise KeyError("no such part")

    room = sys.modules["pellucid.app.bake_off.findings"]
    for name in ("importances", "effects", "find_leaks", "coefficients", "draw_curve", "_tell"):
        monkeypatch.setattr(room, name, fail)
    for name in ("predicted_against_actual", "residuals_against_predicted"):
        monkeypatch.setattr(figures, name, fail)
    result = bake_off(numeric_table(), "price", only=["ridge"], folds=2)
    missing = [caution for caution in result.cautions if "is missing, for it failed: 'no such part'." in caution]
    assert len(missing) == 6
    page = render_fit_report(result, Origin("houses.csv", "model.safetensors", ""))
    assert "The picture of the predictions is missing, for it failed" in page
    assert "<svg" in page  # the columns are drawn


def test_in_any_time_a_model_comes_out_and_says_how_little_was_tried(tmp_path):
    table = numeric_table()
    result = bake_off(table, "price", seconds=0.01)
    assert result.chosen.name == "ridge"
    assert {score.name for score in result.scores} == {"ridge", "mean"}
    assert any("Not tried, for no time was left" in caution for caution in result.cautions)
    pellucid.save(result.model, tmp_path / "model.safetensors")
    again = pellucid.load(tmp_path / "model.safetensors")
    assert again.learned_rows_.sum() == 64
    assert pellucid.verify(again, table.drop(columns="price"), table["price"]).holds
    assert "claimed by the fit, not verified" in render_fit_report(result, Origin("houses.csv", "m.safetensors", ""))
    assert bake_off(mixed_table(), "churn", seconds=0.01).chosen.name == "logistic regression"


class Endless(DummyRegressor):
    """Never ends by itself."""

    def fit(self, X, y):
        time.sleep(60.0)


def test_the_budget_is_kept_and_what_was_not_tried_is_listed(monkeypatch):
    line, endless = Contestant("line", "", LinearRegression), Contestant("endless", "", Endless)
    monkeypatch.setattr(contestants, "REGRESSORS", (line, endless, Contestant("late", "", LinearRegression)))
    found = bake_off(numeric_table(), "price", seconds=9.0, folds=2)
    assert found.seconds < 30.0  # far from 60, for machines that are busy
    assert [(one.name, one.reason) for one in found.untried] == [("endless", "no time left"), ("late", "no time left")]
    assert "Not tried, for no time was left: endless; late." in " ".join(found.cautions)


def test_columns_need_names():
    with pytest.raises(ValueError, match="column names must be texts, got 0"):
        bake_off(pd.DataFrame({0: range(20), "y": range(20)}), "y")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"recipe": "guess"}, "recipe must be one of"),
        ({"seconds": 0}, "seconds must be above 0"),
        ({"folds": 1}, "folds must be at least 2"),
        ({"folds": 45}, "table must have at least 90 rows with a target, got 80"),
    ],
)
def test_wrong_settings_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        bake_off(numeric_table(), "price", **options)
