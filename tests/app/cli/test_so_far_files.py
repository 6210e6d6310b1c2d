"""Whatever ends ``pellucid fit``, the best model so far lies in the folder with its own report."""

import errno

import pandas as pd
import pytest

import pellucid
from pellucid.app.cli.application import run
from pellucid.core import atomic
from tests.app.bake_off.sample_tables import numeric_table
from tests.app.cli.test_fit import SO_FAR, start_hanging, wait_for

FINAL = ["model.safetensors", "model_card.md", "report.html"]


def call(*arguments):
    return run([str(argument) for argument in arguments])


def names_in(folder):
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


@pytest.fixture
def houses(tmp_path):
    numeric_table().to_csv(tmp_path / "houses.csv", index=False)
    return tmp_path / "houses.csv"


def test_a_kill_leaves_the_best_model_so_far_with_its_report(houses, tmp_path, capsys):
    out = tmp_path / "learned"
    process = start_hanging("LinearRegression,Hanging", houses)
    wait_for(process, "hanging")
    process.kill()  # which no process can catch
    process.communicate(timeout=60)
    assert names_in(out) == SO_FAR

    model = out / "model.so-far.safetensors"
    assert call("predict", model, houses, "--out", tmp_path / "said.csv") == 0
    assert len(pd.read_csv(tmp_path / "said.csv")) == 80
    assert call("verify", model, houses, "--target", "price") == 0
    assert "Not covered: 29 of the 80 rows" in capsys.readouterr().out  # 64 to learn from, the first of five folds: 51

    page = (out / "report.so-far.html").read_text()
    assert "The comparison had not ended when this was written" in page
    assert "the methods tried until then (LinearRegression), fitted to 51 of 80 rows" in page
    assert "predict model.so-far.safetensors" in page
    card = (out / "model_card.so-far.md").read_text()
    assert "> **The comparison had not ended when this was written" in card


def test_the_command_in_its_report_does_the_whole_job(houses, tmp_path, capsys):
    process = start_hanging("LinearRegression,Hanging", houses)
    wait_for(process, "hanging")
    process.kill()
    process.communicate(timeout=60)
    page = tmp_path / "learned" / "report.so-far.html"
    short = page.read_text().replace("--time 2m", "--time 4s --only ridge")
    page.write_text(short)
    (page.parent / ".model.so-far.safetensors.x7_k.part").write_text("killed while it was written")
    assert call("again", page) == 0
    assert sorted(path.name for path in page.parent.iterdir()) == FINAL


def test_the_model_of_an_earlier_run_stays_until_there_is_a_better_answer(houses, tmp_path):
    out = tmp_path / "learned"
    assert call("fit", houses, "--target", "price", "--only", "ridge", "--time", "5s", "--out", out) == 0
    assert names_in(out) == FINAL  # nothing is left over
    before = {name: (out / name).read_bytes() for name in FINAL}
    process = start_hanging("LinearRegression,Hanging", houses)
    wait_for(process, "hanging")
    process.kill()
    process.communicate(timeout=60)
    assert names_in(out) == sorted([*FINAL, *SO_FAR])
    assert {name: (out / name).read_bytes() for name in FINAL} == before


def full_disk(monkeypatch, is_full):
    real = atomic._write_beside

    def write(path, content):
        if is_full(path.name):
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(path, content)

    monkeypatch.setattr(atomic, "_write_beside", write)


def test_a_disk_too_full_for_the_best_so_far_does_not_stop_the_fit(houses, tmp_path, monkeypatch, capsys):
    full_disk(monkeypatch, lambda name: "so-far" in name)
    out = tmp_path / "learned"
    assert call("fit", houses, "--target", "price", "--only", "ridge", "--time", "5s", "--out", out) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "The best model so far could not be kept on the way ([Errno 28] No space left on device)" in said
    assert names_in(out) == FINAL


def test_a_disk_that_is_full_at_the_end_leaves_the_best_so_far_and_says_where(houses, tmp_path, monkeypatch, capsys):
    full_disk(monkeypatch, lambda name: name == "report.html")
    out = tmp_path / "learned"
    assert call("fit", houses, "--target", "price", "--only", "ridge", "--time", "5s", "--out", out) == 2
    complaint = capsys.readouterr().err
    assert "No space left on device" in complaint
    assert f"The best model so far is {out / 'model.so-far.safetensors'}" in complaint
    assert names_in(out) == SO_FAR
    assert len(pellucid.load(out / "model.so-far.safetensors").predict(numeric_table())) == 80
    assert "The comparison had ended, but the report had not been written yet" in (out / SO_FAR[2]).read_text()
