"""BM3D: what it makes of plain images, its loops one by one, and a proof that sees every change."""

import dataclasses

import numpy as np
import pytest
from skimage import data

import pellucid
from pellucid.core.user_warnings import UncertifiedWarning
from pellucid.proofs.sampling import drawing
from pellucid.proofs.seen import Seen
from pellucid.proofs.vision import bm3d as proof
from pellucid.vision.restoration import BM3D, Identity, denoise, psnr
from pellucid.vision.restoration.bm3d import kernels
from tests.plain_kernels import in_python

SMALL = BM3D(radius=6, alike=4, wiener_alike=8)


def photo(height=48, width=56):
    return data.camera()[100 : 100 + height, 200 : 200 + width].astype(np.float64)


def noisy(clean, sigma, seed=0):
    return clean + sigma * np.random.default_rng(seed).standard_normal(clean.shape)


def solve(method, y, sigma):
    return method.solve(y, Identity(), sigma, 255.0)


def judge(method, y, sigma, answer, **changed):
    """Prove an answer, with some of its arrays or parameters changed, as verify does."""
    fitted = Seen(**{"image": answer.image, **answer.evidence} | {k: v for k, v in changed.items() if k in PARTS})
    parameters = {**dataclasses.asdict(method), **{k: v for k, v in changed.items() if k not in PARTS}}
    with drawing(1):
        return proof.prove_bm3d(fitted, Seen(**parameters), Seen(y=y, sigma=sigma, plane=0))


PARTS = ("image", "basic")


def test_the_lifted_haar_transform_is_the_wavelet_of_ten_taps():
    rng = np.random.default_rng(0)
    block, out = rng.standard_normal(64).astype(np.float32), np.empty(64, np.float32)
    in_python(kernels.lifted_haar)(block, out)
    matrix, back = proof._wavelet()
    np.testing.assert_allclose(out.reshape(8, 8), matrix @ block.reshape(8, 8), atol=1e-6)
    in_python(kernels.lifted_haar_back)(out, out)
    np.testing.assert_allclose(out, block, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(matrix, axis=1), 1.0)
    np.testing.assert_allclose(back @ matrix, np.eye(8), atol=1e-12)


def test_a_slope_has_no_coefficient_in_the_middle_of_the_finest_level():
    # bior1.5 has five vanishing moments on one side, one on the other: differences of a constant are 0
    block, out = np.ones(64, np.float32), np.empty(64, np.float32)
    in_python(kernels.lifted_haar)(block, out)
    np.testing.assert_allclose(out.reshape(8, 8)[0], np.sqrt(8.0), rtol=1e-6)
    np.testing.assert_allclose(out.reshape(8, 8)[1:], 0.0, atol=1e-6)


def test_the_cosine_transform_by_sums_and_differences_is_that_of_the_cosines():
    rng = np.random.default_rng(1)
    block, out = rng.standard_normal(64).astype(np.float32), np.empty(64, np.float32)
    in_python(kernels.cosines)(block, out)
    np.testing.assert_allclose(out.reshape(8, 8), proof._cosines() @ block.reshape(8, 8), atol=1e-6)
    in_python(kernels.cosines_back)(out, out)
    np.testing.assert_allclose(out, block, atol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 8])
def test_haar_along_a_stack_is_orthonormal_and_undone(n):
    group = np.random.default_rng(n).standard_normal((8, 64)).astype(np.float32)
    changed, work = group.copy(), np.empty((8, 64), np.float32)
    in_python(kernels.haar)(changed, n, work)
    np.testing.assert_allclose(changed[0], group[:n].sum(axis=0) / np.sqrt(n), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(changed[:n]), np.linalg.norm(group[:n]), rtol=1e-5)
    in_python(kernels.haar_back)(changed, n, work)
    np.testing.assert_allclose(changed, group, atol=1e-5)


def test_matches_are_those_of_all_distances_in_order_of_distance_and_place():
    pixels = np.random.default_rng(2).integers(0, 4, (20, 23)).astype(np.int16)  # few levels: many ties
    columns = np.array([0, 3, 15])
    room = (np.empty(23, np.int32), np.empty((3, 8), np.int32), np.empty((3, 8), np.int32), np.empty(3, np.int64))
    in_python(kernels.match_row)(pixels, 6, columns, 5, *room)
    places, found = room[2], room[3]
    for c, column in enumerate(columns):
        own = pixels[6:14, column : column + 8].astype(int)
        others = [
            (np.sum((own - pixels[i : i + 8, j : j + 8]) ** 2) if (i, j) != (6, column) else -1, i * 23 + j)
            for i in range(1, 12)
            for j in range(max(0, column - 5), min(15, column + 5) + 1)
        ]
        assert found[c] == 8
        assert places[c].tolist() == [place for _, place in sorted(others)[:8]]


def test_compiled_loops_do_what_they_say_in_python():
    y = noisy(photo(13, 12), 20.0)
    pixels = np.rint((y - y.min()) / np.ptp(y) * 4095).astype(np.int16)
    planes, window = (y / 20.0)[np.newaxis].astype(np.float32), np.ones(64, np.float32)
    results = []
    for run in (lambda kernel: kernel, in_python):
        total, weights = np.zeros((2, *planes.shape), np.float32)
        place = (pixels, np.array([0, 3, 5]), np.array([0, 4]), 4, 4)
        run(kernels.threshold_strip)(planes, *place, np.float32(2.5), window, 0, total, weights)
        run(kernels.wiener_strip)(planes, planes, *place, window, 0, total, weights)
        results.append((total, weights))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=2e-4, atol=1e-4)
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=2e-4)


def test_a_constant_image_stays_as_it_is_to_the_last_digit():
    assert np.array_equal(solve(BM3D(), np.full((20, 17), 0.1), 5.0).image, np.full((20, 17), 0.1))


def test_without_noise_the_image_stays_as_it_is():
    y = photo()
    for sigma in (0.0, 1e-9):
        answer = solve(SMALL, y, sigma)
        assert np.array_equal(answer.image, y)
        assert judge(SMALL, y, sigma, answer).holds


def test_noise_is_removed_and_the_second_stage_removes_more():
    clean = photo(96, 96)
    y = noisy(clean, 25.0)
    answer = solve(BM3D(), y, 25.0)
    gains = [
        psnr(clean, image, peak=255) - psnr(clean, y, peak=255) for image in (answer.evidence["basic"], answer.image)
    ]
    assert gains[0] > 6.5
    assert gains[1] > gains[0] + 0.2
    assert answer.trace["iteration"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("scale", [2.0**-40, 2.0**300, 2.0**-300])
def test_scaling_by_a_power_of_two_scales_every_bit(scale):
    y = noisy(photo(), 15.0)
    assert np.array_equal(solve(SMALL, scale * y, scale * 15.0).image, scale * solve(SMALL, y, 15.0).image)


def test_brightness_added_is_brightness_in_the_answer():
    y = np.rint(noisy(photo(), 15.0))
    np.testing.assert_allclose(solve(SMALL, y + 64.0, 15.0).image, solve(SMALL, y, 15.0).image + 64.0, atol=1e-3)


def test_same_bits_whatever_the_threads():
    y = noisy(photo(90, 60), 15.0)
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        one = solve(BM3D(), y, 15.0).image
    assert np.array_equal(one, solve(BM3D(), y, 15.0).image)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (3, 2), (8, 8), (9, 31), (31, 8)])
def test_every_size_has_an_answer_that_is_proved(shape):
    y = noisy(np.zeros(shape), 10.0)
    answer = solve(SMALL, y, 10.0)
    assert answer.image.shape == shape
    assert judge(SMALL, y, 10.0, answer).holds
    assert np.std(answer.image) <= np.std(y)


def test_planes_are_stacked_as_the_first_is():
    y = noisy(photo(24, 24), 15.0)
    both = SMALL.solve_planes(np.stack([y, -y]), Identity(), 15.0, 255.0)
    np.testing.assert_allclose(both[1].image, -both[0].image, atol=1e-4)


@pytest.mark.parametrize("kind", [np.float64, np.uint8])
def test_a_color_image_is_restored_and_verified(kind):
    clean = data.astronaut()[60:100, 200:236].astype(np.float64)
    y = noisy(clean, 20.0)
    y = np.clip(np.rint(y), 0, 255).astype(kind) if kind == np.uint8 else y
    found = denoise(y, 20.0, SMALL, peak=255)
    assert psnr(clean, found.estimate, peak=255) > psnr(clean, y.astype(float), peak=255) + 5
    assert pellucid.verify(found, y).holds
    assert "jumps" in found.psnr.reason


def test_the_proof_agrees_to_rounding_on_whole_numbers_and_others():
    for y in (noisy(photo(), 20.0), np.rint(noisy(photo(), 20.0)), noisy(photo(), 20.0) * 1e200):
        sigma = 20.0 if y.max() < 1e6 else 2e201
        certificate = judge(BM3D(), y, sigma, solve(BM3D(), y, sigma))
        assert certificate.grade == "replayed"
        assert all(claim.holds and claim.value < 5e-5 for claim in certificate.claims)


CHANGES = {
    "one pixel": lambda x: x + np.where(np.arange(x.size).reshape(x.shape) == 777, 0.1, 0.0),
    "brightness": lambda x: x + 0.01,
    "a region": lambda x: x - 0.1 * (np.indices(x.shape).sum(axis=0) > 90),
    "rows turned": lambda x: x[::-1].copy(),
    "shuffled": lambda x: np.random.default_rng(0).permutation(x.ravel()).reshape(x.shape),
    "nan": lambda x: np.where(x == x.max(), np.nan, x),
    "huge": lambda x: np.where(x == x.max(), 1e200, x),
    "noise left": lambda x: 0.99 * x + 0.01 * noisy(photo(), 20.0),
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("change", CHANGES)
def test_the_proof_objects_to_a_changed_estimate(part, change):
    y = noisy(photo(), 20.0)
    answer = solve(SMALL, y, 20.0)
    original = answer.image if part == "image" else answer.evidence["basic"]
    assert judge(SMALL, y, 20.0, answer).holds
    assert not judge(SMALL, y, 20.0, answer, **{part: CHANGES[change](original)}).holds


@pytest.mark.parametrize(
    "changed", [{"threshold": 2.6}, {"step": 4}, {"radius": 7}, {"alike": 8}, {"wiener_alike": 4}, {"stages": 1}]
)
def test_the_proof_objects_to_other_parameters(changed):
    y = noisy(photo(), 20.0)
    assert not judge(SMALL, y, 20.0, solve(SMALL, y, 20.0), **changed).holds


def test_the_proof_objects_to_other_noise_and_another_image():
    y = noisy(photo(), 20.0)
    answer = solve(SMALL, y, 20.0)
    assert not judge(SMALL, y, 20.5, answer).holds
    assert not judge(SMALL, noisy(photo(), 20.0, seed=1), 20.0, answer).holds
    assert not judge(SMALL, y, 0.0, answer).holds


def test_verify_warns_when_a_stored_image_was_changed():
    y = noisy(photo(), 20.0)
    found = denoise(y, 20.0, SMALL, peak=255)
    forged = dataclasses.replace(found, estimate=found.estimate + 0.5, image=found.image + 0.5)
    with pytest.warns(UncertifiedWarning):
        assert not pellucid.verify(forged, y).holds


def test_of_a_large_image_a_sample_is_proved_and_the_claim_says_so(monkeypatch):
    monkeypatch.setattr(proof, "WHOLE", 100)
    y = noisy(photo(), 20.0)
    certificate = judge(SMALL, y, 20.0, solve(SMALL, y, 20.0))
    assert certificate.holds
    assert "42 of 42 tiles" in certificate["second estimate"].statement


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"threshold": 0}, "threshold must be above 0, got 0"),
        ({"step": 9}, "step must be between 1 and 8, got 9. Blocks further apart"),
        ({"radius": 2.5}, "radius must be a whole number, got 2.5"),
        ({"alike": 12}, "alike must be a power of two, got 12. Haar halves"),
        ({"wiener_alike": 128}, "wiener_alike must be between 1 and 64, got 128"),
        ({"stages": 3}, "stages must be 1 or 2, got 3"),
    ],
)
def test_refuses_parameters_and_says_what_is_meant(wrong, said):
    with pytest.raises((ValueError, TypeError), match=said):
        BM3D(**wrong)
