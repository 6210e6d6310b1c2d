"""The parts of the page: axis, thresholds and costs, pictures of columns, the alarm, how to reproduce it, the card."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from pellucid.app.bake_off.comparison import Untried
from pellucid.app.bake_off.learned import LEARNED, NOTHING, Learned
from pellucid.app.bake_off.measures import Measure
from pellucid.app.bake_off.options import Options
from pellucid.app.bake_off.result import Plan
from pellucid.app.bake_off.tree_story import ExampleRow, Reason, TreeStory
from pellucid.app.report import Origin, meaning_of, render_fit_report, render_model_card
from pellucid.app.report.column_pictures import correlations, histogram
from pellucid.app.report.figures import ticks
from pellucid.app.report.thresholds import thresholds_of
from pellucid.app.tables.understanding import Columns
from pellucid.neighbors import KNeighborsClassifier
from pellucid.proofs.certificate import Certificate, Claim
from tests.app.report.test_fit_report import class_result, classes, page_of, parsed, result, score

EXACT = Certificate("exact", (Claim("rows stored", "rows", 0.0, 0.0),))


def table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    size = rng.standard_normal(n)
    return pd.DataFrame(
        {
            "price": 2 * size,
            "size": size,
            "twin": size + 0.01 * rng.standard_normal(n),
            "town": rng.choice(["a", "b"], n),
        }
    )


def with_table(**changes):
    kinds = {"size": "number", "twin": "number", "town": "words"}
    return result(table=table(), columns=Columns(kinds, {}), **changes)


def words_of(page):
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def test_ticks_are_round_and_stand_where_they_say():
    measure = Measure("neg_root_mean_squared_error", None)
    scores = [score("a", 1.0, 0.0), score("b", 2.0, 0.0)]
    found = ticks(scores, measure)
    assert [tick.label for tick in found] == ["1", "1.25", "1.5", "1.75", "2"]
    assert [tick.place for tick in found] == pytest.approx([0, 25, 50, 75, 100])


def test_ticks_of_a_share_are_percent_and_run_up():
    found = ticks([score("a", 0.1, 0.0), score("b", 0.5, 0.0)], Measure("accuracy", np.array(["no", "yes"])))
    assert [tick.label for tick in found] == ["50 %", "60 %", "70 %", "80 %", "90 %"]


def test_one_method_alone_needs_no_axis():
    assert ticks([score("a", 1.0, 0.0)], Measure("neg_root_mean_squared_error", None)) == []


def test_a_threshold_counts_what_it_finds_and_misses():
    judged = classes()
    found = thresholds_of(judged)
    truth, chances = judged.actual == "yes", judged.probabilities[:, 1]
    for row in found.rows:
        called = chances > row.threshold
        assert (row.called, row.hits, row.missed) == (called.sum(), (called & truth).sum(), (~called & truth).sum())
        assert row.cost == pytest.approx((row.false_alarms + row.missed) / 60)
    assert [row.threshold for row in found.rows if row.is_used] == [0.5]
    least = min(row.cost for row in found.rows)
    assert [row.cost for row in found.rows if row.is_cheapest] == [least]


def test_the_script_has_the_numbers_of_the_table():
    found = thresholds_of(classes())
    data = json.loads(found.script_data)
    place = data["thresholds"].index(0.5)
    row = next(row for row in found.rows if row.threshold == 0.5)
    assert (data["called"][place], data["hits"][place], data["rows"]) == (row.called, row.hits, 60)


def test_numbers_and_three_classes_have_no_threshold():
    assert thresholds_of(result().judgement) is None
    assert thresholds_of(classes(("a", "b", "c"))) is None
    assert thresholds_of(classes(with_probabilities=False)) is None


def test_the_page_shows_thresholds_with_and_without_script():
    page = page_of(class_result())
    parsed(page)
    assert "From which probability on to say yes" in page
    assert 'class="precision-recall"' in page
    assert 'id="chooser" hidden' in page  # shown by the script, which is not needed for the table
    assert page.count("in use") >= 1
    assert "http" not in page.replace("http://www.w3.org", "")


def test_the_leaderboard_has_an_axis_and_what_is_known_of_each_method():
    known = score("logistic regression", 0.1, 0.01, np.array([0.87]))
    known = type(known)(
        **(vars(known) | {"auc": 0.931, "log_loss": 0.27, "fit_seconds": 0.25, "predict_seconds": 1e-5})
    )
    usual = score("most frequent class", 0.5, 0.01, np.array([0.5]), is_baseline=True)
    page = page_of(class_result(scores=(known, usual), chosen=known))
    said = words_of(page)
    assert "AUC Log loss Fit, s Predict, s" in said
    assert "0.931 0.270 0.2 < 0.001" in said.replace("&lt;", "<")
    assert 'class="ticks"' in page


def test_columns_are_drawn_and_pairs_that_say_the_same_are_named():
    page = page_of(with_table(name="price"))
    assert page.count('class="spread"') == 4
    assert "Columns that say much the same: size and twin (1.00)." in words_of(page)
    found = correlations(with_table(name="price"))
    assert found.names[0] == "price"
    np.testing.assert_allclose(np.diag(found.values), 1.0)


def test_a_histogram_of_words_has_a_bar_for_each_and_of_nothing_none():
    assert histogram(pd.Series(["a", "b", "a"]), "words").count("<rect") == 2
    assert histogram(pd.Series([None, None]), "words") == ""
    assert histogram(pd.Series(np.arange(100.0)), "number").count("<rect") == 20


NOISE = Learned(NOTHING, 0.4, 1.0, 0.5, 0.5, "shuffling the target among these rows")


def test_nothing_learned_stands_above_everything_and_once():
    page = page_of(result(learned=NOISE, cautions=(NOISE.sentence, "Another caution.")))
    assert page.count("Nothing was learned") == 1
    assert page.index("Nothing was learned") < page.index("Another caution.")
    assert 'class="alarm"' in page


def test_something_learned_is_told_with_the_baseline():
    found = Learned(LEARNED, 0.0005, 0.01, 0.2, 0.8, "shuffling the target among these rows")
    page = words_of(page_of(result(learned=found)))
    assert "Always saying the same has 0.8000 on the rows kept aside, the chosen method 0.2000." in page
    assert "Something was learned" in page


def test_what_the_certificate_of_neighbors_means_is_said():
    found = meaning_of(EXACT, KNeighborsClassifier())
    assert found.startswith("the rows were stored as they are")
    assert "nothing is learned beyond that" in found
    failed = Certificate("exact", (Claim("rows stored", "rows", 1.0, 0.0),))
    assert meaning_of(failed, KNeighborsClassifier()) == "closed form, residual at rounding level"


def test_explained_rows_say_which_they_are():
    reasons = (Reason("age", "41", 0.5),)
    story = TreeStory(examples=(ExampleRow("5", "6", reasons=reasons, title="worst"),), event="the prediction")
    said = words_of(page_of(result(story=story)))
    assert "the worst row Predicted 5 , it was 6" in said


def test_methods_left_out_are_named_by_reason():
    left_out = (Untried("lasso", "you said so"), Untried("ridge", "no time left"), Untried("tree", "you said so"))
    assert "Not in the table: lasso; tree (you said so); ridge (no time left)." in words_of(
        page_of(result(untried=left_out))
    )


def test_rows_of_a_test_table_are_called_so():
    plan = Plan("cv", 5, 0, False, Options(test=table()))
    said = words_of(page_of(result(plan=plan, n_fitted=150)))
    assert "30 of your own test table looked at once." in said
    assert "The saved model is the one that was judged: it learned from 150 rows." in said


def test_a_row_that_no_column_changes_says_so():
    story = TreeStory(examples=(ExampleRow("5", "6", reasons=(Reason("age", "41", 0.0),)),), event="the prediction")
    assert "No column by itself changes the answer." in page_of(result(story=story))


def test_the_command_and_the_versions_are_there():
    page = words_of(render_fit_report(result(), Origin("t.csv", "m", "pellucid fit t.csv --target price")))
    assert "How to reproduce it pellucid fit t.csv --target price" in page
    assert re.search(r"Python 3\.\d+.*numpy \d", page)


def test_the_card_says_what_the_page_says():
    found = class_result(learned=NOISE, cautions=(NOISE.sentence, "Column <b> was left out."))
    card = render_model_card(found, Origin("t.csv", "model.safetensors", "pellucid fit t.csv --target churn"))
    assert card.startswith("# Model card")
    assert "> **Nothing was learned" in card
    assert "90.0 % (80.0 % to 95.0 %)" in card
    assert r"Column \<b\> was left out." in card
    assert "| logistic regression (chosen) | 90.0 % |" in card
    assert "```\npellucid fit t.csv --target churn\n```" in card
    assert "Certificate **exact**" in card or "Certificate **optimal**" in card
