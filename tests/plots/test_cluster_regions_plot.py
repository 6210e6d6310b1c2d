"""Regions of centers as a picture: what is drawn is what the model says, round by round."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid.cluster import KMeans
from pellucid.plots import plot_cluster_regions
from pellucid.plots.decision_regions_plot import GRID

X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [8.0, 8.0], [9.0, 8.0], [8.0, 9.0]])


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def codes(ax):
    return ax.collections[0].get_array().reshape(GRID, GRID)


def test_regions_are_those_of_the_nearest_center():
    ax = plot_cluster_regions(KMeans(2, init=X[[0, 3]]).fit(X), X)
    assert (codes(ax)[0, 0], codes(ax)[-1, -1]) == (0, 1)
    stars = [one.get_offsets()[0] for one in ax.collections[-2:]]
    np.testing.assert_allclose(stars, [[1 / 3, 1 / 3], [25 / 3, 25 / 3]])
    assert not ax.lines  # nothing was recorded


def test_recorded_rounds_can_be_seen_one_by_one():
    with pellucid.record():
        model = KMeans(2, init=[[0.0, 0.0], [1.0, 0.0]]).fit(X)
    assert len(plot_cluster_regions(model, X).lines) == 2
    first = plot_cluster_regions(model, X, step=1)
    assert codes(first)[-1, 0] == 0  # the start: a border at 0.5
    assert codes(first)[0, -1] == 1
    with pytest.raises(ValueError, match="step must be a round that was recorded, of .*, got 99"):
        plot_cluster_regions(model, X, step=99)


def test_the_legend_counts_the_rows_of_each_cluster():
    model = KMeans(2, random_state=0).fit(X)
    ax = plot_cluster_regions(model, X)
    told = [text.get_text() for text in ax.get_legend().get_texts()]
    sizes = np.bincount(model.labels_)
    assert told == [f"cluster 0: {sizes[0]} rows", f"cluster 1: {sizes[1]} rows", "center"]
    drawn = next(dots for dots in ax.collections if dots.get_label() == told[0])
    np.testing.assert_array_equal(drawn.get_offsets(), X[model.labels_ == 0])


def test_a_slice_of_a_table_says_where_it_is():
    table = pd.DataFrame(np.column_stack([X, np.arange(6.0)]), columns=["width", "height", "age"])
    ax = plot_cluster_regions(KMeans(2, random_state=0).fit(table), table, features=("height", "age"))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("height", "age")
    assert "width = 4.5" in ax.get_title(loc="left")


def test_what_has_no_centers_is_refused():
    from pellucid.cluster import AgglomerativeClustering

    with pytest.raises(ValueError, match="model must have cluster_centers_, got AgglomerativeClustering"):
        plot_cluster_regions(AgglomerativeClustering().fit(X), X)
