"""Each step's linear bounds, checked in exact fractions at points of its box: rounding included, never too high."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from pellucid.core.rounding import EPSILON
from pellucid.neural_network.robustness.linear_bounds import Ball
from pellucid.neural_network.robustness.relaxations import AffineLink, Box, MaximumLink, RectifierLink
from pellucid.neural_network.robustness.steps import Dense, Maximum, Rectifier

seeds = pytest.mark.parametrize("seed", range(3))


def numbers(seed, *shape, spread=6.0):
    """Numbers of very different sizes, so that sums of them round."""
    rng = np.random.default_rng(seed)
    return torch.as_tensor(rng.standard_normal(shape) * 10 ** rng.uniform(-spread, spread, shape))


def exact(tensor):
    return [Fraction(float(number)) for number in tensor.flatten()]


def product(A, z):
    return sum(a * b for a, b in zip(A, z, strict=True))


def box_of(seed, n):
    middle, radius = numbers(seed, 1, n, spread=1.0), numbers(seed + 50, 1, n, spread=1.0).abs()
    return Box(middle - radius, middle + radius)


def points(box, seed, count=6):
    """Points of the box as fractions: its corners among them."""
    rng = np.random.default_rng(seed)
    low, high = exact(box.lower), exact(box.upper)
    for _ in range(count):
        shares = [Fraction(int(share), 4) for share in rng.choice([0, 0, 1, 2, 3, 4, 4], len(low))]
        yield [a + share * (b - a) for a, b, share in zip(low, high, shares, strict=True)]


def assert_never_too_high(link, apply, box, outputs, seed):
    A = numbers(seed + 9, 1, 20, outputs, spread=2.0)
    pulled, added = link.pull_back(A), link.offset(A) - link.allowance(A)
    for z in points(box, seed):
        y = apply(z)
        for row in range(A.shape[1]):
            bound = product(exact(pulled[0, row]), z) + Fraction(float(added[0, row]))
            assert product(exact(A[0, row]), y) >= bound
        inside = zip(exact(link.box.lower), y, exact(link.box.upper), strict=True)
        assert all(low <= value <= high for low, value, high in inside)


@seeds
def test_affine_steps(seed):
    W, b = numbers(seed, 5, 7), numbers(seed + 1, 5)
    box = box_of(seed, 7)
    link = AffineLink(Dense((7,), (5,), W, b, b.abs()), box, EPSILON)
    rows = [exact(row) for row in W]

    def apply(z):
        return [product(row, z) + shift for row, shift in zip(rows, exact(b), strict=True)]

    assert_never_too_high(link, apply, box, 5, seed)
    low, high = exact(box.lower), exact(box.upper)
    for row, shift, least, most in zip(
        rows, exact(b), exact(link.box.lower), exact(link.box.upper), strict=True
    ):  # the corners that make each output smallest and largest
        sides = [(w * low[j], w * high[j]) for j, w in enumerate(row)]
        assert least <= sum(map(min, sides)) + shift
        assert most >= sum(map(max, sides)) + shift


@seeds
@pytest.mark.parametrize("slope", [0.0, 0.1, 1.0])
def test_rectifiers(seed, slope):
    box = box_of(seed, 12)
    link = RectifierLink(Rectifier((12,), slope), box, EPSILON)
    assert_never_too_high(link, lambda z: [max(x, Fraction(slope) * x) for x in z], box, 12, seed)
    for end in map(exact, box):
        line = zip(exact(link.upper_slope), exact(link.upper_shift), end, strict=True)
        assert all(rise * x + lift >= max(x, Fraction(slope) * x) for rise, lift, x in line)


@seeds
def test_maxima_of_windows_that_share_entries(seed):
    windows = torch.tensor([[0, 1, 2], [2, 3, 4], [4, 5, -1], [5, 0, 3]])
    step = Maximum((6,), (4,), windows)
    box = box_of(seed, 6)
    link = MaximumLink(step, box, EPSILON)
    assert_never_too_high(link, lambda z: [max(z[i] for i in w if i >= 0) for w in windows.tolist()], box, 4, seed)


def test_a_maximum_is_known_only_if_one_entry_is_above_all_others():
    step = Maximum((2,), (1,), torch.tensor([[0, 1]]))
    for top, is_known in ((1.0, True), (1.01, False)):
        box = Box(torch.tensor([[1.0, 0.0]]).double(), torch.tensor([[2.0, top]]).double())
        assert bool(MaximumLink(step, box, EPSILON).is_known) == is_known


@seeds
@pytest.mark.parametrize("norm", [2.0, float("inf")])
def test_least_values_over_a_ball(seed, norm):
    center, A = numbers(seed, 1, 6, spread=2.0), numbers(seed + 1, 1, 30, 6, spread=2.0)
    ball = Ball(center, torch.tensor([0.75], dtype=torch.float64), norm, EPSILON)
    least, plain = ball.least(A), Ball(center, ball.radius, norm, 0.0).least(A)
    np.testing.assert_allclose(least, plain, rtol=1e-6)
    for row in range(30):
        a = exact(A[0, row])
        reach = Fraction(3, 4) * sum(map(abs, a))
        if norm == 2:  # a root from below is enough to see that the bound is not above the truth
            squares = sum(x * x for x in a)
            reach = Fraction(3, 4) * Fraction(float(np.sqrt(float(squares)))) * (1 - Fraction(1, 2**50))
        assert Fraction(float(least[0, row])) <= product(a, exact(center)) - reach
