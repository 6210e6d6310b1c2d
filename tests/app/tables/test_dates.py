"""Dates in, numbers out."""

import numpy as np
import pandas as pd
import pytest

from pellucid.app.tables.dates import (
    COMPACT,
    DATE,
    DAY_FIRST,
    MONTH_FIRST,
    NAMED_MONTH,
    date_doubt,
    date_kind,
    date_parts,
    read_dates,
)


def read(text, kind):
    return read_dates(pd.Series([text]), kind).iloc[0]


def test_the_parts_of_a_date_by_hand():
    parts = date_parts(pd.Series(pd.to_datetime(["1970-01-11 13:45", None])), with_hour=True)
    # ten days after Thursday, 1 January 1970: a Sunday
    assert {name: values[0] for name, values in parts.items()} == {
        "days": 10.0, "year": 1970.0, "month": 1.0, "weekday": 6.0, "hour": 13.0,
    }  # fmt: skip
    assert all(np.isnan(values[1]) for values in parts.values())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("2024-02-03", DATE),
        ("2024/2/3", DATE),
        ("2024-02-03T00:00:00+01:00", DATE),
        ("3.2.2024", DAY_FIRST),
        ("03/02/2024", DAY_FIRST),
        ("02/03/2024", MONTH_FIRST),
        ("20240203", COMPACT),
        (20240203, COMPACT),
        (20240203.0, COMPACT),
        ("3 Feb 2024", NAMED_MONTH),
        ("3rd february 2024", NAMED_MONTH),
        ("Sat, 03-Feb-2024", NAMED_MONTH),
        ("February 3, 2024", NAMED_MONTH),
        ("2024-02-03", DAY_FIRST),
        ("2024-02-03", MONTH_FIRST),
        ("3/2/24", DAY_FIRST),
        ("02-03-24", MONTH_FIRST),
        ("3-Feb-24", NAMED_MONTH),
        ("Feb 3, 2024", DAY_FIRST),
        ("3 Feb 2024", DATE),
    ],
)
def test_the_third_of_february_is_read_in_every_way_of_writing(text, kind):
    assert read(text, kind) == pd.Timestamp("2024-02-03")


@pytest.mark.parametrize("text", ["2024-02-30", "soon", "", "12", None])
def test_what_is_no_date_is_a_gap(text):
    assert pd.isna(read(text, DATE))


def test_the_time_zone_is_dropped_not_converted():
    zoned = pd.Series(pd.to_datetime(["2024-02-03 23:30"])).dt.tz_localize("America/New_York")
    assert read_dates(zoned, DATE).iloc[0] == pd.Timestamp("2024-02-03 23:30")


def test_years_of_two_digits_are_those_around_2000():
    assert [read(text, DAY_FIRST).year for text in ("1/1/68", "1/1/69", "1/1/00", "1/1/99")] == [2068, 1969, 2000, 1999]


@pytest.mark.parametrize(
    ("text", "hour"),
    [("02/03/2024 12:05 AM", 0), ("02/03/2024 1:05 pm", 13), ("02/03/2024, 12:30 p.m.", 12), ("02/03/2024 13:05", 13)],
)
def test_hours_are_read_with_am_and_pm(text, hour):
    assert read(text, MONTH_FIRST) == pd.Timestamp("2024-02-03") + pd.Timedelta(hours=hour)


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["13/01/24", "02/03/2024", "2024-05-06", "7 May 2024", "n/a"], DAY_FIRST),
        (["01/13/24", "unknown", "May 7, 2024"], MONTH_FIRST),
        (["2024-05-06", "7 May 2024"], NAMED_MONTH),
        (["13/01/2024", "01/13/2024"], None),
        (["13/01/2024", "soon"], None),
        (["n/a"], None),
    ],
)
def test_dates_written_in_several_ways_are_read_where_they_agree(texts, kind):
    assert date_kind(pd.Series(texts)) == kind
    if kind is not None:
        assert read_dates(pd.Series(texts), kind).isna().tolist() == [text in ("n/a", "unknown") for text in texts]


def test_what_can_be_read_otherwise_is_said():
    assert date_doubt(pd.Series(["2024-01-02", "3 May 2024"])) == ""
    assert date_doubt(pd.Series(["13/01/2024"])) == ""
    assert date_doubt(pd.Series(["03/01/2024"])) == "whether day or month comes first cannot be seen"
    assert date_doubt(pd.Series(["13/01/24"])) == "years of two digits were taken for 1969 to 2068"
