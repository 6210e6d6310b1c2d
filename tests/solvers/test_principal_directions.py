"""Principal directions: the loop over four columns, and the choice between its ways."""

from __future__ import annotations

import numpy as np
import pytest

from pellucid.decomposition.principal_directions import by_lanczos, completed, from_rows, in_ordinary_units
from pellucid.solvers.design import make_design
from pellucid.solvers.product_kernels import add_gram_four
from tests.plain_kernels import in_python


@pytest.mark.parametrize("kernel", [add_gram_four, in_python(add_gram_four)], ids=["compiled", "python"])
def test_four_columns_by_definition(kernel):
    rng = np.random.default_rng(0)
    A, B, offset = rng.standard_normal((8, 5)), rng.standard_normal((4, 5)), rng.standard_normal(4)
    out = np.ones((4, 5))
    kernel(A, B, offset, out)
    np.testing.assert_allclose(out, 1.0 + (A @ B.T - offset).T @ A, rtol=1e-12)


@pytest.mark.parametrize("n", [1201, 1202, 1204])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("offset", [0.5, 1e6])
def test_blocks_of_vectors_find_the_leading_directions(n, order, offset):
    rng = np.random.default_rng(n)
    X = np.asarray(rng.standard_normal((n, 50)) * np.geomspace(9.0, 0.3, 50) + offset, order=order)
    design = make_design(X, fit_intercept=True)
    found, whole = by_lanczos(design, 3, goal=1e-11, seed=0), from_rows(design)
    np.testing.assert_allclose(found.squares, whole.squares[:3], rtol=1e-10)
    np.testing.assert_allclose(found.vectors, whole.vectors[:, :3], atol=1e-9)


def test_vectors_of_zeros_are_the_unit_vectors_farthest_outside():
    squares, vectors = completed(np.array([4.0, 1e-30]), np.array([[0.6, 0.0], [0.8, 1.0], [0.0, 0.0]]), 1e-14)
    assert squares.tolist() == [4.0, 0.0]
    assert vectors[:, 1].tolist() == [0.0, 0.0, 1.0]


def test_tiny_rows_are_scaled_and_zeros_are_not():
    assert in_ordinary_units(np.full((2, 2), 1e-170))[1] > 1.0 > in_ordinary_units(np.full((2, 2), 1e120))[1]
    assert in_ordinary_units(np.zeros((2, 2)))[1] == in_ordinary_units(np.ones((2, 2)))[1] == 1.0
    tiny_but_one = np.full((200, 2), 1e-170)
    tiny_but_one[1, 1] = 1.0
    assert in_ordinary_units(tiny_but_one)[1] == 1.0
