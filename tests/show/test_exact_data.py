from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sympy import Matrix, Rational

from pellucid.show.exact_data import exact_data, exact_features, exact_number


def test_decimals_are_read_as_they_were_typed():
    assert exact_number(0.1, "x") == (Rational(1, 10), False)
    assert exact_number(np.float32(0.1), "x") == (Rational(1, 10), False)
    assert exact_number(1e-9, "x") == (Rational(1, 10**9), False)
    assert exact_number(1e20, "x") == (Rational(10**20), False)
    assert exact_number(np.True_, "x") == (Rational(1), False)
    assert exact_number(np.int64(-3), "x") == (Rational(-3), False)
    assert exact_number(Fraction(1, 7), "x") == (Rational(1, 7), False)
    assert exact_number(Decimal("0.123456789"), "x") == (Rational(123456789, 10**9), False)


def test_a_float_that_is_a_simple_fraction_is_recognized():
    assert exact_number(2 / 3, "x") == (Rational(2, 3), False)
    assert exact_number(-5 / 7, "x") == (Rational(-5, 7), False)


def test_a_float_that_was_not_typed_is_rounded_and_says_so():
    assert exact_number(np.pi, "x") == (Rational(31416, 10000), True)
    assert exact_number(np.pi / 10**6, "x") == (Rational(3142, 10**9), True)  # four digits of a small one
    data = exact_data([[np.pi], [1.0]], [1, 2])
    assert data.rounded
    assert "rounded to 4" in str(data.opening()[-1])


@given(st.integers(-(10**6), 10**6), st.integers(0, 6))
def test_every_short_decimal_is_exact(digits, places):
    assert exact_number(float(Fraction(digits, 10**places)), "x") == (Rational(digits, 10**places), False)


@settings(max_examples=50)
@given(st.floats(-1e6, 1e6))
def test_the_rational_is_within_the_stated_rounding(value):
    assert abs(Fraction(str(exact_number(value, "x")[0])) - Fraction(value)) <= Fraction(1, 10**4)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_of_data_frames_are_kept(frame):
    assert exact_data(frame({"age": [1, 2], "size": [3, 4]}), [1, 2]).names == ("age", "size")


def test_sparse_matrices_and_columns_are_accepted():
    data = exact_data(sparse.csr_array([[1, 0], [0, 2]]), np.array([[1], [2]]))
    assert Matrix([[1, 0], [0, 2]]) == data.X
    assert data.y == Matrix([1, 2])


def test_refuses_too_much_data_and_names_the_limit():
    with pytest.raises(ValueError, match=r"X must have at most 12 rows and 4 features .*, got 13 rows and 1 features"):
        exact_data(np.ones((13, 1)), np.ones(13))
    with pytest.raises(ValueError, match="got 2 rows and 5 features"):
        exact_data(np.ones((2, 5)), np.ones(2))


@pytest.mark.parametrize("bad", [np.nan, np.inf, "a", 1j, None])
def test_refuses_what_is_no_finite_number(bad):
    with pytest.raises(ValueError, match="X must hold finite numbers"):
        exact_data(np.array([[bad]], dtype=object), [1])


def test_refuses_wrong_shapes():
    with pytest.raises(ValueError, match="X must have rows and columns"):
        exact_data([1, 2], [1, 2])
    with pytest.raises(ValueError, match="y must have as many rows as X"):
        exact_data([[1], [2]], [1])
    with pytest.raises(ValueError, match="y must have one dimension"):
        exact_data([[1], [2]], [[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="y must be given"):
        exact_data([[1], [2]], None)


def test_the_text_that_is_no_number_is_blamed():
    with pytest.raises(ValueError, match="X must hold finite numbers, got 'abc' in row 2"):
        exact_features([["1", "2"], ["3", "abc"]])
    with pytest.raises(ValueError, match="y must hold finite numbers, got 'abc' in row 3"):
        exact_data([[1], [2], [3]], ["1", "2", "abc"])
    with pytest.raises(ValueError, match="got '1' in row 1. .* turn texts into numbers"):
        exact_features([["1", "2"]])
