"""Tables from files, and what is said when there is none."""

import pandas as pd
import pytest

from pellucid.tables import TableError, read_table
from pellucid.tables.reading import READERS

FRAME = pd.DataFrame({"size": [1.5, 2.0], "city": ["Bern", "Zürich"]})


def written(tmp_path, suffix):
    path = tmp_path / f"table{suffix}"
    {
        ".csv": lambda: FRAME.to_csv(path, index=False),
        ".tsv": lambda: FRAME.to_csv(path, sep="\t", index=False),
        ".parquet": lambda: FRAME.to_parquet(path),
        ".xlsx": lambda: FRAME.to_excel(path, index=False),
    }[suffix]()
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".xlsx"])
def test_every_kind_of_file_gives_the_same_table(suffix, tmp_path):
    pd.testing.assert_frame_equal(read_table(written(tmp_path, suffix)), FRAME, check_dtype=False)


def test_a_reader_that_is_missing_is_named(tmp_path, monkeypatch):
    def refuse(_path):
        raise ImportError("no openpyxl")

    path = written(tmp_path, ".xlsx")
    monkeypatch.setitem(READERS, ".xlsx", refuse)
    with pytest.raises(TableError, match=r"table.xlsx needs openpyxl to be read. Install it"):
        read_table(path)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("table.docx", b"x", "table must be one of .csv, .tsv, .parquet, .xlsx"),
        ("table.csv", b"", "must be readable"),
        ("table.parquet", b"not parquet", "must be readable"),
        ("table.xlsx", b"not a workbook", "must be readable"),
        ("table.csv", b"a,b\n", "must have rows and columns, got 0 rows"),
    ],
)
def test_a_file_that_is_no_table_is_one_sentence(name, content, sentence, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=sentence):
        read_table(tmp_path / name)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(TableError, match="which does not exist"):
        read_table(tmp_path / "missing.csv")


def test_two_columns_of_the_same_name_are_refused(tmp_path, monkeypatch):
    (tmp_path / "twice.parquet").touch()
    monkeypatch.setitem(READERS, ".parquet", lambda _path: pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(TableError, match="'a' twice"):
        read_table(tmp_path / "twice.parquet")
