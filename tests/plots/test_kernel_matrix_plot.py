"""The picture of a kernel matrix: what it shows, how it sorts, what it refuses."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

from pellucid.kernels import RBF, Sigmoid
from pellucid.plots import plot_kernel_matrix

X, y = load_iris(return_X_y=True)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def shown(ax):
    return np.asarray(ax.images[0].get_array())


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_shows_the_products(form):
    np.testing.assert_allclose(shown(plot_kernel_matrix(RBF(0.2), form(X))), RBF(0.2)(X))


def test_classes_stand_together_and_are_named():
    mixed = np.random.default_rng(0).permutation(len(y))
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    ax = plot_kernel_matrix("rbf", X[mixed], names[mixed], gamma=0.2)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["setosa", "versicolor", "virginica"]
    assert shown(ax)[:50, :50].mean() > 2 * shown(ax)[:50, 50:].mean()


def test_products_below_zero_are_of_another_color_and_white_is_zero():
    ax = plot_kernel_matrix(Sigmoid(0.01, -0.5), X)
    low, high = ax.images[0].get_clim()
    assert low == -high


def test_rows_are_sorted_by_a_target_of_numbers_and_given_products_are_taken():
    target = np.random.default_rng(0).standard_normal(len(X))
    order = np.argsort(target)
    ax = plot_kernel_matrix("precomputed", RBF(0.2)(X), target)
    np.testing.assert_allclose(shown(ax), RBF(0.2)(X[order]))
    assert ax.get_xlabel() == "rows, sorted by target"


def test_of_many_rows_some_are_drawn_and_constant_rows_are_no_error():
    assert shown(plot_kernel_matrix(RBF(), np.zeros((1600, 1)))).shape == (1500, 1500)


def test_refuses_what_is_no_kernel():
    with pytest.raises(ValueError, match="kernel must be one of"):
        plot_kernel_matrix("gauss", X)
