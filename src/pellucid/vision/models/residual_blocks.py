"""Residual blocks (He, Zhang, Ren and Sun, 2015): each adds to its input what two or three convolutions make of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from torch import Tensor, nn
from torch.nn.functional import relu

Shortcut = Callable[[int, int, int], nn.Module]
"""``(inputs, outputs, stride)``: the way around a block whose output has another shape than its input."""


class Block(Protocol):
    """A kind of block."""

    expansion: int
    """Channels of the output, as a multiple of the block's width."""

    def __call__(self, inputs: int, width: int, stride: int, downsample: nn.Module | None) -> nn.Module:
        """Return one block."""


class BasicBlock(nn.Module):
    """Two convolutions of 3 x 3."""

    expansion = 1

    def __init__(self, inputs: int, width: int, stride: int, downsample: nn.Module | None) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = downsample

    def forward(self, x: Tensor) -> Tensor:
        """Return relu(x + F(x)): (B, C, H, W) -> (B, width, H / stride, W / stride)."""
        change = relu(self.bn1(self.conv1(x)))
        change = self.bn2(self.conv2(change))
        return relu(change + (x if self.downsample is None else self.downsample(x)))


class Bottleneck(nn.Module):
    """A convolution of 3 x 3 between two of 1 x 1, which make the maps few and many again."""

    expansion = 4

    def __init__(self, inputs: int, width: int, stride: int, downsample: nn.Module | None) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, width * self.expansion, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(width * self.expansion)
        self.downsample = downsample

    def forward(self, x: Tensor) -> Tensor:
        """Return relu(x + F(x)): (B, C, H, W) -> (B, 4 width, H / stride, W / stride)."""
        change = relu(self.bn1(self.conv1(x)))
        change = relu(self.bn2(self.conv2(change)))
        change = self.bn3(self.conv3(change))
        return relu(change + (x if self.downsample is None else self.downsample(x)))


def projection(inputs: int, outputs: int, stride: int) -> nn.Module:
    """Return the shortcut of option B: a convolution of 1 x 1."""
    return nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))


def residual_stage(
    block: Block, inputs: int, width: int, n_blocks: int, stride: int, shortcut: Shortcut = projection
) -> nn.Sequential:
    """Return ``n_blocks`` blocks in a row; the first takes the stride and, if the shape changes, the shortcut."""
    outputs = width * block.expansion
    around = shortcut(inputs, outputs, stride) if stride != 1 or inputs != outputs else None
    first = block(inputs, width, stride, around)
    return nn.Sequential(first, *(block(outputs, width, 1, None) for _ in range(n_blocks - 1)))
