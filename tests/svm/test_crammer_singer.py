"""One machine for all classes: by hand, properties, against scikit-learn, errors."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import approx_fprime
from sklearn.callback import ScoringMonitor
from sklearn.datasets import load_iris, make_classification
from sklearn.svm import LinearSVC as Peer
from sklearn.utils.estimator_checks import parametrize_with_checks

import pellucid
from pellucid.svm import LinearSVC
from pellucid.svm.augmented_rows import AugmentedRows
from pellucid.svm.crammer_singer import CrammerSinger, nearest_shares


def together(**options):
    return LinearSVC(multi_class="crammer_singer", **options)


def data(n=100, n_classes=3, seed=0):
    return make_classification(n, 5, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.1, random_state=seed)


def objective(model, X, y, cost=1.0):
    """The objective of weights with one row per class, written out."""
    W, b = model.coef_, model.intercept_ / model.intercept_scaling
    scores = X @ W.T + model.intercept_
    each = np.arange(len(y))
    lacks = scores - scores[each, y][:, None] + 1.0
    lacks[each, y] = 0.0
    return 0.5 * np.sum(W**2) + 0.5 * np.sum(b**2) + np.sum(cost * lacks.max(axis=1))


# by hand


@pytest.mark.parametrize(("C", "weight"), [(10.0, 1.0), (0.1, 0.4)])
def test_two_points_without_intercept(C, weight):
    # u_1 = -u_0 = v: v^2 + 2C max(0, 1 - 2v) is least at v = min(1/2, 2C); coef_ is their difference 2v
    model = together(C=C, fit_intercept=False).fit([[-1.0], [1.0]], ["a", "b"])
    assert model.coef_ == pytest.approx(np.array([[weight]]), abs=1e-4)
    assert model.intercept_ == 0.0
    assert model.predict([[-3.0], [3.0]]).tolist() == ["a", "b"]


def test_shares_of_equal_scores_are_equal():
    np.testing.assert_allclose(nearest_shares(np.zeros((1, 4))), 0.25)


def test_derivatives_are_those_of_the_smoothed_loss():
    X, y = data(20)
    problem = CrammerSinger(AugmentedRows(X, 1.0), y, 3, np.linspace(0.5, 2.0, 20))
    w = 0.3 * np.random.default_rng(0).standard_normal(problem.size)
    loss = problem.loss(problem.scores(w), 0.5)

    def gradient(w):
        return w - problem.pull(problem.loss(problem.scores(w), 0.5).pull)

    H = problem.hessian(loss)
    np.testing.assert_allclose(H, approx_fprime(w, gradient, 1e-7), atol=1e-4)
    d = np.random.default_rng(1).standard_normal(problem.size)
    np.testing.assert_allclose(problem.hessian_product(loss, d), H @ d)
    np.testing.assert_allclose(problem.hessian_diagonal(loss), np.diag(H))


# properties


@settings(max_examples=15)
@given(st.integers(0, 1000))
def test_weights_are_repetitions(seed):
    X, y = data(40, seed=seed)
    weight = np.random.default_rng(seed).integers(0, 3, len(y))
    weighted = together(tol=1e-9).fit(X, y, sample_weight=weight)
    repeated = together(tol=1e-9).fit(X.repeat(weight, axis=0), y.repeat(weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)
    assert pellucid.verify(weighted, X, y, sample_weight=weight).holds


@settings(max_examples=15)
@given(st.lists(st.floats(-5, 5), min_size=2, max_size=6))
def test_nearest_shares_are_shares_and_nearest(row):
    r = np.array([row])
    p = nearest_shares(r)
    assert p.min() >= 0.0
    assert p.sum() == pytest.approx(1.0)
    corners = np.eye(len(row))  # the angle between r - p and any other share is not sharp
    assert np.all((corners - p) @ (r - p)[0] <= 1e-9)


def test_two_classes_have_one_row_and_their_certificate():
    X, y = data(n_classes=2)
    model = together().fit(X, y)
    assert model.coef_.shape == (1, 5)
    assert model.dual_coef_.shape == (1, len(y))
    assert pellucid.verify(model, X, y).holds


def test_sparse_and_dense_rows_agree():
    X, y = data()
    X[np.abs(X) < 0.5] = 0.0
    dense, thin = together(tol=1e-9).fit(X, y), together(tol=1e-9).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-3)
    assert pellucid.verify(thin, sparse.csr_array(X), y).holds


def test_many_columns_are_solved_by_conjugate_gradients():
    rng = np.random.default_rng(0)
    X, y = sparse.random_array((60, 800), density=0.05, rng=rng, format="csr"), rng.integers(0, 3, 60)
    model = together().fit(X, y)
    assert model.certificate_.holds
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("name", ["coef_", "intercept_", "dual_coef_"])
def test_a_broken_model_is_objected_to(name):
    X, y = data()
    model = together().fit(X, y)
    broken = copy.deepcopy(model)
    getattr(broken, name)[0] *= 1.1
    with pytest.warns(pellucid.UncertifiedWarning, match="above its bound"):
        assert not pellucid.verify(broken, X, y).holds


def test_dual_variables_must_add_up_to_zero_in_each_row():
    X, y = data()
    model = together(C=2.0).fit(X, y)
    model.dual_coef_[0, 7] -= 0.5
    with pytest.warns(pellucid.UncertifiedWarning):
        assert pellucid.verify(model, X, y)["dual feasibility"].value == pytest.approx(0.25)


def test_a_stopped_fit_warns_and_lost_dual_variables_prove_nothing():
    X, y = data()
    with pytest.warns(pellucid.UncertifiedWarning, match="duality gap.*Raise max_iter"):
        together(max_iter=1).fit(X, y)
    model = together().fit(X, y)
    del model.dual_coef_
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, X, y).holds


def test_saves_and_loads(tmp_path):
    X, y = data()
    for model in (together().fit(X, y), together().fit(X, y == 1)):
        pellucid.save(model, tmp_path / "model.safetensors")
        again = pellucid.load(tmp_path / "model.safetensors")
        np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_callbacks_score_every_iterate():
    X, y = data()
    monitor = ScoringMonitor(scoring="accuracy")
    model = together().set_callbacks(monitor).fit(X, y)
    assert monitor.get_logs().data[-1]["accuracy"] == pytest.approx(model.score(X, y), abs=0.05)


# peer


@parametrize_with_checks([together()])
def test_passes_the_checks_of_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pellucid.UncertifiedWarning)  # some checks stop fits early
        check(estimator)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"C": 0.01},
        {"fit_intercept": False},
        {"intercept_scaling": 10.0},
        {"class_weight": {0: 1.0, 1: 3.0, 2: 0.5}},
        {"class_weight": "balanced"},
        {"penalty": "l1", "loss": "hinge", "dual": False},  # not used, as in scikit-learn
    ],
    ids=str,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_same_answer_as_scikit_learn(options, n_classes):
    X, y = data(n_classes=n_classes)
    if isinstance(options.get("class_weight"), dict):
        options = {"class_weight": {k: options["class_weight"][k] for k in range(n_classes)}}
    ours = together(tol=1e-9, **options).fit(X, y)
    peer = Peer(multi_class="crammer_singer", tol=1e-8, max_iter=1_000_000, random_state=0, **options).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=2e-3)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=2e-3)
    assert np.mean(ours.predict(X) == peer.predict(X)) >= 0.95  # where two wrong classes tie, rounding decides


def test_objective_is_no_worse_than_scikit_learns():
    X, y = load_iris(return_X_y=True)
    ours, peer = together().fit(X, y), Peer(multi_class="crammer_singer", tol=1e-6, max_iter=100_000).fit(X, y)
    assert objective(ours, X, y) <= objective(peer, X, y) * (1 + 1e-6)


# errors


def test_refuses_one_class_and_shows_no_work():
    with pytest.raises(ValueError, match="y must hold at least 2 classes"):
        together().fit([[0.0], [1.0]], [1, 1])
    with pytest.raises(ValueError, match="multi_class must be one of.*one machine per class"):
        pellucid.show_work(together(), [[0.0], [1.0]], [0, 1])
