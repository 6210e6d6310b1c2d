"""The table in a few numbers: only the columns used, quick on any table, no target."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

from pellucid.app.bake_off import bake_off
from pellucid.app.describing import describe_table
from pellucid.app.describing import table_in_short as short
from pellucid.app.describing.table_in_short import IN_WORDS, MOST_COLUMNS, MOST_ROWS
from pellucid.app.report import Origin, render_fit_report
from pellucid.app.tables.understanding import KINDS, Columns, all_columns


def shop(n=120):
    rng = np.random.default_rng(0)
    city = rng.choice(["Oslo", "Kyiv", "Rome", "Bergen"], size=n)
    frame = pd.DataFrame(
        {
            "size": rng.normal(100, 5, size=n).round(1),
            "city": city,
            "country": np.where(city == "Kyiv", "UA", np.where(city == "Rome", "IT", "NO")),
            "sold": pd.date_range("2024-01-01", periods=n).astype(str),
            "id": [f"number {k}" for k in range(n)],
            "price": rng.normal(size=n),
        }
    )
    frame.loc[:3, "size"] = -999.0
    frame.loc[4:9, "city"] = None
    return frame


def used(frame):
    found = all_columns(frame.drop(columns="price"))
    return Columns(
        {name: kind for name, kind in found.kinds.items() if name != "id"}, {"id": "each value is different"}
    )


def test_every_kind_has_a_word():
    assert set(KINDS) == set(IN_WORDS)


def test_it_says_what_the_description_says_of_the_same_columns():
    frame = shop()
    found = short(frame, used(frame))
    whole = describe_table(frame.drop(columns=["price", "id"]))
    assert found.gaps == pytest.approx(whole.gaps)
    assert found.whole == pytest.approx(whole.n_whole / len(frame))
    assert found.n_repeated == whole.n_repeated
    assert found.suspicions == whole.suspicions
    assert found.kinds == {"words": 2, "numbers": 1, "dates": 1}
    assert any("is it a gap, written as a number?" in one.sentence for one in found.suspicions)


def test_the_target_and_columns_left_out_are_not_looked_at():
    frame = shop()
    again = short(frame.assign(price=frame["size"], id=1.0), used(frame))
    assert again == short(frame, used(frame))
    assert all(set(one.columns) <= {"size", "city", "country", "sold"} for one in again.suspicions)


def test_repeated_rows_are_counted_in_all_rows():
    frame = pd.DataFrame({"a": [1.0, 2.0, 1.0, 1.0], "b": ["x", "y", "x", "y"], "price": range(4)})
    assert short(frame, Columns({"a": "number", "b": "words"}, {})).n_repeated == 1


def test_large_and_wide_tables_take_seconds_and_say_what_was_seen():
    rng = np.random.default_rng(0)
    large = pd.DataFrame(rng.normal(size=(400_000, 15)), columns=[f"x{j}" for j in range(15)])
    wide = pd.DataFrame(rng.normal(size=(1000, 2000)), columns=[f"x{j}" for j in range(2000)])
    start = time.perf_counter()
    tall, broad = (short(frame, Columns(dict.fromkeys(frame.columns, "number"), {})) for frame in (large, wide))
    assert time.perf_counter() - start < 20.0  # about two on a quiet machine
    assert (tall.n_looked_at, tall.n_rows, tall.n_repeated) == (MOST_ROWS, 400_000, None)
    assert (broad.n_columns_looked_at, broad.n_columns) == (MOST_COLUMNS, 2000)


def test_the_report_begins_with_it():
    frame = shop()
    result = bake_off(frame, "price", seconds=20, only=["ridge"])
    page = render_fit_report(result, Origin("shop.csv", "model"))
    assert page.index("The table in short") < page.index("Before you rely on it") < page.index("Methods compared")
    assert "is it a gap, written as a number?" in page
    assert page.count("Column id was left out") == 1
    assert "id would be left out" not in page
    assert short(result.table, result.columns).n_columns == len(result.columns.kinds)
