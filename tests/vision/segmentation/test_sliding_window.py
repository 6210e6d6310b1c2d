"""A window that slides and a fully convolutional network: the same numbers."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from pellucid.vision.models import VGG, fully_convolutional
from pellucid.vision.models.dense_as_convolution import as_convolution, convolution_weight, total_stride
from pellucid.vision.segmentation import compare_with_windows, sliding_window_scores


def patch_classifier(channels=2, window=20, hidden=6, normalized=False):
    convolutions = [nn.Conv2d(channels, 4, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 5, 3, stride=2), nn.Tanh()]
    trunk = nn.Sequential(*convolutions)
    size = trunk(torch.zeros(1, channels, window, window)).numel()
    dense = [nn.Linear(size, hidden), nn.BatchNorm1d(hidden) if normalized else nn.Identity(), nn.ReLU(), nn.Dropout()]
    return nn.Sequential(trunk, nn.Flatten(), *dense, nn.Linear(hidden, 3))


# by hand


def test_a_dense_layer_of_four_pixels_is_a_convolution_of_two_by_two():
    layer = nn.Linear(4, 1, bias=False)
    layer.weight.data = torch.tensor([[1.0, 2.0, 3.0, 4.0]])
    found = as_convolution(layer, (2, 2))
    image = torch.arange(6.0).reshape(1, 1, 2, 3)  # 0 1 2 over 3 4 5
    assert found(image).flatten().tolist() == [0 + 2 + 9 + 16, 1 + 4 + 12 + 20]


def test_windows_come_in_rows_and_columns():
    scores = sliding_window_scores(nn.Flatten(), torch.arange(12.0).reshape(1, 1, 3, 4), 2, (1, 2))
    assert scores.shape == (1, 4, 2, 2)
    assert scores[0, 0].tolist() == [[0.0, 2.0], [4.0, 6.0]]  # the first pixel of each window
    assert scores[0, 3].tolist() == [[5.0, 7.0], [9.0, 11.0]]  # its last


# properties


@given(st.integers(0, 1000), st.integers(20, 45), st.integers(20, 45))
def test_the_same_numbers_at_every_place(seed, height, width):
    torch.manual_seed(seed)
    module = patch_classifier(normalized=seed % 2 == 0).double().eval()
    images = torch.rand(2, 2, height, width, dtype=torch.float64)
    twin = fully_convolutional(module, 20)
    assert total_stride(twin) == (4, 4)
    windows = sliding_window_scores(module, images, 20, 4)
    whole = twin(images)[..., : windows.shape[2], : windows.shape[3]]  # the last row of a window is not looked at
    torch.testing.assert_close(whole, windows, rtol=1e-12, atol=1e-12)


def test_windows_may_be_higher_than_wide():
    torch.manual_seed(0)
    module = nn.Sequential(nn.Conv2d(1, 3, 3), nn.Flatten(), nn.Linear(3 * 6 * 2, 2)).double()
    found = compare_with_windows(module, torch.rand(1, 1, 12, 9, dtype=torch.float64), (8, 4))
    assert found.are_same
    assert found.windows.shape == (1, 2, 5, 6)


def test_a_network_of_dense_layers_alone_is_one_large_convolution():
    torch.manual_seed(0)
    module = nn.Sequential(nn.Flatten(), nn.Linear(2 * 9, 4), nn.ReLU(), nn.Linear(4, 2))
    assert compare_with_windows(module, torch.rand(1, 2, 7, 8), 3).are_same


def test_a_comparison_says_what_differs():
    found = compare_with_windows(patch_classifier(), torch.rand(1, 2, 40, 52), 20)
    assert found.are_same
    assert "the same numbers" in repr(found)
    assert found.speed_up > 0
    assert found.stride == (4, 4)
    changed = type(found)(found.windows, found.whole + 0.01, found.stride, found.seconds)
    assert not changed.are_same
    assert "OTHER NUMBERS" in repr(changed)


def test_the_module_stays_as_it_was():
    module = patch_classifier().train()
    sliding_window_scores(module, torch.rand(1, 2, 24, 24), 20, 4)
    assert module.training
    twin = fully_convolutional(module, 20)
    twin[0].weight.data.zero_()
    assert module[0][0].weight.any()


# errors


@pytest.mark.parametrize(
    ("layers", "sentence"),
    [
        ((nn.Conv2d(1, 2, 3, padding=1), nn.Flatten(), nn.Linear(128, 2)), "must not pad .* Use padding=0"),
        ((nn.MaxPool2d(2, ceil_mode=True), nn.Flatten(), nn.Linear(16, 2)), "Use ceil_mode=False"),
        ((nn.Conv2d(1, 2, 3), nn.LSTM(2, 2)), "a convolution, a pooling, dense or pointwise .*, got LSTM"),
        ((nn.Conv2d(1, 2, 3), nn.AdaptiveAvgPool2d(2)), "got AdaptiveAvgPool2d"),
        ((nn.ReLU(), nn.Flatten()), "must have a layer with weights, got none"),
    ],
)
def test_what_cannot_move_is_refused(layers, sentence):
    with pytest.raises(ValueError, match=sentence):
        fully_convolutional(nn.Sequential(*layers), 8)


def test_a_vgg_pads_and_is_refused():
    with torch.device("meta"), pytest.raises(ValueError, match="must not pad"):
        fully_convolutional(VGG("A").build(), 224)


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="no smaller than the window 20 x 20"):
        sliding_window_scores(patch_classifier(), torch.rand(1, 2, 10, 30), 20, 4)
    with pytest.raises(ValueError, match="must take maps of 3 x 3, got 10 inputs"):
        convolution_weight(torch.zeros(2, 10), (3, 3))
    with pytest.raises(ValueError, match="stride must be at least 1, got 0"):
        sliding_window_scores(patch_classifier(), torch.rand(1, 2, 30, 30), 20, 0)
