"""Numbers as people write them."""

import numpy as np
import pandas as pd
import pytest

from pellucid.app.tables import choose_target, understand
from pellucid.app.tables.column_reader import ColumnReader
from pellucid.app.tables.distinct import distinct
from pellucid.app.tables.written_numbers import DURATION, WITH_COMMA, WITH_POINT, read_written, written_kind


@pytest.mark.parametrize(
    ("texts", "kind", "numbers"),
    [
        (["$1,200.50", "$3", "-$7.25"], WITH_POINT, [1200.5, 3.0, -7.25]),
        (["12 %", "7.5%", "100%"], WITH_POINT, [12.0, 7.5, 100.0]),
        (["1'200", "12 000", "1 234 567"], WITH_POINT, [1200.0, 12000.0, 1234567.0]),
        (["(1,200)", "300", "45-"], WITH_POINT, [-1200.0, 300.0, -45.0]),
        (["1,200", "3,400,000"], WITH_POINT, [1200.0, 3400000.0]),
        (["1.5e3", "2E-2"], WITH_POINT, [1500.0, 0.02]),
        (["CHF 20.-", "CHF 7.50"], WITH_POINT, [20.0, 7.5]),
        (["3", "?", "4", "n/a", "5", "6"], WITH_POINT, [3.0, np.nan, 4.0, np.nan, 5.0, 6.0]),
        (["12,5 €", "1.200,75 €"], WITH_COMMA, [12.5, 1200.75]),
        (["1:30:00", "0:00:05"], DURATION, [5400.0, 5.0]),
        (["2 days, 3:00:00", "1:00"], DURATION, [183600.0, 3600.0]),
        (["1h 30m", "45 min", "10s"], DURATION, [5400.0, 2700.0, 10.0]),
    ],
)
def test_written_numbers_are_read(texts, kind, numbers):
    column = pd.Series(texts)
    assert written_kind(distinct(column)) == kind
    np.testing.assert_array_equal(read_written(column, kind), numbers)


@pytest.mark.parametrize(
    "texts",
    [
        ["01234", "56789"],  # a code of a town
        ["1234567890123456789012345", "1234567890123456789012346"],  # an id: a float would lose its digits
        ["3", "four", "5"],
        ["?", "?", "?", "4"],  # hardly any number
        ["A1", "B2"],
        ["E54", "E7"],  # a cabin, no exponent
        [".", "e5", ".e5", "3"],
        ["1,2,3", "4,5"],
        ["-", "--"],
        ["12:99", "1:30"],
    ],
)
def test_what_is_no_number_stays_words(texts):
    assert written_kind(distinct(pd.Series(texts))) is None


def test_a_column_of_prices_is_understood_and_read():
    frame = pd.DataFrame({"price": ["$1,000", "$250", "unknown", "$75"] * 5, "y": [1, 2] * 10})
    columns = understand(frame, "y")
    assert columns.kinds == {"price": WITH_POINT}
    read = ColumnReader(dict(columns.kinds)).fit(frame).transform(frame)
    np.testing.assert_array_equal(read["price"][:4], [1000.0, 250.0, np.nan, 75.0])


def test_a_price_that_is_none_is_refused_by_name():
    reader = ColumnReader({"price": WITH_POINT}).fit(pd.DataFrame({"price": ["$1"]}))
    with pytest.raises(ValueError, match="column 'price' must be numbers, got 'cheap'"):
        reader.transform(pd.DataFrame({"price": ["cheap"]}))


def test_a_target_in_dollars_is_a_number():
    target = choose_target(pd.DataFrame({"y": ["$1,000", "$250.50", "?", "$75"] * 5}), "y")
    assert target.task == "regression"
    assert target.values[:3].tolist() == [1000.0, 250.5, 75.0]
    assert target.left_out == ("5 rows without y were left out.",)


@pytest.mark.parametrize("words", [("TRUE", "false"), ("Yes", "NO"), ("y", "N")])
def test_yes_and_no_in_any_case_are_flags(words):
    frame = pd.DataFrame({"paid": [*words, None] * 5, "y": range(15)})
    columns = understand(frame, "y")
    assert columns.kinds == {"paid": "yes or no"}
    read = ColumnReader(dict(columns.kinds)).fit(frame).transform(frame)
    np.testing.assert_array_equal(read["paid"][:2], [float(word[0].lower() in "ty") for word in words])
