"""check_module_gradient: right modules pass, wrong backward passes are found and named."""

import numpy as np
import pytest
import torch
from torch import nn

from pellucid.neural_network import check_module_gradient
from tests.neural_network.networks import convolutional, dense, inputs


class Cube(torch.autograd.Function):
    """x^3, whose backward pass has a factor that one may change."""

    factor = 3.0

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, slope):
        (x,) = ctx.saved_tensors
        return slope * Cube.factor * x**2


class ScaledCube(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor([0.5, 2.0]))

    def forward(self, x):
        return Cube.apply(x * self.scale)


# by hand


def test_a_wrong_factor_is_found_named_and_measured(monkeypatch):
    module, X = ScaledCube(), [[1.0, 2.0]]
    right = check_module_gradient(module, X)
    assert right.ok
    assert right.check.uncertainties.max() < 1e-6  # nothing was excused
    monkeypatch.setattr(Cube, "factor", 2.0)
    found = check_module_gradient(module, X)
    assert not found.ok
    assert found.worst[0] in ("scale", "input")
    assert found.check.relative_error == pytest.approx(1 / 3, rel=1e-3)
    assert "WRONG" in repr(found)
    assert f"{found.worst[0]}[" in repr(found)


def test_slopes_of_a_linear_layer_are_its_inputs():
    module = nn.Linear(2, 1)
    found = check_module_gradient(module, [[3.0, 5.0]], loss=lambda outputs, _: outputs.sum())
    assert sorted(found.check.coordinates.tolist()) == [0, 1, 2, 3, 4]
    assert found.check.relative_error == 0
    assert found.check.uncertainties.max() < 1e-6  # nothing was excused


# properties


@pytest.mark.parametrize("activation", ["logistic", "tanh", "relu", "leaky_relu", "elu", "gelu", "maxout"])
def test_dense_networks_are_right(activation):
    module = dense(0, hidden=(5,), activation=activation, batch_normalization=True, dropout=0.3)
    for mode in (True, False):
        assert check_module_gradient(module.train(mode), inputs(6, 4), [0, 1, 2, 0, 1, 2], samples=1).ok


def test_convolutions_are_right_for_numbers_as_targets():
    assert check_module_gradient(convolutional(), inputs(2, 2, 9, 8), inputs(2, 3, seed=5), samples=2).ok


def test_one_wrong_weight_of_a_deep_network_is_named(monkeypatch):
    module = nn.Sequential(nn.Linear(4, 2), ScaledCube(), nn.Linear(2, 3))
    monkeypatch.setattr(Cube, "factor", 3.01)
    found = check_module_gradient(module, inputs(5, 4), [0, 1, 2, 0, 1])
    assert not found.ok
    assert not found.worst[0].startswith("2.")  # what stands behind the wrong function has right slopes


def test_random_masks_do_not_hide_a_mistake(monkeypatch):
    module = nn.Sequential(nn.Linear(4, 2), nn.Dropout(0.3), ScaledCube()).train()
    assert check_module_gradient(module, inputs(5, 4), samples=2).ok
    monkeypatch.setattr(Cube, "factor", 3.01)
    assert not check_module_gradient(module, inputs(5, 4), samples=2).ok


def test_a_kink_is_not_held_against_the_slope():
    # all sums are exactly 0, where a rectifier has no slope
    module = nn.Sequential(nn.Linear(2, 3, bias=False), nn.ReLU(), nn.Linear(3, 1))
    with torch.no_grad():
        module[0].weight.zero_()
    assert check_module_gradient(module, [[1.0, 2.0]]).ok


def test_the_module_and_torchs_generator_are_left_as_they_were():
    module = dense(0, batch_normalization=True, dropout=0.5).train()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    state, X = torch.get_rng_state(), inputs(5, 4)
    check_module_gradient(module, X, samples=1)
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
    assert torch.equal(state, torch.get_rng_state())
    assert module[0].weight.dtype == torch.float32
    assert module[0].weight.grad is None
    assert not X.requires_grad


def test_words_are_looked_up_and_not_differentiated():
    module = nn.Sequential(nn.Embedding(5, 3), nn.Flatten(), nn.Linear(6, 2))
    found = check_module_gradient(module, [[0, 1], [4, 1]], [0, 1], samples=6)
    assert found.ok
    assert found.n_parameters == 3


def test_the_same_seed_looks_at_the_same_weights():
    module, X = dense(), inputs(3, 4)
    first, again = (check_module_gradient(module, X, samples=1, random_state=4) for _ in range(2))
    np.testing.assert_array_equal(first.check.errors, again.check.errors)
    assert first.check.coordinates.size == 7


# errors


def test_nothing_to_check_is_refused():
    with pytest.raises(ValueError, match="module must have parameters to check, or take floats, got neither"):
        check_module_gradient(nn.Identity(), [[1, 2]])
    with pytest.raises(ValueError, match="samples must be at least 1, got 0"):
        check_module_gradient(nn.Linear(1, 1), [[1.0]], samples=0)
