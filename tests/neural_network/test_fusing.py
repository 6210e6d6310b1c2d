"""A fused network gives the same answers with fewer layers."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import pellucid
from pellucid.core.files import NotSaveableError
from pellucid.neural_network import DenseNetwork
from pellucid.neural_network.modules.fusing import fuse
from pellucid.vision.models import CifarDenseNet, CifarResNet, LeNet5, ResNet, WideResNet


def trained(module, shape, seed=0):
    """Give the normalizations statistics and weights of their own."""
    torch.manual_seed(seed)
    for layer in module.modules():
        if isinstance(layer, (nn.BatchNorm1d, nn.BatchNorm2d)):
            nn.init.uniform_(layer.weight, 0.5, 1.5)
            nn.init.normal_(layer.bias)
    module.train()(torch.rand(4, *shape))
    return module


def count(module):
    return sum(isinstance(layer, (nn.BatchNorm1d, nn.BatchNorm2d)) for layer in module.modules())


def test_by_hand():
    linear, norm = nn.Linear(1, 1), nn.BatchNorm1d(1, eps=0.0)
    linear.weight.data[:], linear.bias.data[:] = 6.0, 1.0
    norm.running_mean[:], norm.running_var[:], norm.weight.data[:], norm.bias.data[:] = 3.0, 4.0, 2.0, 5.0
    # 2 (6 x + 1 - 3) / 2 + 5 = 6 x + 3
    found = fuse(nn.Sequential(linear, norm))
    assert (found[0].weight.item(), found[0].bias.item()) == (6.0, 3.0)
    assert isinstance(found[1], nn.Identity)


@pytest.mark.parametrize(
    ("architecture", "shape", "left"),
    [
        (ResNet(18, 3), (3, 32, 32), 0),
        (CifarResNet(8), (3, 16, 16), 0),
        (WideResNet(10, 1), (3, 16, 16), 4),  # those in front of a sum, and the last
        (CifarDenseNet(16, 4), (3, 16, 16), 9),  # those of many maps side by side
        (DenseNetwork(5, 3, hidden=(4, 4), batch_normalization=True), (5,), 0),
    ],
    ids=str,
)
def test_same_answers_with_fewer_normalizations(architecture, shape, left):
    module = trained(architecture.build(), shape)
    before = {name: weight.clone() for name, weight in module.state_dict().items()}
    found = fuse(module)
    inputs = torch.rand(5, *shape)
    torch.testing.assert_close(found(inputs), module.eval()(inputs), rtol=1e-4, atol=1e-4)
    assert count(module) > count(found) == left
    assert not found.training
    assert all(torch.equal(weight, before[name]) for name, weight in module.state_dict().items())


def test_in_double_precision_only_rounding_differs():
    module = trained(ResNet(50, 3).build(), (3, 32, 32)).double().eval()
    images = torch.rand(2, 3, 32, 32, dtype=torch.float64)
    torch.testing.assert_close(fuse(module)(images), module(images), rtol=1e-9, atol=1e-9)


class SeenTwice(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1)

    def forward(self, x):
        made = self.conv(x)
        return self.norm(made) + made


class UsedTwice(SeenTwice):
    def forward(self, x):
        return self.norm(self.conv(self.conv(x)))


@pytest.mark.parametrize("module", [SeenTwice(), UsedTwice()], ids=["output", "layer"])
def test_a_layer_that_others_need_as_it_is_stays(module):
    trained(module, (1, 3, 3)).eval()
    images = torch.rand(2, 1, 3, 3)
    assert torch.equal(fuse(module)(images), module(images))


def test_a_normalization_without_statistics_stays():
    module = nn.Sequential(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1, track_running_stats=False))
    assert count(fuse(module)) == 1


def test_a_network_without_normalizations_is_copied():
    module = LeNet5().build()
    found = fuse(module)
    assert found is not module
    assert found.architecture == LeNet5()


def test_a_fused_network_is_not_saved(tmp_path):
    with pytest.raises(NotSaveableError, match="weights of CifarResNet"):
        pellucid.save(fuse(CifarResNet(8).build()), tmp_path / "network.safetensors")


class Undecided(SeenTwice):
    def forward(self, x):
        return self.norm(x) if x.sum() > 0 else self.conv(x)


def test_a_module_that_decides_by_values_is_refused():
    with pytest.raises(ValueError, match="must run the same layers for every input"):
        fuse(Undecided())


def test_what_is_no_module_is_refused():
    with pytest.raises(TypeError, match="module must be a torch module, .* got CifarResNet"):
        fuse(CifarResNet(8))
