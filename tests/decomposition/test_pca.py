"""PCA: by hand, properties, against scikit-learn, proofs, rules for the number of components, bad input."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import decomposition as peers
from sklearn.datasets import load_digits, load_iris

import pellucid
from pellucid.decomposition import PCA, pca_per_class, principal_directions
from pellucid.decomposition.pca.pca_solvers import count_for_share, minka_count
from pellucid.solvers.design import make_design
from tests.proving import quiet_proof

FEW = settings(max_examples=15, deadline=None)
POINTS = [[0.6, 0.4], [1.0, 1.2], [1.6, 1.3], [2.0, 2.3]]
SOLVERS = ["full", "covariance_eigh", "arpack", "randomized"]


def cloud(seed=0, n=60, p=6):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) @ rng.standard_normal((p, p)) + 3.0


@pytest.mark.by_hand
def test_the_four_points_of_the_lecture():
    # mean (1.3, 1.3); four times the covariance with n is [[1.16, 1.36], [1.36, 1.82]], first axis (0.6181, 0.7861)
    model = PCA().fit(POINTS)
    assert model.mean_ == pytest.approx([1.3, 1.3])
    assert model.components_[0] == pytest.approx([0.6181, 0.7861], abs=5e-5)
    assert model.get_covariance() * 3 == pytest.approx(np.array([[1.16, 1.36], [1.36, 1.82]]))
    assert model.singular_values_**2 == pytest.approx(model.explained_variance_ * 3)
    assert model.noise_variance_ == 0.0


def test_a_line_by_hand():
    # -1, 0, 1 along (3, 4) / 5: variance 1, and none across
    X = np.outer([-1.0, 0.0, 1.0], [0.6, 0.8]) + [2.0, 1.0]
    model = PCA().fit(X)
    assert model.components_[0] == pytest.approx([0.6, 0.8])
    assert model.components_[1] == pytest.approx([0.8, -0.6])
    assert model.explained_variance_ == pytest.approx([1.0, 0.0], abs=1e-15)
    assert model.explained_variance_[1] == 0.0  # not rounding
    assert PCA(1).fit_transform(X)[:, 0] == pytest.approx([-1.0, 0.0, 1.0])


@pytest.mark.peer
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_agrees_with_scikit_learn(solver, make):
    if make is not np.asarray and solver in ("full", "randomized"):
        pytest.skip("refused, as by scikit-learn")
    X = np.where(np.abs(cloud(1)) > 2.0, cloud(1), 0.0)
    ours = PCA(3, svd_solver=solver).fit(make(X))
    peer = peers.PCA(3, svd_solver="full").fit(X)
    for name in ("mean_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "components_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(peer, name), rtol=1e-7, atol=1e-10)
    assert ours.noise_variance_ == pytest.approx(peer.noise_variance_)
    np.testing.assert_allclose(ours.transform(make(X)), peer.transform(X), atol=1e-9)
    np.testing.assert_allclose(ours.score_samples(X), peer.score_samples(X), rtol=1e-9)
    np.testing.assert_allclose(ours.get_precision(), peer.get_precision(), rtol=1e-8, atol=1e-10)
    assert pellucid.verify(ours, make(X)).holds


@pytest.mark.parametrize("n_components", [None, 2, 0.5, 0.95, "mle", 0])
def test_the_number_of_components_is_that_of_scikit_learn(n_components):
    X = load_iris().data
    ours, peer = PCA(n_components).fit(X), peers.PCA(n_components).fit(X)
    assert ours.n_components_ == peer.n_components_
    assert ours.certificate_.holds
    assert pellucid.verify(ours, X).holds


def test_minka_on_digits_as_scikit_learn():
    X = load_digits().data[:, 10:40]
    assert (
        PCA("mle", svd_solver="full").fit(X).n_components_ == peers.PCA("mle", svd_solver="full").fit(X).n_components_
    )


def test_rules_for_the_number():
    model = PCA().fit(load_digits().data)
    assert model.count_for_share(0.9) == peers.PCA(0.9, svd_solver="full").fit(load_digits().data).n_components_
    assert count_for_share(np.array([0.5, 0.4, 0.1]), 0.5) == 2  # more than the share, not as much
    assert 2 <= model.elbow() <= 20
    assert PCA(1).fit(cloud()).elbow() is None
    with pytest.raises(ValueError, match="Fit more components"):
        PCA(1).fit(cloud()).count_for_share(0.99)
    with pytest.raises(ValueError, match="share must be between 0 and 1"):
        model.count_for_share(1.5)


def test_minka_finds_three_directions_in_noise():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 3)) @ (4.0 * rng.standard_normal((3, 10))) + 0.1 * rng.standard_normal((500, 10))
    variances = PCA().fit(X).explained_variance_
    assert minka_count(variances, 500) == 3


@pytest.mark.property
@FEW
@given(st.integers(0, 1000))
def test_weights_are_repetitions(seed):
    X, weights = cloud(seed, n=20), np.random.default_rng(seed).integers(0, 4, 20)
    weighted, repeated = PCA(3).fit(X, sample_weight=weights), PCA(3).fit(np.repeat(X, weights, axis=0))
    for name in ("mean_", "explained_variance_", "components_", "noise_variance_", "n_samples_"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-8, atol=1e-10)
    assert pellucid.verify(weighted, X, sample_weight=weights).holds


@FEW
@given(st.integers(0, 1000), st.sampled_from([1e-160, 1e-30, 1e30, 1e140]))
def test_units_do_not_matter(seed, unit):
    X = cloud(seed)
    plain, scaled = PCA(3).fit(X), PCA(3).fit(X * unit)
    np.testing.assert_allclose(scaled.components_, plain.components_, atol=1e-9)
    np.testing.assert_allclose(scaled.explained_variance_ratio_, plain.explained_variance_ratio_, rtol=1e-9)
    np.testing.assert_allclose(scaled.singular_values_ / unit, plain.singular_values_, rtol=1e-9)
    assert pellucid.verify(scaled, X * unit).holds


def test_an_offset_costs_no_digits():
    X = cloud()
    near, far = PCA(3).fit(X), PCA(3).fit(X + 1e7)
    np.testing.assert_allclose(far.explained_variance_, near.explained_variance_, rtol=1e-6)
    assert pellucid.verify(far, X + 1e7).holds


@FEW
@given(st.integers(0, 1000))
def test_parts_give_the_components_of_all_rows(seed):
    X = cloud(seed, n=50)
    model = PCA(3)
    for part in np.array_split(X, [7, 8, 30]):
        model.partial_fit(part)
    whole = PCA(3).fit(X)
    for name in ("mean_", "explained_variance_", "components_", "noise_variance_", "n_samples_"):
        np.testing.assert_allclose(getattr(model, name), getattr(whole, name), rtol=1e-9, atol=1e-10)
    assert pellucid.verify(model, X).holds
    model.scatter_ = model.scatter_ * 1.001
    with pytest.warns(pellucid.UncertifiedWarning, match="scatter"):
        pellucid.verify(model, X)


def test_parts_go_on_from_a_fit_of_all_components_only():
    X = cloud()
    model = PCA().fit(X[:30]).partial_fit(X[30:])
    np.testing.assert_allclose(model.explained_variance_, PCA().fit(X).explained_variance_)
    with pytest.raises(ValueError, match="partial_fit must follow partial_fit"):
        PCA(2).fit(X[:30]).partial_fit(X[30:])


@pytest.mark.parametrize("whiten", [True, "pca", "zca"])
def test_white_rows_have_no_covariance(whiten):
    X = cloud()
    model = PCA(whiten=whiten).fit(X)
    Z = model.transform(X)
    np.testing.assert_allclose(np.cov(Z.T), np.eye(6), atol=1e-9)
    np.testing.assert_allclose(model.inverse_transform(Z), X, atol=1e-9)
    if whiten == "zca":  # no other whitening stays nearer to the columns: it is symmetric
        change = np.linalg.lstsq(X - X.mean(0), Z, rcond=None)[0]
        np.testing.assert_allclose(change, change.T, atol=1e-8)
        assert model.get_feature_names_out().tolist() == [f"pca{j}" for j in range(6)]


def test_denoising_and_its_error():
    rng = np.random.default_rng(0)
    clean = np.outer(rng.standard_normal(200), rng.standard_normal(10))
    noisy = clean + 0.1 * rng.standard_normal(clean.shape)
    model = PCA(1).fit(noisy)
    assert np.sum((model.denoise(noisy) - clean) ** 2) < 0.2 * np.sum((noisy - clean) ** 2)
    error = model.reconstruction_error(noisy)
    left = np.sum((noisy - noisy.mean(0)) ** 2) - model.singular_values_[0] ** 2
    assert error.sum() == pytest.approx(left)


def test_components_of_each_class():
    X, y = load_iris(return_X_y=True)
    models = pca_per_class(X, y, n_components=2)
    assert sorted(models) == [0, 1, 2]
    for label, model in models.items():
        np.testing.assert_allclose(model.mean_, X[y == label].mean(axis=0))
        assert model.certificate_.holds


def tall(seed=0, n=3000, d=400):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * np.geomspace(10.0, 0.1, d) + rng.standard_normal(d)


def test_a_gram_matrix_of_float32_gives_all_the_digits_that_it_has():
    X = tall().astype(np.float32)
    found = principal_directions.from_gram(make_design(X, fit_intercept=True), 5)
    assert found.is_rough
    rest = found.gram @ found.vectors - found.vectors * found.squares
    assert np.linalg.norm(rest, axis=0).max() < 1e-6 * found.squares[0]
    assert np.abs(found.vectors.T @ found.vectors - np.eye(5)).max() < 1e-14
    model = PCA(5).fit(X)
    assert pellucid.verify(model, X).holds


@pytest.mark.parametrize("unit", [1e-17, 1e17])
def test_float32_rows_in_other_units_give_the_same_directions(unit):
    X = tall(n=1500, d=100).astype(np.float32)
    ours, other = PCA(3).fit(X), PCA(3).fit(X * np.float32(unit))
    np.testing.assert_allclose(other.components_, ours.components_, atol=1e-5)
    np.testing.assert_allclose(other.singular_values_, ours.singular_values_ * np.float32(unit), rtol=1e-5)


def test_float32_rows_of_low_rank():
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((1500, 2)) @ rng.standard_normal((2, 60))).astype(np.float32)
    model = PCA(5, svd_solver="covariance_eigh").fit(X)
    assert model.explained_variance_[2:].max() < 1e-5 * model.explained_variance_[0]
    assert pellucid.verify(model, X).holds


def test_weights_in_float32_gram():
    X, weight = tall(1, 1500).astype(np.float32), np.random.default_rng(0).uniform(0.1, 5.0, 1500)
    design = make_design(X, fit_intercept=True, sample_weight=weight)
    assert principal_directions.from_gram(design, 4).is_rough
    model = PCA(4).fit(X, sample_weight=weight)
    assert pellucid.verify(model, X, sample_weight=weight).holds


def test_float32_stays_float32():
    X = tall(n=2000, d=50).astype(np.float32)
    model = PCA(5).fit(X)
    assert model.components_.dtype == model.mean_.dtype == model.transform(X).dtype == np.float32
    np.testing.assert_allclose(model.explained_variance_, PCA(5).fit(X.astype(float)).explained_variance_, rtol=1e-5)
    assert pellucid.verify(model, X).holds


@pytest.mark.parametrize("shape", [(300, 700), (700, 300)])
def test_blocks_of_vectors_find_what_a_factorization_finds(shape):
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape) * np.geomspace(5.0, 0.5, shape[1])
    few, full = PCA(6, svd_solver="randomized").fit(X), PCA(6, svd_solver="full").fit(X)
    np.testing.assert_allclose(few.explained_variance_, full.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(few.components_, full.components_, atol=1e-7)
    assert pellucid.verify(few, X).holds


@pytest.mark.parametrize("shape", [(700, 300), (300, 700)])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_rows_are_centered_without_becoming_dense(shape, weighted):
    rng = np.random.default_rng(0)
    X = sparse.random_array(shape, density=0.1, rng=rng, format="csr") * np.geomspace(5.0, 0.5, shape[1])[None]
    X, weight = sparse.csr_array(X), rng.uniform(0.5, 2.0, shape[0]) if weighted else None
    model = PCA(5).fit(X, sample_weight=weight)
    dense = PCA(5, svd_solver="full").fit(X.toarray(), sample_weight=weight)
    np.testing.assert_allclose(model.explained_variance_, dense.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(model.components_, dense.components_, atol=1e-7)
    assert pellucid.verify(model, X, sample_weight=weight).holds


def test_directions_without_variance_depend_on_the_others_alone():
    X = cloud(n=10, p=4) @ np.random.default_rng(1).standard_normal((4, 12))
    one, other = PCA(10, svd_solver="full").fit(X), PCA(10, svd_solver="covariance_eigh").fit(X)
    np.testing.assert_allclose(one.components_, other.components_, atol=1e-7)
    assert not one.explained_variance_[4:].any()


@pytest.mark.parametrize(
    ("name", "change", "claim"),
    [
        ("mean_", lambda values: values + 1e-6, "mean"),
        ("noise_variance_", lambda value: value * 1.001, "noise"),
        ("explained_variance_", lambda values: values * 1.001, "shares"),
        ("n_samples_", lambda value: value + 1, "rows"),
    ],
)
def test_verify_names_what_is_wrong(name, change, claim):
    X = cloud(n=200)
    model = PCA(3).fit(X)
    setattr(model, name, change(getattr(model, name)))
    with pytest.warns(pellucid.UncertifiedWarning, match=claim):
        pellucid.verify(model, X)


def test_verify_sees_components_in_another_order():
    X = cloud(n=200)
    model = PCA(3).fit(X)
    for name in ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_"):
        setattr(model, name, getattr(model, name)[[1, 0, 2]])
    with pytest.warns(pellucid.UncertifiedWarning, match="order"):
        pellucid.verify(model, X)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("angle", [0.01, 0.5])
def test_directions_of_tiny_spread_must_not_be_turned(angle, dtype):
    X = (np.random.default_rng(0).standard_normal((200, 5)) * [1.0, 1.0, 1.0, 1e-5, 1e-6]).astype(dtype)
    model = PCA(whiten=True).fit(X)
    assert pellucid.verify(model, X).holds
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    model.components_ = model.components_.copy()
    model.components_[3:] = turn.astype(dtype) @ model.components_[3:]
    assert not quiet_proof(model, X)["turned"].holds


@pytest.mark.parametrize("change", ["drop", "turn", "swap"])
def test_verify_sees_directions_that_are_not_the_leading_ones(change):
    X = cloud(n=200)
    model = PCA(3).fit(X)
    other = PCA().fit(X)
    if change == "drop":  # the second one is missing, the fourth stands at the end: each is a true eigenvector
        chosen = [0, 2, 3]
        model.components_ = other.components_[chosen]
        for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_"):
            setattr(model, name, getattr(other, name)[chosen])
        rest = other.explained_variance_[[1, 4, 5]].sum() / 3
        model.noise_variance_ = float(rest)
        expected = "missed"
    elif change == "turn":
        c, s = np.cos(1e-3), np.sin(1e-3)
        model.components_ = model.components_.copy()
        model.components_[:2] = np.array([[c, s], [-s, c]]) @ model.components_[:2]
        expected = "directions|turned"
    else:
        model = copy.copy(other)
        model.components_ = other.components_[[1, 0, 2, 3, 4, 5]]
        expected = "directions"
    with pytest.warns(pellucid.UncertifiedWarning, match=expected):
        assert not pellucid.verify(model, X).holds


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("parameters", "X", "message"),
    [
        ({"n_components": 7}, cloud(), r"n_components=7 must be between 0 and min\(n_samples, n_features\)=6"),
        ({"n_components": 6, "svd_solver": "arpack"}, cloud(), "strictly less than"),
        ({"n_components": "mle", "svd_solver": "randomized"}, cloud(), "cannot be a string"),
        ({"n_components": "mle"}, cloud(n=4), "n_samples >= n_features"),
        ({"n_components": 1.5}, cloud(), "n_components must be"),
        ({}, cloud(n=1), "n_samples=1"),
        ({"whiten": "cola"}, cloud(), "whiten must be"),
        ({}, np.full((4, 2), np.nan), "NaN"),
        ({}, np.full((4, 2), 1e200), "squares are finite"),
    ],
)
def test_refuses_with_a_sentence(parameters, X, message):
    model = PCA(**parameters)
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(X)
    assert not hasattr(model, "components_")


def test_refuses_sparse_rows_that_would_become_dense():
    with pytest.raises(TypeError, match="TruncatedSVD"):
        PCA(2, svd_solver="full").fit(sparse.csr_array(cloud()))


def test_a_density_needs_noise():
    with pytest.raises(ValueError, match="must have noise"):
        PCA().fit(cloud(n=4)).score(cloud())


@pytest.mark.parametrize("X", [np.ones((5, 3)), np.zeros((5, 3))])
def test_constant_columns_have_no_variance(X):
    model = PCA(2).fit(X)
    assert not model.explained_variance_.any()
    assert np.isfinite(model.transform(X)).all()
    assert pellucid.verify(model, X).holds


def test_reads_a_file_that_cannot_be_written(tmp_path):
    np.save(tmp_path / "X.npy", cloud())
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    np.testing.assert_array_equal(PCA(2).fit(X).components_, PCA(2).fit(cloud()).components_)
