"""Thresholds on cosine and wavelet coefficients: by hand, their minimum, their choice, and proofs that see changes."""

import dataclasses
import math

import numpy as np
import pytest
import pywt
from scipy import fft
from skimage import data
from skimage.restoration import denoise_wavelet

import pellucid
from pellucid.proofs.index import find_proof
from pellucid.proofs.sampling import drawing
from pellucid.proofs.seen import Seen
from pellucid.proofs.vision import wavelet_thresholding as wavelet_proof
from pellucid.vision.restoration import DCTThresholding, Identity, WaveletThresholding, denoise, psnr
from pellucid.vision.restoration.thresholding import kernels
from pellucid.vision.restoration.thresholding.wavelet_thresholding import sure_threshold
from tests.plain_kernels import in_python

METHODS = [
    DCTThresholding(),
    DCTThresholding(kind="hard"),
    DCTThresholding(1.5, block_size=4, step=4),
    DCTThresholding("universal", block_size=16, step=4),
    WaveletThresholding(),
    WaveletThresholding(spins=1),
    WaveletThresholding("db2", kind="hard", levels=2, spins=2),
    WaveletThresholding("coif1", "universal", levels=1),
]


def photo(height=48, width=64):
    return data.camera()[100 : 100 + height, 200 : 200 + width].astype(np.float64)


def noisy(clean, sigma, seed=0):
    return clean + sigma * np.random.default_rng(seed).standard_normal(clean.shape)


def solve(method, y, sigma):
    return method.solve(y, Identity(), sigma, 255.0)


def judge(method, y, sigma, answer, **changed):
    """Prove an answer, with some of its parts or parameters changed, as verify does."""
    fitted = {"image": answer.image, **answer.chosen, **answer.evidence}
    fields = {one.name: getattr(method, one.name) for one in dataclasses.fields(method)}
    fitted |= {name: value for name, value in changed.items() if name in fitted}
    fields |= {name: value for name, value in changed.items() if name not in fitted}
    with drawing(1):
        return find_proof(type(method).__name__)(Seen(**fitted), Seen(**fields), Seen(y=y, sigma=sigma, plane=0))


def test_haar_on_four_pixels_by_hand():
    # coefficients of [[9, 1], [5, 1]]: mean 8, rows 2, columns 6, both 2; all but the first lose up to 3
    y = np.array([[9.0, 1.0], [5.0, 1.0]])
    image = solve(WaveletThresholding("haar", 1.5, levels=1, spins=1), y, 2.0).image
    np.testing.assert_allclose(image, [[5.5, 2.5], [5.5, 2.5]])
    image = solve(WaveletThresholding("haar", 1.5, "hard", levels=1, spins=1), y, 2.0).image
    np.testing.assert_allclose(image, [[7.0, 1.0], [7.0, 1.0]])


def test_one_block_of_cosines_is_thresholded_by_scipy_alike():
    y = noisy(np.zeros((8, 8)), 10.0)
    coefficients = fft.dctn(y, norm="ortho")
    soft = np.sign(coefficients) * np.maximum(np.abs(coefficients) - 12.0, 0.0)
    soft[0, 0] = coefficients[0, 0]
    image = solve(DCTThresholding(1.2, step=8), y, 10.0).image
    np.testing.assert_allclose(image, fft.idctn(soft, norm="ortho"), atol=1e-10)


def test_all_shifts_are_the_mean_over_all_shifts():
    y = noisy(photo(16, 16), 10.0)
    padded = np.pad(y, 3, mode="symmetric")
    total = np.zeros_like(padded)
    for i in range(19):
        for j in range(19):
            block = padded[i : i + 4, j : j + 4]
            total[i : i + 4, j : j + 4] += solve(DCTThresholding(1.5, block_size=4, step=4), block, 10.0).image
    np.testing.assert_allclose(
        solve(DCTThresholding(1.5, block_size=4), y, 10.0).image, total[3:-3, 3:-3] / 16, atol=1e-10
    )


def test_of_a_constant_image_only_means_are_kept_and_the_estimated_error_counts_them():
    # nothing is removed, and of 64 coefficients one follows the noise: 0 - 1 + 2 / 64
    trace = solve(DCTThresholding(), np.full((24, 24), 7.0), 1.0).trace
    np.testing.assert_allclose(trace["estimated_error"], 2 / 64 - 1, atol=1e-12)


def test_compiled_loops_do_what_they_say_in_python():
    y = noisy(photo(9, 8), 20.0)
    cosines = fft.dct(np.eye(4), axis=0, norm="ortho")
    results = []
    for run in (lambda kernel: kernel, in_python):
        for is_hard in (False, True):
            total = np.zeros((8, 8))
            place = (y, np.array([1, 3, 5]), 2, (0,) * 4, cosines, np.ascontiguousarray(cosines.T))
            results.append((run(kernels.threshold_rows)(*place, 15.0, is_hard, 1, total), total))
    for one, other in ((0, 2), (1, 3)):
        assert results[one][0] == results[other][0]
        np.testing.assert_allclose(results[one][1], results[other][1], atol=1e-10)


def test_the_chosen_threshold_of_a_band_is_the_best_of_all():
    band = np.random.default_rng(0).laplace(0.0, 2.0, 200) + np.random.default_rng(1).standard_normal(200)
    tried = np.append(np.abs(band), [0.0, math.sqrt(2 * math.log(200))])
    errors = [np.sum(np.minimum(np.abs(band), t) ** 2) - 2 * np.sum(np.abs(band) <= t) for t in tried]
    allowed = tried <= math.sqrt(2 * math.log(200))
    assert sure_threshold(band) == tried[allowed][np.argmin(np.array(errors)[allowed])]


def test_a_band_of_large_coefficients_is_left_alone():
    assert sure_threshold(np.array([9.0, -8.0, 30.0])) == 0.0


def test_a_band_of_noise_has_the_universal_threshold():
    assert sure_threshold(np.random.default_rng(0).standard_normal(1000)) == math.sqrt(2 * math.log(1000))


@pytest.mark.parametrize("name", ["haar", "db1", "db4", "db12", "sym2", "sym4", "sym12", "coif1", "coif3"])
def test_the_proof_knows_the_filter_by_its_name(name):
    family, moments, length = wavelet_proof._wavelet(name)
    taps = np.array(pywt.Wavelet(name).dec_lo)
    assert len(taps) == length
    assert wavelet_proof._claim_of_filter(taps, family, moments).holds
    for wrong in (taps + 1e-5, 1.001 * taps, np.roll(taps, 1) if length > 2 else -taps):
        assert not wavelet_proof._claim_of_filter(wrong, family, moments).holds
    if name in ("db4", "db12", "sym4", "sym12"):
        other = ("sym" if name.startswith("db") else "db") + name.lstrip("dbsym")
        assert not wavelet_proof._claim_of_filter(np.array(pywt.Wavelet(other).dec_lo), family, moments).holds


@pytest.mark.parametrize("name", ["haar", "sym4", "coif2"])
def test_the_transform_of_the_proof_is_that_of_pywavelets_and_is_undone(name):
    image = np.random.default_rng(0).standard_normal((32, 24))
    low = np.array(pywt.Wavelet(name).dec_lo)
    means, bands = wavelet_proof._transformed(image, low, 1)
    wanted, details = pywt.dwt2(image, name, mode="periodization")
    for ours, theirs in zip([means, *bands], [wanted, *details], strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-10)
    means, bands = wavelet_proof._transformed(image, low, 3)
    np.testing.assert_allclose(wavelet_proof._transformed_back(means, bands, low), image, atol=1e-9)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_answers_are_proved_and_scale_with_every_bit(method):
    y = np.rint(noisy(photo(), 20.0))
    answer = solve(method, y, 20.0)
    assert judge(method, y, 20.0, answer).holds
    for scale in (2.0**-300, 2.0**300):
        scaled = solve(method, scale * y, scale * 20.0)
        assert np.array_equal(scaled.image, scale * answer.image)
        assert judge(method, scale * y, scale * 20.0, scaled).holds
    again = dataclasses.replace(method, **answer.chosen)
    assert np.array_equal(solve(again, y, 20.0).image, answer.image)


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (3, 2), (17, 23)])
def test_every_size_has_an_answer_that_is_proved(method, shape):
    for y, sigma in (
        (noisy(np.zeros(shape), 10.0), 10.0),
        (noisy(np.zeros(shape), 10.0), 0.0),
        (np.full(shape, 0.1), 1.0),
    ):
        answer = solve(method, y, sigma)
        assert answer.image.shape == shape
        assert judge(method, y, sigma, answer).holds
        if sigma == 0:
            assert np.array_equal(answer.image, y)
    np.testing.assert_allclose(answer.image, 0.1, atol=1e-12)


@pytest.mark.parametrize(
    "method", [DCTThresholding(1.5, step=8), WaveletThresholding(threshold=1.5, spins=1)], ids=repr
)
def test_without_shifts_a_soft_threshold_is_a_minimum_and_the_proof_says_so(method):
    y = noisy(photo(), 20.0)
    answer = solve(method, y, 20.0)
    certificate = judge(method, y, 20.0, answer)
    assert certificate.grade == "exact"
    assert certificate["minimum"].holds


def test_the_shifts_gain_and_wavelets_beat_scikit_image():
    clean = photo(128, 128)
    y = noisy(clean, 20.0)
    gains = [psnr(clean, solve(WaveletThresholding(spins=spins), y, 20.0).image, peak=255) for spins in (1, 4)]
    theirs = 255 * denoise_wavelet(y / 255, sigma=20 / 255, wavelet="sym4", method="BayesShrink")
    assert gains[1] > gains[0] + 0.3
    assert gains[1] > psnr(clean, theirs, peak=255)
    assert psnr(clean, solve(DCTThresholding(), y, 20.0).image, peak=255) > gains[0]


@pytest.mark.parametrize("method", [DCTThresholding(), WaveletThresholding()], ids=repr)
def test_soft_thresholds_estimate_their_psnr_and_hard_ones_say_why_not(method):
    clean = photo(96, 96)
    y = noisy(clean, 20.0)
    found = denoise(y, 20.0, method, peak=255)
    assert found.psnr.low - 0.3 < psnr(clean, found.estimate, peak=255) < found.psnr.high + 0.3
    assert pellucid.verify(found, y).holds
    hard = denoise(y, 20.0, dataclasses.replace(method, kind="hard"), peak=255)
    assert "jumps" in hard.psnr.reason
    assert pellucid.verify(hard, y).holds


CHANGES = {
    "one pixel": lambda x: x + np.where(np.arange(x.size).reshape(x.shape) == 777, 1e-3, 0.0),
    "brightness": lambda x: x + 1e-4,
    "rows turned": lambda x: x[::-1].copy(),
    "shuffled": lambda x: np.random.default_rng(0).permutation(x.ravel()).reshape(x.shape),
    "nan": lambda x: np.where(x == x.max(), np.nan, x),
    "huge": lambda x: np.where(x == x.max(), 1e200, x),
}


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("change", CHANGES)
def test_the_proof_objects_to_a_changed_image(method, change):
    y = noisy(photo(), 20.0)
    answer = solve(method, y, 20.0)
    assert judge(method, y, 20.0, answer).holds
    assert not judge(method, y, 20.0, answer, image=CHANGES[change](answer.image)).holds


@pytest.mark.parametrize("changed", [{"threshold": 1.6}, {"kind": "hard"}, {"block_size": 8}, {"step": 2}])
def test_the_proof_of_cosines_objects_to_other_parameters(changed):
    method, y = DCTThresholding(1.5, block_size=4, step=4), noisy(photo(), 20.0)
    assert not judge(method, y, 20.0, solve(method, y, 20.0), **changed).holds


@pytest.mark.parametrize(
    "changed",
    [{"wavelet": "db4"}, {"wavelet": "sym5"}, {"threshold": 1.6}, {"kind": "hard"}, {"levels": 3}, {"spins": 2}],
)
@pytest.mark.parametrize("spins", [1, 3])
def test_the_proof_of_wavelets_objects_to_other_parameters(changed, spins):
    method, y = WaveletThresholding(threshold=1.5, spins=spins), noisy(photo(), 20.0)
    assert not judge(method, y, 20.0, solve(method, y, 20.0), **changed).holds


@pytest.mark.parametrize("threshold", [0.8003055728090001, 2.8, 1.5, np.nan, -1.0, 1e200])
def test_the_proof_objects_to_another_choice_though_the_image_fits_it(threshold):
    y = noisy(photo(), 20.0)
    cosines = solve(DCTThresholding(), y, 20.0)
    fits = 0 < threshold < 1e100
    image = solve(DCTThresholding(threshold), y, 20.0).image if fits else cosines.image
    assert not judge(DCTThresholding(), y, 20.0, cosines, threshold=threshold, image=image).holds
    wavelets = solve(WaveletThresholding(), y, 20.0)
    for bands in ((threshold, *wavelets.chosen["threshold"][1:]), (*wavelets.chosen["threshold"][:-1], threshold)):
        image = solve(WaveletThresholding(threshold=bands), y, 20.0).image if fits else wavelets.image
        assert not judge(WaveletThresholding(), y, 20.0, wavelets, threshold=bands, image=image).holds


def test_the_proof_objects_to_another_filter():
    y = noisy(photo(), 20.0)
    answer = solve(WaveletThresholding(), y, 20.0)
    taps = answer.evidence["low_pass"]
    for wrong in (taps[::-1].copy(), taps * 1.001, taps[:-1], np.full(8, np.nan), np.array(pywt.Wavelet("db4").dec_lo)):
        assert not judge(WaveletThresholding(), y, 20.0, answer, low_pass=wrong).holds


@pytest.mark.parametrize(
    ("kind", "wrong", "said"),
    [
        (DCTThresholding, {"threshold": 0}, "threshold must be above 0, got 0. Give None"),
        (DCTThresholding, {"threshold": "sure"}, "threshold must be one of"),
        (DCTThresholding, {"kind": "firm"}, "kind must be one of"),
        (DCTThresholding, {"block_size": 7}, "block_size must be 4, 8 or 16, got 7"),
        (DCTThresholding, {"step": 3}, "step must divide block_size, got 3 and 8"),
        (WaveletThresholding, {"wavelet": "bior1.5"}, "wavelet must be one of"),
        (WaveletThresholding, {"threshold": (1.0, -1.0)}, "threshold must be at least 0, got -1.0"),
        (WaveletThresholding, {"spins": 0}, "spins must be at least 1, got 0"),
        (WaveletThresholding, {"levels": 13}, "levels and spins must be at most 12 and 64, got 13 and 4"),
    ],
)
def test_refuses_parameters_and_says_what_is_meant(kind, wrong, said):
    with pytest.raises((ValueError, TypeError), match=said):
        kind(**wrong)


def test_refuses_too_few_thresholds():
    with pytest.raises(ValueError, match="one number for each of the 12 bands, got 2"):
        solve(WaveletThresholding(threshold=(1.0, 2.0)), photo(), 5.0)
