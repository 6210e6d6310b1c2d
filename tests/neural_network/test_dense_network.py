"""DenseNetwork: its layers, its first weights, and why zero weights fail."""

import dataclasses

import numpy as np
import pytest
import torch
from sklearn.neural_network import MLPRegressor
from torch import nn

from pellucid.neural_network import DenseNetwork, Maxout
from pellucid.neural_network.dense_network import ACTIVATION_NAMES, INITIALIZATION_NAMES
from pellucid.neural_network.modules.dense_layers import ACTIVATIONS, INITIALIZATIONS, maxout


def names(module):
    return [type(layer).__name__ for layer in module]


def linear_layers(network, seed=0):
    torch.manual_seed(seed)
    return [layer for layer in network.build() if isinstance(layer, nn.Linear)]


# by hand


def test_a_maxout_unit_is_the_largest_of_its_linear_functions():
    # |x| = max(x, -x): one unit of two pieces
    network = DenseNetwork(1, 1, hidden=(1,), activation="maxout", pieces=2).build()
    with torch.no_grad():
        network[0].weight.copy_(torch.tensor([[1.0], [-1.0]]))
        network[2].weight.fill_(1.0)
    assert network(torch.tensor([[-3.0], [2.0]])).ravel().tolist() == [3.0, 2.0]


def test_maxout_compares_neighbors_and_not_units():
    assert maxout(torch.arange(6.0), 3).tolist() == [2.0, 5.0]


def test_layers_stand_in_the_order_linear_normalization_activation_dropout():
    network = DenseNetwork(3, 2, hidden=(5, 4), activation="tanh", dropout=0.2, batch_normalization=True).build()
    hidden = ["Linear", "BatchNorm1d", "Tanh", "Dropout"]
    assert names(network) == [*hidden, *hidden, "Linear"]
    assert network[3].p == 0.2


def test_no_hidden_layer_is_a_linear_model():
    assert names(DenseNetwork(3, 2, hidden=()).build()) == ["Linear"]


def test_maxout_layers_have_pieces_times_as_many_outputs():
    network = DenseNetwork(3, 2, hidden=(5,), activation="maxout", pieces=4, batch_normalization=True).build()
    assert (network[0].out_features, network[1].num_features, network[-1].in_features) == (20, 20, 5)
    assert network(torch.zeros(6, 3)).shape == (6, 2)


def test_open_settings_are_filled_from_the_data_and_images_are_flattened():
    network = DenseNetwork(hidden=(4,)).for_data((1, 5, 6), 3)
    assert (network.inputs, network.outputs, network.flatten) == (30, 3, True)
    assert network.build()(torch.zeros(2, 1, 5, 6)).shape == (2, 3)
    assert DenseNetwork(outputs=7).for_data((9,), 3) == DenseNetwork(inputs=9, outputs=7)


# properties


@pytest.mark.parametrize("name", ACTIVATION_NAMES)
def test_every_activation_gives_scores(name):
    network = DenseNetwork(3, 2, hidden=(4,), activation=name).build()
    assert torch.isfinite(network(torch.randn(5, 3))).all()


def test_the_names_that_are_offered_are_those_that_exist():
    assert set(ACTIVATION_NAMES) == {*ACTIVATIONS, "maxout"}
    assert set(INITIALIZATION_NAMES) == set(INITIALIZATIONS)


@pytest.mark.parametrize("name", INITIALIZATION_NAMES)
def test_the_seed_fixes_the_first_weights(name):
    network = DenseNetwork(6, 2, initialization=name)
    first, again, other = (linear_layers(network, seed)[0].weight for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert torch.equal(first, other) == (name == "zero")


@pytest.mark.parametrize(
    ("name", "variance", "bias_variance"),
    [
        ("he", 2 / 300, 0.0),
        ("xavier", 2 / 500, 0.0),
        ("glorot", 2 / 500, 2 / 500),
        ("small_random", 1e-4, 0.0),
        ("zero", 0.0, 0.0),
    ],
)
def test_first_weights_have_the_variance_of_their_rule(name, variance, bias_variance):
    layer = linear_layers(DenseNetwork(300, 1, hidden=(200,), initialization=name))[0]
    assert float(layer.weight.detach().var()) == pytest.approx(variance, rel=0.05)
    assert float(layer.bias.detach().var()) == pytest.approx(bias_variance, rel=0.3)


@pytest.mark.parametrize("activation", ["logistic", "tanh", "relu", "maxout"])
def test_units_of_a_network_that_starts_at_zero_stay_equal(activation):
    torch.manual_seed(0)
    X, y = torch.randn(20, 3), torch.randn(20, 1)
    network = DenseNetwork(3, 1, hidden=(4, 4), activation=activation, initialization="zero").build()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.5)
    for _ in range(20):
        optimizer.zero_grad()
        nn.functional.mse_loss(network(X), y).backward()
        optimizer.step()
    for layer in (layer for layer in network if isinstance(layer, nn.Linear)):
        assert torch.allclose(layer.weight, layer.weight[:1].expand_as(layer.weight), atol=1e-6)
    assert any(parameter.detach().abs().max() > 0.01 for parameter in network.parameters())  # something was learned


# peer


@pytest.mark.parametrize("activation", ["logistic", "relu"])
def test_glorot_draws_from_scikit_learns_interval(activation):
    X, y = np.zeros((4, 40)), np.arange(4.0)
    peer = MLPRegressor(hidden_layer_sizes=(60,), activation=activation, random_state=0, learning_rate_init=1e-12)
    peer.partial_fit(X, y)
    layers = linear_layers(DenseNetwork(40, 1, hidden=(60,), activation=activation, initialization="glorot"))
    for layer, coef in zip(layers, peer.coefs_, strict=True):
        assert float(layer.weight.detach().abs().max()) == pytest.approx(np.abs(coef).max(), rel=0.1)


# errors


def test_settings_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        DenseNetwork().hidden = (3,)


def test_a_network_of_unknown_size_is_not_built():
    with pytest.raises(ValueError, match="inputs and outputs must be set .* got None and 2.*for_data"):
        DenseNetwork(outputs=2).build()


@pytest.mark.parametrize(
    ("settings", "error", "sentence"),
    [
        ({"hidden": 100}, TypeError, r"hidden must be a tuple of layer sizes, got 100. Write \(100,\)"),
        ({"hidden": (0,)}, ValueError, "hidden must be at least 1, got 0"),
        ({"hidden": (2.5,)}, TypeError, "hidden must be a whole number, got 2.5"),
        ({"inputs": 0}, ValueError, "inputs must be at least 1, got 0"),
        ({"activation": "swish"}, ValueError, "activation must be one of .*'maxout'.*, got 'swish'"),
        ({"initialization": "ones"}, ValueError, "initialization must be one of .*, got 'ones'"),
        ({"dropout": 1}, ValueError, "dropout must be at least 0 and below 1, got 1"),
        ({"dropout": -0.1}, ValueError, "dropout must be at least 0 and below 1, got -0.1"),
        ({"pieces": 0}, ValueError, "pieces must be at least 1, got 0"),
    ],
)
def test_wrong_settings_are_refused(settings, error, sentence):
    with pytest.raises(error, match=sentence):
        DenseNetwork(**settings)


def test_maxout_prints_its_pieces():
    assert repr(Maxout(3)) == "Maxout(pieces=3)"
