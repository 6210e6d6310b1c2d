"""One machine for all classes: by hand, properties, against scikit-learn, errors."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace

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
from pellucid.core.fit import Effort
from pellucid.solvers.newton import NewtonDescent, centered_newton
from pellucid.svm import LinearSVC
from pellucid.svm.augmented_rows import AugmentedRows
from pellucid.svm.linear_svc import crammer_singer, crammer_singer_solver
from pellucid.svm.linear_svc.crammer_singer import Contrasts, CrammerSinger, SharedRows
from pellucid.svm.linear_svc.crammer_singer_solver import crammer_singer_descent
from pellucid.svm.svm_kernels import (
    bend_pass,
    best_row_step,
    csr_descent_pass,
    dense_descent_pass,
    inner_product,
    largest_excess_pass,
    shares_level,
)


def together(**options):
    return LinearSVC(multi_class="crammer_singer", **options)


def data(n=100, n_classes=3, seed=0):
    return make_classification(n, 5, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.1, random_state=seed)


def nearest_shares(r):
    return np.maximum(r - shares_level(r, len(r)), 0.0)


def written_problem(n=20, n_classes=3, *, constant=1.0, thin=False):
    X, y = data(n, n_classes)
    rows = AugmentedRows(sparse.csr_array(X) if thin else X, constant)
    center = np.random.default_rng(2).dirichlet(np.ones(n_classes), n)
    return CrammerSinger(rows, y, np.linspace(0.5, 2.0, n), center)


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
    np.testing.assert_allclose(nearest_shares(np.zeros(4)), 0.25)


def test_shares_of_scores_far_apart_are_few():
    np.testing.assert_allclose(nearest_shares(np.array([0.5, 0.25, 0.25])), [0.5, 0.25, 0.25])
    np.testing.assert_allclose(nearest_shares(np.array([3.0, 1.0, 1.0])), [1.0, 0.0, 0.0])
    np.testing.assert_allclose(nearest_shares(np.array([1.0, 0.5, -9.0])), [0.75, 0.25, 0.0])


@pytest.mark.parametrize("settle", [best_row_step, best_row_step.py_func])
def test_one_row_alone_takes_the_step_that_is_best(settle):
    # two classes, a = 1, c = 1: D = p - p^2, where p is the share of the other class, is largest at p = 1/2
    shares, scores = np.array([1.0, 0.0]), np.zeros(2)
    settle(shares, np.array([0, 1]), 0, 1.0, scores)
    np.testing.assert_allclose(shares, 0.5)
    np.testing.assert_allclose(scores, [0.5, -0.5])  # what each class lost is what its weights gain


def test_derivatives_are_those_of_the_smoothed_loss():
    problem = written_problem()
    w = 0.3 * np.random.default_rng(0).standard_normal(problem.size)
    loss = problem.loss(problem.scores(w), 0.5)

    def gradient(w):
        return w - problem.transposed_times(problem.loss(problem.scores(w), 0.5).minus_slope)

    shared = SharedRows(problem.rows, loss.shares, loss.curvature)
    H = shared.hessian(loss)
    np.testing.assert_allclose(H, approx_fprime(w, gradient, 1e-7), atol=1e-4)
    d = np.random.default_rng(1).standard_normal(problem.size)
    np.testing.assert_allclose(shared.hessian_product(loss, d), H @ d)
    np.testing.assert_allclose(shared.hessian_diagonal(loss), np.diag(H))
    np.testing.assert_allclose(shared.solve_dual(H @ d), d)
    np.testing.assert_allclose(problem.newton_step(loss, H @ d), d)
    S = problem.scores(d)
    np.testing.assert_allclose(loss.bend_along(S), d @ H @ d - d @ d)
    np.testing.assert_allclose(bend_pass.py_func(loss.shares, loss.curvature, S), d @ H @ d - d @ d)


def test_contrasts_have_the_second_derivative_of_the_weights_between_classes():
    problem = written_problem(n_classes=4)
    loss = problem.loss(problem.scores(0.3 * np.random.default_rng(0).standard_normal(problem.size)), 0.5)
    shared = SharedRows(problem.rows, loss.shares, loss.curvature)
    contrasts, H = Contrasts(shared), shared.hessian(loss)
    joined = np.column_stack([contrasts.join(np.zeros(6), v) for v in np.eye(18)])  # weights of each contrast
    between = contrasts.hessian(loss)
    np.testing.assert_allclose(between, joined.T @ H @ joined, atol=1e-12)
    np.testing.assert_allclose(contrasts.hessian_diagonal(loss), np.diag(between))
    v = np.random.default_rng(1).standard_normal(18)
    np.testing.assert_allclose(contrasts.hessian_product(loss, v), between @ v, atol=1e-12)


def test_weights_are_their_mean_and_their_contrasts():
    contrasts = Contrasts(SharedRows(written_problem().rows, np.ones((20, 3)), np.ones(20)))
    w = np.random.default_rng(0).standard_normal(18)
    np.testing.assert_allclose(contrasts.join(*contrasts.split(w)), w)
    common, _ = contrasts.split(np.repeat([1e9, -1e9, 1e-9], 6))  # the mean of such numbers is not known
    np.testing.assert_array_equal(common, 0.0)


@pytest.mark.parametrize("excess_pass", [largest_excess_pass, largest_excess_pass.py_func])
def test_the_excess_is_what_the_gap_says(excess_pass):
    problem = written_problem()
    f = problem.scores(np.random.default_rng(0).standard_normal(problem.size))
    shares = np.empty_like(problem.center)
    value, missing = excess_pass(f, problem.labels, problem.cost, problem.center, 0.5, shares)
    r = problem.excess(f)
    np.testing.assert_allclose(shares, [nearest_shares(row) for row in problem.center + r / 0.5], atol=1e-12)
    assert value == pytest.approx(problem.cost @ r.max(axis=1))
    assert missing == pytest.approx(problem.cost @ (r.max(axis=1) - np.sum(shares * r, axis=1)))


@pytest.mark.parametrize("constant", [0.0, 2.0])
def test_passes_over_dense_and_sparse_rows_and_in_plain_python_do_the_same(constant):
    problem = written_problem(constant=constant)
    X, thin = problem.rows.X, sparse.csr_array(problem.rows.X)
    parts = {
        dense_descent_pass: (X,),
        dense_descent_pass.py_func: (X,),
        csr_descent_pass: (thin.data, thin.indices, thin.indptr),
        csr_descent_pass.py_func: (thin.data, thin.indices, thin.indptr),
    }
    n, k, results = problem.rows.n, problem.n_classes, []
    for one_pass, rows in parts.items():
        shares, W = np.eye(k)[problem.labels], np.zeros((k, problem.rows.width))
        W = W if len(rows) == 1 else np.ascontiguousarray(W.T)
        lists = np.arange(n), np.arange(0, n * k + 1, k), np.tile(np.arange(k), n)
        squares, room = problem.rows.sq_lengths(), np.empty(k)
        for _ in range(3):
            one_pass(*rows, constant, problem.labels, problem.cost, squares, *lists, shares, W, room)
        U = W if len(rows) == 1 else W.T
        np.testing.assert_allclose(U, problem.rows.transposed_by_class(problem.dual_point(shares)), atol=1e-12)
        results.append(shares)
    for other in results[1:]:
        np.testing.assert_allclose(other, results[0], atol=1e-12)
    assert inner_product.py_func(X[0], np.ones(9)) == pytest.approx(X[0].sum())


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
    r = np.array(row)
    p = nearest_shares(r)
    assert p.min() >= 0.0
    assert p.sum() == pytest.approx(1.0)
    corners = np.eye(len(row))  # the angle between r - p and any other share is not sharp
    assert np.all((corners - p) @ (r - p) <= 1e-9)
    assert shares_level.py_func(r, len(r)) == pytest.approx(shares_level(r, len(r)))


@pytest.mark.parametrize("thin", [False, True])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_descent_and_newton_find_the_same_machine(thin, C):
    problem = written_problem(100, thin=thin)
    problem = replace(problem, cost=C * problem.cost)
    effort, zeros = Effort(1e-6, 100_000, lambda _w: False), np.zeros(problem.size)
    passes = crammer_singer_descent(problem, effort, most_passes=100_000, rng=np.random.RandomState(0))
    steps = centered_newton(problem, NewtonDescent(zeros, zeros, 1.0), effort)
    for found in (passes, steps):
        assert found.gap <= 1e-6 * found.objective
        np.testing.assert_allclose(found.loss.minus_slope.sum(axis=1), 0.0, atol=1e-12)
    assert passes.objective == pytest.approx(steps.objective, rel=2e-6)
    np.testing.assert_allclose(passes.w, steps.w, atol=1e-2)


class FixedCenter(CrammerSinger):
    def centered_at(self, _loss):
        return self


def test_smoothings_around_the_last_dual_point_need_not_get_as_small():
    problem, zeros = written_problem(100), np.zeros(18)
    fixed = FixedCenter(problem.rows, problem.labels, problem.cost, problem.center)
    moved, stayed = (
        centered_newton(one, NewtonDescent(zeros, zeros, 1.0), Effort(1e-8, 1000, lambda _w: False))
        for one in (problem, fixed)
    )
    assert moved.gap <= 1e-8 * moved.objective
    assert moved.smoothing >= 3.0 * stayed.smoothing


def test_passes_alone_settle_rows_of_zeros():
    problem = written_problem(100, constant=0.0)
    problem.rows.X[:10] = 0.0
    effort = Effort(1e-4, 100_000, lambda _w: False)
    found = crammer_singer_descent(problem, effort, most_passes=100_000, rng=np.random.RandomState(0))
    assert found.gap <= 1e-4 * found.objective


def test_the_dual_never_falls_along_the_passes():
    problem = written_problem(200)
    effort = Effort(1e-4, 300, lambda _w: False)
    trace = crammer_singer_descent(problem, effort, most_passes=300, rng=np.random.RandomState(0)).trace
    assert np.all(np.diff(trace["objective"] - trace["gap"]) >= -1e-9)


@pytest.mark.parametrize("C", [1.0, 1e4])
@pytest.mark.parametrize("thin", [False, True])
def test_large_data_are_certified(C, thin):
    X, y = data(5000)
    X = sparse.csr_array(X) if thin else X
    model = together(C=C, random_state=0).fit(X, y)
    assert model.trace_["iteration"][1] == 5.0  # by passes at first
    assert pellucid.verify(model, X, y).holds
    np.testing.assert_array_equal(model.coef_, together(C=C, random_state=0).fit(X, y).coef_)


@pytest.mark.parametrize("n", [100, 5000])
def test_columns_of_very_different_scales_are_certified(n):
    X, y = data(n)
    for scale in ([1e-6, 1.0, 1e4, 1e6, 1.0], 1e8, 1e-150):
        assert pellucid.verify(together().fit(X * scale, y), X * scale, y).holds


@pytest.mark.parametrize("n", [100, 1000, 5000])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_long_rows_are_certified_whatever_the_rounding(n, n_classes):
    for seed in range(200 // n + 2):
        X, y = data(n, n_classes, seed=seed)
        X = X[:, np.random.default_rng(seed).permutation(5)] * 1e8  # every order of a sum rounds in its own way
        model = together().fit(X, y)
        assert model.certificate_.holds
        assert pellucid.verify(model, X, y).holds
        assert model.n_iter_ <= 100
        if n_classes > 2:
            np.testing.assert_allclose(model.coef_.mean(axis=0), 0.0, atol=1e-6 * np.abs(model.coef_).max())


def test_rows_of_zeros_without_an_intercept_cost_what_they_must():
    X, y = data(5000)
    X[:100] = 0.0
    model = together(fit_intercept=False).fit(X, y)
    assert pellucid.verify(model, X, y).holds
    np.testing.assert_allclose(model.dual_coef_[y[:100], np.arange(100)], 1.0)


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


def test_where_passes_creep_and_columns_are_many_conjugate_gradients_finish(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = sparse.random_array((60, 800), density=0.05, rng=rng, format="csr"), rng.integers(0, 3, 60)
    monkeypatch.setattr(crammer_singer, "MOST_UNKNOWNS", 0)
    monkeypatch.setattr(crammer_singer_solver, "MANY_PASSES", 3)
    model = together().fit(X, y)
    assert model.certificate_.holds
    assert "smoothing" in model.trace_.columns
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
