"""The explicit map of polynomial kernels: by hand, its products are the kernel's, names, refusals."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from pellucid.kernels import RBF, Linear, Polynomial, Sigmoid

X = np.random.default_rng(1).standard_normal((6, 3))


def test_the_square_of_a_product_by_hand():
    # (x0 z0 + x1 z1 + 1)^2 = 1 + 2 x0 z0 + 2 x1 z1 + x0^2 z0^2 + 2 x0 x1 z0 z1 + x1^2 z1^2
    mapped = Polynomial(2, coef0=1.0).feature_map([[3.0, 2.0]])
    assert mapped[0] == pytest.approx([1, 3 * sqrt(2), 2 * sqrt(2), 9, 6 * sqrt(2), 4])
    assert Polynomial(2).feature_map([[3.0, 2.0]])[0] == pytest.approx([9, 6 * sqrt(2), 4])  # homogeneous


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 4), st.sampled_from([0.0, 0.5, 2.0]), st.floats(0.1, 3.0), st.integers(0, 10**6))
def test_products_of_the_features_are_those_of_the_kernel(degree, coef0, gamma, seed):
    rows = np.random.default_rng(seed).standard_normal((4, 3))
    kernel = Polynomial(degree, coef0, gamma)
    mapped = kernel.feature_map(rows)
    np.testing.assert_allclose(mapped @ mapped.T, kernel(rows), rtol=1e-10, atol=1e-10)
    assert len(kernel.feature_names(3)) == mapped.shape[1]


@pytest.mark.parametrize(
    "kernel", [2 * Polynomial(2) + Linear() + 3, Polynomial(2, 1.0) * (Linear() + 1) * 0.5], ids=repr
)
def test_sums_and_products_of_kernels_have_maps(kernel):
    mapped = kernel.feature_map(sparse.csr_array(X))
    np.testing.assert_allclose(mapped @ mapped.T, kernel(X), rtol=1e-10, atol=1e-10)
    assert len(kernel.feature_names(3)) == mapped.shape[1]


def test_names_are_monomials():
    assert Polynomial(2).feature_names(2) == ["x0^2", "x0 x1", "x1^2"]
    assert (Linear() * Linear() + 1).feature_names(1) == ["x0 * x0", "1"]


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (RBF(), "kernel must be linear, or polynomial"),
        (Sigmoid() + 1, "got Sigmoid"),
        (Polynomial(2, -1.0), "coef0 of at least 0"),
        (Polynomial(1.5), "whole degree"),
        (Polynomial(50, 1.0), "at most 10,000 features to write them out, got 23,426 for 3 columns"),
    ],
)
def test_refuses_what_cannot_be_written_out(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel.feature_map(X)
    with pytest.raises(ValueError, match=message):
        kernel.feature_names(3)
