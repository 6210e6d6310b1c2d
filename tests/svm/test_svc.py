"""SVC: by hand, properties, against scikit-learn, errors."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import svm
from sklearn.datasets import load_iris, make_blobs, make_classification

import pellucid
from pellucid.kernels import RBF, GivenKernel, Linear, Polynomial
from pellucid.svm import SVC
from tests.proving import quiet_proof

SQUARE = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
DIAGONALS = np.array([0, 1, 1, 0])
seeds = pytest.mark.parametrize("seed", range(4))


def data(n=80, p=4, n_classes=3, seed=0):
    X, y = make_classification(
        n, p, n_informative=p, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1, flip_y=0.1, random_state=seed
    )
    return np.ascontiguousarray(X), y


def objectives(model, K, y, cost):
    """The primal and the dual objective of a machine of two classes, written out."""
    t = np.where(y == model.classes_[1], 1.0, -1.0)
    beta = np.zeros(len(y))
    beta[model.support_] = np.asarray(model.dual_coef_)[0]
    f = K @ beta + model.intercept_[0]
    length = beta @ K @ beta
    return 0.5 * length + cost @ np.maximum(0.0, 1.0 - t * f), t @ beta - 0.5 * length


# by hand


@pytest.mark.by_hand
def test_two_points_have_their_middle_as_border():
    # w = 2/|x - z| along the line: f(x) = x - 1 for the points 0 and 2
    model = SVC(kernel="linear", C=10.0).fit([[0.0], [2.0]], ["a", "b"])
    assert model.coef_[0, 0] == pytest.approx(1.0)
    assert model.intercept_[0] == pytest.approx(-1.0)
    assert model.dual_coef_[0].tolist() == pytest.approx([-0.5, 0.5])
    assert model.margin_width_[0] == pytest.approx(2.0)
    assert model.predict([[0.9], [1.1]]).tolist() == ["a", "b"]


def test_diagonals_of_a_square_are_separated_by_squared_products():
    # (1 + x'z)^2 is 9 for a corner with itself, 1 otherwise: 8 alpha = 1, and f = -x1 x2
    model = SVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(SQUARE, DIAGONALS)
    np.testing.assert_allclose(model.alphas_, np.full((1, 4), 0.125))
    np.testing.assert_allclose(model.decision_function(SQUARE), [-1.0, 1.0, 1.0, -1.0], atol=1e-12)
    assert model.margin_width_[0] == pytest.approx(2.0 / np.sqrt(0.5))  # |w|^2 = sum of alphas


def test_costs_at_their_bound_leave_a_range_for_the_intercept_and_its_middle_is_taken():
    # w = 2 alpha = 2 C = 0.2: both points are short of their margin, so b may be between -0.8 and 0.8
    model = SVC(kernel="linear", C=0.1).fit([[-1.0], [1.0]], [0, 1])
    np.testing.assert_allclose(model.coef_, [[0.2]])
    np.testing.assert_allclose(model.intercept_range_, [[-0.8, 0.8]])
    np.testing.assert_allclose(model.intercept_, [0.0], atol=1e-12)


def test_the_intercept_is_the_mean_of_what_free_support_vectors_ask_for():
    X, y = data(60, n_classes=2)
    model = SVC(tol=0.05).fit(X, y)
    K, beta = RBF(model.gamma_)(X), np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    asked = np.where(y == 1, 1.0, -1.0) - K @ beta
    free = (np.abs(beta) > 0.0) & (np.abs(beta) < 1.0)
    assert model.intercept_[0] == pytest.approx(asked[free].mean())
    np.testing.assert_array_equal(model.intercept_range_[0], model.intercept_[0])


def test_coefficients_stand_as_in_libsvm():
    model = SVC(kernel="linear", C=10.0).fit([[0.0], [2.0], [6.0]], [0, 1, 2])
    # each machine has the middle of its two points as border: alpha = 2 / distance^2
    near, far, wide = 0.5, 2.0 / 36.0, 2.0 / 16.0
    np.testing.assert_allclose(model.dual_coef_, [[near, -near, -far], [far, wide, -wide]])
    np.testing.assert_allclose(model.intercept_, [1.0, 1.0, 2.0])
    np.testing.assert_allclose(model.coef_, [[-1.0], [-1.0 / 3.0], [-0.5]])
    assert model.support_.tolist() == [0, 1, 2]
    assert model.n_support_.tolist() == [1, 1, 1]


def test_a_hard_margin_takes_no_account_of_cost():
    model = SVC(kernel="linear", C=float("inf")).fit([[-3.0], [-1.0], [3.0], [5.0]], [0, 0, 1, 1])
    np.testing.assert_allclose(model.coef_, [[0.5]], rtol=1e-3)
    np.testing.assert_allclose(model.intercept_, [-0.5], rtol=1e-3)
    assert model.support_.tolist() == [1, 2]
    assert model.certificate_.holds


def test_a_row_of_weight_two_is_two_rows():
    X, y = [[0.0], [1.0], [1.5], [3.0]], [0, 1, 0, 1]
    weighted = SVC(gamma=1.0).fit(X, y, sample_weight=[1, 2, 0, 1])
    repeated = SVC(gamma=1.0).fit([[0.0], [1.0], [1.0], [3.0]], [0, 1, 1, 1])
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-9, atol=1e-12)
    assert weighted.support_.tolist() == [0, 1, 3]


# properties


@pytest.mark.property
@seeds
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian"])
def test_weights_are_repetitions(seed, kernel):
    X, y = data(40, seed=seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(y))
    weighted = SVC(kernel=kernel, gamma=0.3).fit(X, y, sample_weight=weight)
    repeated = SVC(kernel=kernel, gamma=0.3).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-8)


@seeds
def test_the_gap_bounds_how_far_the_objective_is_above_its_minimum(seed):
    X, y = data(60, n_classes=2, seed=seed)
    K, cost = RBF(0.3)(X), np.full(len(y), 2.0)
    rough, precise = (SVC(C=2.0, gamma=0.3, tol=tol).fit(X, y) for tol in (1e-1, 1e-8))
    primal, dual = objectives(rough, K, y, cost)
    least = objectives(precise, K, y, cost)[0]
    assert dual <= least * (1 + 1e-9)
    assert primal - least <= rough.dual_gap_[0] + 1e-9
    assert rough.objective_[0] == pytest.approx(primal)
    assert rough.dual_gap_[0] == pytest.approx(primal - dual, abs=1e-9)
    assert rough.dual_gap_[0] <= 1e-3 * primal


@given(seed=st.integers(0, 50), C=st.sampled_from([1e-3, 1.0, 1e3]))
def test_the_order_of_the_rows_matters_only_within_the_tolerance(seed, C):
    X, y = data(30, n_classes=2, seed=seed)
    order = np.random.default_rng(seed).permutation(len(y))
    one, other = (SVC(C=C, gamma=0.5, tol=1e-7).fit(X[rows], y[rows]) for rows in (np.arange(len(y)), order))
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-4)


def test_kernels_named_given_computed_and_objects_agree():
    X, y = data()
    kinds = [
        (SVC(kernel="rbf", gamma=0.2, tol=1e-9), X),
        (SVC(kernel=RBF(0.2), tol=1e-9), X),
        (SVC(kernel=lambda A, B: RBF(0.2)(A, B), tol=1e-9), X),
        (SVC(kernel="precomputed", tol=1e-9), RBF(0.2)(X)),
        (SVC(kernel=GivenKernel(), tol=1e-9), RBF(0.2)(X)),
        (SVC(kernel="rbf", gamma=0.2, tol=1e-9), sparse.csr_array(X)),
    ]
    scores = [model.fit(rows, y).decision_function(rows) for model, rows in kinds]
    for other in scores[1:]:
        np.testing.assert_allclose(other, scores[0], atol=1e-6)
    assert all(pellucid.verify(model, rows, y).holds for model, rows in kinds)
    assert all(model.certificate_.grade == "optimal" for model, _ in kinds)  # shown by a Cholesky factor


def test_sums_of_kernels_are_taken():
    X, y = data()
    model = SVC(kernel=RBF(0.2) + 2 * Polynomial(2, coef0=1.0)).fit(X, y)
    assert model.certificate_.grade == "optimal"
    assert pellucid.verify(model, X, y).holds


def test_given_products_may_be_weighted():
    X, y = data(40)
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    given_products = SVC(kernel="precomputed", tol=1e-9).fit(RBF(0.2)(X), y, sample_weight=weight)
    rows = SVC(gamma=0.2, tol=1e-9).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(given_products.decision_function(RBF(0.2)(X)), rows.decision_function(X), atol=1e-6)
    assert set(given_products.support_) <= set(np.flatnonzero(weight))
    assert pellucid.verify(given_products, RBF(0.2)(X), y, sample_weight=weight).holds


def test_a_kernel_that_is_no_inner_product_is_stationary_and_shows_a_witness():
    X, y = data()
    model = SVC(kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X, y)
    assert model.certificate_.grade == "stationary"
    assert "no inner product" in model.certificate_.reason
    proof = pellucid.verify(model, X, y)
    assert proof.holds
    assert proof.grade == "stationary"
    assert "squared length -" in proof.reason


def test_same_scores_whatever_the_number_of_threads_and_blocks():
    X, y = data(300)
    model = SVC().fit(X, y)
    rows = np.random.default_rng(0).normal(size=(1000, 4))
    whole = model.decision_function(rows)
    np.testing.assert_allclose(whole, np.vstack([model.decision_function(rows[i : i + 7]) for i in range(0, 1000, 7)]))


def test_pickles_with_a_function_of_its_own():
    X, y = data(40)
    model = pickle.loads(pickle.dumps(SVC(kernel=dot).fit(X, y)))
    np.testing.assert_array_equal(model.predict(X), SVC(kernel=dot).fit(X, y).predict(X))


def dot(X, Z):
    return X @ Z.T


@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("kernel", ["linear", 2 * RBF(0.2) + Polynomial(2, coef0=1.0)])
def test_is_saved_with_its_kernel_and_loaded(rows, kernel, tmp_path):
    X, y = data()
    model = SVC(kernel=kernel, probability=True, random_state=0).fit(rows(X), y)
    pellucid.save(model, tmp_path / "model.safetensors")
    again = pellucid.load(tmp_path / "model.safetensors")
    assert again.kernel == kernel
    np.testing.assert_array_equal(again.predict_proba(rows(X)), model.predict_proba(rows(X)))
    assert pellucid.verify(again, rows(X), y).holds


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 0.0, 1: 2.0, 2: 1.0}])
def test_classes_may_weigh_differently(class_weight):
    X, y = data()
    model = SVC(class_weight=class_weight).fit(X, y)
    assert model.certificate_.holds
    assert pellucid.verify(model, X, y).holds


@pytest.mark.parametrize("C", [1e-6, 1e6])
@pytest.mark.parametrize("gamma", [0.0, 1e-8, 1e9])
def test_extreme_parameters_are_proved_too(C, gamma):
    X, y = data(40)
    model = SVC(C=C, gamma=gamma).fit(X, y)
    assert pellucid.verify(model, X, y).holds


def test_an_offset_of_the_rows_moves_the_intercept_only():
    X, y = data()
    near, far = (SVC(kernel="linear", tol=1e-6).fit(rows, y) for rows in (X, X + 1e7))
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-4)
    np.testing.assert_array_equal(far.predict(X + 1e7), near.predict(X))
    assert pellucid.verify(far, X + 1e7, y).holds
    broken = copy.copy(far)
    broken.intercept_ = far.intercept_ * (1 + 1e-9)
    assert "intercept" in {claim.name for claim in quiet_proof(broken, X + 1e7, y).failed}


def test_rows_that_are_all_the_same_leave_no_direction():
    model = SVC().fit(np.ones((6, 2)), [0, 0, 0, 1, 1, 1])
    assert model.certificate_.holds
    assert model.margin_width_[0] == np.inf


def test_fewer_rows_than_columns():
    X, y = make_classification(20, 200, n_informative=10, random_state=0)
    model = SVC(kernel="linear").fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.certificate_.holds


def test_verify_objects_to_rows_of_products_in_another_order():
    X, y = data(40)
    K = RBF(0.2)(X)
    model = SVC(kernel="precomputed").fit(K, y)
    broken = copy.copy(model)
    broken.support_ = model.support_[::-1].copy()
    assert quiet_proof(broken, K, y).failed


def test_verify_objects_to_an_intercept_within_the_tolerance():
    X, y = data(60)
    model = SVC().fit(X, y)
    broken = copy.copy(model)
    broken.intercept_ = model.intercept_ + 1e-6
    assert "intercept" in {claim.name for claim in quiet_proof(broken, X, y).failed}


def test_stopping_early_is_said():
    X, y = data()
    with pytest.warns(pellucid.UncertifiedWarning) as said:
        model = SVC(max_iter=3).fit(X, y)
    assert any("duality gap is" in str(warning.message) for warning in said)
    assert model.fit_status_ == 1
    assert (model.n_iter_ <= 3).all()


# against scikit-learn


@pytest.mark.peer
@seeds
@pytest.mark.parametrize(
    "kind", [{}, {"kernel": "linear"}, {"kernel": "poly", "coef0": 1.0}, {"C": 30.0}, {"class_weight": "balanced"}]
)
def test_same_machines_as_scikit_learn(seed, kind):
    X, y = data(seed=seed, n_classes=2 + seed % 3, p=5)
    ours, peer = (kind_of(tol=1e-8, decision_function_shape="ovo", **kind).fit(X, y) for kind_of in (SVC, svm.SVC))
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
    np.testing.assert_array_equal(ours.class_weight_, peer.class_weight_)
    assert ours.dual_coef_.shape[0] == peer.dual_coef_.shape[0]


@seeds
def test_dual_objective_is_no_worse_than_that_of_scikit_learn(seed):
    X, y = data(100, n_classes=2, seed=seed)
    K, cost = RBF(0.3)(X), np.full(len(y), 5.0)
    ours, peer = (kind(C=5.0, gamma=0.3).fit(X, y) for kind in (SVC, svm.SVC))
    assert objectives(ours, K, y, cost)[1] >= objectives(peer, K, y, cost)[1] * (1 - 2e-4)


@pytest.mark.parametrize("break_ties", [True, False])
def test_decision_function_of_classes_is_that_of_scikit_learn(break_ties):
    X, y = make_blobs(120, centers=5, cluster_std=3.0, random_state=0)
    ours, peer = (kind(tol=1e-8, break_ties=break_ties).fit(X, y) for kind in (SVC, svm.SVC))
    rows = np.random.default_rng(0).uniform(-15, 15, (500, 2))
    np.testing.assert_allclose(ours.decision_function(rows), peer.decision_function(rows), atol=1e-4)
    assert np.mean(ours.predict(rows) == peer.predict(rows)) > 0.995  # a score of 1e-9 may have either sign


def test_sparse_attributes_are_those_of_scikit_learn():
    X, y = load_iris(return_X_y=True)
    for rows in (sparse.csr_array(X), sparse.csr_matrix(X)):
        ours, peer = (kind(kernel="linear").fit(rows, y) for kind in (SVC, svm.SVC))
        for name in ("support_vectors_", "dual_coef_", "coef_"):
            assert type(getattr(ours, name)) is type(rows)
            assert getattr(ours, name).shape[0] == getattr(peer, name).shape[0]
        assert ours.n_iter_.shape == peer.n_iter_.shape
        np.testing.assert_array_equal(ours.predict(X), ours.predict(rows))


# errors


@pytest.mark.bad_input
def test_refuses_a_kernel_of_the_wrong_shape():
    with pytest.raises(ValueError, match=r"kernel must return a matrix of shape \(4, 4\).*got shape \(4, 2\)"):
        SVC(kernel=lambda X, Z: X).fit(SQUARE, DIAGONALS)


def test_refuses_a_kernel_with_nan():
    with pytest.raises(ValueError, match="kernel must return finite products, got nan"):
        SVC(kernel=lambda X, Z: np.full((4, 4), np.nan)).fit(SQUARE, DIAGONALS)


@pytest.mark.parametrize("kind", ["function", "precomputed"])
def test_refuses_an_asymmetric_kernel(kind):
    K = np.array([[1.0, 0.5], [0.1, 1.0]])
    model = SVC(kernel="precomputed" if kind == "precomputed" else lambda X, Z: K)
    with pytest.raises(ValueError, match="kernel must be symmetric"):
        model.fit(K, [0, 1])


def test_refuses_products_that_are_not_square_or_sparse():
    with pytest.raises(ValueError, match=r"X must be square.*got shape \(4, 2\)"):
        SVC(kernel="precomputed").fit(SQUARE, DIAGONALS)
    with pytest.raises(TypeError, match="Sparse precomputed kernels are not supported"):
        SVC(kernel="precomputed").fit(sparse.csr_array(np.eye(2)), [0, 1])


@pytest.mark.parametrize("weight", [None, [1, 1, 0, 0]])
def test_refuses_one_class(weight):
    y = [0, 0, 0, 0] if weight is None else [0, 0, 1, 1]
    with pytest.raises(ValueError, match="at least 2 classes.*got one class: 0"):
        SVC().fit(SQUARE, y, sample_weight=weight)


def test_refuses_a_hard_margin_of_classes_that_overlap():
    with pytest.raises(ValueError, match="C must be finite for classes that cannot be separated"):
        SVC(kernel="linear", C=float("inf")).fit(SQUARE, DIAGONALS)


def test_refuses_to_break_ties_between_pairs():
    model = SVC(break_ties=True, decision_function_shape="ovo").fit(*data())
    with pytest.raises(ValueError, match="break_ties must be False when decision_function_shape is 'ovo'"):
        model.predict(data()[0])


def test_refuses_sparse_rows_after_dense_ones():
    model = SVC().fit(SQUARE, DIAGONALS)
    with pytest.raises(ValueError, match="X must be dense for a SVC that was fitted to dense rows"):
        model.predict(sparse.csr_array(SQUARE))


def test_has_weights_only_for_a_linear_kernel():
    assert not hasattr(SVC().fit(SQUARE, DIAGONALS), "coef_")
    linear = SVC(kernel=Linear()).fit(SQUARE, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="read-only"):
        linear.coef_[0, 0] = 1.0
    with pytest.raises(AttributeError):
        linear.coef_ = np.ones(2)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"C": 0.0}, "C must be above 0, got 0.0"),
        ({"kernel": "cubic"}, "kernel must be"),
        ({"gamma": -1.0}, "gamma must be at least 0, got -1.0"),
        ({"degree": 2.5}, "degree must be a whole number, got 2.5"),
        ({"max_iter": -2}, "max_iter must be at least -1, got -2"),
        ({"probability": "maybe"}, "probability must be"),
    ],
)
def test_refuses_parameters_in_a_sentence(wrong, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        SVC(**wrong).fit(SQUARE, DIAGONALS)
