"""LeNet-5 (LeCun, Bottou, Bengio and Haffner, 1998), as published and as most people write it today."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d, conv2d, pad

from pellucid.core.kinds.plain import OneOf
from pellucid.vision.models.image_network import CHANNELS, CLASSES, ImageArchitecture, ImageNetwork

FIELD = 32
"""Images are placed in the middle of a square of this size."""

C3_INPUTS = (
    *(tuple((i + j) % 6 for j in range(3)) for i in range(6)),
    *(tuple((i + j) % 6 for j in range(4)) for i in range(6)),
    *((0, 1, 3, 4), (1, 2, 4, 5), (0, 2, 3, 5)),
    tuple(range(6)),
)
"""Table I of the paper: which of the 6 maps each of the 16 maps of layer C3 sees."""


@dataclass(frozen=True)
class LeNet5(ImageArchitecture):
    """Two convolutions, each followed by pooling, then dense layers; for images of at most 32 x 32.

    Parameters
    ----------
    classes : int or None, default=10
        Scores that come out, one for each class; None: as many as the data have.
    channels : int or None, default=1
        Channels of the images that go in; None: as many as the data have.
    form : {"modern", "published"}, default="modern"
        "modern": ReLU, max pooling, every map sees all maps before it, dense output: 61,706 weights. "published":
        scaled tanh, trained subsampling, maps of C3 see some maps (Table I), and the output is minus the squared
        distance to one code of signs per class, which is not trained: 60,000 weights.

    Examples
    --------
    >>> sum(weight.numel() for weight in LeNet5(form="published").build().parameters())
    60000
    """

    classes: int | None = 10
    channels: int | None = 1
    form: str = "modern"

    settings: ClassVar = {"classes": CLASSES, "channels": CHANNELS, "form": OneOf(("modern", "published"))}

    def build(self) -> nn.Module:
        """Return the network with random weights."""
        return LeNet5Network(self)


class LeNet5Network(ImageNetwork):
    """C1, S2, C3, S4, C5, F6 and the output, by the paper's names."""

    stage_parts = MappingProxyType(
        {"C1": ("C1",), "C3": ("S2", "C3"), "C5": ("S4", "C5"), "F6": ("F6",), "output": ("output",)}
    )

    def __init__(self, architecture: LeNet5) -> None:
        super().__init__(architecture)
        channels, classes = architecture.sizes()
        published = architecture.form == "published"
        self.squash: nn.Module = ScaledTanh() if published else nn.ReLU()
        self.C1 = nn.Conv2d(channels, 6, 5)
        self.S2: nn.Module = Subsampling(6) if published else nn.MaxPool2d(2)
        self.C3: nn.Module = PartlyConnected(C3_INPUTS, 6, 5) if published else nn.Conv2d(6, 16, 5)
        self.S4: nn.Module = Subsampling(16) if published else nn.MaxPool2d(2)
        self.C5 = nn.Conv2d(16, 120, 5)
        self.F6 = nn.Linear(120, 84)
        self.output: nn.Module = NearestCode(84, classes) if published else nn.Linear(84, classes)

    def forward(self, images: Tensor) -> Tensor:
        """Return a score per class: (B, C, H, W) -> (B, classes)."""
        maps = self.S2(self.squash(self.C1(centered(images))))  # (B, 6, 14, 14)
        maps = self.S4(self.squash(self.C3(maps)))  # (B, 16, 5, 5)
        features = torch.flatten(self.squash(self.C5(maps)), 1)  # (B, 120)
        return self.output(self.squash(self.F6(features)))


def centered(images: Tensor) -> Tensor:
    """Return the images in the middle of 32 x 32 pixels, zeros around them."""
    height, width = images.shape[-2:]
    if height > FIELD or width > FIELD:
        raise ValueError(f"images must be at most {FIELD} x {FIELD}, got {height} x {width}. Use a larger network.")
    left, top = (FIELD - width) // 2, (FIELD - height) // 2
    return pad(images, (left, FIELD - width - left, top, FIELD - height - top))


class ScaledTanh(nn.Module):
    """1.7159 tanh(2 x / 3): the values at -1 and 1 are -1 and 1."""

    def forward(self, values: Tensor) -> Tensor:
        """Return the squashed values."""
        return scaled_tanh(values)


def scaled_tanh(values: Tensor) -> Tensor:
    """Return 1.7159 tanh(2 x / 3) of each value."""
    return 1.7159 * torch.tanh(values * (2.0 / 3.0))


class Subsampling(nn.Module):
    """The sum of each 2 x 2 square times a coefficient, plus a bias, squashed: one of each per map."""

    def __init__(self, maps: int) -> None:
        super().__init__()
        self.coefficient = nn.Parameter(torch.full((maps,), 0.25))
        self.bias = nn.Parameter(torch.zeros(maps))

    def forward(self, maps: Tensor) -> Tensor:
        """Return maps of half the size: (B, C, H, W) -> (B, C, H/2, W/2)."""
        sums = 4.0 * avg_pool2d(maps, 2)
        return scaled_tanh(sums * self.coefficient[:, None, None] + self.bias[:, None, None])


class PartlyConnected(nn.Module):
    """A convolution in which output map i sees the input maps ``inputs[i]`` only; there are no other weights."""

    def __init__(self, inputs: tuple[tuple[int, ...], ...], channels: int, size: int) -> None:
        super().__init__()
        self.shape = (len(inputs), channels, size, size)
        self.rows = [row for row, seen in enumerate(inputs) for _ in seen]
        self.columns = [column for seen in inputs for column in seen]
        fan_in = torch.tensor([len(inputs[row]) * size * size for row in self.rows], dtype=torch.float32)
        drawn = torch.empty(len(self.rows), size, size).uniform_(-2.4, 2.4)
        self.weight = nn.Parameter(drawn / fan_in[:, None, None])
        self.bias = nn.Parameter(torch.zeros(len(inputs)))

    def forward(self, maps: Tensor) -> Tensor:
        """Return the convolution without padding: (B, C, H, W) -> (B, len(inputs), H - size + 1, W - size + 1)."""
        weight = self.weight.new_zeros(self.shape)
        weight[self.rows, self.columns] = self.weight
        return conv2d(maps, weight, self.bias)


class NearestCode(nn.Module):
    """Minus the squared distance to a code of signs per class; the codes are drawn once and are not trained."""

    codes: Tensor

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        signs = torch.randint(0, 2, (classes, features), dtype=torch.float32) * 2.0 - 1.0
        self.register_buffer("codes", signs)

    def forward(self, features: Tensor) -> Tensor:
        """Return the scores: (B, F) -> (B, classes)."""
        return -(features[:, None, :] - self.codes).square().sum(dim=2)
