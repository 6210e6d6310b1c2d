"""``pellucid fit`` in a process of its own: the whole job, the budget, Ctrl-C."""

import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid.app.cli.application import run
from tests.app.bake_off.sample_tables import mixed_table, numeric_table

COMMAND = [sys.executable, "-m", "pellucid"]
SO_FAR = ["model.so-far.safetensors", "model_card.so-far.md", "report.so-far.html"]
HANGING = """
import sys, time
from pellucid.app.bake_off import contestants
from pellucid.app.bake_off.contestants import Contestant
from pellucid.app.cli.application import run
from pellucid.linear_model import LinearRegression
from sklearn.dummy import DummyRegressor

class Hanging(DummyRegressor):
    def fit(self, X, y):
        print("hanging", flush=True)
        time.sleep(60)

class SlowAtTheEnd(LinearRegression):
    def fit(self, X, y):
        if len(X) == 80:
            print("last fit", flush=True)
            time.sleep(60)
        return super().fit(X, y)

contestants.REGRESSORS = tuple(Contestant(name, "", globals()[name]) for name in sys.argv[1].split(","))
sys.exit(run(sys.argv[2:]))
"""


def call(*arguments):
    return run([str(argument) for argument in arguments])


@pytest.fixture
def customers(tmp_path):
    mixed_table().to_csv(tmp_path / "customers.csv", index=False)
    return tmp_path / "customers.csv"


@pytest.fixture
def houses(tmp_path):
    numeric_table().to_csv(tmp_path / "houses.csv", index=False)
    return tmp_path / "houses.csv"


def start_hanging(methods, houses):
    arguments = ["fit", str(houses), "--target", "price", "--out", str(houses.parent / "learned"), "--time", "2m"]
    return subprocess.Popen(
        [sys.executable, "-c", HANGING, methods, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for(process, word):
    while (line := process.stdout.readline().strip()) != word:
        assert line or process.poll() is None, process.stderr.read()


def test_a_table_with_every_kind_of_column_end_to_end(customers, tmp_path, capsys):
    out = tmp_path / "learned"
    done = subprocess.run(
        [*COMMAND, "fit", customers, "--target", "churn", "--out", out, "--folds", "3"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""  # no terminal, no progress
    said = " ".join(done.stdout.split())
    assert "churn: classification, because its values are words." in said
    assert "4 rows without churn were left out" in said
    assert "interval" in said
    report = (out / "report.html").read_text()
    assert len(report.encode()) < 2_000_000
    assert "final estimate of" in report

    model = out / "model.safetensors"
    assert call("verify", model, customers, "--target", "churn") == 0
    capsys.readouterr()
    assert call("predict", model, customers, "--probabilities") == 0
    printed = capsys.readouterr()
    header, first, *_ = printed.out.splitlines()
    assert header == "prediction,probability no,probability yes"
    label, no, yes = first.split(",")
    assert label in ("no", "yes")
    assert float(no) + float(yes) == pytest.approx(1.0)
    noted, unused = printed.err.splitlines()  # a street that only a row without churn has
    assert noted == "1 row has values that are new, far off or read otherwise: --notes says which."
    assert unused == "Columns that the model does not use: customer_id, empty."


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_leaves_the_best_so_far_whole(number, houses, tmp_path):
    process = start_hanging("LinearRegression,Hanging", houses)
    wait_for(process, "hanging")
    process.send_signal(number)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "The comparison was interrupted: this is the best method so far." in " ".join(said.split())
    assert "The comparison was interrupted" in (tmp_path / "learned" / "report.html").read_text()
    model = pellucid.load(tmp_path / "learned" / "model.safetensors")
    assert len(model.predict(numeric_table())) == 80


def test_a_kill_at_any_moment_leaves_whole_files_or_those_before(houses, tmp_path):
    out = tmp_path / "learned"
    command = [*COMMAND, "fit", houses, "--target", "price", "--out", out, "--only", "ridge", "--time", "20s"]
    subprocess.run(command, capture_output=True, check=True)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    for seconds in np.random.default_rng(0).uniform(0.2, 3.0, 3):
        process = subprocess.Popen([*command, "--seed", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(seconds)
        process.kill()
        process.wait()
        assert len(pellucid.load(out / "model.safetensors").predict(numeric_table())) == 80
        assert {path.name for path in out.iterdir() if not path.name.startswith(".")} >= set(before)


def test_an_interruption_before_anything_is_known_writes_nothing(houses, tmp_path):
    process = start_hanging("Hanging,LinearRegression", houses)
    wait_for(process, "hanging")
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert complaint == "pellucid: interrupted; nothing was written.\n"
    assert not (tmp_path / "learned").exists()


def test_the_second_interruption_aborts(houses, tmp_path):
    process = start_hanging("SlowAtTheEnd,Hanging", houses)
    wait_for(process, "hanging")
    process.send_signal(signal.SIGINT)
    wait_for(process, "last fit")
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert complaint == "pellucid: interrupted; nothing was written.\n"  # files know no such method
    assert not (tmp_path / "learned").exists()


@pytest.mark.parametrize("times", [1, 2])
def test_one_interruption_of_the_report_is_held_back_and_a_second_aborts(times, houses, tmp_path, monkeypatch, capsys):
    def interrupted(*_arguments, **_names):
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)
        return "the page"

    monkeypatch.setattr("pellucid.app.report.render_fit_report", interrupted)
    assert call("fit", houses, "--target", "price", "--folds", 2, "--out", tmp_path / "learned") == 130
    assert (tmp_path / "learned" / "model.safetensors").exists() == (times == 1)
    assert ("interrupted; the best model so far is" in capsys.readouterr().err) == (times == 2)


def test_the_time_budget_is_kept(houses, tmp_path):
    arguments = ["fit", str(houses), "--target", "price", "--out", str(tmp_path / "learned"), "--time", "15s"]
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", HANGING, "LinearRegression,Hanging", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    assert time.monotonic() - start < 40.0  # the method would hang for 60; machines may be busy
    assert "Not tried, for no time was left: Hanging." in " ".join(done.stdout.split())
    assert (tmp_path / "learned" / "report.html").is_file()


def test_little_time_gives_a_model_and_says_so(houses, tmp_path, capsys):
    assert call("fit", houses, "--target", "price", "--time", "1s", "--out", tmp_path / "learned") == 0
    assert "Not tried, for no time was left" in " ".join(capsys.readouterr().out.split())
    assert (tmp_path / "learned" / "report.html").exists()


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (["same"], "two classes or more with at least 5 rows each, got 'kind' with 1"),
        ([f"kind {i}" for i in range(40)], "two classes or more with at least 5 rows each, got 'kind' with 40"),
        ([None], "target must have values"),
    ],
)
def test_classes_that_cannot_be_learned_are_one_sentence(labels, sentence, tmp_path, capsys):
    table = numeric_table(n=80)
    table["kind"] = (labels * 80)[:80]
    table.to_csv(tmp_path / "table.csv", index=False)
    assert call("fit", tmp_path / "table.csv", "--target", "kind", "--out", tmp_path / "learned") == 2
    assert sentence in capsys.readouterr().err


def test_one_standard_error_and_one_validation_set(houses, tmp_path, capsys):
    options = ("--one-standard-error", "--recipe", "split", "--out", tmp_path / "learned")
    assert call("fit", houses, "--target", "price", *options) == 0
    assert "one validation set" in (tmp_path / "learned" / "report.html").read_text()


def test_whole_numbers_are_classes_or_not_as_the_user_says(tmp_path, capsys):
    table = numeric_table()
    table["price"] = (table["price"] > table["price"].median()).astype(int)
    table.to_csv(tmp_path / "table.csv", index=False)
    out = ("--out", tmp_path / "learned", "--folds", 2)
    assert call("fit", tmp_path / "table.csv", "--target", "price", *out) == 0
    assert "price: classification, because it has only 2 different values" in " ".join(capsys.readouterr().out.split())
    call("predict", tmp_path / "learned" / "model.safetensors", tmp_path / "table.csv")
    assert set(capsys.readouterr().out.split()) == {"prediction", "0", "1"}
    assert call("verify", tmp_path / "learned" / "model.safetensors", tmp_path / "table.csv", "--target", "price") == 0
    assert call("fit", tmp_path / "table.csv", "--target", "price", "--task", "regression", *out) == 0
    assert "price: regression, because you said so." in capsys.readouterr().out


@pytest.fixture(scope="module")
def churn_model(tmp_path_factory):
    path = tmp_path_factory.mktemp("churn")
    mixed_table().to_csv(path / "customers.csv", index=False)
    assert (
        call("fit", path / "customers.csv", "--target", "churn", "--out", path, "--folds", 2, "--recipe", "split") == 0
    )
    return path / "model.safetensors"


def test_predict_names_all_columns_that_do_not_fit(churn_model, tmp_path, capsys):
    table = mixed_table()
    table["age"], table["joined"] = "old", "soon"
    table.to_csv(tmp_path / "bad.csv", index=False)
    assert call("predict", churn_model, tmp_path / "bad.csv") == 2
    complaint = capsys.readouterr().err
    assert "column 'age' must be numbers, got 'old'" in complaint
    assert "column 'joined' must be dates like 2024-12-31, got 'soon'" in complaint
    table.drop(columns=["note", "seen"]).to_csv(tmp_path / "bad.csv", index=False)
    assert call("predict", churn_model, tmp_path / "bad.csv") == 2
    assert "but ['seen', 'note'] are missing" in capsys.readouterr().err


def test_predict_takes_words_and_texts_it_has_never_seen(churn_model, tmp_path, capsys):
    table = mixed_table(n=30, seed=9).assign(city="Genf", note="quite another story here", street="nowhere")
    table.drop(columns="churn").to_excel(tmp_path / "new.xlsx", index=False)
    assert call("predict", churn_model, tmp_path / "new.xlsx", "--out", tmp_path / "answers.csv") == 0
    assert set(pd.read_csv(tmp_path / "answers.csv")["prediction"]) <= {"yes", "no"}


def test_verify_notices_another_table(churn_model, tmp_path, capsys):
    table = mixed_table()
    table.loc[0, "city"] = "Genf"
    table.to_csv(tmp_path / "other.csv", index=False)
    assert call("verify", churn_model, tmp_path / "other.csv", "--target", "churn") == 1
    assert "fingerprint differs" in capsys.readouterr().err
    assert call("verify", churn_model, tmp_path / "other.csv", "--target", "city") == 2
    assert "a feature of the model" in capsys.readouterr().err


def test_probabilities_are_refused_where_there_are_none(houses, tmp_path, capsys):
    assert call("fit", houses, "--target", "price", "--out", tmp_path / "learned", "--folds", 2) == 0
    assert call("predict", tmp_path / "learned" / "model.safetensors", houses, "--probabilities") == 2
    assert "probabilities must be asked of a model that has them" in capsys.readouterr().err
