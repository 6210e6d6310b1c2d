"""The command ``pellucid cluster``: files, screen, what follows with the model, wrong usage."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pellucid.app.cli.application import run
from pellucid.app.cli.cluster import parse_count
from tests.app.clusters.test_group_table import customers


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("clusters")
    customers()[0].to_csv(place / "customers.csv", index=False)
    assert run(["cluster", str(place / "customers.csv"), "--out", str(place / "out")]) == 0
    return place


def test_writes_model_report_and_rows(folder):
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "clusters.csv",
        "clusters.html",
        "clusters.safetensors",
    ]
    rows = pd.read_csv(folder / "out" / "clusters.csv")
    assert rows["cluster"].nunique() == 2
    assert list(rows.columns[:-1]) == list(customers()[0].columns)


def test_the_report_is_one_page_that_says_it_all(folder):
    page = (folder / "out" / "clusters.html").read_text()
    for words in ("What the clusters are", "A map", "How many clusters?", "Silhouettes", "The certificate", "Use it"):
        assert f"<h2>{words}</h2>" in page
    assert "higher income (" in page
    assert f"pellucid cluster {folder}/customers.csv" in page
    assert page.count("<svg") >= 3
    assert "<script" not in page
    assert not [word for word in ("src=", "@import", 'href="http') if word in page]
    assert len(page) < 2_000_000


def test_the_screen_says_what_the_clusters_are(folder, capsys):
    assert run(["cluster", str(folder / "customers.csv"), "--k", "2", "--out", str(folder / "again")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "- Cluster 0 (" in said
    assert "Certificate: " in said
    assert "Left out: same (it never changes)." in said
    assert "as you asked" in (folder / "again" / "clusters.html").read_text()


def test_new_rows_are_assigned(folder, capsys):
    model = folder / "out" / "clusters.safetensors"
    assert run(["predict", str(model), str(folder / "customers.csv")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "cluster"
    expected = pd.read_csv(folder / "out" / "clusters.csv")["cluster"]
    assert [int(line) for line in lines[1:]] == expected.tolist()


def test_the_proof_is_run_again_without_a_target(folder, capsys):
    model, table = str(folder / "out" / "clusters.safetensors"), folder / "customers.csv"
    assert run(["verify", model, str(table)]) == 0
    assert "holds" in capsys.readouterr().out
    customers(seed=1)[0].to_csv(folder / "others.csv", index=False)
    assert run(["verify", model, str(folder / "others.csv")]) == 1
    assert "fingerprint differs" in capsys.readouterr().err
    assert run(["verify", model, str(table), "--target", "age"]) == 2
    assert "target must be left out for a model of clusters" in capsys.readouterr().err


def test_a_table_that_drifts_is_noticed(folder, capsys):
    model = str(folder / "out" / "clusters.safetensors")
    assert run(["monitor", model, str(folder / "customers.csv")]) == 0
    table = customers()[0]
    table.assign(income=2 * table["income"]).to_csv(folder / "richer.csv", index=False)
    assert run(["monitor", model, str(folder / "richer.csv")]) == 1
    assert "income" in capsys.readouterr().err


def test_what_the_clusters_are_is_not_explained_row_by_row(folder, capsys):
    model = str(folder / "out" / "clusters.safetensors")
    assert run(["explain", model, str(folder / "customers.csv")]) == 2
    assert "model must predict a target to be explained, got one of clusters" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["zwei", "1", "0", "-3", "2.5"])
def test_refuses_numbers_of_clusters_that_are_none(text, tmp_path, capsys):
    (tmp_path / "t.csv").write_text("x\n1\n2\n9\n")
    assert run(["cluster", str(tmp_path / "t.csv"), f"--k={text}", "--out", str(tmp_path / "out")]) == 2
    assert "k must be a whole number of at least 2, or auto" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_auto_and_numbers_are_read():
    assert parse_count(" AUTO ") is None
    assert parse_count("12") == 12


def test_the_report_says_in_red_that_there_are_no_clusters(tmp_path, capsys):
    even = np.random.default_rng(0).uniform(size=(150, 2))
    pd.DataFrame(even, columns=["a", "b"]).to_csv(tmp_path / "even.csv", index=False)
    assert run(["cluster", str(tmp_path / "even.csv"), "--out", str(tmp_path / "out")]) == 0
    assert "No clusters were found" in capsys.readouterr().out
    page = (tmp_path / "out" / "clusters.html").read_text()
    assert '<p class="alarm">No clusters were found' in page
    assert "<b>none</b>" in page


def test_nothing_is_written_where_nothing_can_be_clustered(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("x,y\n1,a\n1,a\n1,a\n")
    assert run(["cluster", str(tmp_path / "t.csv"), "--out", str(tmp_path / "out")]) == 2
    assert "it never changes" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_model_of_a_target_still_wants_it_named(tmp_path, capsys):
    import pellucid
    from pellucid.linear_model import Ridge

    X = pd.DataFrame({"a": np.arange(9.0)})
    pellucid.save(Ridge().fit(X, 2.0 * X["a"]), tmp_path / "m.safetensors")
    X.assign(y=2.0 * X["a"]).to_csv(tmp_path / "t.csv", index=False)
    assert run(["verify", str(tmp_path / "m.safetensors"), str(tmp_path / "t.csv")]) == 2
    assert "target must name the column that was predicted" in capsys.readouterr().err
