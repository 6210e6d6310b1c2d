"""The command that made a page, run once more."""

from __future__ import annotations

import pandas as pd
import pytest

from pellucid.app.cli.again import command_in
from pellucid.app.cli.application import run


def test_the_same_command_makes_the_same_page(tmp_path, capsys):
    table, out = tmp_path / "a table.csv", tmp_path / "out & more"
    pd.DataFrame({"x": range(30), "y": [1, 2, 2] * 10}).to_csv(table, index=False)
    assert run(["describe", str(table), "--out", str(out)]) == 0
    page = out / "description.html"
    first = page.read_text()
    page.rename(tmp_path / "page.html")
    capsys.readouterr()
    assert run(["again", str(tmp_path / "page.html")]) == 0
    assert capsys.readouterr().err.startswith("pellucid describe")
    assert page.read_text().split("<footer>")[0] == first.split("<footer>")[0]


def test_a_command_that_fails_fails_again(tmp_path, capsys):
    (tmp_path / "page.html").write_text("<pre><code>pellucid describe nowhere.csv</code></pre>")
    assert run(["again", str(tmp_path / "page.html")]) == 2
    assert "does not exist" in capsys.readouterr().err


@pytest.mark.parametrize("said", ["rm -rf x", "pellucid serve m", "pellucid again page.html", ""])
def test_no_other_command_is_taken_from_a_page(tmp_path, capsys, said):
    (tmp_path / "page.html").write_text(f"<pre><code>{said}</code></pre>")
    assert run(["again", str(tmp_path / "page.html")]) == 2
    assert "page must tell the command that made it" in capsys.readouterr().err


def test_a_page_that_is_not_there_is_refused(capsys):
    assert run(["again", "nowhere.html"]) == 2
    assert "which does not exist" in capsys.readouterr().err


def test_words_are_unpacked_as_a_shell_would(tmp_path):
    (tmp_path / "page.html").write_text("<code>pellucid fit &#39;a b.csv&#39; --target y --drop &#34;x;y&#34;</code>")
    assert command_in(tmp_path / "page.html") == ["fit", "a b.csv", "--target", "y", "--drop", "x;y"]
