"""Pictures of restored images, spectra, dictionaries and filters."""

import numpy as np
import pytest

from pellucid.plots import plot_dictionary, plot_filter, plot_restorations, plot_spectrum
from pellucid.vision.restoration import Tikhonov, denoise

CLEAN = np.kron(np.arange(16.0).reshape(4, 4) * 16, np.ones((12, 12)))
NOISY = CLEAN + np.random.default_rng(0).normal(0, 10, CLEAN.shape)


def test_a_grid_names_every_image_and_its_decibels():
    images = {"noisy": NOISY, "smooth": denoise(NOISY, 10.0, Tikhonov(), peak=255)}
    figure = plot_restorations(images, CLEAN)
    assert [ax.get_title() for ax in figure.axes] == ["clean", "noisy", "smooth"]
    captions = [text.get_text() for ax in figure.axes for text in ax.texts]
    assert captions[0] == ""
    assert float(captions[1].removesuffix(" dB")) == pytest.approx(28.1, abs=0.5)
    assert all(len(ax.child_axes) == 1 for ax in figure.axes)  # the enlarged part


def test_without_the_clean_image_the_estimate_is_said():
    figure = plot_restorations({"smooth": denoise(NOISY, 10.0, Tikhonov(), peak=255)})
    assert "estimated" in figure.axes[0].texts[0].get_text()


def test_a_part_of_ones_own_is_enlarged():
    figure = plot_restorations({"color": np.dstack([NOISY] * 3).clip(0, 255).astype(np.uint8)}, zoom=(3, 4, 10))
    inset = figure.axes[0].child_axes[0]
    assert inset.images[0].get_array().shape == (10, 10, 3)


def test_a_box_blur_has_its_zeros_where_they_belong():
    level = plot_spectrum(np.full((1, 4), 0.25)).images[0].get_array()
    middle, side = level.shape[0] // 2, level.shape[1]
    assert level[middle, side // 2] == 0.0  # the mean passes
    assert level[middle, side // 2 + side // 4] == -3.0  # a quarter of a turn a pixel does not


def test_atoms_are_tiles():
    image = plot_dictionary(np.eye(16)).images[0].get_array()
    assert image.shape[:2] == (4 * 5 - 1, 4 * 5 - 1)


def test_a_filter_is_drawn_about_zero():
    drawn = plot_filter([[0.1, -0.3], [0.2, 0.0]], pixel=(0, 1)).images[0]
    assert drawn.get_clim() == (-0.3, 0.3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot_restorations({}), "images must hold at least one, got none"),
        (lambda: plot_dictionary(np.ones((3, 7))), "atoms must be rows of square patches"),
        (lambda: plot_spectrum([1.0, 2.0]), "image must be of shape"),
        (lambda: plot_filter([1.0]), "weights must be of shape"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
