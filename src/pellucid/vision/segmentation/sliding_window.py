"""The sliding window: a classifier of patches asked at every place, and how its fully convolutional twin compares."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from pellucid.core.checks import check_whole
from pellucid.neural_network.modules.model_input import predicting
from pellucid.vision.models.dense_as_convolution import fully_convolutional, total_stride

WINDOWS_AT_ONCE = 256

ROUNDING = 64
"""By how many units of its precision, relative to the largest score, a score may differ if sums go in another order."""


@torch.no_grad()
def sliding_window_scores(
    module: nn.Module, images: Tensor, window: int | tuple[int, int], stride: int | tuple[int, int]
) -> Tensor:
    """Return the scores of all windows of images: (B, C, H, W) -> (B, K, rows, columns).

    Each window goes through the module by itself: what neighbors share is computed again for each of them.

    Parameters
    ----------
    module : torch module
        Gives windows (n, C, height, width) their scores (n, K); it is asked in test mode.
    images : tensor of shape (B, C, H, W)
        At least as large as the window.
    window, stride : int or pair of int
        Height and width of a window, and by how much neighboring ones are apart.
    """
    (height, width), (down, across) = _pair(window, "window"), _pair(stride, "stride")
    if images.ndim != 4 or images.shape[-2] < height or images.shape[-1] < width:
        raise ValueError(
            f"images must be of shape (B, C, H, W) and no smaller than the window {height} x {width}, "
            f"got {tuple(images.shape)}."
        )
    windows = images.unfold(2, height, down).unfold(3, width, across)  # (B, C, rows, columns, height, width), a view
    rows, columns = windows.shape[2:4]
    flat = windows.permute(0, 2, 3, 1, 4, 5)
    found = []
    with predicting(module):
        for image in flat:
            parts = image.split(max(1, WINDOWS_AT_ONCE // columns))
            found += [module(part.reshape(-1, *part.shape[2:])) for part in parts]
    scores = torch.cat(found).reshape(len(images), rows, columns, -1)
    return scores.permute(0, 3, 1, 2)


def _pair(size: int | tuple[int, int], name: str) -> tuple[int, int]:
    pair = (size, size) if isinstance(size, int) else tuple(size)
    for one in pair:
        check_whole(1, "", **{name: one})
    return pair[0], pair[1]


@dataclass(frozen=True)
class WindowComparison:
    """One answer in two ways: windows one by one, and the image in one pass."""

    windows: Tensor
    """Scores of the windows, (B, K, rows, columns)."""
    whole: Tensor
    """The same by the fully convolutional network."""
    stride: tuple[int, int]
    """Pixels between neighboring windows, down and across."""
    seconds: tuple[float, float]
    """Of the windows, and of the one pass: the best of three each."""

    @property
    def difference(self) -> float:
        """Largest difference of two scores."""
        return float((self.windows - self.whole).abs().max())

    @property
    def bound(self) -> float:
        """How much sums in another order may differ, by the precision and size of the scores."""
        unit = torch.finfo(self.windows.dtype).eps
        return ROUNDING * unit * (1.0 + float(self.windows.abs().max()))

    @property
    def are_same(self) -> bool:
        """Whether the scores are the same numbers, up to rounding."""
        return self.windows.shape == self.whole.shape and self.difference <= self.bound

    @property
    def speed_up(self) -> float:
        """How many times faster the one pass is."""
        return self.seconds[0] / max(self.seconds[1], 1e-9)

    def __repr__(self) -> str:
        rows, columns = self.windows.shape[-2:]
        verdict = "the same numbers" if self.are_same else "OTHER NUMBERS"
        return (
            f"WindowComparison({verdict}: {self.difference:.2g} <= {self.bound:.2g}, {rows} x {columns} windows, "
            f"{self.speed_up:.0f} times faster)"
        )


@torch.no_grad()
def compare_with_windows(module: nn.Module, images: Tensor, window: int | tuple[int, int]) -> WindowComparison:
    """Return the scores of all windows by both ways, at the stride of the module's own layers, with their times.

    Parameters
    ----------
    module : torch module
        A classifier of patches, as ``fully_convolutional`` takes it: without padding.
    images : tensor of shape (B, C, H, W)
        At least as large as the window.
    window : int or (height, width)
        Size of the patches that the module takes.

    Examples
    --------
    >>> _ = torch.manual_seed(0)
    >>> patches = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 2))
    >>> compare_with_windows(patches, torch.rand(1, 1, 40, 60), 8).are_same
    True
    """
    twin = fully_convolutional(module, window).eval()
    stride = total_stride(twin)
    windows, slow = _timed(lambda: sliding_window_scores(module, images, window, stride))
    whole, fast = _timed(lambda: twin(images))
    rows, columns = windows.shape[-2:]  # beyond them are windows of which the image lacks rows that nobody looks at
    return WindowComparison(windows, whole[..., :rows, :columns], stride, (slow, fast))


def _timed(answer: Callable[[], Tensor]) -> tuple[Tensor, float]:
    best = float("inf")
    for _ in range(3):
        started = time.perf_counter()
        found = answer()
        float(found.sum())  # a graphics card is waited for
        best = min(best, time.perf_counter() - started)
    return found, best
