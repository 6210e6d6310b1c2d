"""The map of a table: which method is chosen, where rows are placed, the page and the command, bad input."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_iris, make_swiss_roll

from pellucid.app.cli.application import run
from pellucid.app.maps import MapScore, map_table, result
from pellucid.app.maps.result import best_map
from pellucid.app.report import Origin, map_page, render_map_report
from pellucid.decomposition import PCA
from pellucid.manifold import EmbeddingQuality


def iris():
    data = load_iris(as_frame=True)
    return data.frame.drop(columns="target").assign(species=data.target_names[data.target])


def roll(n=1000):
    X, along = make_swiss_roll(n, random_state=0)
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(along=along)


def score(name, kept):
    return MapScore(name, quality=EmbeddingQuality(kept, kept, 0.0, 1.0, 5))


def test_the_simplest_method_is_kept_unless_another_is_clearly_better():
    simple = score("PCA", 0.90)
    assert best_map([simple, score("Isomap", 0.905)]) is simple
    assert best_map([simple, score("Isomap", 0.92), score("LLE", 0.925)]).name == "Isomap"
    assert best_map([MapScore("PCA", failure="no"), score("Isomap", 0.1)]).name == "Isomap"


def test_a_map_that_cannot_be_read_is_not_chosen():
    rng = np.random.default_rng(0)
    broad, corner = rng.uniform(size=(400, 2)), np.vstack([rng.uniform(size=(398, 2)) * 1e-3, [[9.0, 0.0], [0.0, 9.0]]])
    simple, better = score("PCA", 0.90), score("LLE", 0.95)
    assert replace(simple, places=broad).spread > 0.5
    assert replace(better, places=corner).spread < 0.05
    assert best_map([replace(simple, places=broad), replace(better, places=corner)]).name == "PCA"
    assert best_map([replace(simple, places=broad), replace(better, places=broad[::-1])]).name == "LLE"


def test_values_with_an_order_have_shades_of_one_scale():
    frame = iris().assign(
        grade=[3, 4, 5] * 50, size=pd.Categorical(["S", "M", "L"] * 50, ["S", "M", "L"], ordered=True)
    )
    for name, labels in (("grade", ["3", "4", "5"]), ("size", ["S", "M", "L"])):
        figure = Figure()
        map_page._draw_map(map_table(frame[[*frame.columns[:4], name]], name), figure)
        legend = figure.axes[0].get_legend()
        assert [text.get_text() for text in legend.get_texts()] == labels
        light = [np.mean(handle.get_facecolor()[0][:3]) for handle in legend.legend_handles]
        assert light == sorted(light)  # viridis gets lighter


def test_flat_data_are_mapped_by_their_components_and_a_roll_is_unrolled():
    assert map_table(iris(), "species").chosen.name == "PCA"
    found = map_table(roll(), "along")
    assert found.chosen.name in ("Isomap", "locally linear embedding")
    unrolled = [abs(np.corrcoef(found.places[:, j], roll()["along"])[0, 1]) for j in (0, 1)]
    assert max(unrolled) > 0.95
    assert found.certificate.holds


def test_the_color_does_not_move_the_dots():
    one, other = map_table(iris(), "species"), map_table(iris().drop(columns="species"))
    np.testing.assert_array_equal(one.places, other.places)
    assert "species" not in one.columns.kinds


def test_rows_that_are_not_compared_are_placed_among_them(monkeypatch):
    monkeypatch.setattr(sys.modules["pellucid.app.maps.map_table"], "MOST_COMPARED", 60)
    found = map_table(iris(), "species")
    assert len(found.compared) == 60
    assert found.places.shape == (150, 2)
    model = PCA(2).fit(found.prepared)
    np.testing.assert_allclose(found.places[found.compared], model.transform(found.prepared), atol=1e-9)
    assert np.ptp(np.delete(found.places, found.compared, axis=0), axis=0).min() > 0.5


def test_a_method_that_fails_says_why(monkeypatch):
    class Refusing(PCA):
        def fit_transform(self, X, y=None, **params):
            raise ValueError("X must be flat.")

    monkeypatch.setitem(result.METHODS, "Isomap", lambda _n, _k, _seed: Refusing(2))
    failures = {one.name: one.failure for one in map_table(iris(), "species").scores}
    assert failures["Isomap"] == "X must be flat."
    assert not failures["PCA"]
    with pytest.raises(ValueError, match="method must be one that can map this table, got 'isomap': X must be flat"):
        map_table(iris(), "species", method="isomap")


NEIGHBOR_EMBEDDING = "neighbor embedding (t-SNE)"


def digits(n=500):
    data = load_digits(as_frame=True)
    return data.frame[:n].drop(columns="target").assign(digit=data.target[:n].map("digit {}".format))


def test_digits_are_mapped_by_their_neighbors_and_each_is_with_its_own_kind():
    frame = digits()
    found = map_table(frame, "digit")
    assert found.chosen.name == NEIGHBOR_EMBEDDING
    assert found.certificate.holds
    assert "one more step" in {claim.name for claim in found.certificate.claims}
    kind = frame["digit"].to_numpy()
    nearest = np.argsort(cdist(found.places, found.places), axis=1)[:, 1:6]
    assert np.mean(kind[nearest] == kind[:, None]) > 0.9
    page = render_map_report(found, Origin("digits.csv", "", "pellucid map digits.csv"))
    assert "how large or dense a cluster is" in page
    assert "the method that keeps neighbors best" in page


@pytest.mark.parametrize("method", ["pca", "tsne"])
def test_a_method_that_is_asked_for_is_taken(method, tmp_path):
    iris().to_csv(tmp_path / "iris.csv", index=False)
    out = tmp_path / "out"
    assert run(["map", str(tmp_path / "iris.csv"), "--method", method, "--out", str(out)]) == 0
    page = (out / "map.html").read_text(encoding="utf-8")
    assert ("how large or dense a cluster is" in page) == (method == "tsne")
    assert "the method asked for" in page
    assert f"--method {method}" in page
    assert run(["map", str(tmp_path / "iris.csv"), "--method", "tnse", "--out", str(out)]) != 0


def test_new_rows_of_a_neighbor_embedding_lie_with_their_kind(monkeypatch):
    monkeypatch.setattr(sys.modules["pellucid.app.maps.map_table"], "MOST_COMPARED", 300)
    frame = digits()
    found = map_table(frame, "digit", method="tsne")
    others = np.setdiff1d(np.arange(len(frame)), found.compared)
    kind = frame["digit"].to_numpy()
    nearest = found.compared[np.argmin(cdist(found.places[others], found.places[found.compared]), axis=1)]
    assert np.mean(kind[nearest] == kind[others]) > 0.85


@pytest.mark.parametrize("color", ["species", "sepal length (cm)", None])
def test_the_page_holds_everything(color):
    page = render_map_report(map_table(iris(), color), Origin("iris.csv", "", "pellucid map iris.csv"))
    assert page.count("<svg") == 3
    assert "http://" not in page.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    )
    assert "Trustworthiness" in page
    assert "pellucid map iris.csv" in page


def test_the_command_writes_the_page_and_the_places(tmp_path, capsys):
    iris().to_csv(tmp_path / "iris.csv", index=False)
    assert run(["map", str(tmp_path / "iris.csv"), "--color", "species", "--out", str(tmp_path / "out")]) == 0
    assert "Isomap" in capsys.readouterr().out
    rows = pd.read_csv(tmp_path / "out" / "map.csv")
    assert list(rows.columns[-2:]) == ["map_1", "map_2"]
    assert "pellucid map" in (tmp_path / "out" / "map.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (iris(), {"color": "petals"}, "color must be a column"),
        (iris()[:3], {}, "at least 4 rows"),
        (iris(), {"method": "umap"}, "method must be one of pca, isomap, laplacian, lle, tsne, got 'umap'"),
        (pd.DataFrame({"a": [1.0, 2.0] * 4}), {"drop": ["b"]}, "must name columns"),
    ],
)
def test_refuses_with_a_sentence(frame, options, message):
    with pytest.raises(ValueError, match=message):
        map_table(frame, **options)


def test_tiny_tables_and_gaps_are_mapped():
    frame = pd.DataFrame({"a": [1.0, 2.0, np.nan, 4.0, 5.5], "b": ["x", "y", "x", None, "y"]})
    assert np.isfinite(map_table(frame).places).all()
