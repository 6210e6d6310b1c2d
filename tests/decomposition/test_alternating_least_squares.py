"""AlternatingLeastSquares: worked by hand, properties, against ridge regression and SVD, its proof broken, errors."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

import pellucid
from pellucid.decomposition import AlternatingLeastSquares
from pellucid.decomposition.alternating.alternating_kernels import solve_rows
from pellucid.decomposition.alternating.alternating_solvers import entries_of
from tests.plain_kernels import in_python
from tests.proving import quiet_proof

NAN = np.nan
HOLES = [[1.0, 2.0, NAN], [2.0, NAN, 1.0], [3.0, 0.0, 2.0], [NAN, 1.0, 4.0]]


def ratings(seed=0, n=40, d=15, q=3, missing=0.4, noise=0.01):
    """Return a matrix of rank q with noise and holes, and the whole of it."""
    rng = np.random.default_rng(seed)
    whole = rng.standard_normal((n, q)) @ rng.standard_normal((q, d))
    holes = whole + noise * rng.standard_normal((n, d))
    holes[rng.random((n, d)) < missing] = NAN
    return holes, whole


def stored(X):
    """Return the known entries as a sparse matrix, zeros among them."""
    known = ~np.isnan(X)
    return sparse.csr_array((X[known], np.nonzero(known)), shape=X.shape)


# by hand


@pytest.mark.by_hand
def test_one_round_is_what_the_workings_write():
    # b = 2 for every column and alpha = 1: the first row knows 1 and 2, so (4 + 4 + 1) z = 2 * 1 + 2 * 2, z = 2/3
    work = pellucid.show_work(AlternatingLeastSquares(1, alpha=1), [[1, 2], [2, NAN], [3, 0]])
    entries = entries_of(np.array([[1.0, 2.0], [2.0, NAN], [3.0, 0.0]]))
    Z, gained = entries.fit_rows(np.full((2, 1), 2.0), 1.0)
    np.testing.assert_allclose(Z, [[2 / 3], [4 / 5], [2 / 3]])
    np.testing.assert_allclose(Z, np.array(work.answer["Z"], dtype=float))
    # the objective is half of 1 + 4 + 4 + 9 less half of r z, and half of 4 + 4 for the components
    assert 9.0 - gained + 4.0 == pytest.approx(float(work.answer["objective"][0]))
    B, _ = entries.fit_columns(Z, 1.0)
    np.testing.assert_allclose(B.T, np.array(work.answer["B"], dtype=float))


def test_two_components_with_holes_agree_with_the_workings():
    model = AlternatingLeastSquares(2, alpha=0.5, alpha_components=0.25)
    for X in (np.array(HOLES), stored(np.array(HOLES))):
        work = pellucid.show_work(model, X)
        Z, _ = entries_of(X).fit_rows(np.array([[2.0, 1.0], [1.0, 2.0], [2.0, 1.0]]), 0.5)
        np.testing.assert_allclose(Z, np.array(work.answer["Z"], dtype=float))
        B, _ = entries_of(X).fit_columns(Z, 0.25)
        np.testing.assert_allclose(B.T, np.array(work.answer["B"], dtype=float))
        assert work.answer["objective"][1] < work.answer["objective"][0]


def test_workings_refuse_what_is_too_much():
    with pytest.raises(ValueError, match="n_components must be at most 2"):
        pellucid.show_work(AlternatingLeastSquares(3), HOLES)
    with pytest.raises(ValueError, match="alpha must be above 0"):
        pellucid.show_work(AlternatingLeastSquares(1, alpha=0.0), HOLES)


# properties


def test_holes_of_a_matrix_of_low_rank_are_filled():
    X, whole = ratings(noise=0.0)
    model = AlternatingLeastSquares(3, alpha=1e-5, tol=1e-6, max_iter=2000, random_state=0).fit(X)
    rows, columns = np.nonzero(np.isnan(X))
    np.testing.assert_allclose(model.predict_pairs(rows, columns), whole[rows, columns], atol=0.02)
    np.testing.assert_allclose(model.inverse_transform(model.weights_)[0, 1], model.predict_pairs(0, 1))


def test_sparse_entries_are_those_that_are_known():
    X, _ = ratings()
    X[0, 0] = 0.0  # a rating of 0 is one
    dense, from_sparse = (AlternatingLeastSquares(3, random_state=0).fit(rows) for rows in (X, stored(X)))
    np.testing.assert_allclose(dense.components_, from_sparse.components_)
    np.testing.assert_allclose(dense.transform(X), from_sparse.transform(stored(X)))
    assert pellucid.verify(from_sparse, stored(X)).holds


@pytest.mark.property
@pytest.mark.parametrize("missing", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_the_objective_never_rises_and_rows_are_the_best(missing, seed):
    X, _ = ratings(seed, missing=missing)
    model = AlternatingLeastSquares(3, random_state=seed).fit(X)
    objective = model.trace_["objective"]
    assert np.all(np.diff(objective) <= 1e-12 * objective[0])
    assert objective[-1] == pytest.approx(model.objective_)
    np.testing.assert_allclose(model.weights_, model.transform(X), atol=1e-12)
    assert pellucid.verify(model, X).holds


def test_kernel_does_the_same_as_plain_python():
    known = stored(ratings()[0])
    others = np.random.default_rng(1).standard_normal((15, 3))
    arguments = known.data, known.indices, known.indptr, others, 0.1
    compiled, plain = np.empty((40, 3)), np.empty((40, 3))
    one = solve_rows(*arguments, compiled, np.empty((3, 3)), np.empty((4, 4)))
    other = in_python(solve_rows)(*arguments, plain, np.empty((3, 3)), np.empty((4, 7)))
    np.testing.assert_allclose(compiled, plain)
    assert one == pytest.approx(other)


def test_bits_do_not_depend_on_the_number_of_threads():
    X, _ = ratings(n=900)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            found.append(AlternatingLeastSquares(3, random_state=0).fit(X).components_)
    np.testing.assert_array_equal(*found)


def test_float32_stays_float32_and_is_certified():
    X = ratings()[0].astype(np.float32)
    model = AlternatingLeastSquares(3, random_state=0).fit(X)
    assert {model.components_.dtype, model.weights_.dtype, model.transform(X).dtype} == {np.dtype(np.float32)}
    assert pellucid.verify(model, X).holds


def test_rows_and_columns_of_which_nothing_is_known_are_zero():
    X, _ = ratings()
    X[3], X[:, 2] = NAN, NAN
    model = AlternatingLeastSquares(3, random_state=0).fit(X)
    assert not model.weights_[3].any()
    assert not model.components_[:, 2].any()
    assert model.predict_pairs([3], [2]).tolist() == [0.0]


@pytest.mark.parametrize("scale", [1e-140, 1e-6, 1e6, 1e140])
def test_penalties_in_the_units_of_the_data_give_the_same_factors(scale):
    X, _ = ratings()
    one = AlternatingLeastSquares(3, random_state=0, alpha=0.1).fit(X)
    other = AlternatingLeastSquares(3, random_state=0, alpha=0.1 * scale, tol=1e-3).fit(scale * X)
    assert other.certificate_.holds
    assert other.objective_ / scale / scale == pytest.approx(one.objective_, rel=0.05)


def test_no_penalty_and_dependent_components_have_a_shortest_answer():
    X = np.outer(np.arange(1.0, 6.0), [1.0, 2.0, 3.0])
    model = AlternatingLeastSquares(2, alpha=0.0, random_state=0).fit(X)
    np.testing.assert_allclose(model.weights_ @ model.components_, X, atol=1e-3)


def test_constant_columns_and_fewer_rows_than_columns():
    X = np.ones((3, 8))
    X[:, 0] = 0.0
    assert AlternatingLeastSquares(2, random_state=0).fit(X).certificate_.holds


def test_many_columns_are_looked_at_in_part():
    X, _ = ratings(n=60, d=700)
    model = AlternatingLeastSquares(2, random_state=0).fit(X)
    assert "estimated from 100 of 700 columns" in model.certificate_["columns"].statement
    assert "estimated from 500 of 700 columns" in pellucid.verify(model, X)["columns"].statement


# proof


@pytest.mark.parametrize("name", ["components_", "weights_", "objective_"])
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_verify_objects_to_a_changed_number(name, missing):
    X, _ = ratings(missing=missing)
    model = AlternatingLeastSquares(3, random_state=0).fit(X)
    broken = copy.deepcopy(model)
    if name == "objective_":
        broken.objective_ *= 1.0 + 1e-6
    else:
        getattr(broken, name)[1, 2] *= 1.0 + 1e-6
    assert pellucid.verify(model, X).holds
    assert not quiet_proof(broken, X).holds


def test_verify_objects_to_components_that_are_not_the_best():
    X, _ = ratings()
    model = AlternatingLeastSquares(3, random_state=0).fit(X)
    model.components_ = np.random.default_rng(0).standard_normal((3, 15))
    model.weights_ = model.transform(X)
    rest = np.nan_to_num(X - model.weights_ @ model.components_)
    size = 0.1 * (np.sum(model.weights_**2) + np.sum(model.components_**2))
    model.objective_ = float(0.5 * (np.sum(rest**2) + size))
    assert {claim.name for claim in quiet_proof(model, X).failed} == {"columns", "axes"}


@pytest.mark.parametrize("how", ["turned", "reversed", "mirrored"])
def test_of_factors_that_are_as_good_the_rule_chooses_one(how):
    X, _ = ratings()
    model = AlternatingLeastSquares(3, random_state=0).fit(X)
    assert pellucid.verify(model, X).holds
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    turn = {"turned": turn, "reversed": np.eye(3)[::-1], "mirrored": np.diag([1.0, 1.0, -1.0])}[how]
    model.components_, model.weights_ = turn @ model.components_, model.weights_ @ turn.T
    assert [claim.name for claim in quiet_proof(model, X).failed] == ["axes"]


def test_a_fit_that_ran_out_of_rounds_says_so():
    with pytest.warns(pellucid.UncertifiedWarning, match="Raise max_iter above 1"):
        AlternatingLeastSquares(3, max_iter=1, random_state=0).fit(ratings()[0])


# peer


@pytest.mark.peer
def test_rows_are_the_ridge_regressions_of_scikit_learn():
    X, _ = ratings()
    model = AlternatingLeastSquares(3, alpha=0.3, random_state=0).fit(X)
    for i in range(5):
        known = ~np.isnan(X[i])
        ridge = Ridge(alpha=0.3, fit_intercept=False).fit(model.components_[:, known].T, X[i, known])
        np.testing.assert_allclose(model.weights_[i], ridge.coef_, atol=1e-8)


def test_complete_data_have_the_closed_form_of_singular_values():
    # the minimum over both factors with equal penalties shrinks each singular value by alpha
    X, _ = ratings(missing=0.0)
    model = AlternatingLeastSquares(3, alpha=0.5, tol=1e-6, max_iter=2000, random_state=0).fit(X)
    U, values, V = np.linalg.svd(X, full_matrices=False)
    shrunk = np.maximum(values[:3] - 0.5, 0.0)
    np.testing.assert_allclose(model.weights_ @ model.components_, U[:, :3] * shrunk @ V[:3], atol=1e-4)
    least = 0.5 * np.sum((values - np.append(shrunk, np.zeros(12))) ** 2) + 0.5 * np.sum(shrunk)
    assert model.objective_ == pytest.approx(least, rel=1e-8)


# errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings_", "X", "message"),
    [
        ({}, np.full((2, 2), NAN), "contains none"),
        ({}, sparse.csr_array((2, 2)), "contains none"),
        ({}, sparse.csr_array([[NAN, 1.0]]), "contains NaN"),
        ({}, np.array([[1.0, np.inf]]), "infinity"),
        ({}, np.empty((0, 2)), "minimum of 1 is required"),
        ({"n_components": 0}, HOLES, "n_components must be"),
        ({"alpha": -1.0}, HOLES, "alpha must be"),
        ({"tol": -1.0}, HOLES, "tol must be"),
    ],
)
def test_refuses_what_has_no_meaning(settings_, X, message):
    with pytest.raises(ValueError, match=message):
        AlternatingLeastSquares(**settings_).fit(X)


def test_refuses_pairs_that_are_not_there():
    model = AlternatingLeastSquares(1, random_state=0).fit(HOLES)
    with pytest.raises(ValueError, match="rows must be whole numbers from 0 to 3, got \\[4\\]"):
        model.predict_pairs([4], [0])
    with pytest.raises(ValueError, match="columns must be whole numbers from 0 to 2"):
        model.predict_pairs([0], [0.5])
