"""The picture of a tree of merges: heights, colors, the cut, and what it refuses."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from pellucid.cluster import AgglomerativeClustering, Diana
from pellucid.plots import plot_dendrogram
from pellucid.plots.cluster_plots import dendrogram_layout
from pellucid.plots.drawing.style import QUIET, color

X = np.array([[0.0], [1.0], [5.0], [6.5], [20.0]])


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def brackets(ax):
    return [path for lines in ax.collections for path in lines.get_segments()]


@pytest.mark.parametrize("estimator", [AgglomerativeClustering(2, linkage="single"), Diana(2)])
def test_every_merge_is_a_bracket_at_its_height(estimator):
    model = estimator.fit(X)
    ax = plot_dendrogram(model)
    assert sorted(float(line[1, 1]) for line in brackets(ax)) == sorted(model.distances_)
    assert sorted(int(text.get_text()) for text in ax.get_xticklabels()) == [0, 1, 2, 3, 4]


def test_the_rows_of_every_node_stand_together_so_that_no_lines_cross():
    model = AgglomerativeClustering(1).fit(np.random.default_rng(1).standard_normal((30, 2)))
    order, places = dendrogram_layout(model.children_, 30)
    assert sorted(order) == list(range(30))
    members = {i: [places[i]] for i in range(30)}
    for k, (i, j) in enumerate(model.children_.tolist(), start=30):
        members[k] = members[i] + members[j]
        assert max(members[k]) - min(members[k]) == len(members[k]) - 1
        assert places[k] == (places[i] + places[j]) / 2


def test_the_cut_lies_between_the_last_merge_made_and_the_first_undone():
    model = AgglomerativeClustering(2, linkage="single").fit(X)
    ax = plot_dendrogram(model)
    (cut,) = [line for line in ax.lines if len(set(line.get_ydata())) == 1]
    assert model.distances_[2] < cut.get_ydata()[0] < model.distances_[3]
    assert [text.get_text() for text in ax.texts] == ["2 clusters"]
    assert not plot_dendrogram(AgglomerativeClustering(1).fit(X)).lines


def test_merges_within_a_cluster_have_its_color():
    model = AgglomerativeClustering(2, linkage="single").fit(X)
    shades = {}
    for lines in plot_dendrogram(model).collections:
        for path in lines.get_segments():
            shades[float(path[1, 1])] = plt.matplotlib.colors.to_hex(lines.get_color()[0])
    assert shades[model.distances_[-1]] == QUIET
    assert {shades[height] for height in model.distances_[:3]} == {color(int(model.labels_[0]))}


def test_names_are_written_unless_there_are_too_many():
    ax = plot_dendrogram(AgglomerativeClustering(2).fit(X), names=list("abcde"))
    assert sorted(text.get_text() for text in ax.get_xticklabels()) == list("abcde")
    many = plot_dendrogram(AgglomerativeClustering(3).fit(np.random.default_rng(0).standard_normal((200, 2))))
    assert many.get_xlabel() == "200 rows"
    assert not many.get_xticklabels()


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(NotFittedError):
        plot_dendrogram(AgglomerativeClustering())
    with pytest.raises(ValueError, match="names must have one entry per row, 5, got 2"):
        plot_dendrogram(Diana().fit(X), names=["a", "b"])
    graph = np.eye(5, k=1) + np.eye(5, k=-1)
    partial = AgglomerativeClustering(3, connectivity=graph, compute_full_tree=False).fit(X)
    with pytest.raises(ValueError, match="model must have a whole tree, got one of 2 merges for 5 rows"):
        plot_dendrogram(partial)
