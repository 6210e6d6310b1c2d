"""restore: one verb for all, an estimate that tells the truth, and a certificate that sees every change."""

import dataclasses
import warnings

import numpy as np
import pytest
from skimage import data

import pellucid
from pellucid.core.user_warnings import UncertifiedWarning
from pellucid.vision.restoration import (
    Bicubic,
    Blur,
    BlurDecimate,
    Downscale,
    Identity,
    Mask,
    PlugAndPlay,
    Tikhonov,
    TotalVariation,
    Wiener,
    compare_methods,
    deblur,
    denoise,
    estimate_kernel,
    inpaint,
    mse,
    psnr,
    restore,
    upscale,
)
from pellucid.vision.restoration.plug_and_play import data_step

SHARP = data.camera()[96:160, 200:272].astype(np.float64)
SOFT = np.outer([1, 4, 6, 4, 1], [1, 2, 1]) / 64
SKEW = np.array([[0.0, 0.1, 0.2], [0.3, 0.3, 0.1]])


def measured(operator, sigma, seed=0, image=SHARP):
    y = operator.apply(image)
    return y + np.random.default_rng(seed).normal(0, sigma, y.shape)


# by hand


def test_tikhonov_solves_its_equations_exactly():
    # (I + D'D) x = y for y = (0, 0, 4, 4): x_2 = 2 x_1 and 7 x_1 = 4
    x = denoise(np.array([[0.0, 0.0, 4.0, 4.0]]), 1.0, Tikhonov(weight=1.0), peak=255).image
    np.testing.assert_allclose(x, np.array([[4, 8, 20, 24]]) / 7, atol=1e-12)


def test_wiener_with_a_random_walk_is_tikhonov():
    y = measured(Identity(), 10.0)
    ours = denoise(y, 2.0, Wiener(amplitude=4.0, exponent=1.0), peak=255).image  # sigma^2 / amplitude = 1
    np.testing.assert_allclose(ours, denoise(y, 2.0, Tikhonov(weight=1.0), peak=255).image, atol=1e-9)


def test_the_data_step_of_a_mask_is_a_mean_where_it_was_seen():
    mask = Mask([[False, True]])
    assert data_step(np.array([[3.0, 0.0]]), mask, np.array([[0.0, 5.0]]), 0.5).tolist() == [[2.0, 5.0]]


# every operator, every kind of number

CASES = {
    "noise": (Identity(), (Tikhonov(), Wiener())),
    "periodic blur": (Blur(SKEW, "periodic"), (Tikhonov(), Wiener(), PlugAndPlay(Tikhonov(), n_iter=3))),
    "symmetric blur": (Blur(SOFT, "reflect"), (Tikhonov(), Wiener())),
    "mirrored blur": (Blur(SKEW, "reflect"), (Tikhonov(), Wiener())),
    "cut blur": (Blur(SKEW, "valid"), (Tikhonov(weight=0.1), Wiener(), PlugAndPlay(Tikhonov(), n_iter=2))),
    "fewer pixels": (Downscale(2), (Tikhonov(weight=0.01), Bicubic())),
    "blurred, fewer pixels": (BlurDecimate(SOFT, 2), (Tikhonov(weight=0.01),)),
    "missing pixels": (Mask(np.random.default_rng(5).random(SHARP.shape) < 0.4), (Tikhonov(weight=0.1),)),
}
every_case = pytest.mark.parametrize(
    ("operator", "method"),
    [(operator, method) for operator, methods in CASES.values() for method in methods],
    ids=[f"{name} {type(method).__name__}" for name, (_, methods) in CASES.items() for method in methods],
)


@every_case
def test_it_restores_and_is_proved(operator, method):
    y = measured(operator, 3.0)
    found = restore(y, operator, 3.0, method, peak=255)
    assert found.certificate.holds
    assert found.image.shape == SHARP.shape
    assert pellucid.verify(found, y).holds
    if operator.name in ("Identity", "Blur") and getattr(operator, "border", "") != "valid":
        assert psnr(SHARP, found.image, peak=255) > psnr(SHARP, y, peak=255) - 0.5


@every_case
def test_scaling_the_image_and_its_noise_scales_the_answer(operator, method):
    y = measured(operator, 3.0)
    once, thrice = (restore(c * y, operator, c * 3.0, method, peak=c * 255.0).estimate for c in (1.0, 1e-6))
    np.testing.assert_allclose(thrice, 1e-6 * once, atol=1e-6 * 0.02)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("is_color", [False, True])
def test_an_image_comes_back_in_the_kind_it_came_in(dtype, is_color):
    scale = {np.uint8: 1.0, np.uint16: 257.0, np.float32: 1 / 255}[dtype]
    image = np.dstack([SHARP, SHARP[::-1], SHARP[:, ::-1]]) if is_color else SHARP
    y = np.clip(image + np.random.default_rng(0).normal(0, 10, image.shape), 0, 255) * scale
    y = np.rint(y).astype(dtype) if np.dtype(dtype).kind == "u" else y.astype(dtype)
    found = denoise(y, method=Wiener())
    assert found.image.dtype == dtype
    assert found.image.shape == y.shape
    assert found.sigma_was_estimated
    assert found.sigma == pytest.approx(10 * scale, rel=0.25)
    assert mse(found.image, image * scale) < 0.6 * mse(y, image * scale)
    assert pellucid.verify(found, y).holds


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (5, 1), (3, 4), (9, 9, 1)])
@pytest.mark.parametrize("method", [Tikhonov(), Wiener(), Tikhonov(weight=1e6)])
def test_tiny_images_and_no_noise_have_an_answer(shape, method):
    y = np.random.default_rng(0).random(shape)
    for sigma in (0.0, 0.3):
        found = denoise(y, sigma, method)
        assert found.certificate.holds
        assert found.image.shape == shape


def test_colors_that_are_equal_stay_equal():
    y = measured(Identity(), 10.0)
    found = denoise(np.dstack([y, y, y]), 10.0, Tikhonov(weight=0.5), peak=255).image
    np.testing.assert_allclose(
        found, denoise(y, 10.0, Tikhonov(weight=0.5), peak=255).image[:, :, None] * [1, 1, 1], atol=1e-9
    )


def test_same_input_same_bits():
    y = measured(Identity(), 10.0)
    first, second = (denoise(y, None, Wiener(), peak=255) for _ in range(2))
    assert np.array_equal(first.estimate, second.estimate)
    assert first.psnr == second.psnr


def test_read_only_images_are_restored():
    y = measured(Identity(), 10.0)
    y.flags.writeable = False
    assert denoise(y, 10.0, Tikhonov(), peak=255).certificate.holds


# the estimated PSNR


@pytest.mark.parametrize("method", [Tikhonov(), Wiener()])
def test_the_estimate_holds_the_truth_nineteen_times_out_of_twenty(method):
    clean = data.camera()[::4, ::4].astype(float)
    held = 0
    for seed in range(40):
        y = measured(Identity(), 20.0, seed, clean)
        found = denoise(y, 20.0, method, peak=255, random_state=seed)
        held += found.psnr.low <= psnr(clean, found.estimate, peak=255) <= found.psnr.high
    assert held >= 34  # 38 are expected; fewer than 34 in one of a thousand tries


def test_steins_formula_is_exact_for_a_linear_filter():
    # the error on average: bias, known from the clean image, and the noise that the filter passes
    clean, sigma = SHARP, 20.0
    method = Tikhonov(weight=0.5)
    estimates, errors = [], []
    for seed in range(30):
        found = denoise(measured(Identity(), sigma, seed), sigma, method, peak=255, random_state=seed)
        estimates.append(found.psnr.mse)
        errors.append(mse(clean, found.estimate))
    spread = np.std(np.subtract(estimates, errors)) / np.sqrt(30)
    assert abs(np.mean(estimates) - np.mean(errors)) < 4 * spread


def test_missing_pixels_are_judged_by_hiding_more_of_them():
    mask = Mask(np.random.default_rng(0).random(SHARP.shape) < 0.3)
    y = measured(mask, 2.0)
    found = restore(y, mask, 2.0, Tikhonov(weight=0.05), peak=255)
    true = 10 * np.log10(255**2 / np.mean((found.estimate - SHARP)[mask.missing] ** 2))
    assert found.psnr.low - 0.7 <= true <= found.psnr.high + 0.7
    assert "missing pixels" in found.psnr.reason


def test_what_has_no_estimate_says_why():
    y = measured(Identity(), 5.0)
    assert "many times" in denoise(y, 5.0, PlugAndPlay(Tikhonov(), n_iter=2), peak=255).psnr.reason
    assert "without noise" in denoise(y, 0.0, Tikhonov(), peak=255).psnr.reason
    assert "not asked" in denoise(y, 5.0, Tikhonov(), peak=255, estimate_psnr=False).psnr.reason
    assert "of A x" in restore(y, Blur(SOFT), 5.0, Wiener(), peak=255).psnr.reason


# the proof is attacked


def attacks(found):
    """Yield results that are not what they say."""
    image = found.estimate
    spot = image.copy()
    spot[3:6, 4:7] += 1.0
    swapped = image[::-1].copy()
    for name, wrong in (
        ("spot", spot),
        ("upside down", swapped),
        ("brighter", image + 1),
        ("nan", image * np.nan),
        ("huge", image * 1e200),
    ):
        yield name, dataclasses.replace(found, estimate=wrong, image=wrong.astype(found.image.dtype))
    yield "image alone", dataclasses.replace(found, image=found.image + 1)
    yield "sigma", dataclasses.replace(found, sigma=2 * found.sigma)
    if found.psnr.is_known:
        better = dataclasses.replace(found.psnr, mse=found.psnr.mse / 2, value=found.psnr.value + 3.0103)
        yield "psnr", dataclasses.replace(found, psnr=better)
        yield "its decibels", dataclasses.replace(found, psnr=dataclasses.replace(found.psnr, value=99.0))
    if found.chosen[0]:
        name = next(iter(found.chosen[0]))
        changed = tuple({**one, name: 3 * one[name]} for one in found.chosen)
        yield "chosen", dataclasses.replace(found, chosen=changed)


@pytest.mark.parametrize("method", [Tikhonov(), Wiener()])
@pytest.mark.parametrize("operator", [Identity(), Blur(SKEW, "periodic"), Blur(SKEW, "reflect")])
def test_every_change_of_the_result_is_seen(method, operator):
    y = measured(operator, 5.0)
    found = restore(y, operator, 5.0, method, peak=255)
    for name, wrong in attacks(found):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UncertifiedWarning)
            assert not pellucid.verify(wrong, y).holds, name
    with pytest.warns(UncertifiedWarning):
        assert not pellucid.verify(found, y + 1e-3).holds


@pytest.mark.parametrize(
    ("method", "other"), [(Tikhonov(weight=1.0), Tikhonov(weight=1.1)), (Wiener(9.0, 1.0), Wiener(9.0, 1.1))]
)
def test_another_parameter_is_seen(method, other):
    y = measured(Identity(), 5.0)
    wrong = dataclasses.replace(denoise(y, 5.0, method, peak=255), method=other)
    with pytest.warns(UncertifiedWarning):
        assert not pellucid.verify(wrong, y).holds


def test_a_weight_forged_together_with_its_image_is_seen():
    y = measured(Identity(), 5.0)
    found, smooth = denoise(y, 5.0, Tikhonov(), peak=255), denoise(y, 5.0, Tikhonov(weight=20.0), peak=255)
    forged = dataclasses.replace(found, estimate=smooth.estimate, image=smooth.image, chosen=({"weight": 20.0},))
    with pytest.warns(UncertifiedWarning):
        assert not pellucid.verify(forged, y).holds


def test_the_last_round_of_plug_and_play_is_replayed():
    y = measured(Blur(SKEW, "periodic"), 5.0)
    found = restore(y, Blur(SKEW, "periodic"), 5.0, PlugAndPlay(Tikhonov()), peak=255)
    assert found.certificate.grade == "replayed"
    for name in ("before", "fitted_to_data"):
        evidence = ({**found.evidence[0], name: found.evidence[0][name] + 0.5},)
        with pytest.warns(UncertifiedWarning):
            assert not pellucid.verify(dataclasses.replace(found, evidence=evidence), y).holds


# thin names, comparisons, kernels


def test_enlarging_is_exact_and_its_changes_are_seen():
    y = Downscale(2).apply(SHARP)
    found = upscale(y, 2, method=Bicubic(), peak=255)
    assert psnr(SHARP, found.image, peak=255) > 25
    wrong = dataclasses.replace(found, estimate=found.estimate + 1e-3, image=found.image + 1e-3)
    with pytest.warns(UncertifiedWarning):
        assert not pellucid.verify(wrong, y).holds


def test_missing_pixels_may_hold_anything():
    missing = np.random.default_rng(0).random(SHARP.shape) < 0.3
    holes = np.where(missing, np.nan, SHARP)
    found = inpaint(holes, missing, 0.0, Tikhonov(), peak=255)
    again = inpaint(np.where(missing, 77.0, SHARP), missing, 0.0, Tikhonov(), peak=255)
    np.testing.assert_array_equal(found.estimate, again.estimate)
    assert np.abs(found.estimate - SHARP)[~missing].max() < 0.1
    assert pellucid.verify(found, holes).holds
    assert inpaint(np.where(missing, 300.0, SHARP / 255), missing, 0.0, Tikhonov()).peak == 1.0
    assert compare_methods(np.where(missing, 1e6, SHARP), Mask(missing), 1.0, methods=[Tikhonov()])[0].whole.peak == 255


def test_methods_are_compared_by_their_own_estimates():
    y = measured(Identity(), 20.0)
    tried = compare_methods(y, Identity(), 20.0, methods=[Tikhonov(weight=100.0), Wiener()], peak=255)
    assert [type(one.method).__name__ for one in tried] == ["Wiener", "Tikhonov"]
    assert tried[0].psnr.value > tried[1].psnr.value


def test_a_simple_kernel_is_found_without_knowing_it():
    image = np.kron(np.random.default_rng(0).integers(0, 2, (16, 16)) * 200.0 + 20, np.ones((8, 8)))
    line = np.zeros((7, 7))
    line[3, 1:6] = 0.2
    blurred = Blur(line, "valid").apply(image)
    found = estimate_kernel(blurred, 7)
    likeness = np.vdot(found.kernel, line) / np.linalg.norm(found.kernel) / np.linalg.norm(line)
    assert likeness > 0.9
    assert found.kernel.min() >= 0
    assert found.kernel.sum() == pytest.approx(1)
    sharp = deblur(blurred, size=7, method=TotalVariation(), peak=255, estimate_psnr=False)
    inner = (slice(12, -12),) * 2
    soft = psnr(image[3:-3, 3:-3][inner], blurred[inner], peak=255)
    assert psnr(image[3:-3, 3:-3][inner], sharp.image[3:-3, 3:-3][inner], peak=255) > soft + 1


# errors


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: denoise(SHARP, -1.0, Tikhonov()), ValueError, "sigma must be at least 0, got -1.0"),
        (
            lambda: denoise(np.where(SHARP > 100, np.nan, SHARP), 1.0, Tikhonov()),
            ValueError,
            "image must hold finite numbers, got",
        ),
        (lambda: denoise(SHARP, 1.0, Tikhonov), TypeError, "method must be a value such as TotalVariation"),
        (lambda: restore(SHARP, "blur", 1.0, Tikhonov()), TypeError, "operator must be Identity"),
        (
            lambda: denoise(SHARP, 1.0, Bicubic()),
            ValueError,
            "method must be one that can invert Identity, got Bicubic",
        ),
        (lambda: inpaint(SHARP, np.zeros((3, 3), dtype=bool), 1.0, Tikhonov()), ValueError, "mask must have the size"),
        (lambda: Tikhonov(weight=0), ValueError, "weight must be above 0, got 0"),
        (lambda: Wiener(exponent=-1), ValueError, "exponent must be at least 0, got -1"),
        (lambda: PlugAndPlay(Bicubic()), ValueError, "denoiser must be a method that removes noise, got Bicubic"),
        (lambda: deblur(SHARP), ValueError, "kernel or size must be given, and not both"),
        (lambda: estimate_kernel(SHARP, 8), ValueError, "size must be odd and smaller than the image, 64 x 72, got 8"),
    ],
)
def test_what_cannot_be_restored_is_refused_in_a_sentence(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_every_method_names_what_it_takes():
    assert TotalVariation.takes[0] == "Identity"
