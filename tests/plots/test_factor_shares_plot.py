"""The picture of factors against principal components: bars are the explained parts of the variances."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression

from pellucid.decomposition import FactorAnalysis
from pellucid.plots import plot_factor_shares


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def rows():
    """Return five columns moved by one factor, the last of them mostly by its own noise."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((400, 5)) * [0.5, 0.5, 0.5, 0.5, 4.0]
    return rng.standard_normal((400, 1)) * [1.0, 1.2, 0.8, 1.0, 0.5] + noise


def heights(ax):
    return [np.array([bar.get_height() for bar in bars]) for bars in ax.containers]


def test_a_column_of_noise_is_explained_by_components_and_not_by_factors():
    X = rows()
    factors, components = heights(plot_factor_shares(FactorAnalysis(1).fit(X), X))
    assert factors[4] < 0.1 < 0.9 < components[4]
    assert (factors[:4] > 0.5).all()
    assert (components[:4] < 0.1).all()


def test_bars_are_the_explained_variances():
    X = rows()
    model, pca = FactorAnalysis(2).fit(X), PCA(2).fit(X)
    factors, components = heights(plot_factor_shares(model, X))
    np.testing.assert_allclose(factors, (model.components_**2).sum(axis=0) / X.var(axis=0))
    wanted = (pca.components_**2 * pca.explained_variance_[:, None]).sum(axis=0) / X.var(axis=0, ddof=1)
    np.testing.assert_allclose(components, wanted)


def test_names_of_columns_and_given_axes_are_used():
    X = pd.DataFrame(rows(), columns=["one", "two", "three", "four", "five"])
    _, ax = plt.subplots()
    drawn = plot_factor_shares(FactorAnalysis(1).fit(X), X, ax=ax)
    assert drawn is ax
    assert [tick.get_text() for tick in ax.get_xticklabels()] == list(X.columns)


def test_refuses_other_models_and_columns():
    X = rows()
    with pytest.raises(ValueError, match="model must be a FactorAnalysis, got LinearRegression"):
        plot_factor_shares(LinearRegression().fit(X, X[:, 0]), X)
    with pytest.raises(ValueError, match="X must have the 5 columns of the fit"):
        plot_factor_shares(FactorAnalysis(1).fit(X), X[:, :2])
