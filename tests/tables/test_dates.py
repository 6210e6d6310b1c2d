"""Dates in, numbers out."""

import numpy as np
import pandas as pd
import pytest

from pellucid.tables.dates import COMPACT, DATE, DAY_FIRST, MONTH_FIRST, NAMED_MONTH, date_parts, read_dates


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
