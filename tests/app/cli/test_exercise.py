"""The commands exercise and mark."""

from __future__ import annotations

import csv

import pytest

from pellucid import exercise
from pellucid.app.cli.application import run


def call(*words):
    return run([str(word) for word in words])


def test_an_exercise_and_its_solution_are_printed(capsys):
    assert call("exercise", "kmeans", "--seed", 7, "--level", 2) == 0
    made = exercise("kmeans", seed=7, level=2)
    assert capsys.readouterr().out.strip() == made.text().strip()
    assert call("exercise", "kmeans", "--seed", 7, "--level", 2, "--solution") == 0
    assert capsys.readouterr().out.strip() == made.solution.text().strip()


@pytest.mark.parametrize(("format_", "sign"), [("tex", "\\documentclass"), ("md", "## Step 1"), ("html", "<math")])
def test_an_exercise_is_written_in_every_format(format_, sign, tmp_path):
    assert call("exercise", "pca", "--format", format_, "--out", tmp_path / "sheet") == 0
    assert sign in (tmp_path / "sheet").read_text()


def test_thirty_sheets_a_key_and_the_marks(tmp_path, capsys):
    assert call("exercise", "--sheet", "nb,kmeans", "--copies", 30, "--format", "tex", "--out", tmp_path / "class") == 0
    files = sorted(path.name for path in (tmp_path / "class").iterdir())
    assert files == ["answers.csv", "key.tex", *(f"sheet-{i:02d}.tex" for i in range(1, 31))]
    assert len({(tmp_path / "class" / name).read_text() for name in files[2:]}) == 30
    with (tmp_path / "class" / "answers.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        asked = exercise(row["exercise"], int(row["seed"]), int(row["level"])).answers[int(row["asked"]) - 1]
        is_planted = (row["sheet"], row["exercise"], row["asked"]) == ("17", "k-means", "2")
        row["answer"] = "1234" if is_planted else asked.right
    with (tmp_path / "filled.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    capsys.readouterr()
    assert call("mark", tmp_path / "filled.csv", "--out", tmp_path / "marks.csv") == 0
    with (tmp_path / "marks.csv").open() as file:
        marks = list(csv.DictReader(file))
    assert len(marks) == 60
    (wrong,) = [mark for mark in marks if mark["first_wrong"]]
    assert (wrong["sheet"], wrong["exercise"], int(wrong["of"]) - int(wrong["right"])) == ("17", "k-means", 1)
    assert wrong["first_wrong"].startswith("step 1 (Round 1): E is ")
    assert wrong["first_wrong"].endswith("got '1234'")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("exercise",), "one of a method and --sheet must be given"),
        (("exercise", "kmeans", "--sheet", "pca"), "one of a method and --sheet must be given"),
        (("exercise", "--sheet", "pca", "--solution"), "the key is written beside the sheets"),
        (("exercise", "kmeens"), "got 'kmeens'; k-means, "),
        (("exercise", "kmeans", "--level", "9"), "--level"),
        (("mark", "missing.csv"), "which does not exist"),
    ],
)
def test_wrong_input_is_one_sentence(words, sentence, capsys):
    assert call(*words) == 2
    complaint = capsys.readouterr().err
    assert sentence in complaint
    assert complaint.count("\n") == 1
