"""Filters and feature maps of a convolutional network."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

torch = pytest.importorskip("torch")

from pellucid.neural_network import MLPClassifier  # noqa: E402
from pellucid.plots import plot_feature_maps, plot_layers, plot_network_filters  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Conv2d(4, 2, 2), torch.nn.Flatten())


def tile(ax, k, across, height, width):
    """Return how dark each pixel of a tile is, red ones with a minus sign."""
    picture = np.asarray(ax.images[0].get_array())
    top, left = (k // across) * (height + 1), (k % across) * (width + 1)
    part = picture[top : top + height, left : left + width]
    return (1 - part[..., 1]) * np.where(part[..., 0] > part[..., 1] + 1e-9, -1, 1)


def test_filters_are_the_weights_of_the_layer():
    module = network()
    ax = plot_network_filters(module)
    assert ax.get_title() == "0: 4 filters of 3 x 3"
    weights = module[0].weight.detach().numpy()[3, 0]
    drawn = tile(ax, 3, 2, 3, 3)
    np.testing.assert_array_equal(np.sign(drawn), np.sign(weights))
    assert np.corrcoef(drawn.ravel(), weights.ravel())[0, 1] > 0.99
    assert plot_network_filters(module, layer="2").get_title() == "2: 2 filters of 2 x 2"


def test_maps_are_what_the_layer_makes_of_the_image():
    module = network().train()
    image = np.random.default_rng(0).random((6, 7))
    ax = plot_feature_maps(module, image, layer="2")
    assert ax.get_title() == "2: 2 maps of 3 x 4"
    with torch.no_grad():
        expected = module[:3](torch.tensor(image, dtype=torch.float32)[None, None])[0, 1].numpy()
    drawn = tile(ax, 1, 2, 3, 4)
    np.testing.assert_array_equal(np.sign(drawn), np.sign(expected))
    assert np.corrcoef(drawn.ravel(), expected.ravel())[0, 1] > 0.99
    assert module.training  # as it was
    assert not module[2]._forward_hooks


def test_what_has_no_convolution_gets_a_sentence():
    with pytest.raises(ValueError, match="model must have a convolution over images, got Linear"):
        plot_network_filters(torch.nn.Linear(2, 2))
    with pytest.raises(TypeError, match="a module of torch, got dict"):
        plot_network_filters({})
    with pytest.raises(ValueError, match=r"layer must be one of \['0', '2'\], got '1'"):
        plot_feature_maps(network(), np.ones((6, 6)), layer="1")


def test_layers_have_their_units_and_weights():
    ax = plot_layers([2, 3, 1])
    assert [len(dots.get_offsets()) for dots in ax.collections] == [2, 3, 1]
    assert len(ax.lines) == 2 * 3 + 3 * 1
    assert [text.get_text() for text in ax.texts] == ["input\n2 units", "hidden 1\n3 units", "output\n1 unit"]
    model = MLPClassifier((3,), tol=0.1, random_state=0).fit(np.eye(4), [0, 1, 0, 1])
    drawn = plot_layers(model)
    widths = np.array([line.get_linewidth() for line in drawn.lines[:12]])
    weights = np.abs(model.coefs_[0]).ravel()
    assert np.corrcoef(widths, weights)[0, 1] > 0.999999
    above = [line.get_color() == drawn.lines[int(np.argmax(model.coefs_[0]))].get_color() for line in drawn.lines[:12]]
    np.testing.assert_array_equal(above, model.coefs_[0].ravel() >= 0)
    assert "input\n64 units, 10 drawn" in [text.get_text() for text in plot_layers([64, 2]).texts]
    with pytest.raises(ValueError, match="at least two layers"):
        plot_layers([3])
