"""Convolution, pooling and unpooling give what torch's operators give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.neural_network import (
    average_pool,
    convolution_layer,
    max_pool_with_places,
    transposed_convolution,
    unpool_max,
    unpool_nearest,
)

torch = pytest.importorskip("torch")
F = torch.nn.functional

CONVOLUTIONS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}
MAXIMA = {1: F.max_pool1d, 2: F.max_pool2d}
MEANS = {1: F.avg_pool1d, 2: F.avg_pool2d}


def per_axis(low, high, axes):
    return st.tuples(*[st.integers(low, high)] * axes)


@st.composite
def layers(draw, most_axes=3):
    axes = draw(st.integers(1, most_axes))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    settings_ = {
        "stride": draw(per_axis(1, 3, axes)),
        "padding": draw(per_axis(0, 2, axes)),
        "dilation": draw(per_axis(1, 2, axes)),
        "groups": draw(st.sampled_from([1, 2])),
    }
    size = draw(per_axis(1, 3, axes))
    return axes, rng, size, settings_


@settings(max_examples=60, deadline=None)
@given(layers())
def test_convolution_layers(drawn):
    axes, rng, size, options = drawn
    groups = options["groups"]
    x = rng.standard_normal((2, 2 * groups, *[5] * axes))
    kernels, bias = rng.standard_normal((3 * groups, 2, *size)), rng.standard_normal(3 * groups)
    peer = CONVOLUTIONS[axes](*map(torch.tensor, (x, kernels, bias)), **options)
    np.testing.assert_allclose(convolution_layer(x, kernels, bias, **options), peer.numpy(), atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(layers(), st.data())
def test_transposed_layers(drawn, data):
    axes, rng, size, options = drawn
    groups = options["groups"]
    most = [max(s, d) - 1 for s, d in zip(options["stride"], options["dilation"], strict=True)]
    more = tuple(data.draw(st.integers(0, high)) for high in most)
    x = rng.standard_normal((2, 2 * groups, *[4] * axes))
    kernels, bias = rng.standard_normal((2 * groups, 3, *size)), rng.standard_normal(3 * groups)
    each = zip(options["stride"], options["dilation"], size, more, options["padding"], strict=True)
    if any(3 * s + d * (k - 1) + 1 + extra <= 2 * p for s, d, k, extra, p in each):
        return
    peer = TRANSPOSED[axes](*map(torch.tensor, (x, kernels, bias)), **options, output_padding=more)
    ours = transposed_convolution(x, kernels, bias, **options, output_padding=more)
    np.testing.assert_allclose(ours, peer.numpy(), atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([1, 2]), st.data())
def test_pooling(axes, data):
    size = data.draw(per_axis(1, 3, axes))
    stride = data.draw(st.none() | per_axis(1, 3, axes))
    padding = tuple(data.draw(st.integers(0, k // 2)) for k in size)
    dilation = data.draw(per_axis(1, 2, axes))
    # few values, so that equal entries are common
    x = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 3, (2, 3, *[6] * axes)).astype(float)
    values, places = max_pool_with_places(x, size, stride=stride, padding=padding, dilation=dilation)
    peer = MAXIMA[axes](torch.tensor(x), size, stride, padding, dilation, return_indices=True)
    np.testing.assert_array_equal(values, peer[0].numpy())
    np.testing.assert_array_equal(places, peer[1].numpy())
    for counted in (True, False):
        means = average_pool(x, size, stride=stride, padding=padding, count_padding=counted)
        peer_means = MEANS[axes](torch.tensor(x), size, stride, padding, count_include_pad=counted)
        np.testing.assert_allclose(means, peer_means.numpy(), atol=1e-14)


@pytest.mark.parametrize("padding", [0, 1])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_pooling_of_missing_and_infinite_numbers(bad, padding):
    x = np.arange(32.0).reshape(1, 2, 4, 4)
    x[0, 0, 0, 1] = bad
    values, places = max_pool_with_places(x, 2, padding=padding)
    peer = F.max_pool2d(torch.tensor(x), 2, padding=padding, return_indices=True)
    np.testing.assert_array_equal(values, peer[0].numpy())
    np.testing.assert_array_equal(places, peer[1].numpy())
    np.testing.assert_array_equal(average_pool(x, 2), F.avg_pool2d(torch.tensor(x), 2).numpy())


@pytest.mark.parametrize("seed", range(5))
def test_unpooling(seed):
    x = np.random.default_rng(seed).standard_normal((2, 3, 4, 6))
    values, places = max_pool_with_places(x, 2)
    peer = F.max_unpool2d(torch.tensor(values), torch.tensor(places), 2)
    np.testing.assert_array_equal(unpool_max(values, places, (4, 6)), peer.numpy())
    larger = F.interpolate(torch.tensor(x), scale_factor=(2, 3), mode="nearest")
    np.testing.assert_array_equal(unpool_nearest(x, (2, 3)), larger.numpy())
