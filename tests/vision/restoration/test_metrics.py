"""Errors in decibels, structural similarity, and the noise of an image."""

import math

import numpy as np
import pytest
from skimage import data
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

from pellucid.vision.restoration import estimate_sigma, mse, psnr, ssim
from pellucid.vision.restoration.images import OPPONENT, Format, as_planes, luminance

# by hand


def test_twenty_decibels_are_a_tenth_of_the_peak():
    assert psnr(np.zeros((4, 4)), np.full((4, 4), 0.1), peak=1.0) == pytest.approx(20.0)
    assert psnr(np.ones((2, 2)), np.ones((2, 2))) == math.inf
    assert mse([[1, 2]], [[3, 2]]) == 2.0


@pytest.mark.parametrize(
    ("image", "peak"),
    [
        (np.array([[3]], dtype=np.uint8), 255),
        (np.array([[3]], dtype=np.uint16), 65535),
        (np.array([[0.7]]), 1),
        (np.array([[140.0]]), 255),
        (np.array([[40000.0]]), 65535),
        (np.array([[140]]), 255),
    ],
)
def test_the_largest_gray_value_is_that_of_the_kind_of_numbers(image, peak):
    assert Format.of(image, None).peak == peak


def test_opponent_colors_keep_white_noise_white():
    np.testing.assert_allclose(OPPONENT @ OPPONENT.T, np.eye(3), atol=1e-15)
    image = np.random.default_rng(0).random((5, 6, 3))
    format_ = Format.of(image, None)
    for color in ("opponent", "each"):
        np.testing.assert_allclose(format_.back(as_planes(image, color), color), image, atol=1e-15)


# peer


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("shape", [(40, 50), (30, 31, 3)])
def test_same_similarity_as_scikit_image(shape, gaussian):
    rng = np.random.default_rng(0)
    a = rng.random(shape)
    b = a + 0.1 * rng.standard_normal(shape)
    options = {"gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False} if gaussian else {}
    theirs = structural_similarity(a, b, data_range=1.0, channel_axis=2 if a.ndim == 3 else None, **options)
    assert ssim(a, b, peak=1.0, gaussian=gaussian) == pytest.approx(theirs, abs=1e-12)
    assert psnr(a, b, peak=1.0) == pytest.approx(peak_signal_noise_ratio(a, b, data_range=1.0), abs=1e-12)


def test_luminance_is_that_of_the_tables():
    # MATLAB's rgb2ycbcr of pure red, green and blue: 81, 145 and 41
    pure = np.eye(3, dtype=np.uint8)[None] * np.uint8(255)
    assert np.rint(luminance(pure)).tolist() == [[81, 145, 41]]


@pytest.mark.parametrize("sigma", [5.0, 20.0])
def test_the_noise_of_a_photograph_is_found(sigma):
    clean = data.camera().astype(float)
    noisy = clean + np.random.default_rng(0).normal(0, sigma, clean.shape)
    assert estimate_sigma(noisy) == pytest.approx(sigma, rel=0.08)


@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1e100])
def test_noise_scales_with_the_image(scale):
    noise = np.random.default_rng(1).normal(0, 1, (64, 64))
    assert estimate_sigma(scale * noise) == pytest.approx(scale * estimate_sigma(noise), rel=1e-9)


def test_small_and_constant_images_have_a_noise_too():
    assert estimate_sigma(np.full((20, 20), 3.0)) == 0.0
    assert estimate_sigma(np.array([[4.0]])) == 0.0
    noise = np.random.default_rng(0).normal(0, 1, (6, 7))
    assert 0.3 < estimate_sigma(noise) < 3.0
    assert estimate_sigma(np.dstack([noise] * 3)) == pytest.approx(estimate_sigma(noise))


# errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mse(np.ones((2, 2)), np.ones((2, 3))), "image must be of the shape of the clean one"),
        (lambda: ssim(np.ones((5, 5)), np.ones((5, 5))), "window must be odd and no larger than the image, got 7"),
        (lambda: Format.of(np.ones((2, 2, 4)), None), "image must have 1 or 3 channels, got 4. Leave out the opacity"),
        (lambda: Format.of(np.ones(4), None), r"image must be of shape \(height, width\)"),
        (lambda: Format.of(np.ones((0, 4)), None), r"image must be of shape \(height, width\)"),
        (lambda: psnr(np.ones((2, 2)), np.ones((2, 2)), peak=0), "peak must be above 0, got 0"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_texts_and_truth_values_are_no_gray_values():
    for wrong in (np.array([["a"]]), np.array([[True]])):
        with pytest.raises(TypeError, match="image must hold numbers, got"):
            Format.of(wrong, None)
