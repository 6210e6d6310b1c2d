"""What is said of a table: by hand, properties, the page and the command, bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from pellucid.app.cli.application import run
from pellucid.app.describing import describe_table
from pellucid.app.report import Origin, render_description


def shop(n=400, seed=0):
    """A table in which nearly everything is odd."""
    rng = np.random.default_rng(seed)
    city = rng.choice(["Bern", "Basel", "Oslo", "Kyiv"], n)
    warmth = rng.normal(10.0, 4.0, n) + np.arange(n) / 40
    return pd.DataFrame(
        {
            "id": np.arange(1, n + 1),
            "day": pd.date_range("2023-01-01", periods=n).strftime("%d.%m.%Y"),
            "city": city,
            "region": pd.Series(city).map({"Bern": "CH", "Basel": "CH", "Oslo": "NO", "Kyiv": "UA"}),
            "celsius": np.where(rng.uniform(size=n) < 0.05, -999.0, warmth.round(1)),
            "fahrenheit": (warmth * 1.8 + 32).round(1),
            "price": [f"${value:,.2f}" for value in rng.uniform(5.0, 2000.0, n)],
            "paid": rng.choice(["yes", "no"], n, p=[0.75, 0.25]),
            "income": np.minimum(rng.exponential(40_000.0, n).round(), 100_000.0),
            "remark": None,
            "version": np.where(np.arange(n) == 7, 8, 7),
        }
    )


def sentences(frame):
    return [one.sentence for one in describe_table(frame).suspicions]


def test_facts_of_a_small_table():  # by hand
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0, None], "word": ["a", "a", "b", "a", "a"]})
    found = describe_table(frame)
    x, word = found.facts
    assert (x.kind, x.n_gaps, x.n_different, x.quartiles) == ("number", 1, 4, (1.0, 1.75, 2.5, 3.25, 4.0))
    assert (x.mean, x.n_far) == (2.5, 0)
    assert x.deviation == pytest.approx(np.sqrt(5 / 3))
    assert (word.kind, word.n_different, word.quartiles) == ("words", 2, None)
    assert (found.gaps, found.n_whole, found.n_repeated) == (0.1, 4, 0)


def test_a_value_is_far_out_beyond_three_distances_between_the_quartiles():
    values = [*range(100), 247.0, 250.0]  # quartiles 25.25 and 75.75 of 102 values: far above 227.25
    assert describe_table(pd.DataFrame({"x": values})).facts[0].n_far == 2


def test_rows_that_repeat_are_counted():
    assert describe_table(pd.DataFrame({"a": [1, 1, 2, 1], "b": ["x", "x", "y", "z"]})).n_repeated == 1


@pytest.mark.parametrize(
    "sentence",
    [
        "id would be left out by a model: it looks like an id, with 400 different values in 400 rows.",
        "remark would be left out by a model: it is empty.",
        "region follows from city: rows with the same city have the same region.",
        "version is 7 in all rows but 1.",
    ],
)
def test_what_is_odd_is_said(sentence):
    assert sentence in sentences(shop())


def test_gaps_written_as_numbers_and_values_cut_off_are_noticed():
    said = sentences(shop())
    assert sum("celsius is -999 in" in one and "is it a gap" in one for one in said) == 1
    assert sum("income is 100,000 in" in one and "was it cut off there?" in one for one in said) == 1
    assert not any("fahrenheit" in one or "price" in one for one in said)


def test_columns_that_are_the_same_or_other_names_are_told_apart():
    word = np.random.default_rng(0).choice(["a", "b", "c"], 90)
    number = pd.Series(word).map({"a": 3, "b": 1, "c": 2})
    assert sentences(pd.DataFrame({"one": word, "again": word})) == ["one and again are the same in every row."]
    assert sentences(pd.DataFrame({"word": word, "number": number})) == [
        "word and number are two names for the same: each value of one has one of the other."
    ]


@pytest.mark.parametrize("seed", range(3))
def test_an_ordinary_table_raises_no_suspicion(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.standard_normal((300, 4)), columns=list("abcd")).assign(
        word=rng.choice(["x", "y", "z"], 300), other=rng.choice(["p", "q", "r", "s"], 300), zeros=rng.poisson(0.3, 300)
    )
    found = describe_table(frame)
    assert found.suspicions == ()
    assert found.changed == ()


def test_change_in_time_is_seen_in_the_order_of_the_dates():
    frame = shop().sample(frac=1.0, random_state=0)
    found = describe_table(frame)
    assert found.in_time == "day"
    assert {one.column for one in found.changed} == {"celsius", "fahrenheit"}


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**31), st.floats(0.0, 0.4))
def test_correlations_are_spearman_s_and_lie_in_their_intervals(seed, gaps):  # peer
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(80)
    frame = pd.DataFrame({"x": x, "y": x + rng.standard_normal(80)}).mask(rng.uniform(size=(80, 2)) < gaps)
    (pair,) = describe_table(frame).together
    both = frame.dropna()
    assert pair.n_rows == len(both)
    assert pair.correlation == pytest.approx(spearmanr(both["x"], both["y"]).statistic)
    assert pair.low < pair.correlation < pair.high


def test_intervals_of_correlations_cover_for_all_pairs_at_once():
    rng, missed = np.random.default_rng(0), 0
    for _ in range(200):  # six pairs each, none of which have anything to do with each other
        found = describe_table(pd.DataFrame(rng.standard_normal((50, 4)), columns=list("abcd")))
        missed += any(pair.is_clear for pair in found.together)
    assert missed <= 20  # 5 % of 200 are 10; more than 20 would be an accident of 1 in 500


def test_the_page_says_it_and_asks_nothing_from_elsewhere():
    page = render_description(describe_table(shop()), Origin("shop.csv", ""))
    for words in (
        "What is in shop.csv",
        "To look at",
        "Which columns go together",
        "From the earlier rows",
        "yes in 7",
    ):
        assert words in page
    assert "http" not in page.replace("http://www.w3.org", "")


def test_the_command_writes_the_page(tmp_path, capsys):
    shop().to_csv(tmp_path / "shop.csv", index=False)
    assert run(["describe", str(tmp_path / "shop.csv"), "--out", str(tmp_path / "out")]) == 0
    assert "region follows from city" in capsys.readouterr().out
    assert (tmp_path / "out" / "description.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1.0]}),
        pd.DataFrame({"a": [None, None]}),
        pd.DataFrame({"a": [[1], [2, 3]], "b": [1, 2]}),
        pd.DataFrame({"a": [np.inf, 1.0, -np.inf, 2.0] * 10}),
        pd.DataFrame({"a": [1e300, -1e300] * 20, "b": range(40)}),
    ],
    ids=["one row", "empty", "lists", "infinite", "huge"],
)
def test_any_table_can_be_described(frame):
    found = describe_table(frame)
    assert len(found.facts) == frame.shape[1]
    assert "</html>" in render_description(found, Origin("t", ""))


def test_infinite_numbers_are_gaps_and_said_to_be():
    frame = pd.DataFrame({"a": [np.inf, 1.0, 2.0, 3.0]})
    found = describe_table(frame)
    assert found.facts[0].n_gaps == 1
    assert found.facts[0].quartiles[-1] == 3.0
    assert found.n_whole == 3
    assert found.notes == ("Column a: an infinite number in 1 row was taken for a gap.",)
    assert np.isinf(found.table["a"][0])  # the table itself is as it was given


def test_a_column_that_is_mostly_infinite_is_mostly_empty():
    found = describe_table(pd.DataFrame({"a": [np.inf] * 30 + [1.0, 2.0] * 10}))
    assert "a is empty in 60 % of the rows." in [one.sentence for one in found.suspicions]


def test_words_of_the_table_are_no_markup_of_the_page():
    page = render_description(describe_table(pd.DataFrame({"a<i>": ["<b>", "&"] * 20})), Origin("<u>", ""))
    assert "a&lt;i&gt;" in page
    assert "&lt;b&gt; (20)" in page
    assert "<u>" not in page


def test_a_table_that_is_not_there_is_refused_in_one_sentence(capsys):
    assert run(["describe", "nowhere.csv"]) == 2
    assert "which does not exist" in capsys.readouterr().err


def test_columns_that_differ_late_are_not_the_same():
    values = [float(k % 7) for k in range(150)]
    frame = pd.DataFrame({"a": values, "b": values, "c": [*values[:-1], 50.0]})
    same = [one.columns for one in describe_table(frame).suspicions if "same in every row" in one.sentence]
    assert same == [("a", "b")]
