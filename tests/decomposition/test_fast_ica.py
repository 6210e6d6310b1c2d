"""FastICA: worked by hand, its properties, against scikit-learn, its proof broken, and against wrong input."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn import decomposition as peer
from sklearn.datasets import load_diabetes
from threadpoolctl import threadpool_limits

import pellucid
from pellucid.decomposition import FastICA, fastica, match_sources, multi_information
from pellucid.decomposition.ica.fast_ica_solvers import FEWEST, SAMPLE, contrast_of, find_whitening, orthonormal
from pellucid.decomposition.ica.spacings import best_angle, plane_rotation, spacings_entropy
from pellucid.proofs.decomposition.fast_ica import MEAN_LOG_COSH, noise_gains
from tests.proving import quiet_proof

ALGORITHMS = ("parallel", "deflation", "spacings")


def sources(seed=0, n=2000):
    """Return three columns that are independent and far from Gaussian."""
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.uniform(-1.0, 1.0, n), rng.laplace(size=n), _two_humps(rng, n)])


def _two_humps(rng, n):
    return np.sign(rng.standard_normal(n)) + 0.3 * rng.standard_normal(n)


def mixed(seed=0, n=2000, d=3):
    mixing = np.random.default_rng(100 + seed).standard_normal((3, d))
    return sources(seed, n) @ mixing + 5.0


# by hand


@pytest.mark.by_hand
def test_whitening_of_four_points():
    # centered: (+-2, 0), (0, +-1): squared singular values 8 and 2, directions along the axes
    X = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]]) + [3.0, 4.0]
    whitening = find_whitening(X, None)
    np.testing.assert_allclose(whitening.mean, [3.0, 4.0])
    np.testing.assert_allclose(np.abs(whitening.K), np.diag([1 / np.sqrt(8), 1 / np.sqrt(2)]), atol=1e-15)
    np.testing.assert_allclose(whitening.white(X, np.float64) @ whitening.white(X, np.float64).T / 4, np.eye(2))
    np.testing.assert_allclose(whitening.K @ whitening.inverse, np.eye(2), atol=1e-15)


@pytest.mark.parametrize(
    ("settings_", "slope", "curvature"),
    [
        ({"fun": "cube"}, [1.0, 8.0], (3 + 12) / 2),
        ({"fun": "exp"}, [np.exp(-0.5), 2 * np.exp(-2.0)], -3 * np.exp(-2.0) / 2),
        ({"fun": "logcosh"}, np.tanh([1.0, 2.0]), 1 - np.mean(np.tanh([1.0, 2.0]) ** 2)),
        (
            {"fun": "logcosh", "fun_args": {"alpha": 2.0}},
            np.tanh([2.0, 4.0]),
            2 - 2 * np.mean(np.tanh([2.0, 4.0]) ** 2),
        ),
    ],
)
def test_contrasts_at_one_and_two(settings_, slope, curvature):
    found, mean = contrast_of(FastICA(**settings_))(np.array([[1.0, 2.0]]))
    np.testing.assert_allclose(found[0], slope)
    np.testing.assert_allclose(mean, [curvature])


def test_entropy_of_spacings_by_hand():
    # n = 4, m = 2: gaps 2 and 3 times (4 + 1) / 2 are 5 and 15/2
    assert spacings_entropy(np.array([[3.0, 0.0, 1.0, 2.0]]))[0] == pytest.approx(np.log(5.0))
    assert spacings_entropy(np.array([[0.0, 1.0, 2.0, 4.0]]))[0] == pytest.approx((np.log(5.0) + np.log(7.5)) / 2)


def test_the_best_angle_turns_a_square_back():
    square = np.random.default_rng(0).uniform(-1.0, 1.0, (2, 4000))
    angle, gain = best_angle(plane_rotation(0.5) @ square)
    assert abs(angle + 0.5) < 0.03
    assert gain > 0.1


@pytest.mark.parametrize("seed", range(3))
def test_finer_grids_find_what_two_thousand_angles_find(seed):
    pair = plane_rotation(0.5 + 0.01 * seed) @ np.random.default_rng(seed).uniform(-1.0, 1.0, (2, 500))
    tried = np.stack([plane_rotation(angle) for angle in np.linspace(-np.pi / 4, np.pi / 4, 2001)]) @ pair
    least = spacings_entropy(tried).sum(axis=-1).min()
    assert best_angle(pair)[1] >= spacings_entropy(pair).sum() - least - 1e-4


@pytest.mark.property
def test_matching_undoes_order_sign_and_scale():
    true = sources()
    match = match_sources(true[:, [2, 0, 1]] * [-2.0, 3.0, 0.5] + 1.0, true)
    assert match.order.tolist() == [1, 2, 0]
    assert match.signs.tolist() == [1.0, 1.0, -1.0]
    np.testing.assert_allclose(match.scales, [1 / 3, 2.0, 0.5])
    np.testing.assert_allclose(match.sources, true)
    np.testing.assert_allclose(match.correlations, 1.0)


def test_matching_says_which_source_has_no_estimate():
    match = match_sources(sources()[:, [1]], sources())
    assert match.order.tolist() == [-1, 0, -1]
    assert match.correlations.round(6).tolist() == [0.0, 1.0, 0.0]


def test_mean_of_log_cosh_of_a_normal_number():
    s = np.random.default_rng(0).standard_normal(10**6)
    assert np.mean(np.log(np.cosh(s))) == pytest.approx(MEAN_LOG_COSH, abs=2e-3)


# properties


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("seed", range(2))
def test_sources_are_found_and_certified(algorithm, seed):
    X = mixed(seed)
    model = FastICA(algorithm=algorithm, random_state=0).fit(X)
    assert match_sources(model.transform(X), sources(seed)).correlations.min() > 0.99
    assert model.certificate_.holds
    assert pellucid.verify(model, X).holds
    assert "0 of 19 draws" in model.certificate_.reason
    assert abs(model.multi_information_) < 0.15 < multi_information(X)


def test_sources_are_white_and_mix_back():
    X = mixed()
    model = FastICA(random_state=0)
    found = model.fit_transform(X)
    np.testing.assert_allclose(found.T @ found / len(X), np.eye(3), atol=1e-10)
    np.testing.assert_allclose(model.inverse_transform(found), X)
    K, W, S, mean, n_iter = fastica(X, random_state=0, return_X_mean=True, return_n_iter=True)
    np.testing.assert_allclose((X - mean) @ (W @ K).T, S, atol=1e-10)
    assert n_iter == model.n_iter_


def test_the_sum_of_entropies_never_rises():
    trace = FastICA(algorithm="spacings", random_state=0).fit(mixed()).trace_
    assert np.all(np.diff(trace["objective"]) <= 1e-12)


def test_steps_that_go_back_and_forth_are_damped():
    X = load_diabetes().data
    model = FastICA(random_state=0).fit(X)
    assert model.n_iter_ < 200
    assert pellucid.verify(model, X).holds


def test_gaussian_noise_is_known_as_noise():
    X = np.random.default_rng(3).standard_normal((400, 2))
    model = FastICA(random_state=0, max_iter=2000, tol=1e-2)
    assert "the sources may be noise" in model.fit(X).certificate_.reason
    assert len(noise_gains(2)) == 19


@pytest.mark.parametrize(("scale", "shift"), [(1e-150, 0.0), (1e-9, 0.0), (1e140, 0.0), (1.0, 1e6), (1e6, 1e9)])
def test_units_and_offsets_do_not_matter(scale, shift):
    X = scale * mixed() + shift
    model = FastICA(random_state=0).fit(X)
    assert match_sources(model.transform(X), sources()).correlations.min() > 0.99
    assert pellucid.verify(model, X).holds


def test_columns_of_very_different_sizes_are_factored_themselves():
    X = mixed() * [1.0, 1e-5, 1e4]
    model = FastICA(random_state=0).fit(X)
    assert pellucid.verify(model, X).holds
    assert match_sources(model.transform(X), sources()).correlations.min() > 0.99


def test_float32_stays_float32_and_is_certified():
    X = mixed().astype(np.float32)
    model = FastICA(random_state=0).fit(X)
    kinds = {
        part.dtype for part in (model.components_, model.mixing_, model.mean_, model.whitening_, model.transform(X))
    }
    assert kinds == {np.dtype(np.float32)}
    assert pellucid.verify(model, X).holds


def test_large_data_begin_with_a_part_of_the_rows():
    n = SAMPLE * FEWEST + 1000
    X = mixed(n=n)
    model = FastICA(random_state=0).fit(X)
    assert match_sources(model.transform(X), sources(n=n)).correlations.min() > 0.999
    assert pellucid.verify(model, X).holds
    assert model.n_iter_ <= FastICA(random_state=0, tol=1e-9).fit(X).n_iter_


def test_bits_do_not_depend_on_the_number_of_threads():
    X = mixed(n=20_000)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            found.append(FastICA(random_state=0).fit(X).components_)
    np.testing.assert_array_equal(*found)


def test_fewer_components_and_fewer_rows_than_columns():
    assert FastICA(2, random_state=0).fit(mixed(d=6)).components_.shape == (2, 6)
    X = np.random.default_rng(0).laplace(size=(5, 8))
    model = FastICA(random_state=0, tol=0.1, max_iter=1000).fit(X)
    assert model.components_.shape == (4, 8)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X)


def test_constant_and_repeated_columns_have_no_direction_of_their_own():
    X = np.column_stack([mixed(), np.ones(2000), mixed()[:, 0]])
    with pytest.warns(UserWarning, match="it will be set to 3, as many directions have a spread"):
        model = FastICA(5, random_state=0).fit(X)
    assert model.components_.shape == (3, 5)
    assert pellucid.verify(model, X).holds


def test_what_is_left_for_later_is_kept_in_a_copy():
    model = FastICA(random_state=0).fit(mixed())
    again = pickle.loads(pickle.dumps(model))
    assert "multi_information_" not in vars(model)
    assert again.multi_information_ == model.multi_information_


def test_a_nearest_orthonormal_matrix_is_its_own():
    W = orthonormal(np.random.default_rng(0).standard_normal((4, 4)))
    np.testing.assert_allclose(W @ W.T, np.eye(4), atol=1e-14)
    np.testing.assert_allclose(orthonormal(W), W)


# proof


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_verify_objects_to_another_rotation(algorithm):
    X = mixed()
    model = FastICA(algorithm=algorithm, random_state=0).fit(X)
    turn = np.eye(3)
    turn[:2, :2] = plane_rotation(0.5)
    model.components_, model.mixing_ = turn @ model.components_, model.mixing_ @ turn.T  # white, and inverted rightly
    assert {claim.name for claim in quiet_proof(model, X).failed} == {"fixed point"}


@pytest.mark.parametrize("name", ["components_", "mixing_", "mean_", "whitening_"])
def test_verify_objects_to_a_changed_number(name):
    X = mixed()
    model = FastICA(random_state=0).fit(X)
    for change in (lambda a: a * 1.001, lambda a: -a, lambda a: a[::-1].copy()):
        broken = copy.deepcopy(model)
        setattr(broken, name, change(getattr(model, name)))
        assert not quiet_proof(broken, X).holds


def test_a_fit_that_ran_out_of_steps_says_so():
    with pytest.warns(pellucid.UncertifiedWarning, match="FastICA did not converge"):
        FastICA(random_state=0, max_iter=1, tol=1e-12).fit(mixed())


# peer


@pytest.mark.peer
@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube", lambda x: (x**3, (3 * x**2).mean(axis=-1))])
@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
@pytest.mark.parametrize("whiten", ["unit-variance", "arbitrary-variance"])
def test_same_sources_as_scikit_learn(fun, algorithm, whiten):
    X = mixed()
    settings_ = {"fun": fun, "algorithm": algorithm, "whiten": whiten, "random_state": 0, "tol": 1e-10}
    ours, theirs = FastICA(**settings_).fit(X), peer.FastICA(**settings_).fit(X)
    np.testing.assert_allclose(ours.whitening_, theirs.whitening_, rtol=1e-6)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-4)
    np.testing.assert_allclose(ours.mixing_, theirs.mixing_, rtol=1e-3, atol=1e-3 * np.abs(theirs.mixing_).max())


def test_white_rows_are_only_rotated():
    Z = peer.PCA(whiten=True).fit_transform(mixed())
    ours, theirs = (kind(whiten=False, random_state=0, tol=1e-10).fit(Z) for kind in (FastICA, peer.FastICA))
    np.testing.assert_allclose(ours.transform(Z), theirs.transform(Z), atol=1e-4)
    assert not hasattr(ours, "mean_")


# errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings_", "X", "message"),
    [
        ({}, np.array([[1.0, np.nan], [2.0, 1.0]]), "NaN"),
        ({}, np.ones((1, 2)), "minimum of 2 is required"),
        ({}, np.ones((5, 2)), "column that varies"),
        ({"n_components": 0}, mixed(), "n_components must be"),
        ({"fun": "tanh"}, mixed(), "fun must be"),
        ({"fun": np.tanh}, mixed(), "fun must return its values"),
        ({"fun": lambda x: (x, x)}, mixed(), "mean of its derivative over the last axis, of shape"),
        ({"fun_args": {"alpha": 3.0}}, mixed(), r"alpha must be in \[1,2\], got 3"),
        ({"w_init": np.ones((2, 2))}, mixed(), r"w_init has invalid shape -- should be \(3, 3\), got \(2, 2\)"),
        ({"whiten": True}, mixed(), "whiten must be"),
    ],
)
def test_refuses_what_has_no_meaning(settings_, X, message):
    with pytest.raises(ValueError, match=message):
        FastICA(**settings_).fit(X)


def test_matching_refuses_other_rows():
    with pytest.raises(ValueError, match="as many rows as true \\(2000\\), got 5"):
        match_sources(np.ones((5, 2)), sources())


def test_says_when_more_components_are_asked_for_than_there_are():
    with pytest.warns(UserWarning, match="n_components is too large: it will be set to 3"):
        FastICA(9, random_state=0).fit(mixed())
    with pytest.warns(UserWarning, match="Ignoring n_components with whiten=False"):
        FastICA(2, whiten=False, random_state=0).fit(peer.PCA(whiten=True).fit_transform(mixed()))
