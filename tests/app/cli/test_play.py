"""``pellucid play``: pages written without a server, and the sentences of a wrong call."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pandas as pd
import pytest

from pellucid.app.cli.application import run
from pellucid.app.playing import read_recording
from tests.app.playing.server.live import ENDLESS


def call(*arguments):
    return run(["play", *map(str, arguments)])


def recording_in(page):
    text = re.search(r'id="recording">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)[1]
    return read_recording(text)


def test_a_page_is_written_without_a_server(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.setitem(sys.modules, "starlette", None)
    page = tmp_path / "page.html"
    options = ("--set", "n_clusters=3", "--set", "init=random", "--data", "moons")
    assert call("--export", page, "--method", "KMeans", *options) == 0
    found = recording_in(page)
    assert (found.parameters["n_clusters"], found.parameters["init"]) == ("3", "'random'")
    assert found.data["name"] == "moons"
    assert f"{page} shows KMeans on moons, in {len(found.frames)} frames." in capsys.readouterr().out


def test_a_page_of_ones_own_table_has_its_target(tmp_path):
    table = tmp_path / "mine.csv"
    pd.DataFrame({"a": [1.0, 2.0, 8.0, 9.0], "b": [1.0, 3.0, 2.0, 4.0], "side": list("llrr")}).to_csv(
        table, index=False
    )
    page = tmp_path / "page.html"
    assert call(table, "--target", "side", "--export", page, "--method", "LogisticRegression") == 0
    assert recording_in(page).data["classes"] == ("l", "r")
    assert call("--data", table, "--export", page, "--method", "kmeans", "--set", "n_clusters=2") == 0
    assert recording_in(page).data["name"] == "mine.csv"


def test_a_method_that_minimizes_takes_a_formula_or_the_name_of_one(tmp_path):
    page = tmp_path / "page.html"
    assert call("--export", page, "--method", "newton", "--data", "x^2 + 2*y^2") == 0
    assert recording_in(page).data["name"] == "x**2 + 2*y**2"
    assert call("--export", page, "--method", "newton", "--data", "bowl") == 0
    assert recording_in(page).data["name"] == "x**2 + y**2 + x*y"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--export", "p.html"), "method must be given with --export"),
        (("--data", "moons"), "method must be given"),
        (("--target", "y"), "target must be left out without a table"),
        (("none.csv",), "none.csv"),
        (("--export", "p.html", "--method", "KMeanz"), "KMeans"),
        (("--export", "p.html", "--method", "KMeans", "--set", "n_clusters"), "set must be NAME=VALUE"),
        (("--export", "p.html", "--method", "KMeans", "--set", "n_clusters=0"), "n_clusters must be at least 1"),
        (("--export", "p.html", "--method", "KMeans", "--data", "moonz"), "moons"),
        (("--export", "p.html", "--method", "newton", "--data", "__import__('os')"), "formula must hold functions"),
    ],
)
def test_a_wrong_call_gets_a_sentence_and_writes_nothing(tmp_path, monkeypatch, capsys, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    assert call(*arguments) == 2
    assert sentence in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_missing_server_says_how_to_install_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert call("--no-browser") == 2
    assert "pip install 'pellucid[serve]'" in capsys.readouterr().err


def test_a_port_that_is_taken_gets_a_sentence(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert call("--no-browser", "--port", port) == 2
    assert f"port must be free, got {port}" in capsys.readouterr().err


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


def test_the_command_serves_the_page_until_it_is_interrupted(tmp_path):
    table = tmp_path / "mine.csv"
    table.write_text("a,b\n1,2\n3,4\n")
    port = free_port()
    code = "from pellucid.app.cli import main; import sys; main(sys.argv[1:])"
    arguments = ["play", str(table), "--no-browser", "--port", str(port), "--method", "PCA"]
    with subprocess.Popen([sys.executable, "-c", code, *arguments], stderr=subprocess.PIPE, text=True) as process:
        line = process.stderr.readline()
        assert line.startswith(f"Play at http://127.0.0.1:{port}/#run=%7B%22play%22%3A%20%22PCA%22")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/catalogue", timeout=120) as answer:
            assert json.load(answer)["table"]["name"] == "mine.csv"
        asked = json.dumps(ENDLESS).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/api/runs", asked, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            run = json.load(answer)["run"]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/runs/{run}/events", timeout=60) as stream:
            while b"progress" not in stream.readline():
                pass
            process.send_signal(signal.SIGINT)
            assert b"event: stopped" in stream.read()
        assert process.wait(timeout=20) == 0
        assert process.stderr.read() == ""
