"""Bars: by themselves in a notebook, where asked for in a terminal, nowhere else."""

from __future__ import annotations

import io
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from pellucid.app.bake_off import bake_off
from pellucid.app.clusters import group_table
from pellucid.app.describing import describe_table
from pellucid.app.maps import map_table
from pellucid.core import watching
from pellucid.core.watching import listening, terminal_bar, tracked


@pytest.fixture
def notebook(monkeypatch):
    """Stand in for a notebook: what is displayed, and every change of it, is kept."""
    shown = []
    place = SimpleNamespace(update=shown.append)
    package, display = ModuleType("IPython"), ModuleType("IPython.display")
    package.get_ipython = lambda: SimpleNamespace(kernel=object())
    display.HTML = str
    display.display = lambda what, display_id: (shown.append(what), place)[1]
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(watching, "LEAST_SECONDS", 0.0)
    return shown


def rows(n=60):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})


def test_a_notebook_shows_a_bar_that_fills_and_goes(notebook):
    with listening(None) as hear:
        hear("comparing <b>", 3, 10, "best: ridge", "1:00 left")
    first, bar, last = notebook
    assert first == last == ""
    assert "<progress value='3' max='10'>" in bar
    assert "comparing &lt;b&gt;" in bar
    assert "best: ridge · 1:00 left" in bar


def test_the_bar_goes_when_the_work_fails(notebook):
    def fail():
        with listening(None) as hear:
            hear("comparing", 1, 2)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert "<progress" in notebook[-2]
    assert notebook[-1] == ""


def test_pictures_of_a_bar_are_few(notebook, monkeypatch):
    monkeypatch.setattr(watching, "LEAST_SECONDS", 3600.0)
    with listening(None) as hear:
        for done in range(1000):
            hear("comparing", done, 1000)
    assert len(notebook) == 3  # nothing, the first one, nothing


def test_who_listens_is_told_instead(notebook):
    heard = []
    with listening(lambda *what: heard.append(what)) as hear:
        hear("comparing", 1, 2)
    assert heard == [("comparing", 1, 2)]
    assert notebook == []


WORKS = [
    lambda: group_table(rows(), 2),
    lambda: map_table(rows()),
    lambda: bake_off(rows(), "b", seconds=20, only=["ridge"]),
]


@pytest.mark.parametrize("work", WORKS)
def test_long_work_has_a_bar_in_a_notebook_and_prints_nothing_in_a_script(work, notebook, monkeypatch, capsys):
    work()
    assert any("<progress" in one for one in notebook)
    monkeypatch.delitem(sys.modules, "IPython")
    notebook.clear()
    work()
    assert notebook == []
    assert capsys.readouterr() == ("", "")


def test_ipython_in_a_terminal_is_no_notebook(notebook):
    sys.modules["IPython"].get_ipython = SimpleNamespace
    assert not watching.in_notebook()


def test_what_is_short_needs_no_bar(notebook):
    describe_table(rows())
    assert notebook == []


def test_items_come_through_a_bar_that_was_asked_for(capsys, notebook):
    assert list(tracked([3, 1, 2], "fits", show=True)) == [3, 1, 2]
    assert any("fits <progress value='2' max='3'>" in one for one in notebook)
    sys.modules["IPython"].get_ipython = lambda: None
    assert list(tracked([3, 1, 2], "fits", show=True)) == [3, 1, 2]
    assert "3/3" in capsys.readouterr().out
    assert list(tracked([3, 1, 2], "fits", show=False)) == [3, 1, 2]
    assert capsys.readouterr().out == ""


def test_a_terminal_shows_words_as_they_are():
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with terminal_bar(console) as show:
        show("column [red]", 1, 2, "first", "second")
    for words in ("column [red]", "1/2", "first", "second"):
        assert words in console.file.getvalue()
