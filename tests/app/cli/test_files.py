"""``pellucid fit``, ``predict`` and ``monitor`` on folders, patterns and tables that do not fit into memory."""

import os
import resource
import subprocess
import sys
from io import StringIO

import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid.app.bake_off import bake_off, files_job
from pellucid.app.cli.application import run
from pellucid.app.tables import file_parts, table_room

N_ROWS = 6000


def call(*arguments):
    return run([str(argument) for argument in arguments])


def customers(n_rows=N_ROWS):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"id": np.arange(n_rows) + 100, "age": rng.integers(18, 90, n_rows).astype(float)})
    table["town"] = rng.choice(["Oslo", "Kyiv", "007", "08"], n_rows)
    table["spent"] = rng.exponential(100, n_rows).round(2)
    table.loc[n_rows - 40, "age"] = np.nan  # whole numbers everywhere else
    table["churn"] = np.where(rng.random(n_rows) < 1 / (1 + np.exp((table["spent"] - 80) / 20)), "yes", "no")
    return table


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.safetensors"
    found = bake_off(customers(), "churn", seconds=20, only=["logistic regression"], recipe="split")
    pellucid.save(found.model, path)
    return path


@pytest.fixture
def in_parts(monkeypatch):
    """Let no table fit into memory, and parts be small."""
    monkeypatch.setattr(table_room, "table_fits", lambda memory, table_bytes: False)
    monkeypatch.setattr(table_room, "SMALL_FILE", 0)
    monkeypatch.setattr(file_parts, "PART_ROWS", 700)
    monkeypatch.setattr(files_job, "FEWEST_DRAWN", 2000)
    monkeypatch.setattr(files_job, "ROWS_PER_SECOND", 1.0)


def write(table, path):
    if path.suffix == ".parquet":
        table.to_parquet(path)
    elif path.suffix == ".jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        table.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("asked", [("--probabilities", "--notes"), ("--append",), ("--keep", "age", "--keep", "town")])
def test_predictions_in_parts_are_those_in_memory(kind, asked, model, tmp_path, request):
    new = customers().drop(columns="churn")
    new.loc[N_ROWS - 3, "town"] = "Rome"
    new.loc[3, "spent"] = 1e6
    table = write(new, tmp_path / f"new.{kind}")
    for name in ("whole", "parts"):
        if name == "parts":
            request.getfixturevalue("in_parts")
        assert call("predict", model, table, "--out", tmp_path / f"{name}.csv", *asked) == 0
        assert call("predict", model, table, "--out", tmp_path / f"{name}.jsonl", *asked) == 0
        assert call("predict", model, table, "--out", tmp_path / f"{name}.parquet", *asked) == 0
    for ending in ("csv", "jsonl"):
        assert (tmp_path / f"parts.{ending}").read_bytes() == (tmp_path / f"whole.{ending}").read_bytes()
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "parts.parquet"), pd.read_parquet(tmp_path / "whole.parquet")
    )
    assert len(pd.read_csv(tmp_path / "parts.csv")) == N_ROWS


def test_predictions_of_a_pattern_come_in_the_order_of_the_files(model, tmp_path, in_parts, capsys):
    new = customers().drop(columns="churn")
    for number, rows in enumerate(np.array_split(np.arange(N_ROWS), 4)):
        write(new.iloc[rows], tmp_path / f"new-{number}.parquet")
    assert call("predict", model, tmp_path / "new-*.parquet", "--keep", "id") == 0
    said = capsys.readouterr()
    rows = pd.read_csv(StringIO(said.out))
    assert rows["id"].tolist() == new["id"].tolist()
    assert rows["prediction"].tolist() == pellucid.load(model).predict(new).tolist()


def test_a_part_that_cannot_be_read_leaves_no_file(model, tmp_path, in_parts, capsys):
    new = customers().drop(columns="churn").astype({"spent": object})
    new.loc[5000, "spent"] = "a lot"
    write(new, tmp_path / "new.csv")
    assert call("predict", model, tmp_path / "new.csv", "--out", tmp_path / "said.csv") == 2
    said = capsys.readouterr().err
    assert "new.csv, from row" in said
    assert "column 'spent' must be numbers, got 'a lot'" in said
    assert [path.name for path in tmp_path.iterdir()] == ["new.csv"]


def test_monitor_compares_rows_drawn_from_all(model, tmp_path, in_parts, capsys, monkeypatch):
    monkeypatch.setattr("pellucid.app.cli.monitor.MOST_DRAWN", 2000)
    write(customers(), tmp_path / "same.csv")
    assert call("monitor", model, tmp_path / "same.csv") == 0
    assert "2,000 rows, drawn evenly from 6,000 were compared" in " ".join(capsys.readouterr().out.split())
    late = customers()
    late.loc[3000:, "spent"] *= 5  # in the second half only
    write(late, tmp_path / "same.csv")
    assert call("monitor", model, tmp_path / "same.csv") == 1
    assert "spent" in capsys.readouterr().err


def test_fit_on_files_that_do_not_fit_writes_model_report_and_card(tmp_path, in_parts, capsys):
    (tmp_path / "events").mkdir()
    for number, rows in enumerate(np.array_split(np.arange(N_ROWS), 3)):
        write(customers().iloc[rows], tmp_path / "events" / f"{number}.csv")
    out = tmp_path / "learned"
    arguments = ["--target", "churn", "--only", "linear discriminant", "--time", "30s", "--out", out]
    assert call("fit", tmp_path / "events", *arguments) == 0
    said = " ".join(capsys.readouterr().out.split())
    sentence = "The model learned from every row but those kept aside: 5,600 of 6,000."
    assert "The table has 6,000 rows in 3 files" in said
    assert sentence in said
    page, card = (out / "report.html").read_text(), (out / "model_card.md").read_text()
    assert sentence in page
    assert sentence in card
    assert "6,000 rows of events:\n1,600 to compare and choose with, 400 kept aside and looked at once." in page
    assert "your own test table" not in page
    assert "pellucid verify model.safetensors events --target churn</code>" in page
    assert len(pellucid.load(out / "model.safetensors").predict(customers())) == N_ROWS
    proof = ("verify", out / "model.safetensors", tmp_path / "events", "--target", "churn")
    assert call(*proof) == 0
    assert "The preparation of the columns, fitted to rows drawn from the files, was taken as it is." in (
        capsys.readouterr().out
    )
    other = customers().iloc[:2000].assign(spent=lambda frame: frame["spent"] + 0.01 * (frame.index == 1234))
    write(other, tmp_path / "events" / "0.csv")  # one number of 24,000
    assert call(*proof) == 1
    assert "does not hold on events" in capsys.readouterr().err
    assert call(*proof[:-1], "age") == 2
    assert "target must be the column that was predicted, 'churn', got 'age'" in capsys.readouterr().err


def test_a_report_offers_no_proof_by_files_of_a_model_that_learned_from_a_draw(tmp_path, in_parts):
    write(customers(), tmp_path / "events.csv")
    arguments = ["--target", "churn", "--only", "nearest neighbors", "--time", "20s", "--out", tmp_path / "learned"]
    assert call("fit", tmp_path / "events.csv", *arguments) == 0
    page = (tmp_path / "learned" / "report.html").read_text()
    assert "drawn evenly from all files: KNeighborsClassifier was not fitted to every row" in page
    assert "pellucid verify model.safetensors" not in page


def test_small_files_of_a_folder_are_fitted_as_one_table(tmp_path, capsys):
    (tmp_path / "events").mkdir()
    for number, rows in enumerate(np.array_split(np.arange(600), 3)):
        write(customers(600).iloc[rows], tmp_path / "events" / f"{number}.csv")
    write(customers(600), tmp_path / "whole.csv")
    models = []
    for source in (tmp_path / "events" / "*.csv", tmp_path / "whole.csv"):
        out = tmp_path / f"learned {len(models)}"
        arguments = ["--target", "churn", "--only", "logistic regression", "--time", "10s", "--out", out]
        assert call("fit", source, *arguments) == 0
        models.append(pellucid.load(out / "model.safetensors"))
        assert "more than the memory" not in capsys.readouterr().out
    assert models[0][-1].coef_.tobytes() == models[1][-1].coef_.tobytes()


def test_faults_of_files_end_the_command_with_one_text(tmp_path, capsys):
    write(customers(100), tmp_path / "a.csv")
    write(customers(100).drop(columns="churn"), tmp_path / "b.csv")
    (tmp_path / "c.csv").touch()
    assert call("fit", tmp_path, "--target", "churn") == 2
    said = capsys.readouterr().err
    assert "files must be one table, got 2 faults:" in said
    assert "b.csv has no column 'churn', the target." in said
    assert "table c.csv must have rows and columns, got an empty file." in said


LIMIT = 900 << 20
"""Bytes of data that the process may have: with its libraries it has half of them."""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the data of a process")
def test_a_file_that_would_kill_the_process_is_predicted_in_parts(model, tmp_path):
    n_rows = 1_500_000
    new = customers(10_000).drop(columns="churn")
    new = pd.concat([new] * (n_rows // 10_000), ignore_index=True)
    more = pd.DataFrame(np.ones((1, 40)), columns=[f"more {place}" for place in range(40)])
    new.join(more.loc[[0] * n_rows].reset_index(drop=True)).to_parquet(tmp_path / "new.parquet")  # 540 MB in memory

    def predict(*options):
        return subprocess.run(
            [
                sys.executable,
                "-m",
                "pellucid",
                "predict",
                model,
                tmp_path / "new.parquet",
                "--out",
                tmp_path / "said.csv",
            ]
            + list(options),
            capture_output=True,
            text=True,
            check=False,
            env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **os.environ},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT)),
        )

    at_once = predict()
    assert at_once.returncode != 0
    assert any(word in at_once.stderr.lower() for word in ("memory", "allocat", "malloc")), at_once.stderr
    assert not (tmp_path / "said.csv").exists()
    done = predict("--memory", "800MB")
    assert done.returncode == 0, done.stderr
    with (tmp_path / "said.csv").open() as file:
        assert sum(1 for _ in file) == n_rows + 1
