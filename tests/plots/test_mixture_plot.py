"""The picture of a mixture: ellipses where the components are, curves for one column."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Ellipse

from pellucid.mixture import GaussianMixture, Mixture
from pellucid.plots import plot_mixture


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def rows():
    rng = np.random.default_rng(0)
    return np.vstack([rng.standard_normal((60, 2)) * [3.0, 0.5], rng.standard_normal((60, 2)) + 9.0])


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_every_component_has_its_two_ellipses(covariance_type):
    model = GaussianMixture(2, covariance_type=covariance_type, random_state=0).fit(rows())
    ellipses = [patch for patch in plot_mixture(model, rows()).patches if isinstance(patch, Ellipse)]
    assert len(ellipses) == 4
    np.testing.assert_allclose([ellipses[0].center, ellipses[2].center], model.means_)
    np.testing.assert_allclose([2 * ellipses[0].width, 2 * ellipses[2].width], [ellipses[1].width, ellipses[3].width])


def test_the_legend_names_components_and_deviations():
    model = GaussianMixture(2, random_state=0).fit(rows())
    told = [text.get_text() for text in plot_mixture(model, rows()).get_legend().get_texts()]
    assert told == ["component 0", "component 1", "within 1 deviation", "within 2 deviations"]


def test_an_ellipse_has_the_axes_of_its_covariance():
    model = GaussianMixture(2, covariance_type="diag", random_state=0).fit(rows())
    long = int(np.argmin(model.means_[:, 0]))
    ellipse = plot_mixture(model, rows()).patches[2 * long]
    # the longer axis first: it lies along the first column
    np.testing.assert_allclose([ellipse.width, ellipse.height], 2 * np.sqrt(model.covariances_[long]))
    assert ellipse.angle % 180 == pytest.approx(0.0, abs=1e-6)


def test_names_of_columns_and_one_column():
    frame = pd.DataFrame(rows(), columns=["length", "width"])
    model = GaussianMixture(2, random_state=0).fit(frame)
    ax = plot_mixture(model, frame, features=(1, 0))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "length")
    one = GaussianMixture(2, random_state=0).fit(frame[["width"]])
    ax = plot_mixture(one, frame[["width"]])
    grid, total = ax.lines[2].get_data()
    assert np.trapezoid(total, grid) == pytest.approx(1.0, abs=0.02)
    assert ax.get_xlabel() == "width"


def test_other_models_and_columns_get_one_sentence():
    with pytest.raises(ValueError, match="model must have Gaussian components.*got Mixture"):
        plot_mixture(Mixture(random_state=0).fit(rows()), rows())
    with pytest.raises(ValueError, match=r"features must be two columns of the 2, got \(0, 5\)"):
        plot_mixture(GaussianMixture().fit(rows()), rows(), features=(0, 5))
