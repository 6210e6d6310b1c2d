"""Mercer's condition: by hand, witnesses are witnesses, no false alarms, many points."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.kernels import RBF, AdditiveChi2, Laplacian, Linear, Polynomial, Sigmoid, check_mercer


def test_a_witness_of_two_points_by_hand():
    # the products 0 and -4/4: K = [[0, -1], [-1, 0]], and c = (1, 1) gives -2
    found = check_mercer(AdditiveChi2(), [[0.0], [1.0]])
    assert not found.holds
    assert (found.smallest, found.largest) == pytest.approx((-1.0, 1.0))
    assert found.vector.tolist() == [1.0, 1.0]
    assert found.energy == -2.0
    assert "is no inner product" in repr(found)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_what_is_shown_as_a_witness_is_one(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 2))
    found = check_mercer(Sigmoid(1.0, -0.5), X)
    assert not found.holds
    np.testing.assert_array_equal(found.points, X[found.rows])
    K = Sigmoid(1.0, -0.5)(found.points)
    c = [Fraction(value) for value in found.vector.tolist()]
    energy = sum(a * b * Fraction(k) for a, row in zip(c, K.tolist(), strict=True) for b, k in zip(c, row, strict=True))
    assert energy < 0


@pytest.mark.parametrize(
    "kernel", [Linear(), RBF(0.5), RBF(1e-9), RBF(1e9), Laplacian(), Polynomial(4, 1.0), 2 * RBF() * Linear() + 1]
)
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_inner_products_raise_no_alarm(kernel, scale):
    X = scale * np.random.default_rng(0).standard_normal((40, 3))
    found = check_mercer(kernel, np.vstack([X, X[:5], np.zeros((2, 3))]))
    assert found.holds
    assert len(found.vector) == len(found.rows) == 0
    assert "holds on 47 points" in repr(found)


def test_names_functions_and_given_products_are_taken():
    X = np.array([[0.0], [1.0], [2.0]])
    assert check_mercer("rbf", X, gamma=2.0).kernel == RBF(2.0)
    assert not check_mercer(lambda a, b: -float(a @ b), X).holds
    assert not check_mercer("precomputed", np.array([[1.0, 2.0], [2.0, 1.0]])).holds


def test_of_many_points_some_are_drawn():
    X = np.linspace(-2.0, 2.0, 1500)[:, None]
    found = check_mercer(Sigmoid(coef0=-1.0), X)
    assert found.n_points == 1000
    assert not found.holds
    np.testing.assert_array_equal(found.points, X[found.rows])


def test_one_point_and_constant_points():
    assert check_mercer(RBF(), [[1.0]]).holds
    assert check_mercer(RBF(), np.ones((5, 2))).holds
