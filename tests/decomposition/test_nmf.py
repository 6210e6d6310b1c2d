"""NMF: worked by hand, its properties, against scikit-learn, its proof broken, and against wrong input."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import nnls
from sklearn import decomposition as peer
from threadpoolctl import threadpool_limits

import pellucid
from pellucid.decomposition import NMF, non_negative_factorization
from pellucid.decomposition.nmf.multiplicative_solvers import LARGE
from pellucid.decomposition.nmf.nmf_kernels import add_weighted_rows, descend, finish_columns, ratios_of_rows
from pellucid.decomposition.nmf.nmf_problem import NmfProblem, Penalties, coordinate_gains
from pellucid.decomposition.nmf.nmf_solvers import FactorDescent
from tests.plain_kernels import in_python
from tests.proving import quiet_proof

THREE = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 0.0]])


def rows(seed=0, n=30, d=8, q=3):
    """Return a product of nonnegative factors with noise."""
    rng = np.random.default_rng(seed)
    return rng.gamma(1.0, size=(n, q)) @ rng.gamma(0.5, size=(q, d)) + 0.05 * rng.random((n, d))


def start(seed=0, n=30, d=8, q=3):
    rng = np.random.default_rng(seed)
    return {"W": rng.random((n, q)) + 0.1, "H": rng.random((q, d)) + 0.1}


# by hand


@pytest.mark.by_hand
def test_one_component_of_a_matrix_of_rank_one_is_exact():
    X = np.outer([1.0, 2.0, 0.0], [3.0, 1.0])
    model = NMF(1, tol=1e-8).fit(X)
    np.testing.assert_allclose(model.weights_ @ model.components_, X, atol=1e-8)
    assert model.reconstruction_err_ < 1e-7


def test_a_part_is_about_as_large_in_both_factors():
    X, given = rows(n=8).astype(np.float32), start(n=8)
    given["H"][0] *= 1e30
    given = {name: part.astype(np.float32) for name, part in given.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pellucid.UncertifiedWarning)
        model = NMF(3, init="custom", max_iter=1, tol=0.0).fit(X, **given)
    assert abs(np.log2(model.components_[0].max() / model.weights_[:, 0].max())) <= 2
    np.testing.assert_allclose(model.transform(X), model.weights_, rtol=1e-3, atol=1e-5)


def test_parts_of_which_all_but_nothing_is_there_stay():
    other = np.array([[1e-155, 0.0], [0.0, 1.0]])
    factor = np.ones((2, 3))
    descend(factor, other @ other.T, other @ np.full((2, 3), 2.0), np.arange(2), 3, 0.0, np.empty((2, 4)), np.empty(4))
    np.testing.assert_array_equal(factor, [[1.0] * 3, [2.0] * 3])


def test_penalties_say_how_large_a_part_is():
    given = start(n=8)
    given["H"][0] *= 1e30
    problem = NmfProblem(rows(n=8), 2.0, Penalties(0.0, 0.0), Penalties(0.1, 0.0), 1.0)
    descent = FactorDescent(problem, given["W"], given["H"], lambda: np.arange(3))
    descent.even_out()
    np.testing.assert_array_equal(descent.H, given["H"])


def test_one_step_is_what_the_workings_write():
    # W = [[2,1],[1,2],[2,1]], H = [[2,1],[1,2]]: A = HH' = [[5,4],[4,5]], B = XH' = [[4,5],[5,4],[6,3]]; then
    # w_11 = max(0, (4 - 1*4)/5) = 0 and w_12 = (5 - 0*4)/5 = 1
    work = pellucid.show_work(NMF(2), THREE)
    assert work.answer["W"][0] == [0, 1]
    W = np.array([[2.0, 1.0, 2.0], [1.0, 2.0, 1.0]])
    H = np.array([[2.0, 1.0], [1.0, 2.0]])
    descend(W, H @ H.T, H @ THREE.T, np.arange(2), 1, 0.0, np.empty((2, 4)), np.empty(4))
    np.testing.assert_allclose(W.T, np.array(work.answer["W"], dtype=float))
    descend(H, W @ W.T, W @ THREE, np.arange(2), 1, 0.0, np.empty((2, 4)), np.empty(4))
    np.testing.assert_allclose(H, np.array(work.answer["H"], dtype=float))


@pytest.mark.filterwarnings("ignore::pellucid.UncertifiedWarning")
def test_one_multiplicative_step_is_what_the_workings_write():
    settings_ = {"solver": "mu", "alpha_W": 0.5, "l1_ratio": 0.5}
    work = pellucid.show_work(NMF(2, **settings_), THREE)
    W, H = np.array([[2.0, 1.0], [1.0, 2.0], [2.0, 1.0]]), np.array([[2.0, 1.0], [1.0, 2.0]])
    W, H, n_iter = non_negative_factorization(THREE, W, H, 2, init="custom", max_iter=1, **settings_)
    np.testing.assert_allclose(W, np.array(work.answer["W"], dtype=float))
    np.testing.assert_allclose(H, np.array(work.answer["H"], dtype=float))
    assert n_iter == 1
    before, after = work.answer["objective"]
    assert after < before


def test_workings_refuse_what_has_no_fractions():
    with pytest.raises(ValueError, match="beta_loss must be 'frobenius'"):
        pellucid.show_work(NMF(2, solver="mu", beta_loss=1), THREE)
    with pytest.raises(ValueError, match="n_components must be at most 3"):
        pellucid.show_work(NMF(5), THREE)
    with pytest.raises(ValueError, match="entries of at least 0"):
        pellucid.show_work(NMF(2), -THREE)


def test_gains_of_single_entries_by_hand():
    # f = 1, a = 2, b = 1: the gradient is 1, the best f is 1/2, the gain 1 * 1/2 - 2 * 1/4 / 2 = 1/4
    one = np.ones((1, 1))
    assert coordinate_gains(one, 2 * one, one, Penalties(0.0, 0.0)) == pytest.approx(0.25)
    # with b = -3 the gradient is 5 and f goes to 0: 5 - 2 / 2 = 4
    assert coordinate_gains(one, 2 * one, -3 * one, Penalties(0.0, 0.0)) == pytest.approx(4.0)
    # nothing to multiply with: an l1 penalty of 3 takes the entry away
    assert coordinate_gains(one, 0 * one, 0 * one, Penalties(3.0, 0.0)) == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("beta", "expected"),
    [(2, 0.5), (1, 2 * np.log(2) - 1), (0, 2 - np.log(2) - 1), (3, (8 + 2 - 3 * 2) / 6)],
)
def test_divergence_of_two_from_one(beta, expected):
    model = NMF(1, solver="mu", beta_loss=beta)
    problem = NmfProblem.of(np.array([[2.0]]), model)
    assert problem.divergence(np.ones((1, 1)), np.ones((1, 1))) == pytest.approx(expected)
    stored = NmfProblem.of(sparse.csr_array([[2.0]]), model)
    assert stored.divergence(np.ones((1, 1)), np.ones((1, 1))) == pytest.approx(expected)


# properties


def test_kernels_do_the_same_as_plain_python():
    X, given_ = rows(n=9, d=5), start(n=9, d=5)
    W, H = given_["W"].T.copy(), given_["H"]
    arguments = (H @ H.T, H @ X.T, np.arange(3), 3, 0.0)
    plain = W.copy()
    descend(W, *arguments, np.empty((3, 4)), np.empty(4))
    in_python(descend)(plain, *arguments, np.empty((3, 4)), np.empty(4))
    np.testing.assert_allclose(W, plain, rtol=1e-12)
    finish_columns(W, *arguments[:2])
    in_python(finish_columns)(plain, *arguments[:2])
    np.testing.assert_allclose(W, plain, rtol=1e-10, atol=1e-12)
    stored = sparse.csr_array(np.where(X > 1.0, X, 0.0))
    compiled, interpreted = np.empty((9, 3)), np.empty((9, 3))
    parts = (stored.data, stored.indices, stored.indptr)
    add_weighted_rows(*parts, np.ascontiguousarray(H.T), compiled)
    in_python(add_weighted_rows)(*parts, np.ascontiguousarray(H.T), interpreted)
    np.testing.assert_allclose(compiled, stored @ H.T)
    np.testing.assert_allclose(interpreted, compiled)
    ratios, again = np.empty(stored.nnz), np.empty(stored.nnz)
    ratios_of_rows(*parts, given_["W"], np.ascontiguousarray(H.T), 1e-9, ratios)
    in_python(ratios_of_rows)(*parts, given_["W"], np.ascontiguousarray(H.T), 1e-9, again)
    np.testing.assert_allclose(ratios, again)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6))
def test_weights_of_rows_are_those_of_nonnegative_least_squares(seed, q):
    X, H = rows(seed), start(seed, q=q)["H"]
    W, _, _ = non_negative_factorization(X, H=H, update_H=False)
    expected = np.array([nnls(H.T, x)[0] for x in X])
    np.testing.assert_allclose(W, expected, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_sweeps_and_equations_each_end_in_nonnegative_least_squares(seed):
    X, H = rows(seed, q=5), start(seed, q=5)["H"]
    expected = np.array([nnls(H.T, x)[0] for x in X]).T
    swept, solved = np.zeros((5, 30)), np.zeros((5, 30))
    descend(swept, H @ H.T, H @ X.T, np.arange(5), 20_000, 1e-26, np.empty((5, 8)), np.empty(8))
    np.testing.assert_allclose(swept, expected, atol=1e-6)
    finish_columns(solved, H @ H.T, H @ X.T)  # from nothing, every entry has to be let in
    np.testing.assert_allclose(solved, expected, atol=1e-10)


@pytest.mark.property
@pytest.mark.parametrize("solver", ["cd", "mu"])
@pytest.mark.parametrize("seed", range(3))
def test_the_objective_never_rises(solver, seed):
    model = NMF(3, solver=solver, init="random", random_state=seed, alpha_W=0.01, l1_ratio=0.3, max_iter=500)
    objective = model.fit(rows(seed)).trace_["objective"]
    assert np.all(np.diff(objective) <= 1e-12 * objective[0])
    assert model.certificate_.holds


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler", "itakura-saito", 0.5, 1.5, 3.0])
def test_other_units_of_the_data_give_the_same_parts(loss):
    X = rows() + 0.01
    settings_ = {"solver": "mu", "beta_loss": loss, "max_iter": 30, "tol": 0.5, "init": "random", "random_state": 0}
    model = NMF(3, **settings_).fit(X)
    for scale in (4.0**-250, 4.0**220):
        other = NMF(3, **settings_).fit(scale * X)
        np.testing.assert_allclose(other.weights_ @ other.components_ / scale, model.weights_ @ model.components_)
        assert pellucid.verify(other, scale * X).holds


@pytest.mark.parametrize("scale", [1e-150, 1e-9, 1e9, 1e140])
def test_coordinate_descent_takes_any_units(scale):
    X = rows()
    model = NMF(3, max_iter=2000).fit(scale * X)
    assert model.reconstruction_err_ <= 1.05 * scale * NMF(3, max_iter=2000).fit(X).reconstruction_err_
    assert pellucid.verify(model, scale * X).holds


def test_fit_transform_is_what_transform_says():
    X = rows()
    model = NMF(3)
    np.testing.assert_allclose(model.fit_transform(X), model.transform(X), atol=1e-12)
    np.testing.assert_allclose(model.inverse_transform(model.weights_), model.weights_ @ model.components_)


def test_sparse_rows_give_the_same_factors():
    X = np.where(rows() > 0.7, rows(), 0.0)
    for settings_ in ({}, {"solver": "mu"}, {"solver": "mu", "beta_loss": 1}, {"solver": "mu", "beta_loss": 1.5}):
        dense, stored = (NMF(3, init="random", random_state=0, **settings_) for _ in range(2))
        np.testing.assert_allclose(dense.fit_transform(X), stored.fit_transform(sparse.csc_array(X)), atol=1e-7)
        assert stored.certificate_.holds
        assert pellucid.verify(stored, sparse.csr_matrix(X)).holds


def test_missing_entries_do_not_count():
    X = np.outer([1.0, 2.0, 3.0, 4.0, 1.0], [1.0, 3.0, 2.0, 5.0])
    holes = X.copy()
    holes[[0, 1, 3, 4], [0, 2, 3, 1]] = np.nan
    for settings_ in ({}, {"solver": "mu", "beta_loss": 1}):
        model = NMF(1, tol=1e-7, max_iter=5000, init="random", random_state=0, **settings_).fit(holes)
        np.testing.assert_allclose(model.weights_ @ model.components_, X, rtol=1e-3)
        assert pellucid.verify(model, holes).holds
    np.testing.assert_allclose(NMF(1, tol=1e-7, max_iter=5000).fit(holes).transform(X) @ model.components_, X, rtol=0.5)


def test_float32_stays_float32_and_is_certified():
    X = rows().astype(np.float32)
    model = NMF(3, tol=1e-3).fit(X)
    assert {model.components_.dtype, model.weights_.dtype, model.transform(X).dtype} == {np.dtype(np.float32)}
    assert pellucid.verify(model, X).holds


def test_bits_do_not_depend_on_the_number_of_threads():
    X = rows(n=700, d=60, q=5)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            found.append(NMF(5, max_iter=20, tol=0.1).fit(X))
    np.testing.assert_array_equal(found[0].components_, found[1].components_)
    np.testing.assert_array_equal(found[0].weights_, found[1].weights_)


def test_a_read_only_map_of_a_file_is_taken(tmp_path):
    np.save(tmp_path / "X.npy", rows())
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    np.testing.assert_array_equal(NMF(3).fit(mapped).components_, NMF(3).fit(rows()).components_)


def test_record_keeps_the_factors_of_every_round():
    with pellucid.record():
        model = NMF(2).fit(rows())
    assert len(model.trace_.states) == len(model.trace_)
    np.testing.assert_array_equal(model.trace_.states[-1]["H"], model.components_)


def test_more_parts_than_columns_and_fewer_rows_than_columns():
    assert NMF(10, random_state=0, tol=1e-2).fit(rows()).components_.shape == (10, 8)
    assert NMF(2).fit(rows(n=4, d=9)).certificate_.holds


def test_constant_and_empty_columns_are_no_trouble():
    X = rows()
    X[:, 0], X[:, 1] = 1.0, 0.0
    model = NMF(3, max_iter=1000).fit(X)
    assert model.certificate_.holds
    assert not model.components_[:, 1].any()
    assert NMF(2).fit(np.zeros((4, 3))).reconstruction_err_ == 0.0


# proof


def test_the_error_of_singular_vectors_is_a_lower_bound():
    X = rows(q=5)
    model = NMF(3, max_iter=1000).fit(X)
    values = np.linalg.svd(X, compute_uv=False)
    least = np.sqrt(np.sum(values[3:] ** 2))
    assert pellucid.verify(model, X)["rank"].value == pytest.approx(least / model.reconstruction_err_, rel=1e-6)


@pytest.mark.parametrize(
    "settings_", [{}, {"solver": "mu", "beta_loss": 1}, {"solver": "mu", "beta_loss": 0.5}, {"alpha_W": 0.02}]
)
@pytest.mark.parametrize("name", ["components_", "weights_", "reconstruction_err_"])
def test_verify_objects_to_a_changed_number(settings_, name):
    X = rows() + 0.01
    model = NMF(3, max_iter=2000, **settings_).fit(X)
    assert pellucid.verify(model, X).holds
    broken = copy.deepcopy(model)
    value = getattr(broken, name)
    if name == "reconstruction_err_":
        broken.reconstruction_err_ = value * 1.001
    else:
        value[1, 2] = value[1, 2] * 1.001 + 1e-3
    assert not quiet_proof(broken, X).holds


def test_verify_objects_to_factors_that_are_far_from_a_minimum():
    X = rows()
    model = NMF(3).fit(X)
    model.components_ = np.ascontiguousarray(model.components_[:, ::-1])
    problem = NmfProblem.of(X, model)
    model.reconstruction_err_ = float(np.sqrt(2 * problem.divergence(model.weights_, model.components_)))
    failed = {claim.name for claim in quiet_proof(model, X).failed}
    assert failed == {"stationary"}


def test_verify_objects_to_other_rows():
    X = rows()
    model = NMF(3).fit(X)
    assert "not the training data" in quiet_proof(model, X[::-1]).reason


def test_a_fit_that_ran_out_of_rounds_says_so():
    with pytest.warns(pellucid.UncertifiedWarning, match="Maximum number of iterations 1 reached. Increase it"):
        NMF(3, max_iter=1).fit(rows())


# peer


@pytest.mark.peer
@pytest.mark.filterwarnings("ignore:Maximum number of iterations:sklearn.exceptions.ConvergenceWarning")  # of the peer
@pytest.mark.parametrize("seed", range(3))
def test_no_worse_than_scikit_learn_from_the_same_start(seed):
    X = rows(seed)
    ours, theirs = (kind(3, init="random", random_state=seed, max_iter=5000, tol=1e-6) for kind in (NMF, peer.NMF))
    assert ours.fit(X).reconstruction_err_ <= 1.001 * theirs.fit(X).reconstruction_err_


@pytest.mark.parametrize("loss", [2, 1, 0, 0.5, 1.5, 2.5, -0.5])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_multiplicative_steps_are_those_of_scikit_learn(loss):
    X, given_ = rows() + 0.01, start()
    settings_ = {"solver": "mu", "beta_loss": loss, "init": "custom", "max_iter": 25, "alpha_W": 0.01, "l1_ratio": 0.5}
    ours, theirs = NMF(3, **settings_), peer.NMF(3, **settings_)
    copies = {name: factor.copy() for name, factor in given_.items()}
    np.testing.assert_allclose(ours.fit_transform(X, **given_), theirs.fit_transform(X, **copies), rtol=1e-6)
    np.testing.assert_allclose(ours.components_, theirs.components_, rtol=1e-6)
    assert ours.reconstruction_err_ == pytest.approx(theirs.reconstruction_err_)


@pytest.mark.parametrize("loss", [1, 0, 1.5])
def test_large_data_are_multiplied_in_float32_to_the_same_answer(loss):
    X, given_ = rows(n=600, d=500) + 0.01, start(n=600, d=500)
    assert X.size >= LARGE
    settings_ = {"solver": "mu", "beta_loss": loss, "init": "custom", "max_iter": 20}
    narrow, wide = NMF(3, tol=1e-3, **settings_), NMF(3, tol=1e-7, **settings_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pellucid.UncertifiedWarning)
        np.testing.assert_allclose(narrow.fit_transform(X, **given_), wide.fit_transform(X, **given_), rtol=1e-3)
    assert narrow.reconstruction_err_ == pytest.approx(wide.reconstruction_err_, rel=1e-5)
    assert {claim.name for claim in quiet_proof(narrow, X).failed} <= {"stationary"}


@pytest.mark.parametrize("init", ["nndsvd", "nndsvda", "nndsvdar", None])
def test_starts_lead_where_those_of_scikit_learn_lead(init):
    X = rows(q=3)
    ours, theirs = (kind(3, init=init, random_state=0, max_iter=3000) for kind in (NMF, peer.NMF))
    assert ours.fit(X).reconstruction_err_ == pytest.approx(theirs.fit(X).reconstruction_err_, rel=0.05)


# errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings_", "X", "message"),
    [
        ({}, -THREE, "entries must be at least 0, got -3"),
        ({}, np.full((2, 2), np.nan), "NaN in every row"),
        ({}, np.array([[1.0, np.nan], [2.0, np.nan]]), "column that contains none, the one with index 1"),
        ({}, sparse.csr_array([[1.0, np.nan], [2.0, 1.0]]), "must be dense to have missing entries"),
        ({}, np.array([[1.0, np.inf]]), "infinity"),
        ({}, np.empty((0, 2)), "minimum of 1 is required"),
        ({"n_components": 0}, THREE, "n_components must be"),
        ({"n_components": 3, "init": "nndsvd"}, THREE, "n_components <= min"),
        ({"beta_loss": 1}, THREE, "solver 'cd' does not handle beta_loss = 1"),
        ({"solver": "mu", "beta_loss": 0}, THREE, "When beta_loss <= 0 and X contains zeros"),
        ({"tol": -1.0}, THREE, "tol must be"),
        ({"l1_ratio": 2.0}, THREE, "l1_ratio must be"),
        ({"init": "custom"}, THREE, "H must be given for init='custom'"),
    ],
)
def test_refuses_what_has_no_meaning(settings_, X, message):
    with pytest.raises(ValueError, match=message):
        NMF(**settings_).fit(X)


def test_refuses_starts_that_do_not_fit():
    X = rows()
    model = NMF(3, init="custom")
    with pytest.raises(ValueError, match="wrong first dimension passed to NMF \\(input W\\). Expected 30, but got 5"):
        model.fit(X, **{**start(), "W": np.ones((5, 3))})
    with pytest.raises(TypeError, match="H should have the same dtype as X"):
        model.fit(X, **{**start(), "H": np.ones((3, 8), dtype=np.float32)})
    with pytest.raises(ValueError, match="full of zeros"):
        model.fit(X, **{**start(), "W": np.zeros((30, 3))})
    with pytest.warns(RuntimeWarning, match="provided W or H are ignored"):
        NMF(3).fit(X, **start())
    with pytest.warns(RuntimeWarning, match="initial W is not used"):
        non_negative_factorization(X, **start(), update_H=False)
