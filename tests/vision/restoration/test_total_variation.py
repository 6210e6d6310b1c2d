"""Total variation: worked by hand, properties, peers, errors, and a proof that is attacked."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import load_sample_image

from pellucid.proofs.sampling import drawing
from pellucid.proofs.seen import Seen
from pellucid.proofs.vision.measurement import Measurement, SeenOperator
from pellucid.proofs.vision.total_variation import prove_total_variation
from pellucid.vision.restoration import Blur, BlurDecimate, Downscale, Identity, Mask, TotalVariation, psnr, restore
from pellucid.vision.restoration.total_variation import denoising, denoising_kernels
from pellucid.vision.restoration.total_variation.denoising import DualField, tv_denoised
from pellucid.vision.restoration.total_variation.inverting import tv_inverted
from pellucid.vision.restoration.total_variation.total_variation import chosen_weight, least_point

KERNEL = np.outer([1.0, 2.0, 1.0], [1.0, 3.0, 2.0]) / 24.0


def photograph(size=48):
    return load_sample_image("china.jpg")[160 : 160 + size, 250 : 250 + size].mean(axis=2)


def noisy(sigma=15.0, size=48, seed=0):
    clean = photograph(size)
    return clean, clean + sigma * np.random.default_rng(seed).standard_normal(clean.shape)


def differences(x):
    return np.diff(x, axis=0, append=x[-1:]), np.diff(x, axis=1, append=x[:, -1:])


def objective(x, y, weight, operator=None):
    made = x if operator is None else operator.apply(x)
    return 0.5 * np.sum((made - y) ** 2) + weight * np.hypot(*differences(x)).sum()


# by hand


def test_two_halves_move_towards_each_other_by_the_weight_over_their_width():
    # 1/2 * 2 (a - 0)^2 + 1/2 * 2 (b - 10)^2 + 2 |b - a| is least at 2a = 2 and 2 (10 - b) = 2
    answer = TotalVariation(weight=2.0).solve(np.array([[0.0, 0.0, 10.0, 10.0]]), Identity(), 1.0, 10.0)
    np.testing.assert_allclose(answer.image, [[1.0, 1.0, 9.0, 9.0]], atol=1e-3)


def test_one_pixel_on_black_pays_for_three_differences():
    # a pixel in the inner counts at itself by sqrt(2) t, above and on its left by t each: (2 + sqrt(2)) w is taken off
    y = np.zeros((3, 3))
    y[1, 1] = 100.0
    x = TotalVariation(weight=1.0, accuracy=1e-7).solve(y, Identity(), 1.0, 255.0).image
    assert x[1, 1] == pytest.approx(100.0 - 2.0 - np.sqrt(2.0), abs=1e-3)


def test_a_large_weight_gives_the_mean():
    y = np.arange(12.0).reshape(3, 4)
    np.testing.assert_allclose(TotalVariation(weight=1e3).solve(y, Identity(), 1.0, 255.0).image, 5.5, atol=1e-3)


def test_without_noise_the_image_stays_as_it_is():
    y = photograph()
    answer = TotalVariation().solve(y, Identity(), 0.0, 255.0)
    assert np.array_equal(answer.image, y)
    assert answer.chosen == {"weight": 0.0}


def test_a_missing_pixel_between_equals_becomes_their_equal():
    y, missing = np.full((4, 4), 9.0), np.zeros((4, 4), bool)
    missing[1, 2], y[1, 2] = True, 0.0
    y[3, 0] = 11.0
    x = TotalVariation(weight=0.01).solve(y, Mask(missing), 0.0, 255.0).image
    assert x[1, 2] == pytest.approx(9.0, abs=0.02)


def test_the_least_point_of_a_parabola_is_found_downhill_on_either_side():
    for least in (-2.7, -0.2, 0.4, 3.3):
        assert least_point(lambda t, least=least: (t - least) ** 2, 0.0, 1.0) == pytest.approx(least)


# properties


@pytest.mark.parametrize("isotropic", [True, False])
@pytest.mark.parametrize("weight", [1.0, 8.0, 30.0])
def test_the_error_is_never_above_its_bound(weight, isotropic):
    _, y = noisy(size=40)
    best, _, _ = tv_denoised(y, weight, goal=1e-6, isotropic=isotropic, max_iter=20000)
    for max_iter in (60, 120, 240):
        x, _, trace = tv_denoised(y, weight, goal=1e-12, isotropic=isotropic, max_iter=max_iter)
        assert np.sqrt(np.mean((x - best) ** 2)) <= trace["error_bound"][-1] + 2e-6


@pytest.mark.parametrize("factor", [1e-120, 1e-6, 3.0, 1e120])
def test_scaled_data_give_the_scaled_image(factor):
    _, y = noisy()
    once = TotalVariation().solve(y, Identity(), 15.0, 255.0)
    scaled = TotalVariation().solve(factor * y, Identity(), factor * 15.0, 255.0)
    np.testing.assert_allclose(scaled.image / factor, once.image, atol=0.02)
    assert scaled.chosen["weight"] / factor == pytest.approx(once.chosen["weight"], rel=1e-3)


def test_a_turned_image_gives_the_turned_image_where_directions_count_alike():
    _, y = noisy()
    once = TotalVariation(weight=9.0, isotropic=False).solve(y, Identity(), 15.0, 255.0).image
    turned = TotalVariation(weight=9.0, isotropic=False).solve(np.rot90(y).copy(), Identity(), 15.0, 255.0).image
    np.testing.assert_allclose(np.rot90(once), turned, atol=0.05)


def test_blocks_of_any_height_and_any_number_of_steps_at_once_give_the_same_bits(monkeypatch):
    _, y = noisy(size=37)
    fields = []
    for rows, steps in ((128, 10), (5, 10), (9, 3), (1, 1)):
        monkeypatch.setattr(denoising, "ROWS_AT_ONCE", rows)
        monkeypatch.setattr(denoising, "STEPS_AT_ONCE", steps)
        field = DualField((y / 9.0).astype(np.float32), True)
        field.advance(23)
        fields.append(field.p)
    assert all(np.array_equal(fields[0], other) for other in fields[1:])


def test_steps_that_do_not_settle_are_replaced_by_shorter_ones(monkeypatch):
    monkeypatch.setattr(denoising, "STEP", 0.24)  # past what momentum allows
    monkeypatch.setattr(DualField, "step", 0.24)
    _, y = noisy()
    _, _, trace = tv_denoised(y, 9.0, goal=0.02)
    assert trace["error_bound"][-1] <= 0.02


def test_kernels_do_as_formulas():
    rng = np.random.default_rng(0)
    y, p, weight = rng.normal(size=(6, 5)), rng.normal(size=(2, 6, 5)), 0.7
    for isotropic in (True, False):
        dual, x = np.empty((2, 6, 5)), np.empty((6, 5))
        denoising_kernels.feasible_dual(p, weight, isotropic, dual)
        lengths = np.hypot(*p) if isotropic else np.abs(p)
        np.testing.assert_allclose(dual, weight * p / np.maximum(lengths, 1.0), rtol=1e-12)
        dual[0, -1], dual[1, :, -1] = 0.0, 0.0
        denoising_kernels.primal_image(y, dual, x)
        down, right = differences(y)
        assert np.vdot(y, y - x) == pytest.approx(
            np.vdot(dual[0], down) + np.vdot(dual[1], right)
        )  # <y, D'p> = <p, Dy>
        variation = np.hypot(down, right) if isotropic else np.abs(down) + np.abs(right)
        gap = 0.5 * np.sum((y - x) ** 2) + np.sum(weight * variation - dual[0] * down - dual[1] * right)
        assert denoising_kernels.gap_of(y, y, dual, weight, isotropic) == pytest.approx(gap)
        middle = y.copy()
        denoising_kernels.half_way(y, dual, middle)
        np.testing.assert_allclose(middle, 0.5 * (x + y))


def test_regions_are_those_that_short_dual_vectors_join():
    rng = np.random.default_rng(3)
    x, dual = rng.normal(size=(20, 17)), rng.uniform(0.0, 1.0, size=(2, 20, 17))
    places = np.arange(x.size).reshape(x.shape)
    down, right = dual[0][:-1] < 0.4, dual[1][:, :-1] < 0.4
    first = np.concatenate([places[:-1][down], places[:, :-1][right]])
    second = np.concatenate([places[1:][down], places[:, 1:][right]])
    graph = coo_array((np.ones(len(first)), (first, second)), shape=(x.size, x.size))
    _, labels = connected_components(graph, directed=False)
    means = (np.bincount(labels, x.ravel()) / np.bincount(labels))[labels].reshape(x.shape)
    regions = np.empty(x.size, np.int32), np.empty(x.size), np.empty(x.size, np.int32)
    least = -2.0  # no image falls as steeply as that
    denoising_kernels.flattened(dual, 0.4, least, False, x.reshape(-1), *regions)
    np.testing.assert_allclose(x, means, rtol=1e-12)


def test_regions_are_joined_where_the_image_rises_across_the_dual_field():
    # the field rises to the right: from the first pixel to the second the image rises with it, then it falls
    dual = np.zeros((2, 1, 4))
    dual[1] = 1.0
    regions = np.empty(4, np.int32), np.empty(4), np.empty(4, np.int32)
    for isotropic in (True, False):
        x = np.array([0.0, 5.0, 1.0, 9.0])
        denoising_kernels.flattened(dual, 0.0, 0.8, isotropic, x, *regions)
        np.testing.assert_allclose(x, [0.0, 3.0, 3.0, 9.0])


@pytest.mark.parametrize("size", [1, 2, 7, 8])
def test_numbers_are_inverted_two_at_a_time(size):
    lengths = np.random.default_rng(size).uniform(1.0, 9.0, size)
    found = lengths.copy()
    denoising_kernels.invert.py_func(found)
    np.testing.assert_allclose(found, 1.0 / lengths, rtol=1e-15)


def test_the_mean_image_is_that_of_the_late_steps():
    _, y = noisy()
    field, twin = (DualField(y / 9.0, True) for _ in range(2))
    found, images = field.mean_image(125, y, 9.0), []
    for taken in (105, 10, 10):  # a sixth of 125 is 20
        twin.advance(taken)
        images.append(np.empty_like(y))
        denoising_kernels.primal_image(y, 9.0 * twin.p, images[-1])
    np.testing.assert_allclose(found, np.mean(images, axis=0), rtol=1e-12)


def test_the_chosen_weight_is_near_the_best_one():
    clean, y = noisy(20.0, size=96)
    weight = chosen_weight(y, Identity(), 20.0, True)
    reached = [
        psnr(clean, TotalVariation(weight=c * weight).solve(y, Identity(), 20.0, 255.0).image, peak=255)
        for c in (0.6, 1.0, 1.6)
    ]
    assert reached[1] >= max(reached) - 0.05


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (6, 1), (2, 2), (3, 130)])
def test_small_and_narrow_images_are_restored_and_proved(shape):
    y = np.random.default_rng(0).normal(100.0, 20.0, shape)
    assert restore(y, sigma=20.0, method=TotalVariation(), estimate_psnr=False).certificate.holds


OPERATORS = [
    Blur(KERNEL, "periodic"),
    Blur(KERNEL, "reflect"),
    Blur(KERNEL, "valid"),
    Blur(np.full((3, 3), 1 / 9), "reflect"),
    BlurDecimate(KERNEL, 2),
    Downscale(2),
    Mask(np.random.default_rng(5).random((32, 32)) < 0.5),
]


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda one: one.name)
def test_no_image_in_the_box_is_below_the_objective_by_more_than_the_gap(operator):
    y = operator.apply(photograph(32))
    y = y + 3.0 * np.random.default_rng(1).standard_normal(y.shape)
    y = operator.apply(y) if operator.name == "Mask" else y
    best, _, _ = tv_inverted(y, operator, 1.0, tolerance=1e-5, max_turns=600)
    rough, _, trace = tv_inverted(y, operator, 1.0, tolerance=1e-1)
    difference = objective(rough, y, 1.0, operator) - objective(best, y, 1.0, operator)
    assert -1e-4 * trace["objective"][-1] <= difference <= trace["gap"][-1]
    assert restore(y, operator, 3.0, TotalVariation(), estimate_psnr=False).certificate.holds


def test_color_is_restored_and_proved():
    clean = load_sample_image("flower.jpg")[100:148, 100:160].astype(float)
    y = clean + 20.0 * np.random.default_rng(0).standard_normal(clean.shape)
    found = restore(y, sigma=20.0, method=TotalVariation(), estimate_psnr=False)
    assert found.certificate.holds
    assert psnr(clean, found.estimate, peak=255) > psnr(clean, y, peak=255) + 6


# peers


@pytest.mark.parametrize("weight", [4.0, 15.0])
def test_the_objective_is_below_that_of_scikit_image(weight):
    peer = pytest.importorskip("skimage.restoration").denoise_tv_chambolle
    _, y = noisy(size=64)
    x = TotalVariation(weight=weight).solve(y, Identity(), 15.0, 255.0).image
    long, short = (peer(y, weight=weight, eps=eps, max_num_iter=n) for eps, n in ((1e-12, 5000), (2e-4, 200)))
    assert objective(x, y, weight) < objective(short, y, weight)
    np.testing.assert_allclose(x, long, atol=0.5)
    assert np.sqrt(np.mean((x - long) ** 2)) < 0.02


# errors


def test_refuses_what_is_no_weight_or_accuracy():
    with pytest.raises(ValueError, match="weight must be at least 0, got -1"):
        TotalVariation(weight=-1)
    with pytest.raises(ValueError, match="accuracy must be above 0, got 0"):
        TotalVariation(accuracy=0)
    with pytest.raises(ValueError, match="isotropic must be one of"):
        TotalVariation(isotropic="yes")


# the proof, attacked


def seen(answer, **changed):
    return Seen(**{"image": answer.image, **answer.chosen, **answer.evidence, **changed})


def parameters(method, **changed):
    names = ("weight", "accuracy", "tolerance", "isotropic", "max_iter")
    return Seen(**{name: getattr(method, name) for name in names} | changed)


def denoised(seed=0):
    _, y = noisy(size=40, seed=seed)
    answer = TotalVariation().solve(y, Identity(), 15.0, 255.0)
    return answer, Measurement(y, 15.0, 255.0, SeenOperator("Identity", {}, y.shape))


def holds(fitted, known, data):
    with drawing(), np.errstate(all="ignore"):
        return prove_total_variation(fitted, known, data).holds


def test_the_gap_by_hand():
    # y = (0, 4), weight 1: x = (1, 3), p = 1 to the right; at x = (0, 4) with p = 0 the gap is that of (0, 4): 4
    y = np.array([[0.0, 4.0]])
    data = Measurement(y, 1.0, 4.0, SeenOperator("Identity", {}, (1, 2)))
    known = parameters(TotalVariation(weight=1.0))
    nothing, right = np.zeros((2, 1, 2)), np.array([[[0.0, 0.0]], [[1.0, 0.0]]])
    certificate = prove_total_variation(Seen(image=y, dual=nothing), known, data)
    assert certificate["distance"].value == pytest.approx(np.sqrt(4.0 / 2))
    solved = prove_total_variation(Seen(image=np.array([[1.0, 3.0]]), dual=right), known, data)
    assert solved.holds
    assert solved["distance"].value == pytest.approx(0.0, abs=1e-12)


def changed_answers(answer, rng):
    image, dual, weight = answer.image, answer.evidence["dual"], answer.chosen["weight"]
    patch = image.copy()
    patch[5:13, 7:15] += 2.0
    spot = image.copy()
    spot[20, 20] += 5.0
    short = dual.copy()
    short[:, 10:20, 10:20] *= 0.9
    yield "patch", {"image": patch}
    yield "spot", {"image": spot}
    yield "nan", {"image": np.where(image == image.max(), np.nan, image)}
    yield "huge", {"image": np.where(image == image.max(), 1e200, image)}
    yield "shuffled", {"image": rng.permutation(image)}
    yield "turned", {"image": image[::-1]}
    yield "offset", {"image": image + 0.1}
    yield "smaller", {"image": image[:-1]}
    yield "dual short", {"dual": short}
    yield "dual long", {"dual": 1.001 * dual}
    yield "dual negated", {"dual": -dual}
    yield "dual shuffled", {"dual": rng.permutation(dual, axis=1)}
    yield "dual nan", {"dual": dual * np.nan}
    outward = dual.copy()
    outward[0, -1, 3] = 1e-6  # of no difference, so that no other claim sees it
    yield "dual outward", {"dual": outward}
    yield "weight up", {"weight": 1.05 * weight}
    yield "weight down", {"weight": 0.95 * weight}
    yield "weight nan", {"weight": float("nan")}
    yield "weight text", {"weight": "1"}


def test_the_proof_objects_to_every_change_of_a_denoised_image():
    answer, data = denoised()
    known = parameters(TotalVariation())
    assert holds(seen(answer), known, data)
    for name, change in changed_answers(answer, np.random.default_rng(0)):
        assert not holds(seen(answer, **change), known, data), name


def test_the_proof_objects_to_other_parameters_and_other_data():
    answer, data = denoised()
    for change in ({"weight": 3.0}, {"isotropic": False}, {"accuracy": 1e-9}):
        assert not holds(seen(answer), parameters(TotalVariation(), **change), data), change
    _, other = denoised(seed=1)
    assert not holds(seen(answer), parameters(TotalVariation()), other)


def test_the_proof_objects_to_a_weight_that_smooths_too_much():
    _, data = denoised()
    given = TotalVariation(weight=200.0, accuracy=1e-4).solve(data.y, Identity(), 15.0, 255.0)
    assert not holds(seen(given, weight=200.0), parameters(TotalVariation(accuracy=1e-4)), data)


@pytest.mark.parametrize("operator", [OPERATORS[1], OPERATORS[6]], ids=["Blur", "Mask"])
def test_the_proof_objects_to_every_change_behind_an_operator(operator):
    y = operator.apply(photograph(32) + 3.0 * np.random.default_rng(1).standard_normal((32, 32)))
    answer = TotalVariation().solve(y, operator, 3.0, 255.0)
    parts = {name: getattr(operator, name) for name in ("kernel", "border", "missing") if hasattr(operator, name)}
    data = Measurement(y, 3.0, 255.0, SeenOperator(operator.name, parts, (32, 32)))
    known = parameters(TotalVariation())
    assert holds(seen(answer), known, data)
    for name, change in changed_answers(answer, np.random.default_rng(0)):
        if name not in ("spot", "weight up", "weight down"):  # these change the objective by less than its tolerance
            assert not holds(seen(answer, **change), known, data), name
