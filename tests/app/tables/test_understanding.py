"""Every column is given the kind a person would give it, or a reason to leave it out."""

import numpy as np
import pandas as pd
import pytest

from pellucid.app.tables import TableError, understand
from pellucid.app.tables.column_reader import ColumnReader

N = 60
RNG = np.random.default_rng(0)
DAYS = pd.date_range("2023-12-25", periods=N)


def kind_of(values):
    columns = understand(pd.DataFrame({"x": values, "y": 0}), "y")
    return columns.kinds["x"]


def reason_for(values, name="x"):
    frame = pd.DataFrame({name: values, "other": RNG.random(len(values)), "y": 0})
    return understand(frame, "y").left_out.get(name, "")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (RNG.random(N), "number"),
        (RNG.integers(0, 5, N), "number"),
        ([1, None, 3] * 20, "number"),
        ([True, False] * 30, "yes or no"),
        ([True, False, None] * 20, "yes or no"),
        (["Bern", "Basel", None] * 20, "words"),
        (pd.Categorical(["a", "b"] * 30), "words"),
        ([f"street {i // 2}" for i in range(N)], "words"),
        (DAYS, "date"),
        (DAYS.tz_localize("Europe/Zurich"), "date"),
        (DAYS.strftime("%Y-%m-%d"), "date"),
        (DAYS.strftime("%Y-%m-%dT%H:%M:%SZ"), "date"),
        (DAYS.strftime("%d.%m.%Y"), "date, day first"),
        (DAYS.strftime("%d/%m/%Y"), "date, day first"),
        (DAYS.strftime("%m/%d/%Y"), "date, month first"),
        (DAYS.strftime("%Y%m%d"), "date, digits only"),
        (DAYS.strftime("%Y%m%d").astype(int), "date, digits only"),
        (DAYS.strftime("%d %b %Y"), "date, month by name"),
        (DAYS.strftime("%B %d, %Y"), "date, month by name"),
        (RNG.integers(20_000_000, 20_009_999, N), "number"),
        ([f"the parcel number {i} was late" for i in range(N)], "text"),
        (["2024-01-01", "soon"] * 30, "words"),
        (["2024-13-45", "2024-01-01"] * 30, "words"),
    ],
)
def test_columns_are_taken_for_what_they_are(values, kind):
    assert kind_of(values) == kind


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([None] * N, "it is empty"),
        ([[1, 2], [3], None] * 20, "its values are lists"),
        ([7] * N, "it never changes"),
        (["same"] * N, "it never changes"),
        (range(N), "it looks like an id, with 60 different values in 60 rows"),
        (range(900, 900 - N, -1), "it looks like an id"),
        ([i + (i > 30) for i in range(N)], "it looks like an id"),
        ([f"A-{i}" for i in range(N)], "it looks like an id"),
    ],
)
def test_columns_that_cannot_help_are_left_out_with_a_reason(values, reason):
    assert reason in reason_for(values)


def test_a_number_with_the_name_of_an_id_is_one_even_if_shuffled():
    values = RNG.permutation(10_000)[:N]
    assert reason_for(values, "customer_id")
    assert reason_for(values, "customerId")
    assert not reason_for(values, "width")


def test_the_id_of_something_that_several_rows_share_is_kept():
    assert not reason_for([i // 2 for i in range(N)], "customer_id")


def test_measurements_in_a_small_table_are_no_ids():
    assert not reason_for(range(10))


def test_a_constant_with_gaps_is_kept_because_the_gaps_may_matter():
    assert not reason_for(["ill", None] * 30)


def test_a_table_without_a_usable_column_is_refused_with_the_reasons():
    with pytest.raises(TableError, match=r"beside 'y' to learn from, got none \(x: it never changes\)"):
        understand(pd.DataFrame({"x": [1] * N, "y": range(N)}), "y")
    with pytest.raises(TableError, match="there is no other column"):
        understand(pd.DataFrame({"y": range(N)}), "y")


def test_words_that_differ_by_blanks_or_case_are_joined():
    frame = pd.DataFrame({"city": ["Bern", "bern ", "Basel", "BERN"], "y": 0})
    columns = understand(frame, "y")
    assert columns.kinds == {"city": "words, blanks and case aside"}
    read = ColumnReader(dict(columns.kinds)).fit_transform(frame)
    assert read["city"].tolist() == ["bern", "bern", "basel", "bern"]


def test_nothing_is_read_into_texts_if_so_asked():
    frame = pd.DataFrame({"price": ["$1", "$2", "$1", "$2"], "when": ["2024-01-01", "2024-01-02"] * 2, "y": 0})
    frame["city"] = ["Bern", "bern", "Basel", "Bern"]
    frame["paid"] = ["yes", "no", "yes", "no"]
    assert set(understand(frame, "y", coerce=False).kinds.values()) == {"words"}


def test_what_is_read_into_texts_is_told():
    frame = pd.DataFrame({"price": ["$1", "$2", "$3", "$4"], "paid": ["yes", "no"] * 2, "also": ["y", "n"] * 2, "y": 0})
    assert understand(frame, "y").notes() == [
        "Column price: numbers as people write them (currency, percent, thousands apart, gaps in words) were read as "
        "numbers.",
        "Columns paid, also: yes or no became 1 or 0.",
    ]


def test_what_could_be_read_otherwise_is_said_of_a_column():
    found = understand(
        pd.DataFrame(
            {
                "size": [1.0, 2.5, np.inf, 3.5] * 6,
                "when": ["01/02/24", "03/04/24", "05/06/24", "n/a"] * 6,
                "born": [*(f"{day}.5.1990" for day in range(1, 24)), "in spring"],
                "paid": [*(f"${day}.50" for day in range(1, 24)), "soon"],
            }
        ),
        None,
    )
    assert found.kinds == {"size": "number", "when": "date, month first"}
    assert found.doubts["size"] == "an infinite number in 6 rows was taken for a gap"
    assert "whether day or month comes first cannot be seen" in found.doubts["when"]
    assert "96 % of its values are dates, but 'in spring' is not" in found.left_out["born"]
    assert "96 % of its values are numbers, but 'soon' is not" in found.left_out["paid"]
    assert "Column size: an infinite number in 6 rows was taken for a gap." in found.notes()


def test_whole_numbers_of_many_digits_are_words_and_that_is_said():
    found = understand(pd.DataFrame({"code": ["1234567890123456789012345", "1234567890123456789012346"] * 9}), None)
    assert found.kinds == {"code": "words"}
    assert "taken for words" in found.doubts["code"]
