"""Small networks with fixed random weights, for tests."""

import torch
from torch import nn

from pellucid.neural_network import DenseNetwork
from pellucid.vision.models.resnet import BasicBlock, PaddedShortcut, residual_stage


def dense(seed=0, inputs=4, outputs=3, hidden=(8, 6), **settings):
    torch.manual_seed(seed)
    network = DenseNetwork(inputs, outputs, hidden=hidden, **settings).build()
    with torch.no_grad():
        for layer in network:
            if isinstance(layer, nn.Linear):
                layer.bias.normal_(0, 0.3)
            if isinstance(layer, nn.BatchNorm1d):
                shake_statistics(layer)
    return network.eval()


def shake_statistics(layer):
    """Give batch normalization statistics and weights as if it had been trained."""
    with torch.no_grad():
        layer.running_mean.normal_(0, 0.5)
        layer.running_var.uniform_(0.5, 2)
        layer.weight.normal_(1, 0.3)
        layer.bias.normal_(0, 0.3)


def convolutional(seed=0, pool=None):
    """A network for images (2, 9, 8) with strides, padding, normalization and pooling."""
    torch.manual_seed(seed)
    pool = nn.AvgPool2d(2) if pool is None else pool
    network = nn.Sequential(
        nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), pool),
        nn.Conv2d(4, 6, (2, 3), stride=(1, 2), padding=(0, 1)),
        nn.LeakyReLU(0.1),
        nn.Flatten(),
        nn.Dropout(0.5),
        nn.LazyLinear(3),
    )
    shake_statistics(network[0][1])
    network.eval()(torch.zeros(1, 2, 9, 8))
    return network


class _Residual(nn.Module):
    """Blocks whose ways around are the identity, and every second pixel with zeros for new maps."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(2, 3, 3, padding=1)
        self.first = residual_stage(BasicBlock, 3, 3, 1, 1)
        self.second = residual_stage(BasicBlock, 3, 4, 1, 2, PaddedShortcut)
        self.head = nn.Linear(4, 3)

    def forward(self, images):
        maps = self.second(self.first(torch.relu(self.stem(images))))
        return self.head(maps.mean((2, 3)))


def residual(seed=0):
    """A residual network for images (2, 6, 6)."""
    torch.manual_seed(seed)
    network = _Residual()
    for layer in network.modules():
        if isinstance(layer, nn.BatchNorm2d):
            shake_statistics(layer)
    return network.eval()


def inputs(n, *shape, seed=1):
    return torch.randn(n, *shape, generator=torch.Generator().manual_seed(seed))


def predicted(module, X):
    with torch.no_grad():
        return module(torch.as_tensor(X)).argmax(1).numpy()
