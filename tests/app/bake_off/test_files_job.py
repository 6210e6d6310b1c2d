"""The bake-off of files larger than memory: compared on a draw, fitted to every row, judged on rows kept aside."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("dask")

from pellucid.app.bake_off import bake_off, bake_off_files, every_row, files_job
from pellucid.app.tables import TableError, file_parts
from pellucid.app.tables.survey import survey
from pellucid.app.tables.table_files import TableFiles
from pellucid.core.budget import Budget
from pellucid.linear_model import LinearRegression

N_ROWS = 20_000


def few_rows(patch):
    """Make parts of 3,000 rows, of which as many are drawn from all."""
    patch.setattr(file_parts, "PART_ROWS", 3000)
    patch.setattr(files_job, "FEWEST_DRAWN", 3000)
    patch.setattr(files_job, "ROWS_PER_SECOND", 1.0)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    few_rows(monkeypatch)


def houses(n_rows=N_ROWS):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.standard_normal((n_rows, 4)), columns=list("abcd"))
    table["city"] = rng.choice(["Bern", "Basel", "Genf"], n_rows)
    table.loc[::11, "b"] = np.nan
    table["price"] = 3 * table["a"] - table["d"] + 2 * (table["city"] == "Bern") + 0.3 * rng.standard_normal(n_rows)
    table.loc[50:60, "price"] = np.nan
    return table


def written(table, folder, ending="parquet"):
    folder.mkdir(exist_ok=True)
    for number, rows in enumerate(np.array_split(np.arange(len(table)), 3)):
        part = table.iloc[rows]
        part.to_parquet(folder / f"{number}.parquet") if ending == "parquet" else part.to_csv(
            folder / f"{number}.csv", index=False
        )
    return str(folder)


def fitted(source, **options):
    """Return the job with more time than it takes on a busy machine: what is found must not depend on the clock."""
    return bake_off_files(source, "price", **{"seconds": 120, "only": ["lasso"], "folds": 3} | options)


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        few_rows(patch)
        return fitted(written(houses(), tmp_path_factory.mktemp("houses") / "files"))


def test_the_model_is_fitted_to_every_row_but_those_kept_aside(result):
    n_vault = len(result.judgement.actual)
    assert n_vault == 600
    assert result.n_fitted == N_ROWS - 11 - n_vault
    assert (
        result.learned_from == f"The model learned from every row but those kept aside: {result.n_fitted:,} of 19,989."
    )
    assert result.n_rows == 19_989
    assert result.certificate.grade == "optimal"
    assert result.certificate.holds
    assert "The table has 20,000 rows in 3 files" in result.done_to_data[0]


def test_it_is_the_fit_in_memory_to_the_same_rows(tmp_path):
    source = written(houses(), tmp_path / "files")
    result = fitted(
        source, only=["least squares on components", "least squares"], without=["least squares on components"]
    )
    found = survey(TableFiles.of(source), "price", 3000)
    rows = [frame[~found.learned.is_kept_aside(part, len(frame))] for part, frame in found.files.in_order()]
    rows = pd.concat(rows).dropna(subset="price")
    assert len(rows) == result.n_fitted
    prepared = result.model[:-1].transform(rows.drop(columns="price"))
    peer = LinearRegression().fit(prepared, rows["price"].to_numpy())
    np.testing.assert_allclose(result.model[-1].predict(prepared), peer.predict(prepared), rtol=1e-9, atol=1e-9)


def test_rows_kept_aside_change_nothing_but_the_score(result, tmp_path):
    table = houses()
    source = written(table, tmp_path / "files")
    found = survey(TableFiles.of(source), "price", 3000)
    aside = [found.learned.is_kept_aside(part, len(frame)) for part, frame in found.files.in_order()]
    table.loc[np.concatenate(aside) & table["price"].notna().to_numpy(), "price"] += 1e3  # poison
    poisoned = fitted(written(table, tmp_path / "files"))
    assert poisoned.model[-1].coef_.tobytes() == result.model[-1].coef_.tobytes()
    assert poisoned.judgement.headline.score > 900


def test_csv_and_parquet_give_the_same_model(result, tmp_path):
    other = fitted(written(houses(), tmp_path / "files", "csv"))
    rows = houses()[:100]
    np.testing.assert_allclose(other.model.predict(rows), result.model.predict(rows), rtol=0.05, atol=0.05)
    assert other.n_fitted == result.n_fitted


def test_classes_are_fitted_to_every_row(tmp_path):
    table = houses().assign(price=lambda frame: np.where(frame["a"] > 1, "high", "low"))
    table.loc[[7, 9], "price"] = "never"  # too few to learn
    result = fitted(written(table, tmp_path / "files"), only=["linear discriminant"])
    assert result.n_fitted > 19_000
    assert result.model.classes_.tolist() == ["high", "low"]
    assert result.judgement.headline.score > 0.9
    assert any("of classes with fewer than 5 rows" in caution for caution in result.cautions)


def test_naive_bayes_reads_words_in_every_row(tmp_path):
    table = houses().assign(price=lambda frame: np.where(frame["city"] == "Bern", "high", "low"))
    result = fitted(written(table, tmp_path / "files"), only=["naive Bayes"], recipe="split")
    assert result.n_fitted > 19_000, result.learned_from
    counts = result.model[-1].class_count_
    assert counts.sum() == result.n_fitted
    assert result.judgement.headline.score > 0.9


def test_the_draw_knows_the_range_of_every_row(tmp_path):
    table = houses()
    table["price"] = table["price"].abs()
    table.loc[19_000, "price"] = -5.0
    table.loc[18_000, "c"] = 99.0
    result = fitted(written(table, tmp_path / "files"))
    assert result.model.limits_ is None  # a target is below 0, though none of those drawn may be
    assert result.model.seen_.numbers["c"][-1] == 99.0


def test_a_method_without_a_form_for_blocks_says_so(tmp_path):
    result = fitted(written(houses(), tmp_path / "files"), only=["kernel SVM"], recipe="split")
    assert result.n_fitted == 2400
    assert result.learned_from == (
        "The model learned from 2,400 of 19,989 rows, drawn evenly from all files: SVR was not fitted to every row, "
        "for its answer depends on more of the rows than a few passes tell."
    )


def test_neighbors_stay_those_of_the_draw_as_a_file_holds_no_collection(tmp_path):
    result = fitted(written(houses(), tmp_path / "files"), only=["nearest neighbors"], recipe="split")
    assert result.n_fitted == 2400
    assert "not fitted to every row, for it would read all of them again for each answer" in result.learned_from


def test_without_dask_the_draw_is_what_is_learned_from(tmp_path, monkeypatch):
    monkeypatch.setattr(every_row, "find_spec", lambda name: None)
    result = fitted(written(houses(), tmp_path / "files"))
    assert result.learned_from.endswith("for Dask is not installed: pip install 'pellucid[scale]'.")
    assert result.certificate.holds


def test_an_interruption_keeps_the_result_of_the_comparison(tmp_path):
    budget = Budget(20)

    def interrupt(stage):
        if "every row" in stage.method:
            budget.interrupted = True
            raise _cut(budget)

    result = fitted(written(houses(), tmp_path / "files"), budget=budget, listen=interrupt)
    assert result.n_fitted == 2400
    assert result.learned_from.endswith("drawn evenly from all files: it was interrupted.")
    assert result.interrupted


def _cut(budget):
    """Return what Ctrl-C raises inside of work."""
    from pellucid.core.budget import CutShort

    budget._cut_by = "interruption"
    return CutShort()


def test_a_row_that_cannot_be_read_later_does_not_cost_the_answer(tmp_path, monkeypatch):
    read = every_row.PartReading.rows

    def fails(self, part):
        if part.cut[0] == 3000:
            raise TableError("column 'a' must be numbers, got 'x' in row 7.")
        return read(self, part)

    monkeypatch.setattr(every_row.PartReading, "rows", fails)
    result = fitted(written(houses(), tmp_path / "files"))
    assert result.n_fitted == 2400
    assert "got 'x' in row 7" in result.learned_from


def test_time_that_does_not_suffice_for_one_pass_is_refused(tmp_path):
    source = written(houses(), tmp_path / "files")
    with pytest.raises(TableError, match="time must suffice for one pass over the files, got 0.001 seconds"):
        fitted(source, seconds=0.001)


@pytest.mark.parametrize(("option", "value"), [("group", "city"), ("time_column", "a"), ("weights", "a")])
def test_wishes_that_need_all_rows_at_once_are_refused(option, value, tmp_path):
    source = written(houses(), tmp_path / "files")
    with pytest.raises(TableError, match=f"--{option.replace('_', '-')} must be left out for files larger than memory"):
        fitted(source, **{option: value})


CLUSTER = """
import os, signal, sys, threading
from distributed import Client, LocalCluster
from pellucid.app.bake_off import bake_off_files, files_job
from pellucid.app.tables import file_parts

if __name__ == "__main__":
    file_parts.PART_ROWS = files_job.FEWEST_DRAWN = 3000
    files_job.ROWS_PER_SECOND = 1.0
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        victim = next(iter(client.run(os.getpid).values()))

        def kill(stage):  # when the comparison has ended, the passes over every row begin
            if stage.method == "the final fit":
                threading.Timer(0.05, lambda: os.kill(victim, signal.SIGKILL)).start()

        found = bake_off_files(sys.argv[1], "price", seconds=20, only=["lasso"], folds=3, recipe="split", listen=kill)
        print(found.n_fitted, found.model[-1].coef_.tobytes().hex())
        sys.stdout.flush()
        os._exit(0)  # the one that starts again need not be waited for
"""


def test_processes_of_which_one_dies_give_the_same_bits(result, tmp_path):
    pytest.importorskip("distributed")
    (tmp_path / "cluster.py").write_text(CLUSTER)
    command = [sys.executable, tmp_path / "cluster.py", written(houses(), tmp_path / "files")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(result.n_fitted), result.model[-1].coef_.tobytes().hex()]


def test_in_memory_nothing_is_said_of_files():
    table = houses(300)
    result = bake_off(table, "price", seconds=10, only=["least squares"], folds=2)
    assert result.learned_from == ""
    assert result.n_in_files is None
