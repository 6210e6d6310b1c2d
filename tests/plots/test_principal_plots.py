"""Pictures of principal components: scree, biplot, an image at several ranks."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from pellucid.decomposition import PCA, SVD
from pellucid.plots import plot_biplot, plot_ranks, plot_scree


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def rows():
    return np.random.default_rng(0).standard_normal((40, 4)) * [9.0, 3.0, 1.0, 0.5]


def test_the_scree_shows_shares_and_their_sums():
    model = PCA().fit(rows())
    ax = plot_scree(model)
    held, each = ax.lines[0].get_ydata(), ax.lines[1].get_ydata()
    np.testing.assert_allclose(each, model.explained_variance_ratio_)
    np.testing.assert_allclose(held, np.cumsum(model.explained_variance_ratio_))
    enough = model.count_for_share(0.9)
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"{enough} components hold more than 0.9" in said
    assert f"bend at component {model.elbow()}" in said
    np.testing.assert_array_equal(ax.lines[2].get_xydata(), [[0.5, 0.9], [enough, 0.9], [enough, 0.0]])
    assert ax.lines[3].get_xydata().tolist() == [[model.elbow(), each[model.elbow() - 1]]]


def test_one_component_holds():
    ax = plot_scree(PCA().fit(rows() * [9.0, 1.0, 1.0, 1.0]))
    assert "1 component holds more than 0.9" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_biplot_shows_rows_and_named_columns():
    frame = pd.DataFrame(rows(), columns=["a", "b", "c", "d"])
    model = PCA().fit(frame)
    ax = plot_biplot(model, frame, y=np.arange(40) % 2, components=(0, 2))
    drawn = np.vstack([dots.get_offsets() for dots in ax.collections])
    np.testing.assert_allclose(np.sort(drawn[:, 1]), np.sort(model.transform(frame)[:, 2]))
    assert {text.get_text() for text in ax.texts} >= {"a", "b", "c", "d"}
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1"]
    with pytest.raises(ValueError, match="components must be two of the 4"):
        plot_biplot(model, frame, components=(0, 4))


def test_arrows_of_the_biplot_are_in_proportion_and_stay_in_the_picture():
    # the second component is small: arrows of its columns must not leave a flat picture
    flat = np.random.default_rng(1).standard_normal((60, 3)) @ np.diag([9.0, 0.3, 0.1])
    model = PCA().fit(flat)
    ax = plot_biplot(model, flat)
    tips = np.array([note.xy for note in ax.texts if not note.get_text()])
    loadings = model.components_[:2].T
    scale = np.linalg.norm(tips) / np.linalg.norm(loadings)
    order = np.argsort(-np.linalg.norm(loadings, axis=1), kind="stable")
    np.testing.assert_allclose(tips, scale * loadings[order], atol=1e-9)
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    assert ((left < tips[:, 0]) & (tips[:, 0] < right) & (low < tips[:, 1]) & (tips[:, 1] < high)).all()
    assert ax.get_aspect() == 1.0  # so that angles are true


def test_an_image_is_drawn_at_each_rank():
    model = SVD().fit(rows())
    figure = plot_ranks(model, [1, 4])
    np.testing.assert_allclose(figure.axes[0].images[0].get_array(), model.approximate(1))
    np.testing.assert_allclose(figure.axes[1].images[0].get_array(), rows())
    assert "rank 1\n28% of the numbers" in figure.axes[0].get_title()  # (40 + 4 + 1) / 160
