"""Tables of polars and of databases are tables too."""

import sqlite3
import sys

import pandas as pd
import polars as pl
import pytest

from pellucid.app.bake_off import bake_off
from pellucid.app.tables import TableError
from pellucid.app.tables.reading import as_frame, is_url, name_of, read_query

ROWS = {"size": [1.5, 2.5, None], "city": ["Bern", None, "Basel"]}


@pytest.mark.parametrize("make", [pl.DataFrame, pl.LazyFrame, pd.DataFrame])
def test_frames_are_taken_whoever_made_them(make):
    frame = as_frame(make(ROWS))
    assert frame["size"].tolist()[:2] == [1.5, 2.5]
    assert frame.isna().sum().tolist() == [1, 1]


def test_a_bake_off_takes_polars():
    frame = pl.DataFrame({"x": [i / 3 for i in range(40)], "y": [2.0 * i for i in range(40)]})
    found = bake_off(frame.lazy(), "y", seconds=20, folds=2, only=["ridge"])
    assert found.chosen.name == "ridge"


def test_other_things_are_no_tables():
    with pytest.raises(TypeError, match="table must be a data frame of pandas or polars, got list"):
        as_frame([1, 2])


def test_a_database_has_a_url_and_errors_name_no_password():
    assert is_url("postgresql+psycopg://ann:secret@host/shop")
    assert name_of("postgresql://ann:secret@host/shop") == "postgresql://...@host/shop"
    assert name_of("folder/shop.csv") == "shop.csv"


def test_a_database_needs_a_query():
    with pytest.raises(TableError, match=r"database sqlite:///shop.db must be asked for something"):
        read_query("sqlite:///shop.db", None)


def test_a_missing_sqlalchemy_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(TableError, match="a database needs sqlalchemy to be read. Install it"):
        read_query("sqlite:///shop.db", "select 1")


def test_a_query_is_read_and_a_wrong_one_is_one_sentence(tmp_path):
    pytest.importorskip("sqlalchemy", reason="sqlalchemy is an extra")
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        pd.DataFrame(ROWS).to_sql("sizes", connection, index=False)
    connection.close()
    url = f"sqlite:///{tmp_path / 'shop.db'}"
    frame = read_query(url, "select size, city from sizes where size > 2")
    assert frame.to_dict("list") == {"size": [2.5], "city": [None]}
    with pytest.raises(TableError, match="must answer the query, but it says"):
        read_query(url, "select * from nothing")
