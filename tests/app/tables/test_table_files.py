"""Several files as one table: read in parts as they would be read at once, and refused with all that is wrong."""

import numpy as np
import pandas as pd
import pytest

from pellucid.app.tables import TableError, file_parts, read_table
from pellucid.app.tables.file_parts import in_parts
from pellucid.app.tables.table_files import TableFiles, find_files, row_hashes

N_ROWS = 5000


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(file_parts, "PART_ROWS", 300)


def people(n_rows=N_ROWS):
    """Return a table that is hard to cut: line breaks and quotes inside of values, gaps, mixed columns."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "size": rng.standard_normal(n_rows).round(3),
            "code": rng.integers(0, 900, n_rows).astype(object),
            "note": [f'said "{k}",\nthen left; {k % 7}' for k in range(n_rows)],
            "count": rng.integers(0, 9, n_rows).astype(float),
            "paid": rng.choice([True, False], n_rows),
            "empty": np.nan,
        }
    )
    table.loc[n_rows - 10, "code"] = "A7"
    table.loc[n_rows - 20, "count"] = np.nan
    return table


def parts_of(path):
    files = TableFiles.of(str(path)).settled()
    return files, [frame for _, frame in files.in_order()]


@pytest.mark.parametrize(
    "written",
    [
        {},
        {"sep": ";", "decimal": ","},
        {"sep": "\t"},
        {"encoding": "utf-8-sig"},
        {"encoding": "cp1252"},
        {"lineterminator": "\r\n"},
    ],
    ids=str,
)
def test_parts_of_a_text_are_the_rows_of_the_whole(written, tmp_path, small_parts):
    table = people()
    table.loc[N_ROWS - 5, "note"] = "Zoë was there"  # of older encodings, after all that is looked at to guess
    table.to_csv(tmp_path / "people.csv", index=False, **written)
    files, frames = parts_of(tmp_path / "people.csv")
    assert len(frames) > 10
    pd.testing.assert_frame_equal(pd.concat(frames, ignore_index=True), read_table(tmp_path / "people.csv"))
    assert files.parts[3].first_row == sum(len(frame) for frame in frames[:3])


def test_a_text_without_names_is_read_in_parts_too(tmp_path, small_parts):
    people().drop(columns="note").to_csv(tmp_path / "rows.csv", index=False, header=False)
    _, frames = parts_of(tmp_path / "rows.csv")
    pd.testing.assert_frame_equal(pd.concat(frames, ignore_index=True), read_table(tmp_path / "rows.csv"))


def test_a_quote_that_never_ends_is_a_sign_like_any_other(tmp_path, small_parts, monkeypatch):
    monkeypatch.setattr(file_parts, "LONGEST_QUOTE", 1000)
    table = pd.DataFrame({"pipe": ["thin"] * N_ROWS, "size": np.arange(N_ROWS)})
    lines = table.to_csv(index=False).splitlines()
    lines[7] = 'pipe of 5", 3'
    (tmp_path / "pipes.csv").write_text("\n".join(lines))
    _, frames = parts_of(tmp_path / "pipes.csv")
    assert len(frames) > 5
    pd.testing.assert_frame_equal(pd.concat(frames, ignore_index=True), read_table(tmp_path / "pipes.csv"))


def test_parts_of_parquet_cross_row_groups(tmp_path, small_parts):
    table = people().drop(columns="code").assign(whole=pd.array([None, *range(N_ROWS - 1)], dtype="Int64"))
    table.index = pd.Index(np.arange(N_ROWS) + 7, name="kept by pandas")
    table.to_parquet(tmp_path / "people.parquet", row_group_size=701)
    _, frames = parts_of(tmp_path / "people.parquet")
    assert [len(frame) for frame in frames] == [300] * 16 + [200]
    whole = read_table(tmp_path / "people.parquet").reset_index(drop=True)
    whole["whole"] = whole["whole"].astype(float)  # in parts, there are no extension types
    pd.testing.assert_frame_equal(pd.concat(frames, ignore_index=True), whole)


def test_json_lines_are_read_in_parts(tmp_path, small_parts):
    people().drop(columns=["code", "empty"]).to_json(tmp_path / "people.jsonl", orient="records", lines=True)
    _, frames = parts_of(tmp_path / "people.jsonl")
    assert len(frames) > 10
    pd.testing.assert_frame_equal(pd.concat(frames, ignore_index=True), read_table(tmp_path / "people.jsonl"))


def test_files_of_a_folder_are_one_table_whatever_the_order_of_their_columns(tmp_path):
    table = people()
    (tmp_path / "deep").mkdir()
    table[:2000].to_csv(tmp_path / "a.csv", index=False)
    table.loc[2000:, table.columns[::-1]].to_csv(tmp_path / "deep" / "b.csv", index=False)
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".hidden.csv").write_text("nothing")
    table.to_csv(tmp_path / "whole.tsv", index=False, sep="\t")
    whole = read_table(tmp_path / "whole.tsv")
    (tmp_path / "whole.tsv").unlink()
    for source in (tmp_path, tmp_path / "**" / "*.csv"):
        assert [path.name for path in find_files(str(source))] == ["a.csv", "b.csv"]
        pd.testing.assert_frame_equal(TableFiles.of(str(source)).whole(), whole)


def test_a_file_without_rows_is_passed_by_and_named(tmp_path):
    people().to_csv(tmp_path / "a.csv", index=False)
    people()[:0].to_csv(tmp_path / "b.csv", index=False)
    files = TableFiles.of(str(tmp_path))
    assert len(files.whole()) == N_ROWS
    assert files.notes == ("Files without rows were passed by: b.csv.",)


def test_hashes_depend_on_file_row_and_seed_alone(tmp_path, monkeypatch):
    people().to_csv(tmp_path / "a.csv", index=False)
    found = []
    for rows in (100, 700):
        monkeypatch.setattr(file_parts, "PART_ROWS", rows)
        files, frames = parts_of(tmp_path / "a.csv")
        hashes = [row_hashes(part, len(frame), 3) for part, frame in zip(files.parts, frames, strict=True)]
        found.append(np.concatenate(hashes))
    np.testing.assert_array_equal(*found)
    assert len(np.unique(found[0])) == N_ROWS
    share = found[0] / 2.0**64  # a fair coin in every tenth
    assert np.abs(np.histogram(share, 10, (0, 1))[0] - N_ROWS / 10).max() < 5 * np.sqrt(N_ROWS / 10)


def test_all_faults_of_all_files_are_said_at_once(tmp_path):
    typed = people().drop(columns=["code", "empty"])
    typed.to_parquet(tmp_path / "a.parquet")
    typed.drop(columns="size").to_parquet(tmp_path / "b.parquet")
    typed.assign(extra=1).to_parquet(tmp_path / "c.parquet")
    typed.assign(size="large").to_parquet(tmp_path / "d.parquet")
    typed.drop(columns="paid").to_parquet(tmp_path / "e.parquet")
    (tmp_path / "f.parquet").write_text("this is no Parquet")
    with pytest.raises(TableError) as said:
        TableFiles.of(str(tmp_path), "paid")
    text = str(said.value)
    assert text.startswith("files must be one table, got 5 faults:")
    for fault in (
        "b.parquet has no column 'size', unlike a.parquet.",
        "c.parquet has 'extra' besides, unlike a.parquet.",
        "d.parquet has texts in 'size', a.parquet has numbers.",
        "e.parquet has no column 'paid', the target.",
        "table f.parquet must be readable, but its reader says:",
    ):
        assert fault in text


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "table a.csv must have rows and columns, got an empty file"),
        ("a.csv", "x,y\n", "must have rows, got none in 1 files"),
        ("a.csv", "x,x \n1,2\n", None),
        ("a.jsonl", "{]\n", "table a.jsonl must be readable, but its reader says"),
    ],
)
def test_a_file_that_is_no_table_is_refused(name, content, message, tmp_path):
    (tmp_path / name).write_text(content)
    if message is None:
        assert TableFiles.of(str(tmp_path)).columns == ("x", "x ")
        return
    with pytest.raises(TableError, match=message):
        TableFiles.of(str(tmp_path))


def test_a_target_that_no_file_has_is_refused_with_the_columns(tmp_path):
    people().to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(TableError, match="target must be one of the columns .* got 'sizes'. Did you mean 'size'"):
        TableFiles.of(str(tmp_path), "sizes")


@pytest.mark.parametrize(("source", "message"), [("nothing/*.csv", "pattern .* got none"), ("", "folder .* got none")])
def test_a_source_without_tables_is_refused(source, message, tmp_path):
    with pytest.raises(TableError, match=message):
        find_files(str(tmp_path / source))


def test_columns_whose_types_differ_late_are_refused(tmp_path, small_parts):
    lines = ['{"size": 1}'] * 20_000 + ['{"size": [1, 2]}']
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    with pytest.raises(TableError, match=r"Column 'size' must hold the same in all files, got lists in a.jsonl"):
        TableFiles.of(str(tmp_path)).settled()


def test_a_packed_file_is_one_part(tmp_path):
    people().to_csv(tmp_path / "a.csv.gz", index=False)
    assert len(in_parts(tmp_path / "a.csv.gz").cut()[1]) == 1
    assert len(TableFiles.of(str(tmp_path)).whole()) == N_ROWS
