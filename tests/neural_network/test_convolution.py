"""Convolution, pooling, unpooling: by hand, by their properties, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.neural_network import (
    average_pool,
    convolution_layer,
    convolve,
    correlate,
    max_pool,
    max_pool_with_places,
    transposed_convolution,
    unit_sample_response,
    unpool_bed_of_nails,
    unpool_max,
    unpool_nearest,
)

SIGNALS = st.lists(st.integers(-9, 9), min_size=1, max_size=8)
IMAGE = np.arange(1, 17).reshape(4, 4)

# by hand


def test_the_table_of_the_lecture():
    assert convolve([3, 1, 2], [3, 2, 1]).tolist() == [9, 9, 11, 5, 2]


def test_correlation_does_not_flip_the_kernel():
    assert correlate([1, 2, 3, 4], [1, 0, 2]).tolist() == [1 + 6, 2 + 8]
    assert correlate([1, 2, 3, 4], [1, 0, 2], padding=1).tolist() == [4, 7, 10, 3]
    assert correlate([1, 2, 3, 4, 5], [1, 10], stride=2, dilation=2).tolist() == [31, 53]


def test_a_layer_adds_its_channels_and_its_bias():
    x = np.array([[[1, 2, 3], [10, 20, 30]]])  # (B=1, C=2, 3)
    kernels = np.array([[[1, 1], [0, 1]], [[1, 0], [0, 0]]])  # (O=2, C=2, 2)
    assert convolution_layer(x, kernels, [100, 0]).tolist() == [[[100 + 3 + 20, 100 + 5 + 30], [1, 2]]]


def test_stamps_of_a_transposed_convolution_add_up():
    assert transposed_convolution([[[2, 3]]], [[[1, 1, 1]]], stride=1).tolist() == [[[2, 5, 5, 3]]]
    assert transposed_convolution([[[2, 3]]], [[[1, 1, 1]]], stride=2, padding=1).tolist() == [[[2, 5, 3]]]


def test_pooling_and_unpooling_of_a_small_image():
    values, places = max_pool_with_places(IMAGE, 2)
    assert values.tolist() == [[6, 8], [14, 16]]
    assert places.tolist() == [[5, 7], [13, 15]]
    assert average_pool(IMAGE, 2).tolist() == [[3.5, 5.5], [11.5, 13.5]]
    back = unpool_max(values, places, shape=(4, 4))
    assert back.tolist() == [[0, 0, 0, 0], [0, 6, 0, 8], [0, 0, 0, 0], [0, 14, 0, 16]]
    assert unpool_nearest([[1, 2]], (1, 3)).tolist() == [[1, 1, 1, 2, 2, 2]]
    assert unpool_bed_of_nails([1, 2], 3).tolist() == [1, 0, 0, 2, 0, 0]


def test_the_first_of_equal_entries_is_the_largest_and_a_margin_never_is():
    assert max_pool_with_places([[-1, -1], [-1, -1]], 2)[1].tolist() == [[0]]
    values, places = max_pool_with_places([[-5, -7]], 2, stride=1, padding=1)
    assert values.tolist() == [[-5, -5, -7], [-5, -5, -7]]
    assert places.tolist() == [[0, 0, 1], [0, 0, 1]]
    assert max_pool([[-np.inf, -np.inf]], 2, padding=1).tolist() == [[-np.inf, -np.inf]]


def test_means_may_leave_the_margin_out():
    assert average_pool([4, 2], 2, stride=1, padding=1).tolist() == [2, 3, 1]
    assert average_pool([4, 2], 2, stride=1, padding=1, count_padding=False).tolist() == [4, 3, 2]


def test_fractions_stay_exact():
    third = np.array([[Fraction(1, 3), Fraction(2, 3)], [Fraction(1), Fraction(0)]])
    assert average_pool(third, 2).tolist() == [[Fraction(1, 2)]]
    assert correlate(third, third).tolist() == [[Fraction(14, 9)]]
    assert transposed_convolution(third[None, None], third[None, None])[0, 0, 0, 0] == Fraction(1, 9)
    assert max_pool(third, 2, stride=1, padding=1)[0, 0] == Fraction(1, 3)


def test_a_linear_system_answers_with_the_convolution_of_its_response():
    def smooth(x):
        return np.convolve(x, [0.25, 0.5, 0.25])[: len(x)]

    response = unit_sample_response(smooth, 6)
    assert response.tolist() == [0.25, 0.5, 0.25, 0, 0, 0]
    x = np.array([3.0, -1.0, 2.0, 0.0, 5.0, 1.0])
    np.testing.assert_allclose(smooth(x), convolve(x, response)[:6])


def test_bytes_do_not_overflow():
    image = np.full((2, 2), 200, dtype=np.uint8)
    assert correlate(image, np.ones((2, 2), dtype=np.uint8)).tolist() == [[800]]
    assert transposed_convolution(image[None, None], image[None, None])[0, 0, 0, 0] == 40_000
    assert average_pool(image, 2).tolist() == [[200.0]]
    assert max_pool(image, 2, padding=1).tolist() == [[200, 200], [200, 200]]


def test_truth_values_count_as_0_and_1():
    assert convolve([True, True], [True, False, True]).tolist() == [1, 1, 1, 1]


# properties


@given(SIGNALS, SIGNALS)
def test_convolution_is_that_of_numpy_and_commutes(x, h):
    assert convolve(x, h).tolist() == np.convolve(x, h).tolist() == convolve(h, x).tolist()


@given(SIGNALS, SIGNALS, SIGNALS)
def test_convolution_is_associative(x, g, h):
    assert convolve(convolve(x, g), h).tolist() == convolve(x, convolve(g, h)).tolist()


@given(SIGNALS)
def test_the_unit_sample_changes_nothing(x):
    assert convolve(x, [1]).tolist() == x


@settings(deadline=None, max_examples=40)
@given(st.integers(3, 6), st.integers(1, 3), st.integers(1, 3), st.integers(0, 2), st.integers(1, 2), st.integers(0, 9))
def test_the_transpose_is_the_transpose(length, size, stride, padding, dilation, seed):
    # <conv(x), y> = <x, conv^T(y)> where lengths agree
    rng = np.random.default_rng(seed)
    x, w = rng.integers(-9, 9, (1, 2, length)), rng.integers(-9, 9, (3, 2, size))
    if dilation * (size - 1) + 1 > length + 2 * padding:
        return
    settings_ = {"stride": stride, "padding": padding, "dilation": dilation}
    forth = convolution_layer(x, w, **settings_)
    y = rng.integers(-9, 9, forth.shape)
    more = (length + 2 * padding - dilation * (size - 1) - 1) % stride
    if more >= max(stride, dilation) or (forth.shape[2] - 1) * stride + dilation * (size - 1) + 1 + more <= 2 * padding:
        return
    back = transposed_convolution(y, w, output_padding=more, **settings_)
    assert np.sum(forth * y) == np.sum(x * back)


@given(st.integers(1, 3), st.integers(1, 3), st.integers(0, 99))
def test_pooling_undoes_unpooling(down, across, seed):
    x = np.random.default_rng(seed).integers(1, 9, (2, 3, 2, 4))
    for unpool in (unpool_nearest, unpool_bed_of_nails):
        np.testing.assert_array_equal(max_pool(unpool(x, (down, across)), (down, across)), x)
    large = unpool_nearest(x, (down, across))
    values, places = max_pool_with_places(large, (down, across))
    np.testing.assert_array_equal(max_pool(unpool_max(values, places, large.shape[2:]), (down, across)), x)


# bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: correlate([1, 2], [1, 2, 3]), "kernel must fit into the padded input, got a reach of 3 against 2"),
        (lambda: correlate([1, 2, 3], [1, 2], dilation=3), "a reach of 4 against 3 along axis 0. Raise padding"),
        (lambda: correlate([1, 2], [1], stride=0), "stride must be at least 1, got 0"),
        (lambda: correlate([1, 2], [1], padding=-1), "padding must be at least 0, got -1"),
        (lambda: correlate([[1, 2]], [[1]], stride=(1, 2, 3)), "stride must be one number or 2, one for each axis"),
        (lambda: correlate([[1, 2]], [1]), r"as many axes as each other, got shapes \(1, 2\), \(1,\)"),
        (lambda: convolve([], [1]), "x must be an array of real numbers, not empty"),
        (lambda: convolve(["a"], [1]), "x must be an array of real numbers"),
        (lambda: convolve([None, 1], [1]), "x must be an array of real numbers"),
        (lambda: convolve([1j], [1]), "x must be an array of real numbers"),
        (lambda: correlate([[1, 2], [3]], [[1]]), "x must be an array whose rows are as long as each other"),
        (lambda: convolution_layer([[[1]]], [[[1]]], ["a"]), "bias must be an array of real numbers"),
        (lambda: convolution_layer([[1]], [[1]]), "as many axes of space as each other"),
        (lambda: convolution_layer(np.ones((1, 3, 5)), np.ones((2, 2, 3))), "kernels must fit the 3 channels of x"),
        (lambda: convolution_layer(np.ones((1, 4, 5)), np.ones((3, 2, 3)), groups=2), "4 channels of x in 2 groups"),
        (lambda: convolution_layer(np.ones((1, 1, 5)), np.ones((2, 1, 3)), [1]), "one number for each of 2 outputs"),
        (lambda: transposed_convolution(np.ones((1, 1, 5)), np.ones((2, 1, 3))), "kernels must fit the 1 channels"),
        (lambda: transposed_convolution([[[1]]], [[[1]]], output_padding=1), "output_padding must be below stride"),
        (lambda: transposed_convolution([[[1]]], [[[1]]], padding=1), "padding must leave some of the output"),
        (lambda: max_pool([[1, 2]], 2), "kernel must fit into the padded input"),
        (lambda: max_pool([1, 2, 3], 2, padding=2), r"padding must be at most half of size \(2,\), got 2"),
        (lambda: max_pool([1], 2, padding=1, dilation=2), "must leave every window an entry of x"),
        (lambda: max_pool([1, 2], (1, 2)), r"size must have from 1 to as many numbers as x has axes \(1\)"),
        (lambda: average_pool([1, 2], 0), "size must be at least 1, got 0"),
        (lambda: unpool_nearest([1], 0), "factor must be at least 1, got 0"),
        (
            lambda: unpool_max([1], [2], (2,)),
            r"from 0 to 1, in reading order of the shape \(2,\), got 2",
        ),
        (lambda: unpool_max([1], [-1], 2), "places must be from 0 to 1, .*, got -1"),
        (lambda: unpool_max([1], [[0]], (2,)), r"places must be whole numbers of the shape \(1,\) of x"),
        (lambda: unpool_max([1], [0.5], (2,)), "places must be whole numbers"),
        (lambda: unit_sample_response(lambda x: x, 0), "length must be at least 1"),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_settings_that_are_no_whole_numbers_are_refused():
    with pytest.raises(TypeError, match="stride must be a whole number, got 1.5"):
        correlate([1, 2], [1], stride=1.5)
