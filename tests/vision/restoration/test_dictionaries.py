"""Dictionaries: worked by hand, properties, peers, errors, and a proof that is attacked."""

import numpy as np
import pytest
from sklearn.datasets import load_sample_image
from sklearn.linear_model import Lasso, OrthogonalMatchingPursuit, orthogonal_mp

from pellucid.proofs.sampling import drawing
from pellucid.proofs.seen import Seen
from pellucid.proofs.vision.dictionaries import prove_dictionary_denoising
from pellucid.proofs.vision.measurement import Measurement, SeenOperator
from pellucid.vision.restoration import (
    DictionaryDenoising,
    Identity,
    Mask,
    ksvd,
    lasso_codes,
    learn_dictionary,
    mutual_coherence,
    omp,
    psnr,
    restore,
)
from pellucid.vision.restoration.dictionaries.ksvd import cosine_dictionary

seeds = pytest.mark.parametrize("seed", range(3))
SMALL = {"n_atoms": 48, "patch_size": 6, "n_iter": 3}


def photograph(size=40):
    return load_sample_image("china.jpg")[160 : 160 + size, 250 : 250 + size].mean(axis=2)


def noisy(sigma=20.0, size=40, seed=0):
    clean = photograph(size)
    return clean, clean + sigma * np.random.default_rng(seed).standard_normal(clean.shape)


def problem(seed, n_signals=40, n=12, n_atoms=30):
    rng = np.random.default_rng(seed)
    atoms = rng.standard_normal((n_atoms, n))
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    return rng.standard_normal((n_signals, n)), atoms


# by hand


def test_the_atom_of_largest_correlation_is_taken_first():
    # products of (3, 4) with the atoms: 3, 4, 5
    np.testing.assert_allclose(omp([[3.0, 4.0]], [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]), [[0.0, 0.0, 5.0]])


def test_all_atoms_are_fitted_anew_when_one_is_added():
    # of (2, 1) the atom (0.8, 0.6) is taken first, with 2.2; with e2 the fit is 0.8 a = 2 and 0.6 a + b = 1
    np.testing.assert_allclose(omp([[2.0, 1.0]], [[0.0, 1.0], [0.8, 0.6]]), [[-0.5, 2.5]])


def test_a_code_ends_where_the_residual_is_small_enough():
    signals, atoms = [[3.0, 1.0, 0.5]], np.eye(3)
    np.testing.assert_allclose(omp(signals, atoms, error=1.2), [[3.0, 0.0, 0.0]])  # |(1, 0.5)| = 1.118
    np.testing.assert_allclose(omp(signals, atoms, error=1.1), [[3.0, 1.0, 0.0]])
    np.testing.assert_allclose(omp(signals, atoms, n_nonzero=1), [[3.0, 0.0, 0.0]])


def test_lasso_codes_of_orthogonal_atoms_are_soft_thresholds():
    codes, gaps = lasso_codes([[3.0, -0.5, -2.0]], np.eye(3), 1.0)
    np.testing.assert_allclose(codes, [[2.0, 0.0, -1.0]])
    assert gaps == pytest.approx([0.0], abs=1e-9)


def test_coherence_is_the_largest_cosine():
    assert mutual_coherence([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]) == pytest.approx(0.8)


def test_ksvd_finds_the_axes_that_signals_lie_on():
    signals = [[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0], [0.0, 1.0]]
    learnt = ksvd(signals, 2, n_nonzero=1, start=[[0.8, 0.6], [-0.6, 0.8]], n_iter=2)
    np.testing.assert_allclose(np.abs(learnt.atoms), np.eye(2), atol=1e-12)
    assert learnt.trace["objective"][-1] == pytest.approx(0.0, abs=1e-20)


def test_waves_have_mean_0_and_length_1():
    atoms = cosine_dictionary(8, 8, 256)
    assert atoms.shape == (256, 64)
    np.testing.assert_allclose(atoms.sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(atoms, axis=1), 1.0)
    assert cosine_dictionary(1, 4, 20).shape[0] >= 3
    assert cosine_dictionary(1, 1, 20).shape[0] == 0


# properties


@seeds
def test_sums_of_few_atoms_of_low_coherence_are_found_exactly(seed):
    # a basis and the Fourier basis: coherence 1/8 < 1 / (2 * 4 - 1), so that sums of 4 atoms are found
    rng = np.random.default_rng(seed)
    atoms = np.vstack(
        [np.eye(64), np.array([[(-1) ** bin(i & j).count("1") for j in range(64)] for i in range(64)]) / 8]
    )
    assert mutual_coherence(atoms) == pytest.approx(1 / 8)
    codes = np.zeros((20, 128))
    for code in codes:
        code[rng.choice(128, 4, replace=False)] = rng.choice([-1, 1], 4) * rng.uniform(1, 3, 4)
    np.testing.assert_allclose(omp(codes @ atoms, atoms, n_nonzero=4), codes, atol=1e-10)


@seeds
def test_the_residual_of_a_code_is_at_right_angles_to_its_atoms(seed):
    signals, atoms = problem(seed)
    codes = omp(signals, atoms, n_nonzero=4)
    along = (signals - codes @ atoms) @ atoms.T
    assert np.abs(along[codes != 0]).max() < 1e-10


@seeds
def test_gaps_bound_what_a_lasso_code_can_save(seed):
    signals, atoms = problem(seed)

    def objective(codes):
        return 0.5 * np.sum((signals - codes @ atoms) ** 2, axis=1) + 0.2 * np.abs(codes).sum(axis=1)

    best, _ = lasso_codes(signals, atoms, 0.2, tol=1e-13)
    rough, gaps = lasso_codes(signals, atoms, 0.2, tol=1e-1, max_iter=2)
    saved = objective(rough) - objective(best)
    assert (saved <= gaps + 1e-10).all()
    assert (saved >= -1e-10).all()


def test_learning_lowers_the_residual_and_replaces_atoms_that_nobody_uses():
    rng = np.random.default_rng(0)
    hidden = rng.standard_normal((12, 10))
    hidden /= np.linalg.norm(hidden, axis=1, keepdims=True)
    signals = np.array([hidden[rng.choice(12, 2, replace=False)].T @ rng.standard_normal(2) for _ in range(400)])
    start = np.tile(np.eye(10)[0], (12, 1))  # all atoms alike: eleven of them are of no use
    learnt = ksvd(signals, 12, n_nonzero=2, n_iter=6, start=start)
    assert learnt.trace["objective"][-1] < 0.2 * np.sum(signals**2)
    assert mutual_coherence(learnt.atoms) < 0.999
    np.testing.assert_allclose(np.linalg.norm(learnt.atoms, axis=1), 1.0)


def test_a_dictionary_learnt_on_images_codes_them_with_fewer_atoms_than_waves():
    image = photograph(64)
    atoms = learn_dictionary([image, image[::-1]], n_atoms=64, patch_size=6, sigma=8.0, n_iter=4)
    patches = np.lib.stride_tricks.sliding_window_view(image, (6, 6)).reshape(-1, 36)
    patches = patches - patches.mean(axis=1, keepdims=True)
    learnt, waves = (omp(patches, d, error=48.0) for d in (atoms, cosine_dictionary(6, 6, 64)))
    assert np.count_nonzero(learnt) < 0.9 * np.count_nonzero(waves)


@pytest.mark.parametrize("factor", [1e-150, 0.01, 1e150])
def test_scaled_data_give_the_scaled_image(factor):
    _, y = noisy(size=20)
    method = DictionaryDenoising(**SMALL)
    once = method.solve(y, Identity(), 20.0, 255.0).image
    scaled = method.solve(factor * y, Identity(), factor * 20.0, 255.0).image
    np.testing.assert_allclose(scaled / factor, once, rtol=1e-6)


def test_denoising_gains_and_lasso_with_a_given_dictionary_knows_by_how_much():
    clean, y = noisy(size=64)
    learnt = restore(y, sigma=20.0, method=DictionaryDenoising(**SMALL))
    assert psnr(clean, learnt.estimate, peak=255) > psnr(clean, y, peak=255) + 2
    assert not learnt.psnr.is_known
    atoms = learnt.evidence[0]["dictionary"]
    lasso = restore(y, sigma=20.0, method=DictionaryDenoising(atoms, coding="lasso", patch_size=6))
    assert lasso.certificate.holds
    assert lasso.psnr.low - 0.5 < psnr(clean, lasso.estimate, peak=255) < lasso.psnr.high + 0.5


def test_missing_pixels_are_found_better_than_by_their_neighbors():
    clean = photograph(48)
    missing = np.random.default_rng(0).random(clean.shape) < 0.5
    missing[4:26, 5:27] = True  # no patch in its middle has a seen pixel
    found = restore(np.where(missing, 0.0, clean), Mask(missing), 0.0, DictionaryDenoising(), estimate_psnr=False)
    assert found.certificate.holds
    outside = missing.copy()
    outside[2:28, 3:29] = False
    assert np.sqrt(np.mean((found.estimate - clean)[outside] ** 2)) < 0.75 * np.sqrt(
        np.mean((np.roll(clean, 1, 1) - clean)[outside] ** 2)
    )


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (6, 1), (2, 2), (3, 30), (9, 9)])
@pytest.mark.parametrize("sigma", [0.0, 20.0])
def test_small_and_narrow_images_are_restored_and_proved(shape, sigma):
    y = np.random.default_rng(0).normal(100.0, 20.0, shape)
    method = DictionaryDenoising(**SMALL)
    assert restore(y, sigma=sigma, method=method, estimate_psnr=False).certificate.holds
    if y.size > 1:
        missing = np.zeros(shape, bool)
        missing.ravel()[0] = True
        assert restore(y, Mask(missing), sigma, method, estimate_psnr=False).certificate.holds


# peers


@seeds
def test_codes_are_those_of_scikit_learn(seed):
    signals, atoms = problem(seed)
    peer = orthogonal_mp(atoms.T, signals.T, n_nonzero_coefs=4).T
    np.testing.assert_allclose(omp(signals, atoms, n_nonzero=4), peer, atol=1e-8)
    by_error = OrthogonalMatchingPursuit(tol=1.0, fit_intercept=False).fit(atoms.T, signals[0])
    np.testing.assert_allclose(omp(signals[:1], atoms, error=1.0)[0], by_error.coef_, atol=1e-8)
    codes, _ = lasso_codes(signals, atoms, 0.3, tol=1e-12)
    for signal, code in zip(signals[:8], codes, strict=False):
        lasso = Lasso(alpha=0.3 / 12, fit_intercept=False, tol=1e-12, max_iter=100_000).fit(atoms.T, signal)
        np.testing.assert_allclose(code, lasso.coef_, atol=1e-5)


# errors


def test_refuses_what_is_no_dictionary_and_no_coding():
    with pytest.raises(ValueError, match="dictionary must hold atoms of length 1, got one of 2. Divide each"):
        omp([[1.0, 0.0]], [[2.0, 0.0]])
    with pytest.raises(ValueError, match="signals must have one row each and 2 columns"):
        omp([[1.0, 0.0, 3.0]], np.eye(2))
    with pytest.raises(ValueError, match="signals must hold finite numbers"):
        lasso_codes([[np.nan, 0.0]], np.eye(2), 1.0)
    with pytest.raises(ValueError, match="coding must be one of"):
        DictionaryDenoising(coding="l0")
    with pytest.raises(ValueError, match="dictionary must hold atoms of 64 numbers, as patch_size asks for, got 4"):
        DictionaryDenoising(np.eye(4))
    with pytest.raises(ValueError, match="image must be at least 2 pixels high and wide"):
        DictionaryDenoising(np.eye(4), patch_size=2).solve(np.ones((1, 5)), Identity(), 1.0, 255.0)
    with pytest.raises(ValueError, match="images must be gray and at least 8 pixels"):
        learn_dictionary([np.ones((4, 4))])
    with pytest.raises(ValueError, match="coding must be 'omp' where pixels are missing"):
        DictionaryDenoising(coding="lasso").solve(np.ones((9, 9)), Mask(np.eye(9) > 0), 1.0, 255.0)


# the proof, attacked


def seen(answer, **changed):
    return Seen(**{"image": answer.image, **answer.evidence, **changed})


def parameters(method, **changed):
    names = ("dictionary", "coding", "n_atoms", "patch_size", "noise_gain", "n_iter", "random_state")
    return Seen(**{name: getattr(method, name) for name in names} | changed)


def holds(fitted, known, data):
    with drawing(), np.errstate(all="ignore"):
        return prove_dictionary_denoising(fitted, known, data).holds


def changed_answers(answer):
    rng = np.random.default_rng(0)
    image, atoms, values = answer.image, answer.evidence["dictionary"], answer.evidence["code_values"]
    taken, ends = answer.evidence["code_atoms"], answer.evidence["code_ends"]
    patch, pixel = image.copy(), image.copy()
    patch[5:13, 7:15] += 2.0
    pixel[20, 20] += 0.01
    used = taken[len(taken) // 2]
    bent = atoms.copy()
    bent[min(used, len(atoms) - 1)] = bent[0] if used else bent[1]
    one_value = values.copy()
    one_value[len(values) // 2] *= 1.01
    other_atom = taken.copy()
    other_atom[0] = (other_atom[0] + 1) % len(atoms)
    moved = ends.copy()
    moved[len(ends) // 2 :] -= 1
    moved[-1] += 1
    yield "patch", {"image": patch}
    yield "pixel", {"image": pixel}
    yield "nan", {"image": image * np.nan}
    yield "huge", {"image": np.where(image == image.max(), 1e200, image)}
    yield "shuffled", {"image": rng.permutation(image)}
    yield "smaller", {"image": image[:-1]}
    yield "atom of another", {"dictionary": bent}
    yield "atoms shuffled", {"dictionary": rng.permutation(atoms)}
    yield "atoms longer", {"dictionary": 1.001 * atoms}
    yield "atoms nan", {"dictionary": atoms * np.nan}
    yield "fewer atoms", {"dictionary": atoms[:-1]}
    yield "one factor", {"code_values": one_value}
    yield "factors negated", {"code_values": -values}
    yield "factors nan", {"code_values": values * np.nan}
    yield "one atom taken", {"code_atoms": other_atom}
    yield "atoms out of range", {"code_atoms": taken + 10_000}
    yield "ends moved", {"code_ends": moved}
    yield "ends shuffled", {"code_ends": rng.permutation(ends)}


def answer_of(method, operator=None, sigma=20.0):
    _, y = noisy(size=28)
    operator = Identity() if operator is None else operator
    y = operator.apply(y)
    parts = {"missing": operator.missing} if operator.name == "Mask" else {}
    return method.solve(y, operator, sigma, 255.0), Measurement(
        y, sigma, 255.0, SeenOperator(operator.name, parts, y.shape)
    )


CASES = {
    "learnt": (DictionaryDenoising(**SMALL), None),
    "given": (DictionaryDenoising(cosine_dictionary(6, 6, 48), patch_size=6), None),
    "lasso": (DictionaryDenoising(cosine_dictionary(6, 6, 48), coding="lasso", patch_size=6), None),
    "missing": (DictionaryDenoising(**SMALL), Mask(np.random.default_rng(5).random((28, 28)) < 0.4)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_proof_objects_to_every_change(name):
    method, operator = CASES[name]
    answer, data = answer_of(method, operator)
    assert holds(seen(answer), parameters(method), data)
    for what, change in changed_answers(answer):
        assert not holds(seen(answer, **change), parameters(method), data), what
    for change in ({"noise_gain": 0.9}, {"noise_gain": 1.4}, {"patch_size": 5}, {"n_atoms": 10}):
        if name in ("learnt", "missing") or "n_atoms" not in change:
            assert not holds(seen(answer), parameters(method, **change), data), change
    assert not holds(seen(answer), parameters(method, coding="lasso" if method.coding == "omp" else "omp"), data)


def test_the_proof_objects_to_codes_that_are_right_but_not_greedy():
    method, _ = CASES["given"]
    answer, data = answer_of(method)
    lasso, _ = answer_of(CASES["lasso"][0])
    assert not holds(seen(lasso), parameters(method), data)
    # two atoms of one code in another order: the sums are right, and the first step was not quite the best
    atoms, ends = answer.evidence["dictionary"], answer.evidence["code_ends"]
    patches = np.lib.stride_tricks.sliding_window_view(data.y, (6, 6)).reshape(-1, 36)
    starts = np.concatenate([[0], ends[:-1]])
    found = 0
    for s in np.flatnonzero(ends - starts >= 2):
        first, second = np.abs(
            atoms[answer.evidence["code_atoms"][starts[s] : starts[s] + 2]] @ (patches[s] - patches[s].mean())
        )
        if 0.5 * first < second < 0.95 * first and found < 3:
            found += 1
            swapped = {name: answer.evidence[name].copy() for name in ("code_atoms", "code_values")}
            for values in swapped.values():
                values[[starts[s], starts[s] + 1]] = values[[starts[s] + 1, starts[s]]]
            assert not holds(seen(answer, **swapped), parameters(method), data)
    assert found == 3


def test_the_proof_objects_to_an_image_of_codes_that_are_a_little_too_large():
    method, _ = CASES["given"]
    answer, data = answer_of(method)
    nothing = DictionaryDenoising(method.dictionary, patch_size=6, noise_gain=1e6).solve(
        data.y, Identity(), 20.0, 255.0
    )
    larger = nothing.image + 1.0001 * (answer.image - nothing.image)  # the average is linear in the codes
    values = 1.0001 * answer.evidence["code_values"]
    fitted = seen(answer, image=larger, code_values=values)
    with drawing():
        failed = prove_dictionary_denoising(fitted, parameters(method), data).failed
    assert "right angles" in [claim.name for claim in failed]


def test_the_proof_objects_to_waves_that_pass_for_learnt_atoms_of_another_image():
    method, _ = CASES["learnt"]
    _, data = answer_of(method)
    rng = np.random.default_rng(0)
    random = rng.standard_normal((48, 36))
    random -= random.mean(axis=1, keepdims=True)
    random /= np.linalg.norm(random, axis=1, keepdims=True)
    other = DictionaryDenoising(random, patch_size=6).solve(data.y, Identity(), 20.0, 255.0)
    assert not holds(seen(other), parameters(method), data)
