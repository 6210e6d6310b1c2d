from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pellucid.core import double_double as dd
from pellucid.linear_model.least_squares.precise_gradient import PreciseGradient
from pellucid.solvers.design import make_design

numbers = st.floats(-1e100, 1e100, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-100)


def exact(pair):
    return Fraction(float(pair[0])) + Fraction(float(pair[1]))


@given(numbers, numbers)
def test_the_rounding_error_of_a_sum_is_exact(a, b):
    assert exact(dd.two_sum(np.float64(a), np.float64(b))) == Fraction(a) + Fraction(b)


@given(numbers, numbers)
def test_the_rounding_error_of_a_product_is_exact(a, b):
    assert exact(dd.two_product(np.float64(a), np.float64(b))) == Fraction(a) * Fraction(b)


@given(numbers, numbers.filter(bool))
def test_a_quotient_has_twice_the_precision(a, b):
    quotient = exact(dd.divide(dd.exactly(np.float64(a)), b))
    assert abs(quotient - Fraction(a) / Fraction(b)) <= abs(Fraction(a) / Fraction(b)) * Fraction(1, 2**98)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40))
def test_a_sum_over_rows_is_right_to_the_last_bit(values):
    high, low = dd.sum_rows(dd.exactly(np.array(values)))
    true = sum(map(Fraction, values))
    assert abs(exact((high, low)) - true) <= Fraction(1, 2**90) * sum(map(abs, map(Fraction, values)))


def test_the_gradient_is_right_where_float64_has_no_digit_left():
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, (30, 2)).astype(float) + 2.0**40  # centering alone cancels 40 bits
    y, w = rng.integers(-9, 10, (30, 1)).astype(float), np.array([[1.0], [-1.0]])
    weight = rng.integers(0, 5, 30).astype(float)
    design = make_design(X, fit_intercept=True, sample_weight=weight)
    _, gradient = PreciseGradient(design, y).residual_and_gradient(w, 0.5)
    rows = [[Fraction(v) for v in row] for row in X]
    s, total = [Fraction(v) for v in weight], Fraction(float(weight.sum()))
    mean = [sum(si * row[j] for si, row in zip(s, rows, strict=True)) / total for j in range(2)]
    y_mean = sum(si * Fraction(v) for si, v in zip(s, y[:, 0], strict=True)) / total
    for j in range(2):
        true = -Fraction(1, 2) * Fraction(float(w[j, 0]))
        for si, row, target in zip(s, rows, y[:, 0], strict=True):
            residual = Fraction(target) - y_mean - (row[0] - mean[0]) + (row[1] - mean[1])
            true += si * (row[j] - mean[j]) * residual
        assert gradient[j, 0] == float(true)
