"""Maps and Shepard plots: what they draw."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text
from scipy.spatial.distance import pdist

from pellucid.data import load_capitals_of_europe
from pellucid.manifold import ClassicalMDS, Isomap
from pellucid.plots import plot_embedding, plot_embeddings, plot_shepard


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def europe():
    capitals = load_capitals_of_europe().set_index("capital")
    distances = capitals.iloc[:, 2:].to_numpy(dtype=float)
    return ClassicalMDS(metric="precomputed").fit(distances), capitals


def test_the_map_of_europe_has_every_capital_at_its_place_and_says_how_good_it_is():
    model, capitals = europe()
    ax = plot_embedding(model, names=capitals.index)
    np.testing.assert_allclose(ax.collections[0].get_offsets(), model.embedding_)
    assert [text.get_text() for text in ax.texts] == list(capitals.index)
    assert "trustworthiness" in ax.get_xlabel()
    assert ax.get_aspect() == 1.0
    assert model.quality().distance_correlation > 0.99


def names_overlap(ax):
    ax.figure.draw_without_rendering()
    boxes = [Text.get_window_extent(text) for text in ax.texts]
    return any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_the_map_of_europe_has_north_above_and_west_on_the_left():
    model, capitals = europe()
    ax = plot_embedding(model, names=capitals.index, north=capitals[["longitude", "latitude"]])
    at = dict(zip(capitals.index, np.asarray(ax.collections[0].get_offsets()), strict=True))
    assert at["Lisbon"][0] < at["Paris"][0] < at["Warsaw"][0] < at["Kyiv"][0]
    assert at["Athens"][1] < at["Rome"][1] < at["Berlin"][1] < at["Oslo"][1]
    turned = np.array(list(at.values()))
    np.testing.assert_allclose(pdist(turned), pdist(model.embedding_))  # turned and mirrored only
    assert not names_overlap(ax)
    with pytest.raises(ValueError, match="north must have two numbers for each of the 29 rows"):
        plot_embedding(model, north=capitals[["latitude"]])


def test_digits_are_classes_with_a_legend_and_numbers_have_a_scale():
    X = np.random.default_rng(0).standard_normal((60, 3))
    model, digits = ClassicalMDS().fit(X), np.arange(60) % 10
    ax = plot_embedding(model, values=digits)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [str(digit) for digit in range(10)]
    assert len({tuple(dots.get_facecolor()[0]) for dots in ax.collections}) == 10
    np.testing.assert_allclose(ax.collections[3].get_offsets(), model.embedding_[digits == 3])
    scaled = plot_embedding(model, values=X[:, 0])
    assert scaled.get_legend() is None
    np.testing.assert_allclose(scaled.collections[0].get_array(), X[:, 0])
    assert len(scaled.figure.axes) == 2  # the bar of the scale


def test_edges_join_neighbors():
    X = np.random.default_rng(0).standard_normal((20, 3))
    model = Isomap(n_neighbors=6).fit(X)
    ax = plot_embedding(model, edges=model.neighbor_graph_)
    drawn = {tuple(map(tuple, segment)) for segment in ax.collections[0].get_segments()}
    graph = (model.neighbor_graph_ != 0).toarray()
    pairs = zip(*np.nonzero(np.triu(graph, 1)), strict=True)
    assert drawn == {(tuple(model.embedding_[i]), tuple(model.embedding_[j])) for i, j in pairs}


def test_a_shepard_plot_has_all_pairs_and_the_line_of_proportion():
    model, _ = europe()
    ax = plot_shepard(model)
    points = np.asarray(ax.collections[0].get_offsets())
    np.testing.assert_allclose(points[:, 1], pdist(model.embedding_))
    slope = points[:, 0] @ points[:, 1] / (points[:, 0] @ points[:, 0])
    assert ax.lines[0].get_ydata()[1] == pytest.approx(slope * points[:, 0].max())
    assert "stress" in ax.get_title()


def test_several_maps_stand_side_by_side():
    X = np.random.default_rng(0).standard_normal((40, 3))
    models = {"one": ClassicalMDS().fit(X), "two": Isomap(n_neighbors=10).fit(X), "line": ClassicalMDS(1).fit(X)}
    for values in (None, X[:, 0], np.arange(40), np.array(["a", "b"] * 20)):
        axes = plot_embeddings(models, values=values)
        assert [ax.get_title() for ax in axes] == ["one", "two", "line"]
    assert len(plot_embeddings(list(models.values()) * 2)) == 6
    isomap = models["two"]
    assert plot_shepard(isomap, distances=isomap.dist_matrix_).get_title() != plot_shepard(isomap).get_title()
