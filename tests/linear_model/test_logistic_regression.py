"""LogisticRegression: by hand, properties, against scikit-learn, errors."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.metrics import log_loss
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler

import pellucid
from pellucid.linear_model import LogisticRegression
from pellucid.linear_model.logistic.logistic_objective import LogisticObjective
from pellucid.linear_model.sparse_regression.elastic_net_subproblem import ElasticNetPenalty
from pellucid.proofs.linear_model import logistic
from pellucid.proofs.linear_model.logistic import _balanced
from tests.proving import quiet_proof

seeds = pytest.mark.parametrize("seed", range(3))
n_classes = pytest.mark.parametrize("k", [2, 3, 5])
PENALTIES = {"l2": {}, "l1": {"l1_ratio": 1.0, "solver": "saga"}, "elastic": {"l1_ratio": 0.4, "solver": "saga"}}
penalties = pytest.mark.parametrize("penalty", PENALTIES)


def problem(seed=0, n=120, p=5, k=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * np.linspace(0.5, 2.0, p) + np.arange(p)
    logits = (X - X.mean(axis=0)) @ rng.standard_normal((p, k))
    return X, np.argmax(logits + rng.gumbel(size=(n, k)), axis=1)


def objective(model, X, y, weight=None):
    logits = np.asarray(X @ model.coef_.T + model.intercept_)
    logits = np.column_stack([np.zeros(len(logits)), logits]) if logits.shape[1] == 1 else logits
    largest = logits.max(axis=1)
    loss = np.log(np.exp(logits - largest[:, None]).sum(axis=1)) + largest - logits[np.arange(len(y)), y]
    weight = np.ones(len(y)) if weight is None else weight
    w = model.coef_
    penalty = model.l1_ratio * np.abs(w).sum() + 0.5 * (1 - model.l1_ratio) * np.sum(w**2)
    return model.C * weight @ loss + penalty


def peer(**params):
    return Peer(**{"tol": 1e-10, "max_iter": 50_000, "random_state": 0, **params})


# by hand


@pytest.mark.by_hand
def test_without_features_that_tell_the_odds_are_those_of_the_labels():
    model = LogisticRegression().fit([[2.0]] * 4, [0, 1, 1, 1])
    assert model.coef_ == pytest.approx(np.zeros((1, 1)))
    assert model.intercept_ == pytest.approx([math.log(3)])


def test_one_row_per_class_solves_the_scalar_equation():
    # X = -1, 1 and C = 1: the minimum of 2 log(1 + e^-w) + w^2/2 has w (1 + e^w) = 2, so w = 0.74...
    w = LogisticRegression(tol=1e-12).fit([[-1.0], [1.0]], [0, 1]).coef_[0, 0]
    assert w * (1 + math.exp(w)) == pytest.approx(2.0, abs=1e-8)


def test_weights_without_a_penalty_are_the_log_odds_ratio():
    # x = 0: 3 of 4 are ones; x = 1: 1 of 4. The odds fall from 3 to 1/3, so w = -log 9 and b = log 3.
    X, y = [[0.0]] * 4 + [[1.0]] * 4, [1, 1, 1, 0, 1, 0, 0, 0]
    model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.coef_[0, 0] == pytest.approx(-math.log(9))
    assert model.intercept_[0] == pytest.approx(math.log(3))


def test_a_large_l1_penalty_leaves_only_the_intercept():
    # |x'(p - y)| at w = 0 is |(-1)(1/3 - 0) + ...| = 4/3 with p = 2/3; below that C the coefficient is 0
    X, y = [[-1.0], [0.0], [1.0]], [0, 1, 1]
    threshold = 1.0  # 1 / |sum_i x_i (p - y_i)| = 1 / |-2/3 - 1/3|
    below = LogisticRegression(l1_ratio=1, solver="saga", C=0.99 * threshold).fit(X, y)
    above = LogisticRegression(l1_ratio=1, solver="saga", C=1.05 * threshold).fit(X, y)
    assert below.coef_[0, 0] == 0.0
    assert below.intercept_ == pytest.approx([math.log(2)])
    assert above.coef_[0, 0] > 0.0


def test_the_gap_of_a_model_that_never_moved_is_worked_by_hand():
    # W = 0, b = 0: P = 2 log 2, the pull of the only feature is 2 * (1/2) = 1, D = 2 log 2 - 1/2, gap 1/2
    X, y = [[-1.0], [1.0]], [0, 1]
    with pytest.warns(pellucid.UncertifiedWarning, match="duality gap is 0.5"):
        model = LogisticRegression(max_iter=0).fit(X, y)
    assert model.dual_gap_ == pytest.approx(0.5)


# properties


@seeds
@n_classes
@penalties
def test_is_certified_and_verified(seed, k, penalty):
    X, y = problem(seed, k=k)
    model = LogisticRegression(**PENALTIES[penalty]).fit(X, y)
    assert model.certificate_.grade == "optimal"
    proof = pellucid.verify(model, X, y)
    assert proof.holds
    assert proof["duality gap"].bound <= 1.001e-6 * objective(model, X, y)


@given(st.integers(0, 10_000), st.sampled_from(list(PENALTIES)), st.integers(2, 4), st.booleans())
@settings(max_examples=25, deadline=None)
def test_the_gap_is_never_too_small(seed, penalty, k, fit_intercept):
    X, y = problem(seed % 5, n=40, p=3, k=k)
    params = {"fit_intercept": fit_intercept, "tol": 1e-12, **PENALTIES[penalty]}
    best = LogisticRegression(**params).fit(X, y)
    least = objective(best, X, y)
    moved = LogisticRegression(**params).fit(X, y)
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-6, 1)
    moved.coef_ = moved.coef_ + size * rng.standard_normal(moved.coef_.shape)
    if fit_intercept:
        moved.intercept_ = moved.intercept_ + size * rng.standard_normal(moved.intercept_.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pellucid.UncertifiedWarning)
        gap = pellucid.verify(moved, X, y)["duality gap"].value
    excess = objective(moved, X, y) - least
    assert gap >= excess * (1 - 1e-6) - 1e-9 * least


@n_classes
@pytest.mark.parametrize("shift", [0.0, 1e-3, 5.0, 30.0])
def test_the_proof_uses_probabilities_with_the_right_sums_however_far_the_intercept_is(k, shift):
    X, y = problem(0, k=k)
    Z, columns = X @ np.random.default_rng(0).standard_normal((X.shape[1], k)), slice(1, 2) if k == 2 else slice(None)
    Y, weight = np.eye(k)[y][:, columns], np.linspace(0.5, 2.0, len(y))
    R = _balanced(Z[:, columns], shift * np.arange(k)[columns], y, weight, k)
    np.testing.assert_allclose(weight @ R, 0.0, atol=1e-14 * (weight @ np.abs(R)).max())
    assert np.all((R + Y >= 0.0) & (R + Y <= 1.0))


@pytest.mark.property
@n_classes
@penalties
def test_weights_are_repetitions(k, penalty):
    X, y = problem(1, k=k)
    times = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = LogisticRegression(tol=1e-12, **PENALTIES[penalty]).fit(X, y, sample_weight=times)
    repeated = LogisticRegression(tol=1e-12, **PENALTIES[penalty]).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-6)
    assert pellucid.verify(weighted, X, y, sample_weight=times).holds


@n_classes
@penalties
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.coo_array])
def test_sparse_data_give_the_answer_of_dense_data(k, penalty, form):
    X, y = problem(2, k=k)
    X[np.abs(X) < 1.0] = 0.0
    dense = LogisticRegression(tol=1e-12, **PENALTIES[penalty]).fit(X, y)
    model = LogisticRegression(tol=1e-12, **PENALTIES[penalty]).fit(form(X), y)
    np.testing.assert_allclose(model.coef_, dense.coef_, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(form(X)), dense.predict_proba(X), atol=1e-6)
    assert pellucid.verify(model, form(X), y).holds


@pytest.mark.parametrize("k", [2, 3])
def test_many_sparse_features_are_certified_by_conjugate_gradients(k):
    rng = np.random.default_rng(0)
    X = sparse.random_array((600, 900), density=0.02, rng=rng, format="csr")
    y = rng.integers(0, k, 600)
    model = LogisticRegression(C=10.0).fit(X, y)
    assert model.solver_ == "newton-cg"
    assert pellucid.verify(model, X, y).holds


def test_many_rows_start_on_few_of_them_and_end_on_all():
    X, y = problem(0, n=20_000)
    model = LogisticRegression().fit(X, y)
    rows = model.trace_["rows"]
    assert rows[0] < rows[-1] == len(y)
    on_all = model.trace_["objective"][rows == len(y)]
    assert np.all(np.diff(on_all) <= 1e-9 * on_all[0])
    assert pellucid.verify(model, X, y).holds


@n_classes
def test_many_rows_with_an_l1_penalty_are_certified(k):
    X, y = problem(0, n=6_000, k=k)
    model = LogisticRegression(C=0.01, l1_ratio=1.0, solver="saga").fit(X, y)
    assert pellucid.verify(model, X, y).holds


def test_classes_too_wide_to_move_together_are_moved_in_turn():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((150, 400)), rng.integers(0, 4, 150)
    model = LogisticRegression(C=1.0, l1_ratio=1.0, solver="saga").fit(X, y)
    assert np.count_nonzero(np.any(model.coef_ != 0, axis=0)) * 4 > 600
    assert pellucid.verify(model, X, y).holds


@penalties
def test_float32_in_float32_out(penalty):
    X, y = problem(3, k=3)
    model = LogisticRegression(**PENALTIES[penalty]).fit(X.astype(np.float32), y)
    assert model.coef_.dtype == model.intercept_.dtype == model.predict_proba(X.astype(np.float32)).dtype == np.float32
    assert pellucid.verify(model, X.astype(np.float32), y).holds
    np.testing.assert_allclose(model.coef_, LogisticRegression(**PENALTIES[penalty]).fit(X, y).coef_, atol=2e-3)


@penalties
def test_a_large_mean_costs_no_digits(penalty):
    X, y = problem(4)
    X = np.round(X * 1024) / 1024  # so that adding 1e8 is exact
    near = LogisticRegression(tol=1e-12, **PENALTIES[penalty]).fit(X, y)
    far = LogisticRegression(tol=1e-12, **PENALTIES[penalty]).fit(X + 1e8, y)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-5, atol=1e-7)
    assert pellucid.verify(far, X + 1e8, y).holds


@penalties
def test_a_large_mean_of_several_classes_is_certified_and_verified(penalty):
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(**PENALTIES[penalty]).fit(X + 1e8, y)
    assert model.certificate_.holds
    assert pellucid.verify(model, X + 1e8, y).holds


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@penalties
def test_scaling_the_features_scales_the_unpenalized_fit_and_keeps_the_certificate(scale, penalty):
    X, y = problem(5)
    model = LogisticRegression(**PENALTIES[penalty]).fit(X * scale, y)
    assert pellucid.verify(model, X * scale, y).holds
    free, scaled = LogisticRegression(C=np.inf).fit(X, y), LogisticRegression(C=np.inf).fit(X * scale, y)
    np.testing.assert_allclose(scaled.coef_ * scale, free.coef_, rtol=1e-4)


def test_constant_columns_get_no_coefficient():
    X, y = problem(6)
    model = LogisticRegression().fit(np.column_stack([X, np.full(len(y), 7.0)]), y)
    assert model.coef_[0, -1] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(model.coef_[:, :-1], LogisticRegression().fit(X, y).coef_, atol=1e-6)


@penalties
def test_separable_data_with_a_weak_penalty_are_certified(penalty):
    X, _ = problem(7)
    y = (X[:, 0] > X[:, 0].mean()).astype(int)
    assert LogisticRegression(C=1e4, **PENALTIES[penalty]).fit(X, y).certificate_.holds


def test_separable_data_without_a_penalty_are_pointed_out():
    X, _ = problem(7)
    y = (X[:, 0] > X[:, 0].mean()).astype(int)
    with pytest.warns(pellucid.UncertifiedWarning, match="can be separated.*finite C"):
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.score(X, y) == 1.0
    with pytest.warns(pellucid.UncertifiedWarning, match="can be separated"):
        assert not pellucid.verify(model, X, y).holds


def test_one_separable_class_of_three_is_pointed_out():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(pellucid.UncertifiedWarning, match="can be separated"):
        LogisticRegression(C=np.inf).fit(X, y)


@n_classes
def test_without_a_penalty_the_gradient_vanishes(k):
    X, y = problem(8, n=400, k=k)
    model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.certificate_.grade == "stationary"
    assert pellucid.verify(model, X, y).holds
    indicator = y[:, None] == np.arange(k)
    difference = model.predict_proba(X) - indicator
    np.testing.assert_allclose(X.T @ difference, 0.0, atol=1e-4)
    np.testing.assert_allclose(difference.sum(axis=0), 0.0, atol=1e-6)


@pytest.mark.parametrize("attribute", ["coef_", "intercept_", "dual_gap_"])
@penalties
def test_verify_objects_to_a_nudged_model(attribute, penalty):
    X, y = problem(9, k=3)
    model = LogisticRegression(**PENALTIES[penalty]).fit(X, y)
    value = getattr(model, attribute)
    setattr(model, attribute, value + 0.01 if attribute == "dual_gap_" else value * 1.001)
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, X, y).holds


@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("solver", ["lbfgs", "liblinear"])
@pytest.mark.parametrize("attribute", ["coef_", "intercept_"])
@pytest.mark.parametrize("change", [-1e154, 1e200, -1e100, 0.0, np.nan, np.inf])
def test_verify_objects_to_a_wild_model(attribute, change, solver, C):
    X, y = problem(9, n=400)
    model = LogisticRegression(C=1.0 if solver == "liblinear" else C, solver=solver).fit(X, y)
    setattr(model, attribute, getattr(model, attribute) * change)
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, X, y).holds


def test_verify_objects_to_an_intercept_where_there_is_none():
    X, y = problem(9)
    model = LogisticRegression(fit_intercept=False).fit(X, y)
    before = objective(model, X, y)
    model.intercept_ = 1e-3 * np.sign(np.sum(y - model.predict_proba(X)[:, 1], keepdims=True))
    assert objective(model, X, y) < before  # so that no gap shows it
    with pytest.warns(pellucid.UncertifiedWarning, match="intercept is .* above its bound 0"):
        assert not pellucid.verify(model, X, y).holds


def test_what_a_fit_claims_is_measured_on_what_it_stores():
    X, y = problem(4)
    for data in (X + 1e8, X.astype(np.float32) + np.float32(1e4)):
        model = LogisticRegression().fit(data, y)
        assert [claim.name for claim in model.certificate_.claims] == ["duality gap"]
        proof = pellucid.verify(model, data, y)
        assert proof["reported gap"].holds
        scale = proof["duality gap"].bound
        assert model.certificate_["duality gap"].value == pytest.approx(proof["duality gap"].value, abs=scale, rel=0.1)


def test_balance_is_that_of_the_classes_that_have_rows_of_positive_weight():
    X, y = problem(15, k=3)
    weight = np.where(y == 2, 0.0, 1.0)
    model = LogisticRegression(class_weight="balanced").fit(X, y, sample_weight=weight)
    assert model.certificate_.holds
    assert pellucid.verify(model, X, y, sample_weight=weight).holds


def test_verify_objects_to_a_nudged_model_without_a_penalty():
    X, y = problem(9)
    model = LogisticRegression(C=np.inf).fit(X, y)
    model.coef_ = model.coef_ * 1.001
    with pytest.warns(pellucid.UncertifiedWarning, match="gradient"):
        assert not pellucid.verify(model, X, y).holds


def test_a_warm_start_at_the_answer_needs_one_step():
    X, y = problem(10, k=3)
    model = LogisticRegression(warm_start=True).fit(X, y)
    cold, coef = int(model.n_iter_[0]), model.coef_
    model.fit(X, y)
    assert model.n_iter_[0] == 1 < cold
    np.testing.assert_allclose(model.coef_, coef, atol=1e-8)


def test_probabilities_stay_accurate_where_they_underflow():
    model = LogisticRegression().fit(*problem(11))
    model.coef_, model.intercept_ = np.array([[1.0, 0, 0, 0, 0]]), np.array([0.0])
    far = np.array([[800.0, 0, 0, 0, 0]])
    assert model.predict_log_proba(far)[0] == pytest.approx([-800.0, 0.0])
    assert model.predict_proba(far)[0] == pytest.approx([0.0, 1.0])


def test_sparse_coefficients_predict_and_verify_alike():
    X, y = problem(12, k=3)
    model = LogisticRegression(C=0.05, l1_ratio=1.0, solver="saga").fit(X, y)
    before = model.predict_proba(X)
    assert sparse.issparse(model.sparsify().coef_)
    np.testing.assert_allclose(model.predict_proba(X), before)
    np.testing.assert_allclose(model.predict_proba(sparse.csr_array(X)), before)
    assert pellucid.verify(model, X, y).holds
    assert isinstance(model.densify().coef_, np.ndarray)


# peer


@pytest.mark.peer
@n_classes
@penalties
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [0.05, 5.0])
def test_same_answer_as_scikit_learn(k, penalty, fit_intercept, C):
    X, y = problem(13, k=k)
    X = StandardScaler().fit_transform(X)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    params = {"C": C, "fit_intercept": fit_intercept, **PENALTIES[penalty]}
    ours = LogisticRegression(**params).fit(X, y, sample_weight=weight)
    theirs = peer(**params).fit(X, y, sample_weight=weight)
    best = objective(theirs, X, y, weight)
    assert objective(ours, X, y, weight) <= best * (1 + 1e-9)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-4)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    assert ours.coef_.shape == theirs.coef_.shape
    assert ours.intercept_.shape == theirs.intercept_.shape


@pytest.mark.parametrize("ratio", [0.0, 1.0])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_liblinear_penalizes_its_intercept(ratio, form):
    X, y = problem(14)
    params = {"solver": "liblinear", "l1_ratio": ratio, "C": 0.1, "intercept_scaling": 3.0}
    ours, theirs = LogisticRegression(**params).fit(form(X), y), peer(**params).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    assert pellucid.verify(ours, form(X), y).holds


def test_the_default_is_right_where_that_of_scikit_learn_is_ten_percent_off():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    exact = Peer(C=100.0, solver="newton-cholesky", tol=1e-12, max_iter=1000).fit(X, y)
    ours = LogisticRegression(C=100.0).fit(X, y)
    assert np.abs(ours.coef_ - exact.coef_).max() <= 1e-5 * np.abs(exact.coef_).max()


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1.0, 1: 3.0, 2: 0.5}])
def test_class_weights_mean_what_they_mean_in_scikit_learn(class_weight):
    X, y = problem(15, k=3)
    ours = LogisticRegression(class_weight=class_weight).fit(X, y)
    theirs = peer(class_weight=class_weight).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert pellucid.verify(ours, X, y).holds


@pytest.mark.parametrize(
    ("penalty", "params"),
    [
        ("l1", {"l1_ratio": 1, "solver": "saga"}),
        ("l2", {}),
        ("elasticnet", {"l1_ratio": 0.5, "solver": "saga"}),
        (None, {}),
    ],
)
def test_the_deprecated_penalty_still_works(penalty, params):
    X, y = problem(16, n=300)
    with pytest.warns(FutureWarning, match="penalty"):
        ours = LogisticRegression(penalty=penalty, **params).fit(X, y)
    with pytest.warns(FutureWarning, match="penalty"):
        theirs = peer(penalty=penalty, **params).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


def test_labels_may_be_words_and_one_vs_rest_works():
    X, y = problem(17, k=3)
    words = np.array(["ash", "elm", "oak"])[y]
    model = LogisticRegression().fit(X, words)
    assert list(model.classes_) == ["ash", "elm", "oak"]
    assert pellucid.verify(model, X, words).holds
    one_vs_rest = OneVsRestClassifier(LogisticRegression(solver="liblinear")).fit(X, words)
    assert one_vs_rest.score(X, words) > 0.5


# errors


@pytest.mark.bad_input
def test_refuses_one_class():
    with pytest.raises(ValueError, match="at least 2 classes of positive weight, got one class: 1"):
        LogisticRegression().fit([[0.0], [1.0]], [1, 1])
    with pytest.raises(ValueError, match="got one class: 0"):
        LogisticRegression().fit([[0.0], [1.0]], [0, 1], sample_weight=[1.0, 0.0])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"l1_ratio": 1.0}, "solver must be 'saga' or 'liblinear' for an l1 penalty"),
        ({"l1_ratio": 0.5, "solver": "liblinear"}, "solver must be 'saga' for l1_ratio between"),
        ({"dual": True}, "solver must be 'liblinear' for dual=True"),
        ({"dual": True, "solver": "liblinear", "l1_ratio": 1.0}, "dual must be False for an l1 penalty"),
        ({"C": np.inf, "solver": "liblinear"}, "C must be finite for solver 'liblinear'"),
        ({"C": 0.0}, "C must be above 0, got 0.0. C=np.inf means no penalty."),
        ({"l1_ratio": 1.5}, "l1_ratio must be between 0 and 1"),
        ({"tol": -1.0}, "tol must be at least 0"),
        ({"solver": "adam"}, "solver must be one of"),
        ({"max_iter": -1}, "max_iter must be at least 0"),
        ({"class_weight": "even"}, "class_weight must be None, 'balanced' or a dict, got 'even'"),
    ],
)
def test_refuses_what_makes_no_sense(params, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        LogisticRegression(**params).fit(*problem())


def test_refuses_liblinear_with_three_classes():
    with pytest.raises(ValueError, match="solver must not be 'liblinear' for more than 2 classes, got 3"):
        LogisticRegression(solver="liblinear").fit(*problem(k=3))


def test_verify_refuses_labels_that_were_not_fitted():
    X, y = problem()
    with pytest.raises(ValueError, match=r"y must hold only the labels \[0, 1\] of the fit"):
        pellucid.verify(LogisticRegression().fit(X, y), X, y + 1)


def test_a_tolerance_of_zero_goes_down_to_rounding():
    X, y = problem(n=20_000, p=40)
    assert LogisticRegression(tol=0.0).fit(X, y).certificate_.holds


def test_warns_when_it_runs_out_of_steps():
    with pytest.warns(ConvergenceWarning, match="duality gap is .* Raise max_iter"):
        LogisticRegression(max_iter=1).fit(*problem())


def test_columns_of_very_different_size_are_proved_to_rounding():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 4)) * [1e-6, 1.0, 1e6, 1e6]
    y = (X[:, 2] / 1e6 + rng.logistic(size=20_000) > 0).astype(int)
    model = LogisticRegression(C=1e4, class_weight="balanced").fit(X, y)
    assert pellucid.verify(model, X, y).holds
    model.dual_gap_ += 1e-6 * model.trace_["objective"][-1]
    with pytest.warns(pellucid.UncertifiedWarning, match="reported gap"):
        pellucid.verify(model, X, y)


@n_classes
def test_a_strong_l1_penalty_leaves_nothing_but_the_odds(k):
    X, y = problem(k=k)
    model = LogisticRegression(C=1e-4, l1_ratio=1.0, solver="saga").fit(X, y)
    assert not model.coef_.any()
    np.testing.assert_allclose(model.predict_proba(X[:1])[0], np.bincount(y) / len(y))
    assert model.certificate_.holds


@pytest.mark.parametrize("options", [{}, {"l1_ratio": 0.5, "solver": "saga"}, {"fit_intercept": False}], ids=str)
def test_a_large_tol_stops_where_the_slope_is_small_and_says_how_far_from_the_minimum(options):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 30)) @ rng.standard_normal((30, 30))
    y = np.argmax(X[:, :3] + 3 * rng.standard_normal((3000, 3)), axis=1)
    rough, fine = (LogisticRegression(tol=tol, **options).fit(X, y) for tol in (0.1, 1e-4))
    assert rough.n_iter_ < fine.n_iter_
    assert rough.certificate_.grade == "stationary"
    assert rough.certificate_.holds
    assert rough.certificate_["slope"].value <= 0.1
    assert "above its minimum" in rough.certificate_.reason
    proof = pellucid.verify(rough, X, y)
    assert proof.holds
    assert proof["slope"].value == pytest.approx(rough.certificate_["slope"].value)
    rough.coef_[0, 0] += 1.0
    assert not quiet_proof(rough, X, y).holds


def test_the_slope_of_one_weight_by_hand():
    # one column x = (1, -1, 1, -1), y = (1, 0, 0, 0), w = 0 and no intercept: p = 1/2, gradient (-1 + 1 + 1 - 1)/2 = 0
    # with x = (2, 0, 0, 0): (1/2 - 1) 2 = -1, and the mean over 4 rows is 1/4
    task = LogisticObjective(
        np.array([[2.0], [0.0], [0.0], [0.0]]), np.array([1, 0, 0, 0]), np.arange(2), np.ones(4),
        ElasticNetPenalty(0.0, 1.0), False,
    )  # fmt: skip
    assert task.steepest(np.array([[-1.0]]), np.array([[0.0]])) == 0.25
    # at w = 1/2 the penalty takes half of it; an l1 penalty of 3/4 all but a quarter
    assert task.steepest(np.array([[-1.0]]), np.array([[0.5]])) == 0.125
    lasso = replace(task, penalty=ElasticNetPenalty(0.75, 0.0))
    assert lasso.steepest(np.array([[-1.0]]), np.array([[0.0]])) == 0.0625


@pytest.mark.parametrize("C", [1e6, 1e11, 1e13])
@pytest.mark.parametrize("factor", [0.98, 1.02])
def test_the_gap_of_separated_classes_is_no_less_than_the_excess_however_small_the_residuals(C, factor):
    X, y = load_iris(return_X_y=True)
    X, y = X[:100], y[:100]  # the first two kinds can be separated
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pellucid.UncertifiedWarning)
        model = LogisticRegression(C=C).fit(X, y)

    def objective():
        margins = np.where(y == 1, 1.0, -1.0) * model.decision_function(X)
        return C * np.log1p(np.exp(-margins)).sum() + 0.5 * float(np.sum(model.coef_**2))

    least = objective()
    model.coef_, model.intercept_ = factor * model.coef_, factor * model.intercept_
    proof = quiet_proof(model, X, y)
    assert proof["duality gap"].value >= 0.99 * (objective() - least) > 1e-6 * least
    assert not proof["duality gap"].holds


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("l1_ratio", [0.5, 1.0])
def test_columns_of_large_numbers_in_float32_are_certified_and_a_change_of_a_hundredth_is_not(l1_ratio, fit_intercept):
    # rounded to float32, the coefficients are 1e-12 above the minimum, but their own dual point only shows 1e-4
    X, y = load_wine(return_X_y=True)
    X = X.astype(np.float32)
    model = LogisticRegression(solver="saga", l1_ratio=l1_ratio, fit_intercept=fit_intercept).fit(X, y)
    assert model.certificate_.holds
    assert pellucid.verify(model, X, y).holds
    model.coef_.flat[np.abs(model.coef_).argmax()] *= 1.01
    with pytest.warns(pellucid.UncertifiedWarning, match="gap is"):
        assert not pellucid.verify(model, X, y).holds


def test_a_lower_bound_above_the_objective_is_an_error_not_a_gap_of_0(monkeypatch):
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = LogisticRegression().fit(X, y)
    dual_value = logistic._dual_value
    monkeypatch.setattr(logistic, "_dual_value", lambda *task: 1.01 * dual_value(*task))
    with pytest.warns(pellucid.UncertifiedWarning):
        certificate = pellucid.verify(model, X, y)
    assert not certificate["duality gap"].holds
    assert "the lower bound" in certificate["duality gap"].statement


@pytest.mark.parametrize("tol", [1e-2, 1e-3])
def test_a_rough_answer_has_an_objective_no_worse_than_that_of_scikit_learn(tol):
    X, y = load_digits(return_X_y=True)
    X = X / 16.0

    def objective(model):
        return log_loss(y, model.predict_proba(X), normalize=False) + (model.coef_**2).sum() / 2.0

    ours, peer = (kind(tol=tol, max_iter=1000).fit(X, y) for kind in (LogisticRegression, Peer))
    assert objective(ours) <= objective(peer)
