"""The page is whole, self-contained and safe whatever the names in the table are."""

from datetime import UTC, datetime
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from pellucid.app.bake_off import BakeOffResult
from pellucid.app.bake_off.comparison import Untried
from pellucid.app.bake_off.contestants import Contestant
from pellucid.app.bake_off.importance import Coefficient, Effect, Importance
from pellucid.app.bake_off.judgement import Judgement, confusion_of
from pellucid.app.bake_off.result import Plan
from pellucid.app.bake_off.scores import MethodScore, Pace
from pellucid.app.bake_off.tree_story import ExampleRow, Reason, StoryNode, TreeStory
from pellucid.app.report import Origin, format_number, render_fit_report
from pellucid.app.report.figures import whiskers
from pellucid.app.report.page import breakable, coefficient_bars
from pellucid.app.tables.understanding import Columns, Target
from pellucid.model_selection import ErrorCurve, Opening, ScoreInterval
from pellucid.proofs.certificate import Certificate, Claim

VOID = {"meta", "br", "wbr", "link", "img", "input", "hr"}


def numbers(actual=None, predicted=None):
    actual = np.linspace(0.0, 10.0, 30) if actual is None else actual
    predicted = actual + np.sin(actual) if predicted is None else predicted
    scores = {
        "R²": 0.8,
        "half of the rows are missed by less than": 0.4,
        "nine of ten rows are missed by less than": 0.9,
    }
    return Judgement(actual, predicted, ScoreInterval("rmse", 1.1, 0.9, 1.3, 0.95, "bootstrap", len(actual)), scores)


def classes(labels=("no", "yes"), with_probabilities=True):
    rng = np.random.default_rng(0)
    codes = np.arange(60) % len(labels)
    chances = 0.2 * rng.random((60, len(labels))) + 0.8 * np.eye(len(labels))[codes]
    chances /= chances.sum(axis=1, keepdims=True)
    names = np.array(labels, dtype=object)
    predicted = names[np.where(np.arange(60) % 10 == 0, (codes + 1) % len(labels), codes)]
    scores = {"balanced accuracy": 0.87} | ({"area under the ROC curve": 0.93} if len(labels) == 2 else {})
    headline = ScoreInterval("accuracy", 0.9, 0.8, 0.95, 0.95, "exact binomial", 60)
    return Judgement(names[codes], predicted, headline, scores, names, chances if with_probabilities else None)


CURVE = ErrorCurve(
    "rows",
    (10, 50, 100),
    np.array([0.1, 0.2, 0.2]),
    np.array([0.5, 0.3, 0.25]),
    np.full(3, 0.02),
    0.8,
    "no overfitting",
)


def score(name, mean, standard_error, balanced=None, is_baseline=False):
    contestant = Contestant(name, f"what {name} does", list, is_baseline=is_baseline)
    return MethodScore(contestant, np.array([mean]), balanced, 3.0, Pace(100, 0.1), standard_error)


def certified(certificate):
    return [SimpleNamespace(certificate_=certificate)]  # all that the page asks of the pipeline


def result(**changes):
    ridge = score("ridge", 1.0, 0.1)
    target = changes.pop("name", "price")
    task = changes.pop("task", "regression")
    values = {
        "model": certified(Certificate("exact", (Claim("normal equations", "residual", 1e-16, 1e-12),))),
        "table": pd.DataFrame({"rooms": [1.0, 3.0, 5.0], target: [1.0, 2.0, 3.0]}),
        "target": Target(target, task, "its values are numbers", np.zeros(150), np.ones(150, dtype=bool)),
        "columns": Columns({"rooms": "number"}, {}),
        "plan": Plan("cv", 5, 0, one_standard_error=False),
        "scores": (ridge, score("mean", 3.0, 0.2, is_baseline=True)),
        "untried": (Untried("lasso", "no time left"),),
        "chosen": ridge,
        "judgement": numbers(),
        "curve": CURVE,
        "importances": [Importance("rooms", 0.5, 0.1), Importance("age", -0.01, 0.1)],
        "coefficients": [Coefficient("rooms", 2.0), Coefficient("age", -1.0), Coefficient("noise", 0.0)],
        "intercept": 4.0,
        "effects": [Effect("rooms", np.arange(3.0), np.array([0.0, 1.0, 0.5]))],
        "story": TreeStory(),
        "vault_log": (Opening(1, "final estimate of ridge", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),),
        "cautions": (),
        "interrupted": False,
        "seconds": 12.0,
    }
    return BakeOffResult(**(values | changes))


def class_result(**changes):
    logistic = score("logistic regression", 0.1, 0.01, np.array([0.87]))
    usual = score("most frequent class", 0.5, 0.01, np.array([0.5]), is_baseline=True)
    given = {"task": "classification", "scores": (logistic, usual), "chosen": logistic, "judgement": classes()}
    return result(**(given | changes))


def page_of(found, table_name="houses.csv"):
    return render_fit_report(found, Origin(table_name, "model.safetensors"))


class Balance(HTMLParser):
    """Checks that every element is closed, and collects what would be fetched from elsewhere."""

    def __init__(self):
        super().__init__()
        self.open, self.fetched, self.scripts, self.ids = [], [], 0, []

    def handle_starttag(self, tag, attributes):
        self.fetched += [v for k, v in attributes if k in ("src", "href", "xlink:href") and not v.startswith("#")]
        self.ids += [v for k, v in attributes if k == "id"]
        self.scripts += tag == "script"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(page):
    balance = Balance()
    balance.feed(page)
    assert balance.open == []
    return balance


KINDS = pytest.mark.parametrize("make", [result, class_result])


def test_a_number_reads_as_a_person_writes_it():  # by hand
    assert [format_number(value) for value in (0.0, 3.14159, -2.0, 152.13, 12345.6, 1e9, 1e-7)] == [
        "0.000", "3.142", "\N{MINUS SIGN}2.000", "152.1", "12,346", "1e+09", "1e\N{MINUS SIGN}07",
    ]  # fmt: skip


def test_whiskers_share_one_scale():
    ridge, mean = whiskers(result().scores)
    # from 0.9 to 3.2: the mean of ridge, 1.0, stands at 0.1 / 2.3
    assert (ridge.low, ridge.mean, mean.high) == pytest.approx((0.0, 10 / 2.3, 100.0))


def test_of_shares_that_are_right_the_best_stands_to_the_right():
    ridge, mean = whiskers(result().scores, mirrored=True)
    assert (ridge.high, ridge.mean, mean.low) == pytest.approx((100.0, 100.0 - 10 / 2.3, 0.0))
    assert ridge.low < ridge.mean < ridge.high


def test_bars_are_sorted_by_size_and_leave_out_zeros():
    bars = coefficient_bars(result().coefficients)
    assert [(bar.name, bar.width) for bar in bars] == [("rooms", 100.0), ("age", 50.0)]


@KINDS
def test_the_page_is_self_contained(make):
    page = parsed(page_of(make()))
    assert page.fetched == []
    assert page.scripts == (2 if make is class_result else 0)  # the numbers of the thresholds, and what moves them


@KINDS
def test_the_page_is_small_and_its_ids_are_unique(make):
    text = page_of(make())
    ids = parsed(text).ids
    assert len(text.encode()) < 2_000_000
    assert len(ids) == len(set(ids))


@KINDS
def test_the_same_report_gives_the_same_page(make):
    assert page_of(make()) == page_of(make())


@KINDS
def test_names_cannot_break_out_of_the_page(make):
    hostile = '</title><script>alert("x")</script>&_y'
    page = page_of(
        make(
            name=hostile,
            table=pd.DataFrame({hostile: [1.0, None], f"{hostile} 2": [hostile, None]}),
            columns=Columns({f"{hostile} 2": "words"}, {}),
            cautions=(hostile,),
            coefficients=[Coefficient(hostile, 1.0, hostile)],
            importances=[Importance(hostile, 1.0, 0.0)],
            untried=(Untried(hostile, hostile),),
            **({"judgement": classes((hostile, "b"))} if make is class_result else {}),
        ),
        table_name=hostile,
    )
    assert parsed(page).scripts == (2 if make is class_result else 0)
    assert "<script>alert" not in page


def test_long_names_may_break_after_underscores():
    assert breakable("a_<b>") == "a_<wbr>&lt;b&gt;"


def test_a_failed_claim_is_said():
    broken = Certificate("exact", (Claim("normal equations", "residual", 1.0, 1e-12),))
    assert "A claim does not hold." in page_of(result(model=certified(broken)))


def test_a_perfect_constant_prediction_can_be_drawn():
    flat = numbers(np.ones(5), np.ones(5))
    page_of(result(judgement=flat, coefficients=[Coefficient("rooms", 0.0)], importances=[]))


def test_the_page_of_a_classification_tells_everything():
    page = page_of(class_result(cautions=("The classes are uneven.",)))
    for words in (
        "90.0 %", "80.0 % to 95.0 %", "balanced accuracy", "The classes are uneven.", "lasso (no time left)",
        "Rows by true class", "share that came true", "false alarms", "final estimate of ridge",
        "2026-01-02 03:04:05 UTC",
        "No overfitting.", "--probabilities", "adds to the score of", "class yes",
    ):  # fmt: skip
        assert words in " ".join(page.split()), words


def test_the_page_of_a_regression_tells_everything():
    page = " ".join(page_of(result()).split())
    for words in (
        "1.100",
        "0.9000 to 1.300",
        "80.0 %",
        "Root mean squared error of price",
        "half of the rows are missed",
    ):
        assert words in page, words
    assert "--probabilities" not in page


def test_a_method_without_probabilities_says_so():
    judged = classes(with_probabilities=False)
    assert "gives classes without probabilities" in page_of(class_result(judgement=judged))


def test_three_classes_name_the_class_of_a_coefficient():
    page = page_of(
        class_result(judgement=classes(("a", "b", "c")), coefficients=[Coefficient("size", 1.0, "b")], intercept=None)
    )
    assert "<small>for b</small>" in page
    assert "false alarms" not in page


def test_many_classes_get_their_frequent_mistakes_instead_of_a_matrix():
    page = page_of(class_result(judgement=classes(tuple(f"class {i}" for i in range(12)))))
    assert "With 12 classes, the most frequent mistakes" in page
    assert 'class="matrix"' not in page


def test_what_there_was_no_time_for_is_said():
    page = page_of(result(curve="There was no time left for it.", importances="It was interrupted."))
    assert "The learning curve: There was no time left for it." in page
    assert "Importance by shuffling: It was interrupted." in page


def test_many_rows_keep_the_page_small():
    rng = np.random.default_rng(0)
    actual = rng.standard_normal(50_000)
    page = page_of(result(judgement=numbers(actual, actual + rng.standard_normal(50_000))))
    assert len(page.encode()) < 500_000
    assert "(1000 of 50000)" in page


def test_the_confusion_by_hand():
    found = confusion_of(np.array(["a", "a", "a", "b"]), np.array(["a", "a", "b", "b"]), np.array(["a", "b"]))
    assert [[(cell.count, cell.share) for cell in row] for row in found.cells] == [
        [(2, pytest.approx(2 / 3)), (1, pytest.approx(1 / 3))],
        [(0, 0.0), (1, 1.0)],
    ]
    assert found.mistakes == [("a", "b", 1)]
    assert [(row.label, row.n_rows, row.right_calls) for row in found.classes] == [("a", 3, 1.0), ("b", 1, 0.5)]


TREE = (
    StoryNode("age ≤ 41 & <b>", 1, 2, "no", 0.6, 100.0),
    StoryNode("", 0, 0, "no", 0.9, 60.0),
    StoryNode("a question that is far too long for its box", 3, 4, "yes", 0.55, 40.0),
    StoryNode("", 0, 0, "yes", 0.8, 30.0),
    StoryNode("", 0, 0, "no", 0.75, 10.0),
)


def test_a_tree_is_drawn_with_its_questions_and_answers():
    page = page_of(class_result(story=TreeStory(TREE, (ExampleRow("no", "yes", "no, because age ≤ 41."),))))
    assert "age ≤ 41 &amp; &lt;b&gt;" in page
    assert "a question that is far…" in page
    assert "<title>a question that is far too long for its box</title>" in page
    assert page.count('class="weight"') == 3
    assert "no, because age ≤ 41. It was yes." in page
    Balance().feed(page)


def test_an_ensemble_tells_what_drives_it_and_explains_rows():
    story = TreeStory(
        examples=(ExampleRow("yes", "no", reasons=(Reason("age", "41", 0.5), Reason("city", "Bern", -0.25))),),
        drivers=(Reason("age", "", 0.4), Reason("city", "", 0.1)),
        event="the log odds of yes",
    )
    page = page_of(class_result(story=story))
    assert "what their values add to the log odds of yes" in page
    assert "city = Bern" in page
    assert "+0.5" in page


def test_a_story_that_there_was_no_time_for_is_left_out():
    assert "Why it says so" not in page_of(class_result(story="There was no time left for it."))
