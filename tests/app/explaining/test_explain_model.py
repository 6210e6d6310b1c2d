"""Explanations of a whole model: sums that are exact, columns that matter, columns that act together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from pellucid.app.bake_off import bake_off
from pellucid.app.bake_off.importance import importances
from pellucid.app.explaining import explain_model
from pellucid.app.explaining.answer import Answer, interactions_of, waterfall_of
from pellucid.app.explaining.dependence import crossed, dependence_of
from pellucid.app.report import Origin, render_explanation
from pellucid.app.report.explain_page import MOST_STEPS, waterfall_steps
from pellucid.app.table_model import TableModel
from pellucid.app.tables.column_reader import ColumnReader

KINDS = {"a": "number", "b": "number", "c": "number", "town": "words", "paid": "yes or no", "when": "date"}


class Formula(RegressorMixin, BaseEstimator):
    """Answers by a function of the columns as they are read."""

    def __init__(self, formula):
        self.formula = formula

    def fit(self, X, y=None):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return self.formula(X)


class Chance(ClassifierMixin, Formula):
    """Says the probability of the classes by a function."""

    @property
    def classes_(self):
        return np.array(["no", "yes"]) if self.formula is not of_three else np.array(["x", "y", "z"])

    def predict_proba(self, X):
        found = np.asarray(self.formula(X))
        return found if found.ndim == 2 else np.column_stack([1.0 - found, found])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def of_three(X):
    return np.column_stack([0.2 + 0 * X["a"], 0.3 + 0.05 * (X["b"] > 0), 0.5 - 0.05 * (X["b"] > 0)])


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.normal(size=n),
            "c": np.where(rng.random(n) < 0.2, np.nan, rng.exponential(size=n)),
            "town": rng.choice(["Kyiv", "Oslo", "Rome"], size=n, p=[0.6, 0.3, 0.1]),
            "paid": rng.choice(["yes", "no"], size=n),
            "when": pd.date_range("2024-01-01", periods=n).astype(str),
        }
    )


def model_of(formula, frame, kind=Formula):
    model = TableModel([("read", ColumnReader(KINDS).fit(frame)), ("method", kind(formula))])
    model.target_ = "y"
    return model


def about(formula, frame=None, row=0, kind=Formula):
    frame = table() if frame is None else frame
    return Answer.about(model_of(formula, frame, kind), frame, row)


def plain(X):
    return 2.0 * X["a"] - X["b"] + 3.0 * (X["town"] == "Oslo").to_numpy() + 0.01 * X["when days"]


def product(X):
    return X["a"] * X["b"] + X["a"] + 0.5 * X["paid"]


# by hand


def test_of_a_sum_every_column_adds_its_distance_from_the_mean():
    frame = table()
    found = waterfall_of(about(plain, frame), 7, seed=0)
    added = {one.column: one.added for one in found.contributions}
    assert added["a"] == pytest.approx(2.0 * (frame["a"][7] - frame["a"].mean()))
    assert added["b"] == pytest.approx(frame["b"].mean() - frame["b"][7])
    assert added["town"] == pytest.approx(3.0 * ((frame["town"][7] == "Oslo") - (frame["town"] == "Oslo").mean()))
    assert added["when"] == pytest.approx(0.01 * (7 - 149.5))
    assert added["c"] == added["paid"] == 0.0
    assert found.n_rows == 300


def test_a_product_is_shared_between_its_columns():
    frame = table(n=400, seed=1)
    found = waterfall_of(about(lambda X: X["a"] * X["b"], frame), 3, seed=0)
    # the Shapley value of x1 x2 against rows z: (x1 - z1)(x2 + z2)/2 on average
    a, b = frame["a"], frame["b"]
    wanted = np.mean((a[3] - a) * (b[3] + b)) / 2.0
    assert {one.column: one.added for one in found.contributions}["a"] == pytest.approx(wanted)


def test_values_are_told_as_people_write_them():
    values = {one.column: one.value for one in waterfall_of(about(plain), 0, seed=0).contributions}
    assert values["paid"] in ("yes", "no")
    assert values["when"] == "2024-01-01"
    assert values["town"] in ("Kyiv", "Oslo", "Rome")


def test_the_curve_of_a_sum_is_its_own_line():
    frame = table()
    found = dependence_of(about(plain, frame), "a", seed=0)
    np.testing.assert_allclose(np.diff(found.means), 2.0 * np.diff(found.values))
    assert found.counts.sum() + found.n_beyond == len(frame)
    assert (found.n_gaps, found.is_date, found.words) == (0, False, ())


def test_words_are_bars_with_their_counts_and_gaps_have_an_answer():
    frame = table()
    answer = about(lambda X: (X["town"] == "Oslo") * 3.0 + X["c"].fillna(-5.0), frame)
    towns = dependence_of(answer, "town", seed=0)
    assert dict(zip(towns.words, towns.counts, strict=True)) == frame["town"].value_counts().to_dict()
    means = dict(zip(towns.words, towns.means, strict=True))
    assert means["Oslo"] - means["Kyiv"] == pytest.approx(3.0)
    sizes = dependence_of(answer, "c", seed=0)
    assert sizes.n_gaps == frame["c"].isna().sum()
    assert sizes.at_gap == pytest.approx(sizes.means[0] - sizes.values[0] - 5.0)


def test_dates_move_as_a_whole_and_flags_are_yes_and_no():
    months = dependence_of(about(lambda X: X["when month"]), "when", seed=0)
    assert months.is_date
    wanted = (np.datetime64("1970-01-01") + months.values.astype("timedelta64[D]")).astype("datetime64[M]")
    np.testing.assert_allclose(months.means, wanted.astype(int) % 12 + 1)
    assert dependence_of(about(lambda X: X["paid"]), "paid", seed=0).words == ("no", "yes")


def test_the_size_of_a_product_is_the_root_of_its_mean_square():
    frame = table(n=500)
    (found,) = interactions_of(about(lambda X: X["a"] * X["b"], frame), ["a", "b"], seed=0)
    # D = (x1 - z1)(x2 - z2): its mean square is 4 for independent columns of variance 1
    assert found.low <= 2.0 <= found.high
    assert found.size == pytest.approx(2.0, rel=0.15)


def test_columns_that_only_add_up_do_not_act_together():
    for one in interactions_of(about(plain), ["a", "b", "town", "when"], seed=0):
        assert one.size == pytest.approx(0.0, abs=1e-9)


# properties


def test_a_known_product_is_the_strongest_interaction_and_is_drawn():
    frame = table()
    found = explain_model(model_of(product, frame), frame)
    first = found.interactions[0]
    assert {first.first, first.second} == {"a", "b"}
    assert first.low > max(one.high for one in found.interactions[1:])
    drawn = found.strongest
    slopes = [np.polyfit(drawn.values, means, 1)[0] for means in drawn.means]
    levels = [float(level) for level in drawn.levels]
    assert slopes[1] - slopes[0] == pytest.approx(levels[1] - levels[0], rel=1e-3)  # the slope of a is b + 1


def test_texts_matter_and_act_but_have_no_curve():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"note": rng.choice(["red sky", "blue sea"], size=80), "x": rng.normal(size=80)})
    reader = ColumnReader({"note": "text", "x": "number"}).fit(frame)
    model = TableModel([("read", reader), ("method", Formula(lambda X: X["note"].str.contains("red") * X["x"]))])
    model.target_ = "y"
    found = explain_model(model, frame)
    assert found.without_curve == ("note",)
    assert [one.column for one in found.curves] == ["x"]
    assert found.interactions[0].low > 0.0
    assert found.strongest is None
    assert "note holds texts, which have no curve." in render_explanation(found, Origin("t", "m"))


def test_a_model_that_always_says_the_same_has_a_page_too():
    frame = table()
    found = explain_model(model_of(lambda X: np.full(len(X), 3.0), frame), frame)
    assert (found.curves, found.interactions, found.strongest) == ((), (), None)
    assert found.waterfall.mean == found.waterfall.answer == 3.0
    page = render_explanation(found, Origin("t", "m"))
    assert "Which columns act together" not in page
    assert "matters the most" not in page


def test_two_columns_of_words_are_not_drawn_as_a_curve():
    assert crossed(about(lambda X: (X["town"] == "Oslo") * X["paid"]), ("town", "paid"), seed=0) is None


@pytest.mark.parametrize("row", [0, 5])
@pytest.mark.parametrize(
    ("target", "method"),
    [("price", "ridge"), ("price", "boosted trees"), ("dear", "random forest"), ("dear", "logistic regression")],
)
def test_contributions_sum_to_the_prediction(houses, target, method, row):
    model = fitted(houses, target, method)
    found = explain_model(model, houses, row=row)
    asked = houses.iloc[[row]]
    own = model.predict_proba(asked)[0, 1] if target == "dear" else model.predict(asked)[0]
    assert found.waterfall.answer == pytest.approx(own, rel=1e-12)
    total = found.waterfall.mean + sum(one.added for one in found.waterfall.contributions)
    assert total == pytest.approx(own, rel=1e-9)
    steps = waterfall_steps(found.waterfall)
    assert steps[-1].total == pytest.approx(own, rel=1e-9)


def test_the_interval_of_a_column_of_noise_includes_0_and_others_do_not(houses):
    model = fitted(houses, "price", "ridge")
    fresh = made(seed=1)
    found = explain_model(model, fresh, truth=(np.ones(len(fresh), dtype=bool), fresh["price"].to_numpy()))
    by_name = {one.column: one for one in found.importances}
    assert by_name["noise"].low < 0.0 < by_name["noise"].high
    assert by_name["size"].is_clear
    assert by_name["town"].is_clear
    assert not found.is_training_table
    assert found.importances[0].column == "size"


def test_an_interval_of_95_percent_holds_the_true_importance_that_often():
    held = {"numbers": 0, "classes": 0}
    for seed in range(200):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame({"a": rng.normal(size=200)})
        asked = {"parts": {"a": ["a"]}, "seed": seed, "repeats": 5}
        # y = a + e with errors of deviation 1/2; shuffled, the mean square is 2 + 1/4
        y = frame["a"].to_numpy() + rng.normal(size=200) / 2.0
        (one,) = importances(Formula(lambda X: X["a"].to_numpy()), frame, y, is_classification=False, **asked)
        held["numbers"] += abs(one.rise - 1.0) <= 1.96 * one.standard_error
        # a fifth of the labels is wrong; shuffled, half are
        y = (frame["a"].to_numpy() > 0.0) ^ (rng.random(200) < 0.2)
        (one,) = importances(Formula(lambda X: X["a"].to_numpy() > 0.0), frame, y, is_classification=True, **asked)
        held["classes"] += abs(one.rise - 0.3) <= 1.96 * one.standard_error
    assert min(held.values()) >= 180
    assert held["numbers"] + held["classes"] < 400  # not so wide that they always do


def test_without_a_target_a_column_matters_as_far_as_answers_change():
    frame = table(n=2000)
    found = explain_model(model_of(plain, frame), frame)
    by_name = {one.column: one for one in found.importances}
    # shuffling a changes the answer by 2 (a - a'), whose root mean square is 2 sqrt(2)
    assert by_name["a"].low < np.sqrt(8.0) * frame["a"].std() < by_name["a"].high
    assert by_name["c"].rise == by_name["c"].high == 0.0
    assert found.n_judged == 0


def test_the_training_table_is_recognized(houses):
    model = fitted(houses, "price", "ridge")
    truth = np.ones(len(houses), dtype=bool), houses["price"].to_numpy()
    assert explain_model(model, houses, truth=truth).is_training_table


def test_of_two_classes_the_second_is_followed_of_more_the_likeliest_of_the_row():
    frame = table()
    two = explain_model(model_of(lambda X: 0.5 + 0.1 * np.sign(X["a"]), frame, Chance), frame)
    assert (two.label, two.n_classes) == ("yes", 2)
    three = model_of(of_three, frame, Chance)
    found = explain_model(three, frame)
    assert found.label == "z"
    assert "the likeliest class of row 1" in render_explanation(found, Origin("t.csv", "m"))


def test_the_same_seed_gives_the_same_page_and_another_another():
    frame = table()
    model = model_of(product, frame)
    pages = [render_explanation(explain_model(model, frame, seed=seed), Origin("t", "m")) for seed in (0, 0, 1)]
    same = [page.split("<footer>")[0] for page in pages]
    assert same[0] == same[1] != same[2]


def test_progress_ends_at_all():
    heard = []
    frame = table()
    explain_model(model_of(product, frame), frame, listen=lambda *what: heard.append(what))
    done = [one[1] for one in heard]
    assert done == sorted(done)
    assert all(one[1] <= one[2] for one in heard)
    assert len({one[2] for one in heard}) == 1


def test_the_page_is_whole_and_escapes_what_it_is_given():
    frame = table().rename(columns={"a": "<b>$a$</b>"}).assign(town=lambda it: it["town"] + "<script>")
    kinds = {"<b>$a$</b>" if name == "a" else name: kind for name, kind in KINDS.items()}
    model = TableModel(
        [
            ("read", ColumnReader(kinds).fit(frame)),
            ("method", Formula(lambda X: X["<b>$a$</b>"] + (X["town"] == "Oslo<script>"))),
        ]
    )
    model.target_ = "<i>y</i>"
    page = render_explanation(explain_model(model, frame), Origin("t<u>.csv", "m"))
    for hostile in ("<script>", "<b>$a$</b>", "<i>y</i>", "<u>"):
        assert hostile not in page
    assert "&lt;i&gt;y&lt;/i&gt;" in page
    assert "Before you rely on it" not in page  # where parts that failed would be named


def test_many_columns_are_taken_together_and_still_sum_up():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 20)), columns=[f"x{j}" for j in range(20)])
    model = TableModel(
        [
            ("read", ColumnReader(dict.fromkeys(frame.columns, "number")).fit(frame)),
            ("method", Formula(lambda X: X.to_numpy() @ np.arange(20.0))),
        ]
    )
    model.target_ = "y"
    found = explain_model(model, frame, row=2).waterfall
    steps = waterfall_steps(found)
    assert len(steps) == MOST_STEPS + 1
    assert steps[-1].name == "8 other columns"
    assert steps[-1].total == pytest.approx(found.answer)
    assert min(step.left for step in steps) == pytest.approx(0.0, abs=1e-9)
    assert max(step.left + step.width for step in steps) <= 100.0 + 1e-9


# errors


def test_too_few_rows_and_rows_beyond_the_table_are_refused():
    frame = table()
    model = model_of(plain, frame)
    with pytest.raises(ValueError, match="table must have at least 10 rows to explain a model with, got 4"):
        explain_model(model, frame.head(4))
    with pytest.raises(ValueError, match="row must be one of the 300 of the table, got 301"):
        explain_model(model, frame, row=300)


def made(seed=0, n=300):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.exponential(size=n),
            "noise": rng.normal(size=n),
            "town": rng.choice(["Kyiv", "Oslo", "Rome"], size=n),
        }
    )
    frame["price"] = 10 + frame["size"] * 5 + (frame["town"] == "Oslo") * 3 + rng.normal(size=n) / 4
    frame["dear"] = np.where(frame["price"] > 15, "yes", "no")
    return frame


@pytest.fixture(scope="module")
def houses():
    return made()


MODELS = {}


def fitted(frame, target, method):
    if (target, method) not in MODELS:
        other = {"price": "dear", "dear": "price"}[target]
        MODELS[target, method] = bake_off(frame.drop(columns=other), target, seconds=20, only=[method]).model
    return MODELS[target, method]
