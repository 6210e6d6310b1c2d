"""Non-local means: by hand, as its formula, beside scikit-image's, and a proof that sees every change."""

import dataclasses

import numpy as np
import pytest
from skimage import data
from skimage.restoration import denoise_nl_means

import pellucid
from pellucid.proofs.sampling import drawing
from pellucid.proofs.seen import Seen
from pellucid.proofs.vision.non_local_means import GRID, prove_non_local_means
from pellucid.vision.restoration import Identity, NonLocalMeans, denoise, psnr
from pellucid.vision.restoration.non_local_means import kernels
from tests.plain_kernels import in_python

SMALL = NonLocalMeans(3, 4, h=12.0)


def photo(height=48, width=56):
    return data.camera()[100 : 100 + height, 200 : 200 + width].astype(np.float64)


def noisy(clean, sigma, seed=0):
    return clean + sigma * np.random.default_rng(seed).standard_normal(clean.shape)


def solve(method, y, sigma):
    return method.solve(y, Identity(), sigma, 255.0)


def by_its_formula(y, size, reach, h, sigma, rows=slice(None), exp=lambda d: np.exp(-d)):
    """Return the means by their definition; ``rows`` of a patch may be left out, as another library does."""
    half, pad = size // 2, reach + size // 2
    padded = np.pad(y, pad, mode="reflect")
    inside = np.arange(-half, half + 1)[rows]
    total, weights = np.zeros_like(y), np.zeros_like(y)

    def moved(i, j):
        return padded[pad + i : pad + i + y.shape[0], pad + j : pad + j + y.shape[1]]

    for i in range(-reach, reach + 1):
        for j in range(-reach, reach + 1):
            unlike = sum((moved(a, b) - moved(a + i, b + j)) ** 2 - 2 * sigma**2 for a in inside for b in inside)
            weight = exp(np.maximum(unlike, 0) / (size * h) ** 2)
            total, weights = total + weight * moved(i, j), weights + weight
    return total / weights


def judge(method, y, sigma, answer, **changed):
    """Prove an answer, with some of its parts or parameters changed, as verify does."""
    fitted = {"image": answer.image, **answer.chosen}
    fields = dataclasses.asdict(method)
    fitted |= {k: v for k, v in changed.items() if k in fitted}
    fields |= {k: v for k, v in changed.items() if k not in fitted}
    with drawing(1):
        return prove_non_local_means(Seen(**fitted), Seen(**fields), Seen(y=y, sigma=sigma, plane=0))


def test_two_pixels_by_hand():
    # patches of one pixel, d^2 = 4 less 2 sigma^2 = 2, h^2 = 2 / log 2: the neighbor weighs 1/2
    h = np.sqrt(2 / np.log(2))
    image = solve(NonLocalMeans(1, 1, h=h), np.array([[0.0, 2.0]]), 1.0).image
    # beyond its end the row is mirrored: 2 0 2 and 0 2 0, so that each has the other on both sides
    np.testing.assert_allclose(image, [[(0 + 0.5 * 2 * 2) / 2, (2 + 0.5 * 0 * 2) / 2]], atol=1e-6)


@pytest.mark.parametrize(("size", "reach", "h", "sigma"), [(3, 4, 20.0, 10.0), (7, 2, 9.0, 12.0), (1, 5, 0.5, 0.0)])
def test_it_is_its_formula(size, reach, h, sigma):
    y = noisy(photo(17, 40), 10.0)
    wanted = by_its_formula(y, size, reach, h, sigma)
    np.testing.assert_allclose(solve(NonLocalMeans(size, reach, h=h), y, sigma).image, wanted, atol=1e-3)


def test_with_a_small_h_it_counts_in_float64():
    y = noisy(photo(17, 40), 1.0)
    np.testing.assert_allclose(
        solve(NonLocalMeans(3, 4, h=0.5), y, 1.0).image, by_its_formula(y, 3, 4, 0.5, 1.0), atol=1e-6
    )


def test_compiled_loops_do_what_they_say_in_python():
    y = (noisy(photo(6, 7), 20.0) / 60.0).astype(np.float32)
    padded = np.pad(y, 3, mode="reflect")
    powers = np.empty(40, np.float32)
    whole = (np.float32(1.5 * 2.0**23), np.int32(127), np.int32(23), powers, powers.view(np.int32))
    results = []
    for run in (lambda kernel: kernel, in_python):
        total, weights = np.empty((4, 7), np.float32), np.empty((4, 7), np.float32)
        run(kernels.means_strip)(padded, 2, (0, 0, 0), 2, np.float32(0.3), *whole, total, weights)
        results.append(total / weights)
    np.testing.assert_allclose(results[0], results[1], rtol=1e-5)
    wanted = by_its_formula(
        y.astype(float), 3, 2, 1 / 3 / np.sqrt(np.log(2)), np.sqrt(0.15 * np.log(2)) / 3 / np.sqrt(np.log(2))
    )
    np.testing.assert_allclose(results[0], wanted[2:], rtol=1e-5)


@pytest.mark.parametrize("scale", [2.0**-300, 2.0**300])
def test_scaling_by_a_power_of_two_scales_every_bit(scale):
    y = noisy(photo(), 15.0)
    for method, scaled in ((SMALL, NonLocalMeans(3, 4, h=12.0 * scale)), (NonLocalMeans(3, 4), NonLocalMeans(3, 4))):
        once, after = solve(method, y, 15.0), solve(scaled, scale * y, scale * 15.0)
        assert np.array_equal(after.image, scale * once.image)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (3, 2), (33, 5)])
def test_every_size_has_an_answer_that_is_proved(shape):
    y = noisy(np.zeros(shape), 10.0)
    for method in (SMALL, NonLocalMeans(3, 4)):
        answer = solve(method, y, 10.0)
        assert answer.image.shape == shape
        assert judge(method, y, 10.0, answer).holds


def test_a_constant_image_and_one_without_noise_stay_as_they_are():
    assert np.array_equal(solve(SMALL, np.full((9, 9), 0.1), 5.0).image, np.full((9, 9), 0.1))
    answer = solve(NonLocalMeans(), photo(), 0.0)
    assert np.array_equal(answer.image, photo())
    assert answer.chosen == {"h": 0.0}
    assert judge(NonLocalMeans(), photo(), 0.0, answer).holds


def test_the_chosen_h_is_nearly_the_best():
    clean = photo(80, 80)
    y = noisy(clean, 20.0)
    answer = solve(NonLocalMeans(5, 6), y, 20.0)
    errors = {20 * k: -psnr(clean, solve(NonLocalMeans(5, 6, h=20 * k), y, 20.0).image, peak=255) for k in GRID}
    assert errors[answer.chosen["h"]] < min(errors.values()) + 0.1
    assert len(answer.trace) == len(GRID)


def test_scikit_image_means_the_same_with_a_row_less_and_a_rough_exponential():
    y = noisy(photo(), 15.0)
    theirs = denoise_nl_means(y, 5, 4, 14.0, sigma=15.0, preserve_range=True)
    # their patches lack the first row and column, and weights below exp(-5) are 0; what is left is the exponential
    same = by_its_formula(y, 5, 4, 14.0, 15.0, slice(1, None), lambda d: np.where(d > 5, 0.0, np.exp(-d)))
    assert np.max(np.abs(theirs - same)) < 1.0
    ours = solve(NonLocalMeans(5, 4, h=14.0), y, 15.0).image
    assert psnr(photo(), ours, peak=255) > psnr(photo(), theirs, peak=255) - 0.05


def test_the_estimated_psnr_is_near_the_true_one():
    clean = photo(96, 96)
    y = noisy(clean, 20.0)
    found = denoise(y, 20.0, NonLocalMeans(5, 6), peak=255)
    assert found.psnr.low - 0.3 < psnr(clean, found.estimate, peak=255) < found.psnr.high + 0.3
    assert pellucid.verify(found, y).holds


CHANGES = {
    "one pixel": lambda x: x + np.where(np.arange(x.size).reshape(x.shape) == 777, 0.1, 0.0),
    "brightness": lambda x: x + 0.01,
    "rows turned": lambda x: x[::-1].copy(),
    "shuffled": lambda x: np.random.default_rng(0).permutation(x.ravel()).reshape(x.shape),
    "nan": lambda x: np.where(x == x.max(), np.nan, x),
    "huge": lambda x: np.where(x == x.max(), 1e200, x),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_proof_objects_to_a_changed_image(change):
    y = noisy(photo(), 20.0)
    answer = solve(SMALL, y, 20.0)
    assert judge(SMALL, y, 20.0, answer).holds
    assert not judge(SMALL, y, 20.0, answer, image=CHANGES[change](answer.image)).holds


@pytest.mark.parametrize("changed", [{"patch_size": 5}, {"patch_distance": 5}, {"h": 12.5}])
def test_the_proof_objects_to_other_parameters(changed):
    y = noisy(photo(), 20.0)
    assert not judge(SMALL, y, 20.0, solve(SMALL, y, 20.0), **changed).holds


@pytest.mark.parametrize("h", [8.0, 26.0, 11.0, np.nan, -1.0, 1e200])
def test_the_proof_objects_to_another_choice_though_the_image_fits_it(h):
    y = noisy(photo(), 20.0)
    method = NonLocalMeans(3, 4)
    answer = solve(method, y, 20.0)
    assert judge(method, y, 20.0, answer).holds
    assert answer.chosen["h"] != h
    image = solve(NonLocalMeans(3, 4, h=h), y, 20.0).image if 0 < h < 1e100 else answer.image
    assert not judge(method, y, 20.0, answer, h=h, image=image).holds


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"patch_size": 4}, "patch_size must be odd and at most 31, got 4"),
        ({"patch_distance": 0}, "patch_distance must be at least 1, got 0"),
        ({"patch_distance": 101}, "patch_distance must be at most 100, got 101"),
        ({"h": 0}, "h must be above 0, got 0. Give None"),
    ],
)
def test_refuses_parameters_and_says_what_is_meant(wrong, said):
    with pytest.raises((ValueError, TypeError), match=said):
        NonLocalMeans(**wrong)
