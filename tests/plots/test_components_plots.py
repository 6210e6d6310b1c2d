"""Pictures of factors: components as tiles, signals in lanes."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from pellucid.decomposition import NMF, PCA
from pellucid.plots import plot_components_images, plot_signals


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def pictures():
    return np.random.default_rng(0).gamma(1.0, size=(30, 12))


def test_each_component_has_a_tile_at_its_own_scale():
    model = NMF(3, random_state=0, max_iter=500, tol=1e-2).fit(pictures())
    image = plot_components_images(model, (3, 4)).images[0].get_array()
    assert image.shape == (2 * 3 + 1, 2 * 4 + 1, 3)  # two by two tiles with a gap
    tile = image[:3, :4]
    darkness = model.components_[0].reshape(3, 4) / model.components_[0].max() * (1 - 0x11 / 0xFF)
    np.testing.assert_allclose(1 - tile[..., 0], darkness)
    np.testing.assert_allclose(image[3], 0xE4 / 0xFF)  # the gap
    np.testing.assert_allclose(image[4:, 5:], 0xE4 / 0xFF)  # the fourth tile has no component


def test_what_a_component_takes_away_is_red():
    model = PCA(2).fit(pictures())
    tile = plot_components_images(model, (3, 4), columns=1, most=1).images[0].get_array()
    below = model.components_[0].reshape(3, 4) < 0
    assert below.any()
    assert np.all(tile[below][:, 0] > tile[below][:, 1])
    np.testing.assert_allclose(tile[~below][:, 0], tile[~below][:, 1])


def test_short_signals_are_lines_and_long_ones_are_bands():
    signals = np.column_stack([np.sin(np.arange(100.0)), np.ones(100)])
    ax = plot_signals(signals, names=["a", "b"], rate=50.0)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert ax.get_xlim()[1] == pytest.approx(99 / 50)
    assert len(ax.lines) == 4  # two signals, and the middle of each lane
    assert len(plot_signals(np.random.default_rng(0).standard_normal((5000, 3))).collections) == 3


def test_refuses_pictures_and_signals_that_do_not_fit():
    model = NMF(2, random_state=0, max_iter=500, tol=1e-2).fit(pictures())
    with pytest.raises(ValueError, match="as many pixels as there are features \\(12\\), got 5 x 5"):
        plot_components_images(model, (5, 5))
    with pytest.raises(ValueError, match="signals must have rows and columns"):
        plot_signals(np.ones(5))
    with pytest.raises(ValueError, match="names must be as many as signals \\(2\\), got 1"):
        plot_signals(np.ones((5, 2)), names=["a"])
