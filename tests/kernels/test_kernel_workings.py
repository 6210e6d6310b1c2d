"""Kernels by hand: the map multiplies to the kernel, in fractions; refusals."""

from __future__ import annotations

import numpy as np
import pytest
from sympy import Rational

from pellucid.kernels import RBF, Laplacian, Linear, Polynomial, Sigmoid
from pellucid.show import show_work


def test_a_polynomial_kernel_against_its_map():
    work = show_work(Polynomial(2, 1), [[1, 2], [3, 0], [0.5, 1]])
    assert work.answer["products"][0] == [36, 16, Rational(49, 4)]
    text = str(work)
    assert "6 features in all" in text
    assert "√2 x₁ x₂" in text
    assert "1 · 1 + 2 · 1 · 3 + 2 · 2 · 0 + 1 · 9 + 2 · 2 · 0 + 4 · 0 = 16" in text


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(3), Polynomial(2, 0.5, 0.25), Polynomial(1, 2), RBF(1)])
@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html"])
def test_every_kernel_with_exact_products_is_printed(kernel, form):
    assert show_work(kernel, [[1], [2], [3]], format=form)


@pytest.mark.parametrize(
    ("kernel", "X", "words"),
    [
        (Polynomial(2, -1), [[1], [2]], "coef0 of at least 0"),
        (Polynomial(4, 1), [[1, 2, 3], [4, 5, 6]], "at most 20 features to show the work, got 35"),
        (Linear(), [[float(i)] for i in range(5)], "at most 4 rows"),
    ],
)
def test_refuses_with_a_sentence(kernel, X, words):
    with pytest.raises(ValueError, match=words):
        show_work(kernel, X)
    with pytest.raises(ValueError, match="y must be None"):
        show_work(kernel, X, [1, 2])


@pytest.mark.parametrize(
    ("kernel", "passes"),
    [
        (Laplacian(0.5), True),
        (Sigmoid(gamma=1, coef0=-1), False),
        (Linear() + Polynomial(2), True),
        (RBF(0.5) * Linear(), True),
        (2 * Laplacian(1) + 1, True),
    ],
)
def test_other_kernels_sums_and_products_are_worked_and_put_to_mercers_test(kernel, passes):
    rows = [[0, 0], [1, 2], [3, 1]]
    work = show_work(kernel, rows)
    assert work.answer["mercer"] is passes
    numbers = np.array(rows, dtype=float)
    np.testing.assert_allclose(np.array(work.answer["products"], dtype=float), kernel(numbers, numbers), rtol=1e-14)
    assert ("A witness" in work.text()) is not passes
