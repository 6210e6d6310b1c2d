"""What all methods of restoration promise: a certificate that holds, units, bits, odd images, and changes seen."""

import dataclasses
import warnings

import numpy as np
import pytest
from skimage import data

import pellucid
from pellucid.core.user_warnings import UncertifiedWarning
from pellucid.vision import restoration
from pellucid.vision.restoration import Blur, Downscale, Identity, Mask, restore
from pellucid.vision.restoration.method import RestorationMethod

PHOTO = data.camera()[100:132, 208:248].astype(np.float64)
QUICK = {
    "BM3D": {"radius": 6},
    "NonLocalMeans": {"patch_size": 5, "patch_distance": 5},
    "DictionaryDenoising": {"n_iter": 2, "n_atoms": 96},
    "PlugAndPlay": {"denoiser": restoration.Tikhonov()},
}
"""Settings with which a method is quick on a small image, or has to be given."""
VARIANTS = [
    ("WaveletThresholding", {"kind": "hard"}),
    ("DCTThresholding", {"kind": "hard"}),
    ("TotalVariation", {"isotropic": False}),
    ("BM3D", {"radius": 4, "stages": 1}),
    ("DictionaryDenoising", {"coding": "lasso", "n_iter": 1, "n_atoms": 96}),
]


def methods():
    """Return every method of the package, and some with other settings, by name."""
    found = {}
    for name in restoration.__all__:
        kind = getattr(restoration, name)
        if isinstance(kind, type) and issubclass(kind, RestorationMethod):
            found[name] = kind(**QUICK.get(name, {}))
    for name, settings in VARIANTS:
        if name in found:
            found[f"{name} {settings}"] = getattr(restoration, name)(**settings)
    return found


ELSEWHERE = ("DnCNN", "BiasFreeDnCNN")
"""Twenty layers of 64 maps: changes of their results are tried in test_networks, on smaller ones."""
METHODS = methods()
QUICK_ONES = {name: one for name, one in METHODS.items() if name not in ELSEWHERE}
every_quick_method = pytest.mark.parametrize("method", QUICK_ONES.values(), ids=QUICK_ONES)
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
DENOISERS = {name: one for name, one in METHODS.items() if "Identity" in one.takes}
every_denoiser = pytest.mark.parametrize("method", DENOISERS.values(), ids=DENOISERS)


def operator_for(method):
    """Return an operator that a method takes: the identity if it can."""
    if "Identity" in method.takes:
        return Identity()
    kernel = getattr(method, "kernel", None)
    return Downscale(2) if "Downscale" in method.takes else Blur(np.ones((3, 3)) / 9 if kernel is None else kernel)


def measured(operator, sigma, image=PHOTO, seed=0):
    y = operator.apply(image)
    return y + np.random.default_rng(seed).normal(0.0, sigma, y.shape)


def restored(method, y, operator=None, sigma=15.0, **options):
    options = {"peak": 255.0, "estimate_psnr": False} | options
    return restore(y, operator or operator_for(method), sigma, method, **options)


# what is promised


@every_method
def test_it_holds_and_is_proved_again(method):
    operator = operator_for(method)
    y = measured(operator, 15.0)
    found = restored(method, y)
    assert found.certificate.holds
    assert pellucid.verify(found, y).holds
    assert np.isfinite(found.estimate).all()
    if "Identity" in method.takes:
        assert np.mean((found.estimate - PHOTO) ** 2) < 0.8 * np.mean((y - PHOTO) ** 2)


@every_method
def test_same_input_same_bits(method):
    y = measured(operator_for(method), 15.0)
    assert np.array_equal(restored(method, y).estimate, restored(method, y).estimate)


@every_quick_method
@pytest.mark.parametrize("scale", [1 / 255, 257.0])
def test_units_do_not_matter(method, scale):
    y = measured(operator_for(method), 15.0)
    once = restored(method, y).estimate
    again = restored(method, scale * y, sigma=scale * 15.0, peak=scale * 255.0)
    assert again.certificate.holds
    np.testing.assert_allclose(again.estimate / scale, once, atol=0.05)


@every_denoiser
@pytest.mark.parametrize("scale", [1e-120, 1e120])
def test_huge_and_tiny_numbers_are_restored_and_proved(method, scale):
    y = measured(Identity(), 15.0)
    found = restored(method, scale * y, sigma=scale * 15.0, peak=scale * 255.0)
    assert found.certificate.holds
    np.testing.assert_allclose(found.estimate / scale, restored(method, y).estimate, atol=0.05)


@every_denoiser
@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (7, 1), (5, 6), (13, 9)])
def test_small_images_are_restored_and_proved(method, shape):
    y = np.random.default_rng(0).normal(100.0, 15.0, shape)
    found = restored(method, y)
    assert found.estimate.shape == shape
    assert found.certificate.holds
    assert pellucid.verify(found, y).holds


@every_denoiser
def test_constant_images_stay_and_need_no_noise(method):
    y = np.full((20, 24), 77.0)
    for sigma in (0.0, 15.0):
        found = restored(method, y, sigma=sigma)
        np.testing.assert_allclose(found.estimate, 77.0, atol=2.0)  # networks are not exact
        assert found.certificate.holds


@every_denoiser
def test_without_noise_nothing_is_lost(method):
    found = restored(method, PHOTO, sigma=0.0)
    assert found.certificate.holds
    assert np.sqrt(np.mean((found.estimate - PHOTO) ** 2)) < 6.0


@every_denoiser
def test_colors_bytes_and_floats_are_taken(method):
    color = data.astronaut()[100:116, 200:220]
    y = np.clip(color + np.random.default_rng(0).normal(0, 15, color.shape), 0, 255)
    for image, unit in ((y.astype(np.uint8), 1.0), ((y / 255).astype(np.float32), 1 / 255)):
        found = restore(image, Identity(), 15.0 * unit, method, estimate_psnr=False)
        assert found.image.dtype == image.dtype
        assert found.certificate.holds
        assert pellucid.verify(found, image).holds
        assert np.mean((found.image / unit - color) ** 2) < 0.8 * np.mean((image / unit - color) ** 2)


@every_quick_method
def test_an_estimate_of_its_error_is_given_or_refused_with_a_reason(method):
    y = measured(operator_for(method), 15.0)
    found = restored(method, y, estimate_psnr=True)
    assert found.psnr.is_known != bool(method.not_smooth)
    assert not found.psnr.is_known or pellucid.verify(found, y).holds
    assert found.psnr.is_known or method.not_smooth == found.psnr.reason


# changes are seen


def changed_results(found):
    image = found.estimate
    block = image.copy()
    block[8:20, 8:20] += 2.0
    for name, wrong in {
        "a part is brighter": block,
        "all is brighter": image + 1.0,
        "turned": image[::-1, ::-1].copy(),
        "smoothed": 0.5 * image + 0.5 * np.roll(image, 1, axis=0),
        "not a number": image * np.nan,
        "huge": image * 1e200,
    }.items():
        yield name, dataclasses.replace(found, estimate=wrong, image=wrong)
    for name, value in found.chosen[0].items():
        wrong = {**found.chosen[0], name: 5.0 * np.asarray(value) if np.ndim(value) else 5.0 * value}
        if np.any(np.asarray(value) != 0):
            yield f"chosen {name}", dataclasses.replace(found, chosen=(wrong,))
    for name, value in found.evidence[0].items():
        if np.ndim(value) and np.asarray(value).dtype.kind == "f":
            for how, wrong in {"moved": value + 0.5 * np.std(value) + 0.01, "not a number": value * np.nan}.items():
                evidence = ({**found.evidence[0], name: wrong},)
                yield f"{name} {how}", dataclasses.replace(found, evidence=evidence)


@every_quick_method
def test_changes_of_the_result_are_seen(method):
    y = measured(operator_for(method), 15.0)
    found = restored(method, y)
    let_pass = []
    for name, wrong in changed_results(found):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UncertifiedWarning)
            if pellucid.verify(wrong, y).holds:
                let_pass.append(name)
    assert not let_pass


@every_method
def test_another_image_is_seen(method):
    y = measured(operator_for(method), 15.0)
    found = restored(method, y)
    other = measured(operator_for(method), 15.0, seed=1)
    with pytest.warns(UncertifiedWarning):
        assert not pellucid.verify(found, other).holds


FILLING = {name: one for name, one in METHODS.items() if "Mask" in one.takes and "lasso" not in name}


@pytest.mark.parametrize("method", FILLING.values(), ids=FILLING)
def test_missing_pixels_are_filled_and_proved(method):
    mask = Mask(np.random.default_rng(1).random(PHOTO.shape) < 0.3)
    y = measured(mask, 5.0)
    found = restored(method, y, mask, sigma=5.0)
    assert found.certificate.holds
    assert pellucid.verify(found, y).holds
    hidden = mask.missing
    assert np.mean((found.estimate - PHOTO)[hidden] ** 2) < 0.2 * np.mean((PHOTO.mean() - PHOTO)[hidden] ** 2)
