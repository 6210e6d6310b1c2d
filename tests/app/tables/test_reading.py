"""Tables from files, and what is said when there is none."""

import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pellucid.app.tables import TableError, read_table
from pellucid.app.tables.csv_dialect import NO_NAMES
from pellucid.app.tables.reading import READERS, check_has_column, notes_of
from pellucid.data import load_play_tennis

FRAME = pd.DataFrame({"size": [1.5, 2.0], "city": ["Bern", "Zürich"]})


def written(tmp_path, suffix):
    path = tmp_path / f"table{suffix}"
    {
        ".csv": lambda: FRAME.to_csv(path, index=False),
        ".tsv": lambda: FRAME.to_csv(path, sep="\t", index=False),
        ".csv.gz": lambda: FRAME.to_csv(path, index=False),
        ".zip": lambda: FRAME.to_csv(path, index=False, compression={"method": "zip", "archive_name": "table.csv"}),
        ".parquet": lambda: FRAME.to_parquet(path),
        ".feather": lambda: FRAME.to_feather(path),
        ".xlsx": lambda: FRAME.to_excel(path, index=False),
    }[suffix]()
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".zip", ".parquet", ".feather", ".xlsx"])
def test_every_kind_of_file_gives_the_same_table(suffix, tmp_path):
    path = written(tmp_path, suffix)
    pd.testing.assert_frame_equal(read_table(path), FRAME, check_dtype=False)
    pd.testing.assert_frame_equal(read_table(str(path)), FRAME, check_dtype=False)


def test_numbers_are_read_to_the_last_digit(tmp_path):
    numbers = np.random.default_rng(0).standard_normal(1000)
    (tmp_path / "t.csv").write_text("\n".join(["x", *map(repr, numbers.tolist())]))
    np.testing.assert_array_equal(read_table(tmp_path / "t.csv")["x"], numbers)


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
        ("table.docx", b"x", "table must be one of .csv, .tsv, .csv.gz"),
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


def test_a_bundled_table_is_read_by_its_name_unless_there_is_such_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("play_tennis", "play-tennis"):
        days = read_table(Path(name))
        assert days.equals(load_play_tennis())
        assert "day" not in days.columns  # names of rows are no column to learn from
    Path("iris").write_text("a,b\n1,2\n")
    with pytest.raises(TableError, match="table must be one of"):
        read_table(Path("iris"))
    with pytest.raises(TableError, match=r"got watermelon\. Did you mean 'watermelons'\?"):
        read_table(Path("watermelon"))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(TableError, match="which does not exist"):
        read_table(tmp_path / "missing.csv")


def test_two_columns_of_the_same_name_are_refused(tmp_path, monkeypatch):
    (tmp_path / "twice.parquet").touch()
    monkeypatch.setitem(READERS, ".parquet", lambda _path: pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(TableError, match="'a' twice"):
        read_table(tmp_path / "twice.parquet")


TEXT = "Größe;Preis;Ort\n1,5;1.200,25;Zürich\n2,0;900,00;Bern\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_encoding_delimiter_and_decimal_comma_are_found(encoding, tmp_path):
    (tmp_path / "table.csv").write_bytes(TEXT.encode(encoding))
    frame = read_table(tmp_path / "table.csv")
    assert frame.to_dict("list") == {"Größe": [1.5, 2.0], "Preis": [1200.25, 900.0], "Ort": ["Zürich", "Bern"]}
    assert "Its columns are separated by semicolons." in notes_of(frame)
    assert "Its numbers were read with a decimal comma." in notes_of(frame)
    assert any("read as" in note for note in notes_of(frame)) == (not encoding.startswith("utf-8"))


def test_an_accent_far_down_is_read_too(tmp_path):
    lines = "size,city\n" + "1,Bern\n" * 60_000 + "2,Z\xfcrich\n"
    (tmp_path / "table.csv").write_bytes(lines.encode("cp1252"))
    frame = read_table(tmp_path / "table.csv")
    assert frame["city"].iloc[-1] == "Zürich"
    assert notes_of(frame) == ["The file was read as CP1252."]


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ("a|b\n1|x, y\n2|z\n", ["a", "b"]),
        ("a\tb\n1\t2\n", ["a", "b"]),
        ('a,b\n"x; y",1\n"z; u; v",2\n', ["a", "b"]),
        ("a\n1\n2\n", ["a"]),
        ("a;b\n1;2\n", ["a", "b"]),
    ],
)
def test_what_stands_between_the_columns_is_found(content, columns, tmp_path):
    (tmp_path / "table.csv").write_text(content, encoding="utf-8")
    assert list(read_table(tmp_path / "table.csv").columns) == columns


def test_decimal_points_beside_semicolons_stay_points(tmp_path):
    (tmp_path / "table.csv").write_text("a;b\n1.5;1,2\n2.5;x\n3.25;y\n", encoding="utf-8")
    assert read_table(tmp_path / "table.csv")["a"].tolist() == [1.5, 2.5, 3.25]


def test_a_name_that_stands_twice_is_told(tmp_path):
    (tmp_path / "table.csv").write_text("a,a,b\n1,2,3\n", encoding="utf-8")
    frame = read_table(tmp_path / "table.csv")
    assert list(frame.columns) == ["a", "a.1", "b"]
    assert notes_of(frame) == ["Column a stands there more than once: later ones got a number behind it."]


def test_an_archive_of_two_tables_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "tables.zip", "w") as archive:
        archive.writestr("one.csv", "a\n1\n")
        archive.writestr("two.csv", "a\n1\n")
    with pytest.raises(TableError, match=r"archive tables.zip must hold one table, got 2 files"):
        read_table(tmp_path / "tables.zip")


ROWS = "5.1,3,setosa\n4.9,2,virginica\n4.7,1,setosa\n4.6,4,setosa\n5.0,3,virginica\n5.4,2,setosa\n"


def test_a_first_line_that_is_a_row_is_noticed_and_said(tmp_path):
    path = tmp_path / "bare.csv"
    path.write_text(ROWS)
    frame = read_table(path)
    assert list(frame.columns) == ["column 1", "column 2", "column 3"]
    assert len(frame) == 6
    assert notes_of(frame) == [NO_NAMES]
    with pytest.raises(TableError, match="got 'species'. The first line looks like a row, not like names"):
        check_has_column(frame, "species")


@pytest.mark.parametrize(
    "names", ["length,n,kind", "2019,2020,kind", "5.1,n,setosa", "length,3,setosa", "1,2,setosa", "5.1,3,species"]
)
def test_names_are_taken_for_names(names, tmp_path):
    path = tmp_path / "named.csv"
    path.write_text(f"{names}\n{ROWS}")
    assert list(read_table(path).columns) == names.split(",")


def test_blanks_around_names_are_dropped_unless_names_become_the_same(tmp_path):
    path = tmp_path / "blanks.csv"
    path.write_text(" size , y\n1,2\n3,4\n")
    assert list(read_table(path).columns) == ["size", "y"]
    assert "Blanks around the names of columns were dropped." in notes_of(read_table(path))
    path.write_text("y , y\n1,2\n3,4\n")
    assert list(read_table(path).columns) == ["y ", " y"]


def test_a_name_that_is_nearly_right_is_asked_about():
    frame = pd.DataFrame({"Survived": [1], "age": [2]})
    with pytest.raises(TableError, match=r"got 'survived'. Did you mean 'Survived'\?"):
        check_has_column(frame, "survived")
    with pytest.raises(TableError, match=r"got 'moon'\.$"):
        check_has_column(frame, "moon")
