"""One pass over files says of their columns what the whole table would, and draws rows fairly."""

import numpy as np
import pandas as pd
import pytest

from pellucid.app.tables import TableError, column_counts, file_parts, read_table, understand
from pellucid.app.tables.column_counts import SMALLEST_KEPT, DistinctEstimate, counts_for
from pellucid.app.tables.dates import DAY_FIRST, MONTH_FIRST
from pellucid.app.tables.survey import FEWEST_OF_A_CLASS, survey
from pellucid.app.tables.table_files import TableFiles
from pellucid.app.tables.understanding import all_columns

N_ROWS = 12_000


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Make parts, and the texts that are kept, so few that a small table has many of both."""
    monkeypatch.setattr(file_parts, "PART_ROWS", 2000)
    monkeypatch.setattr(column_counts, "MOST_TEXTS", 500)


def shop(n_rows=N_ROWS):
    """Return a table with every kind of column, several of them only from their last rows on."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "id": np.arange(n_rows),
            "size": rng.standard_normal(n_rows).round(3).astype(object),
            "when": pd.date_range("2024-01-01", periods=n_rows, freq="min").strftime("%d/%m/%Y %H:%M"),
            "day": pd.date_range("1990-01-01", periods=n_rows, freq="h").strftime("%Y%m%d").astype(int),
            "city": rng.choice(["Bern", "Basel", "bern ", "Genf"], n_rows),
            "note": [f"a note of some words, number {k}" for k in range(n_rows)],
            "price": [f"${value:.2f}" for value in 1e4 * rng.random(n_rows)],
            "nearly": [f"${value:.2f}" for value in 1e4 * rng.random(n_rows)],
            "member": rng.choice(["yes", "no"], n_rows),
            "order_id": rng.permutation(n_rows) * 7,
            "uuid": [f"{value:016x}" for value in rng.integers(0, 2**62, n_rows)],
            "same": 3,
            "late": 3,
            "empty": np.nan,
            "far": rng.standard_normal(n_rows),
            "y": rng.standard_normal(n_rows),
        }
    )
    last = n_rows - 30
    table.loc[last, "size"] = "unknown size"
    table.loc[last, "nearly"] = "ask us"
    table.loc[last, "late"] = 4
    table.loc[last, "far"] = np.inf
    return table


def plain(n_rows=N_ROWS):
    """Return the columns that are read quickly: enough to draw from."""
    return shop(n_rows)[["id", "far", "y"]]


def written(table, folder, n_files=3):
    for number, rows in enumerate(np.array_split(np.arange(len(table)), n_files)):
        table.iloc[rows].to_csv(folder / f"part-{number}.csv", index=False)
    return TableFiles.of(str(folder))


def test_columns_are_understood_as_in_memory(tmp_path):
    table = shop()
    found = survey(written(table, tmp_path), "y", 1000)
    table.to_csv(tmp_path / "whole.csv", index=False)
    whole = understand(read_table(tmp_path / "whole.csv"), "y")
    ours = found.understood("y")
    assert dict(ours.kinds) == dict(whole.kinds)
    assert ours.doubts == whole.doubts
    assert ours.left_out.keys() == whole.left_out.keys() == {"id", "order_id", "uuid", "same", "empty", "nearly"}
    for name in ("id", "order_id", "same", "empty"):
        assert ours.left_out[name] == whole.left_out[name]
    assert ours.left_out["nearly"].endswith("but 'ask us' is not")  # one text of 12,000, and it is found


@pytest.mark.parametrize("coerce", [True, False])
def test_typed_columns_are_understood_as_in_memory(coerce, tmp_path):
    table = shop().drop(columns=["size"])
    table["when"] = pd.date_range("2024-01-01", periods=N_ROWS, freq="min")
    table["noon"] = pd.Timestamp("2024-01-01 12:00")
    table["took"] = pd.to_timedelta(np.arange(N_ROWS), unit="s")
    table["paid"] = np.where(np.arange(N_ROWS) % 5 == 0, None, np.arange(N_ROWS) % 2 == 0)
    table.to_parquet(tmp_path / "a.parquet")
    ours, whole = survey(TableFiles.of(str(tmp_path)), "y", 100).understood("y", coerce=coerce), None
    whole = all_columns(read_table(tmp_path / "a.parquet").drop(columns="y"), coerce=coerce)
    assert dict(ours.kinds) == dict(whole.kinds)
    assert ours.left_out.keys() == whole.left_out.keys()


def test_a_word_among_numbers_is_named_with_its_file_and_row(tmp_path):
    found = survey(written(shop(), tmp_path), "y", 1000)
    assert (
        "Column size: 'unknown size' in row 3,971 of part-2.csv is no number, though others are: the column was read "
        "as texts."
    ) in found.notes
    assert found.sample["size"].map(type).eq(str).all()  # as it is written, everywhere


def test_a_word_in_the_first_rows_is_named_too(tmp_path):
    table = pd.DataFrame({"x": np.arange(N_ROWS).astype(object), "y": 1.0})
    table.loc[2, "x"] = "none of it"
    found = survey(written(table, tmp_path), "y", 1000)
    assert found.notes[0].startswith("Column x: 'none of it' in row 3 of part-0.csv is no number")


def test_counts_are_those_of_all_rows(tmp_path):
    table = shop()
    table.loc[::9, "far"] = np.nan
    frame = survey(written(table, tmp_path), "y", 2000).frame()
    finite = table["far"].replace(np.inf, np.nan)
    assert frame.loc["far", "rows"] == N_ROWS
    assert frame.loc["far", "gaps"] == table["far"].isna().sum()
    assert frame.loc["far", ["minimum", "maximum"]].tolist() == pytest.approx([finite.min(), finite.max()], rel=1e-15)
    assert frame.loc["far", "mean"] == pytest.approx(finite.mean(), rel=1e-12)
    below = (finite.dropna() <= frame.loc["far", "median"]).mean()
    assert abs(below - 0.5) < np.sqrt(2.65 / 1600)  # the bound that the docstring states
    assert frame.loc["city", "different"] == 4
    assert frame.loc["uuid", "different"] == pytest.approx(N_ROWS, rel=0.06)


def test_whether_the_day_comes_first_may_show_in_the_last_rows():
    days = pd.Series(pd.date_range("2024-01-01", "2024-01-12 23:59", freq="min").strftime("%d/%m/%Y %H:%M"), name="d")
    counts = counts_for(days)
    counts.add(days)
    assert counts.understood(coerce=True)[1] == MONTH_FIRST
    counts.add(pd.Series(["12/01/2024 10:00", "13/01/2024 10:00"], name="d"))
    assert counts.understood(coerce=True)[1] == DAY_FIRST


def test_different_values_are_exact_up_to_a_bound_and_estimated_beyond():
    estimate = DistinctEstimate()
    estimate.add(np.arange(1000.0).repeat(3))
    estimate.add(np.arange(500.0, 1500.0))
    assert estimate.count == 1500
    estimate.add(np.arange(200_000.0))
    assert estimate.count == pytest.approx(200_000, rel=4 / np.sqrt(SMALLEST_KEPT))


def test_the_draw_is_the_same_however_the_files_are_cut(tmp_path, monkeypatch):
    files = written(plain(), tmp_path)
    one = survey(files, "y", 1000, seed=5)
    monkeypatch.setattr(file_parts, "PART_ROWS", 777)
    other = survey(TableFiles.of(str(tmp_path)), "y", 1000, seed=5)
    pd.testing.assert_frame_equal(one.sample, other.sample)
    pd.testing.assert_frame_equal(one.vault, other.vault)
    assert one.learned == other.learned
    third = survey(TableFiles.of(str(tmp_path)), "y", 1000, seed=6)
    assert set(third.vault["id"]) != set(one.vault["id"])


def test_rows_are_drawn_evenly_and_those_kept_aside_are_known_again(tmp_path):
    table = plain()
    found = survey(written(table, tmp_path), "y", 3000)
    assert (len(found.sample), len(found.vault)) == (2400, 600)
    assert not set(found.sample["id"]) & set(found.vault["id"])
    for drawn in (found.sample, found.vault):
        assert drawn["id"].is_monotonic_increasing
        thirds = np.histogram(drawn["id"], 3, (0, N_ROWS))[0]
        assert np.abs(thirds - len(drawn) / 3).max() < 4 * np.sqrt(len(drawn) / 3)
    again = [frame[found.learned.is_kept_aside(part, len(frame))] for part, frame in found.files.in_order()]
    assert pd.concat(again)["id"].tolist() == found.vault["id"].tolist()


def test_a_rare_class_is_drawn(tmp_path):
    table = plain().assign(y="usual")
    table.loc[[5, *range(4000, 4040)], "y"] = "rare"
    found = survey(written(table, tmp_path), "y", 200)
    assert (found.sample["y"] == "rare").sum() >= FEWEST_OF_A_CLASS - 3
    assert not set(found.sample["id"]) & set(found.vault["id"])


def test_rows_without_a_target_are_left_out_and_their_files_named(tmp_path):
    table = plain()
    table.loc[100:120, "y"] = np.nan
    found = survey(written(table, tmp_path), "y", 20_000)
    assert found.n_with_target == N_ROWS - 21
    assert len(found.sample) + len(found.vault) == N_ROWS - 21
    assert "21 rows without y were left out (in part-0.csv)." in found.notes


def test_a_target_of_numbers_with_a_word_is_refused_with_its_place(tmp_path):
    table = plain()
    table["y"] = table["y"].astype(object)
    table.loc[N_ROWS - 1, "y"] = "high"
    with pytest.raises(TableError, match=r"target must be numbers in every row, got 'y' with 'high' in row 4,000 of "):
        survey(written(table, tmp_path), "y", 1000)


def test_a_target_without_values_is_refused(tmp_path):
    with pytest.raises(TableError, match="target must have values, got 'y', which is empty in all files"):
        survey(written(plain().assign(y=np.nan), tmp_path), "y", 1000)


def test_numbers_that_begin_again_in_every_part_count_no_rows():
    numbers = pd.Series(np.arange(100), name="place")
    counts = counts_for(numbers)
    counts.add(numbers)
    assert counts.understood(coerce=True)[0].startswith("it looks like an id")
    counts.add(numbers)
    assert counts.understood(coerce=True)[:2] == ("", "number")
