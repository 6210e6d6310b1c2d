"""Operators: what they do, their adjoints, their spectra, and the proof's own copy of them."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.ndimage import convolve

from pellucid.proofs.vision.measurement import SeenOperator
from pellucid.vision.restoration import Blur, BlurDecimate, Downscale, Identity, Mask, bicubic_resize
from pellucid.vision.restoration.operators import BORDERS, bicubic_matrix


def kernel(rng, *shape):
    weights = rng.random(shape)
    return weights / weights.sum()


def operators(seed=0):
    rng = np.random.default_rng(seed)
    kernels = [kernel(rng, 5, 3), kernel(rng, 4, 6), kernel(rng, 1, 1), kernel(rng, 3, 1)]
    blurs = [Blur(k, border) for k in kernels for border in BORDERS]
    large = [Blur(kernel(rng, 31, 3), border) for border in ("reflect", "periodic")]
    decimated = [BlurDecimate(kernel(rng, 4, 3), 2, border) for border in ("reflect", "periodic")]
    return [Identity(), Mask(rng.random((12, 18)) < 0.4), Downscale(2), Downscale(3), *blurs, *large, *decimated]


every_operator = pytest.mark.parametrize(
    "operator", operators(), ids=lambda one: f"{one.name} {getattr(one, 'border', '')}"
)


# by hand


def test_a_blur_is_a_convolution_around_its_middle():
    point = np.zeros((3, 5))
    point[1, 2] = 1.0
    k = np.array([[0.0, 0.1, 0.2], [0.3, 0.4, 0.0]])
    # the middle of two rows is the second one: the kernel itself appears, one row up and a column to the left
    np.testing.assert_allclose(Blur(k, "periodic").apply(point)[0:2, 1:4], k, atol=1e-16)


def test_decimation_keeps_the_first_pixel():
    image = np.arange(16.0).reshape(4, 4)
    assert BlurDecimate(np.ones((1, 1)), 2).apply(image).tolist() == [[0, 2], [8, 10]]


def test_a_mask_hides_what_stands_under_it():
    hidden = Mask([[True, False]])
    assert hidden.apply(np.array([[np.nan, 4.0]])).tolist() == [[0, 4]]


def test_cubic_interpolation_is_exact_for_parabolas_inside():
    x = np.arange(12.0)
    large = bicubic_resize((x**2)[None], 3)[0]
    where = (np.arange(36) + 0.5) / 3 - 0.5
    np.testing.assert_allclose(large[6:-6], where[6:-6] ** 2, atol=1e-12)


def test_weights_of_a_resizing_sum_to_one():
    for matrix in (bicubic_matrix(7, 14, 2.0), bicubic_matrix(9, 3, 1 / 3), bicubic_matrix(1, 4, 4.0)):
        np.testing.assert_allclose(matrix.sum(axis=1), 1.0, atol=1e-14)


# properties


@every_operator
def test_adjoint_is_the_adjoint(operator):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((12, 18))
    made = operator.apply(x)
    y = rng.standard_normal(made.shape)
    assert np.vdot(made, y) == pytest.approx(np.vdot(x, operator.adjoint(y)), rel=1e-12)
    assert operator.restored_shape(made.shape) == x.shape


@every_operator
def test_proofs_write_the_same_operator_once_more(operator):
    rng = np.random.default_rng(2)
    x = rng.standard_normal((12, 18))
    made = operator.apply(x)
    y = rng.standard_normal(made.shape)
    parts = {one.name: getattr(operator, one.name) for one in dataclasses.fields(operator)}
    again = SeenOperator(operator.name, parts, x.shape)
    np.testing.assert_allclose(again.apply(x), made, atol=1e-13)
    np.testing.assert_allclose(again.adjoint(y), operator.adjoint(y), atol=1e-13)


@pytest.mark.parametrize("shape", [(12, 18), (7, 5), (1, 9), (1, 1)])
@pytest.mark.parametrize("border", ["reflect", "periodic"])
def test_where_there_is_a_spectrum_it_is_the_operator(shape, border):
    symmetric = np.outer([1, 4, 6, 4, 1], [1, 2, 1]) / 64
    x = np.random.default_rng(3).standard_normal(shape)
    operator = Blur(symmetric, border)
    spectrum = operator.spectrum(shape)
    np.testing.assert_allclose(
        spectrum.image(spectrum.values * spectrum.coefficients(x)), operator.apply(x), atol=1e-13
    )
    assert spectrum.basis == ("cosine" if border == "reflect" else "fourier")


def test_a_kernel_that_is_not_symmetric_has_no_spectrum_of_cosines():
    rng = np.random.default_rng(0)
    assert Blur(kernel(rng, 3, 3), "reflect").spectrum((8, 8)) is None
    assert Blur(np.ones((2, 3)) / 6, "reflect").spectrum((8, 8)) is None
    assert Blur(np.ones((3, 3)) / 9, "valid").spectrum((8, 8)) is None


@given(
    st.integers(1, 9), st.integers(1, 9), st.integers(1, 7), st.integers(1, 7), st.sampled_from(["reflect", "periodic"])
)
def test_any_kernel_blurs_any_image_as_scipy_does(height, width, rows, columns, border):
    rng = np.random.default_rng(height + 10 * width + 100 * rows + 1000 * columns)
    x, k = rng.random((height, width)), kernel(rng, rows, columns)
    mode = {"reflect": "reflect", "periodic": "wrap"}[border]
    np.testing.assert_allclose(Blur(k, border).apply(x), convolve(x, k, mode=mode), atol=1e-12)


# errors


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Blur(np.ones((3, 3))), r"kernel must sum to 1, got 9. Divide it by its sum"),
        (lambda: Blur([[np.nan, 1.0]]), "kernel must hold finite numbers"),
        (lambda: Blur([1.0]), "kernel must be a table of numbers, got shape"),
        (lambda: Blur([[1.0]], border="wrap"), "border must be one of"),
        (lambda: Mask([[0, 1]]), "missing must be a table of True and False, got int64"),
        (lambda: Mask([[True]]), "missing must leave some pixels"),
        (
            lambda: Mask([[True, False]]).restored_shape((3, 3)),
            "mask must have the size of the image, 3 x 3, got",
        ),
        (lambda: Downscale(0), "scale must be at least 1, got 0"),
        (lambda: BlurDecimate([[1.0]], 2, "valid"), "border must be one of"),
        (lambda: Blur(np.full((3, 3), 1 / 9), "valid").apply(np.ones((2, 2))), "image must be at least as large"),
    ],
)
def test_what_is_no_operator_is_refused_in_a_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()
