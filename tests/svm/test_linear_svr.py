"""LinearSVR: by hand, properties, against scikit-learn, errors."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_diabetes
from sklearn.svm import LinearSVR as Peer

import pellucid
from pellucid.core.fit import Effort
from pellucid.svm import LinearSVR
from pellucid.svm.augmented_rows import AugmentedRows
from pellucid.svm.linear_svc import linear_svc_solvers, linear_svr_solvers
from pellucid.svm.linear_svc import squared_hinge as newton
from pellucid.svm.linear_svc.hinge import hinge_dual_descent, hinge_interior_point, hinge_near_rows, squared_hinge_start
from pellucid.svm.linear_svc.linear_svr_solvers import tube_problem
from pellucid.svm.linear_svc.margin_problem import RepeatedRows
from pellucid.svm.linear_svc.squared_hinge import squared_hinge_newton

SQUARED = "squared_epsilon_insensitive"
LOSSES = ["epsilon_insensitive", SQUARED]
every_loss = pytest.mark.parametrize("loss", LOSSES)
EFFORT = Effort(goal=1e-8, max_iter=10_000)


def data(n=120, p=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, X @ rng.standard_normal(p) + 1.0 + rng.standard_normal(n) * np.where(rng.random(n) < 0.2, 3.0, 0.3)


def objective(model, X, y, weight=1.0):
    """The objective, written out."""
    b = model.intercept_[0] if model.fit_intercept else 0.0
    beyond = np.maximum(0.0, np.abs(y - X @ model.coef_ - b) - model.epsilon)
    norm = 0.5 * model.coef_ @ model.coef_ + 0.5 * (b / model.intercept_scaling) ** 2
    return norm + model.C * (weight * (beyond**2 if model.loss == SQUARED else beyond)).sum()


# by hand


@pytest.mark.by_hand
@pytest.mark.parametrize(("C", "weight"), [(10.0, 1.25), (0.25, 0.5)])
def test_one_row_is_reached_by_the_tube_or_pulls_with_its_cost(C, weight):
    # w^2/2 + C max(0, |3 - 2w| - 1/2): the slope beyond the tube is w - 2C, so w = min(2C, 5/4)
    model = LinearSVR(epsilon=0.5, C=C, fit_intercept=False).fit([[2.0]], [3.0])
    assert model.coef_ == pytest.approx([weight])
    assert model.dual_coef_ == pytest.approx([weight / 2])  # w = 2 beta
    assert model.intercept_ == 0.0


def test_the_squared_loss_of_one_row_balances_norm_and_loss():
    # d/dw (w^2/2 + C (5/2 - 2w)^2) = 0: w = 10C / (1 + 8C)
    model = LinearSVR(loss=SQUARED, epsilon=0.5, C=0.5, fit_intercept=False).fit([[2.0]], [3.0])
    assert model.coef_ == pytest.approx([1.0])
    assert not hasattr(model, "dual_coef_")


def test_without_a_tube_the_intercept_is_the_median_once_the_cost_pays():
    # rows at 0: b^2/2 + C sum |y - b| has its minimum at the median 2, where the slopes of the others are -1 and +1
    model = LinearSVR(C=10.0).fit([[0.0], [0.0], [0.0]], [1.0, 2.0, 50.0])
    assert model.intercept_ == pytest.approx([2.0])
    assert model.dual_coef_ == pytest.approx([-10.0, 2.0, 10.0])  # their sum is b
    assert model.predict([[7.0]]) == pytest.approx([2.0])


def test_the_intercept_is_penalized_as_the_weight_of_the_constant():
    # one row at 0: (b/s)^2 / 2 + (1 - b)^2 has its minimum at 2 / (1/s^2 + 2)
    for s in (1.0, 10.0):
        model = LinearSVR(loss=SQUARED, intercept_scaling=s).fit([[0.0]], [1.0])
        assert model.intercept_ == pytest.approx([2.0 / (1.0 / s**2 + 2.0)])


@every_loss
def test_targets_within_the_tube_around_zero_need_no_line(loss):
    X, y = data()
    model = LinearSVR(loss=loss, epsilon=2.0 * np.abs(y).max()).fit(X, y)
    assert not model.coef_.any()
    assert not model.intercept_.any()
    assert pellucid.verify(model, X, y).holds


# properties


@every_loss
@given(seed=st.integers(0, 30), C=st.sampled_from([0.01, 1.0, 100.0]), epsilon=st.sampled_from([0.0, 0.3]))
def test_the_gap_holds_and_no_nearby_point_is_better(loss, seed, C, epsilon):
    X, y = data(40, 4, seed=seed)
    model = LinearSVR(C=C, loss=loss, epsilon=epsilon).fit(X, y)
    assert model.certificate_.holds
    best, gap = objective(model, X, y), model.certificate_["duality gap"].value
    rng = np.random.default_rng(seed)
    for size in (1e-4, 1e-2, 1.0):
        other = copy.deepcopy(model)
        other.coef_ = model.coef_ + size * rng.standard_normal(4)
        assert objective(other, X, y) >= best * (1.0 - gap - 1e-12)


@pytest.mark.property
@every_loss
@given(seed=st.integers(0, 30))
def test_weights_are_repetitions(loss, seed):
    X, y = data(30, 3, seed=seed)
    times = np.random.default_rng(seed).integers(0, 3, len(y))
    model = LinearSVR(loss=loss, epsilon=0.2)
    weighted = copy.deepcopy(model).fit(X, y, sample_weight=times)
    repeated = copy.deepcopy(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=2e-5)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=2e-5)
    assert pellucid.verify(weighted, X, y, sample_weight=times).holds


@every_loss
@pytest.mark.parametrize("factor", [1e-6, 1e5])
def test_scaling_target_and_tube_scales_the_line(loss, factor):
    X, y = data()
    model = LinearSVR(loss=loss, epsilon=0.2).fit(X, y)
    cost = 1.0 if loss == SQUARED else factor
    scaled = LinearSVR(loss=loss, epsilon=0.2 * factor, C=cost).fit(X, factor * y)
    np.testing.assert_allclose(scaled.coef_ / factor, model.coef_, rtol=1e-4, atol=1e-5)


@every_loss
def test_the_other_sign_of_the_target_turns_the_line_over(loss):
    X, y = data()
    up, down = (LinearSVR(loss=loss, epsilon=0.2).fit(X, sign * y) for sign in (1.0, -1.0))
    np.testing.assert_allclose(down.coef_, -up.coef_, atol=1e-7)


@given(seed=st.integers(0, 30))
def test_dual_variables_tell_where_the_rows_lie(seed):
    X, y = data(40, 3, seed=seed)
    model = LinearSVR(epsilon=0.3, C=0.7).fit(X, y)
    beta, off = model.dual_coef_, y - model.predict(X)
    assert np.all(beta[np.abs(off) < 0.3 - 1e-6] == 0.0)
    outside = np.abs(off) > 0.3 + 1e-6
    np.testing.assert_allclose(beta[outside], 0.7 * np.sign(off[outside]))
    np.testing.assert_allclose(model.coef_, beta @ X, atol=1e-8)
    assert model.intercept_ == pytest.approx([beta.sum()], abs=1e-8)


@every_loss
def test_sparse_rows_give_the_same_line(loss):
    X, y = data(80, 6)
    X[np.abs(X) < 0.7] = 0.0
    dense, thin = (LinearSVR(loss=loss, epsilon=0.1).fit(kind, y) for kind in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-6)
    np.testing.assert_allclose(thin.predict(sparse.csc_array(X)), dense.predict(X), atol=1e-5)
    assert pellucid.verify(thin, sparse.csr_array(X), y).holds


@every_loss
@pytest.mark.parametrize("shape", [(20, 70), (1, 3), (200, 1)], ids=str)
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_wide_tiny_and_single_column_data_are_certified(loss, shape, epsilon):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal(shape), rng.standard_normal(shape[0])
    X[:, -1] *= 1e5
    model = LinearSVR(loss=loss, epsilon=epsilon).fit(X, y)
    assert pellucid.verify(model, X, y).holds


@every_loss
@pytest.mark.parametrize("overlap", [0.0, 30.0])
@pytest.mark.parametrize("seed", range(3))
def test_more_columns_than_rows_are_certified_whether_rows_overlap_or_not(loss, overlap, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 400)) + overlap * rng.standard_normal(400)  # descent crawls where rows are alike
    y = X[:, 0] - X[:, 1] + rng.standard_normal(60)
    model = LinearSVR(loss=loss, epsilon=0.1, random_state=seed).fit(X, y)
    assert pellucid.verify(model, X, y).holds


@every_loss
def test_columns_and_targets_of_very_different_scales_are_certified(loss):
    X, y = data()
    for scale in ([1e-6, 1.0, 1e4, 1e6, 1.0], [1e8] * 5, [1e-150] * 5):
        assert pellucid.verify(LinearSVR(loss=loss).fit(X * scale, y), X * scale, y).holds
    for factor in (1e-10, 1e100):  # a smaller target has a dual point that cancels beyond rounding
        assert pellucid.verify(LinearSVR(loss=loss).fit(X, factor * y), X, factor * y).holds


@every_loss
def test_too_few_iterations_are_admitted(loss):
    X, y = data(400, 6)
    with pytest.warns(pellucid.UncertifiedWarning, match="duality gap"):
        LinearSVR(max_iter=1, loss=loss, epsilon=1.0).fit(X, y)


@every_loss
def test_verify_objects_to_a_changed_line_data_or_parameters(loss):
    X, y = data(100, 5)
    model = LinearSVR(loss=loss, epsilon=0.2).fit(X, y)
    for name in ["coef_", "intercept_", *(["dual_coef_"] if loss != SQUARED else [])]:
        broken = copy.deepcopy(model)
        value = getattr(broken, name)
        value.flat[np.flatnonzero(value)[0]] *= 1.05
        with pytest.warns(pellucid.UncertifiedWarning):
            assert not pellucid.verify(broken, X, y).holds
    for name, value in {"C": 1.3, "epsilon": 0.1, "intercept_scaling": 3.0}.items():
        broken = copy.deepcopy(model).set_params(**{name: value})
        with pytest.warns(pellucid.UncertifiedWarning):
            assert not pellucid.verify(broken, X, y).holds


def test_more_sparse_rows_than_columns_are_left_to_newtons_method(monkeypatch):
    for module in (linear_svr_solvers, linear_svc_solvers):
        monkeypatch.setattr(module, "DIRECT", 20)
        monkeypatch.setattr(module, "squared_hinge_start", lambda *_: pytest.fail("a start was looked for"))
    rng = np.random.default_rng(0)
    X = sparse.random_array((200, 40), density=0.1, rng=rng, format="csr")
    y = X @ rng.standard_normal(40) + rng.standard_normal(200)
    assert LinearSVR(loss=SQUARED, epsilon=0.5).fit(X, y).certificate_.holds


@every_loss
def test_saves_and_loads_with_its_dual_point(loss, tmp_path):
    X, y = data()
    model = LinearSVR(loss=loss, epsilon=0.1).fit(X, y)
    pellucid.save(model, tmp_path / "model.safetensors")
    again = pellucid.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert pellucid.verify(again, X, y).holds


# the methods


@pytest.mark.parametrize("epsilon", [0.0, 0.4])
@pytest.mark.parametrize("thin", [False, True])
def test_every_method_finds_the_same_line(epsilon, thin):
    X, y = data(3000, 4)
    rows = AugmentedRows(sparse.csr_array(X) if thin else X, 1.0)
    problem = tube_problem(rows, y, epsilon, np.full(len(y), 0.01))
    inside = hinge_interior_point(problem, EFFORT)
    near = hinge_near_rows(problem, EFFORT)
    along = hinge_dual_descent(problem, Effort(1e-6, 10_000), np.random.RandomState(0))
    for other, tolerance in ((near, 1e-7), (along, 1e-5)):
        assert other.objective == pytest.approx(inside.objective, rel=tolerance)
        assert np.all((other.alpha >= 0.0) & (other.alpha <= problem.cost))
    assert near.trace["near_rows"][-1] < 3000
    squared = squared_hinge_newton(problem, EFFORT)
    np.testing.assert_allclose(squared_hinge_start(problem, np.random.RandomState(0)), squared.u, atol=0.05)


@pytest.mark.parametrize("maker", ["PrimalFactor", "DualFactor", "ConjugateSteps"])
def test_every_newton_step_of_repeated_rows_solves_the_same_system(maker):
    X, y = data(20, 30)
    problem = tube_problem(AugmentedRows(X, 1.0), y, 0.1, np.linspace(0.5, 2.0, 20))
    A, rng = problem.rows.written_out(), np.random.default_rng(0)
    g, active = rng.standard_normal(31), rng.random(40) < 0.6
    H = np.eye(31) + 2.0 * A[active].T @ (problem.cost[active, None] * A[active])
    np.testing.assert_allclose(getattr(newton, maker)(problem)(g, active, 1e-12), np.linalg.solve(H, g), atol=1e-5)


@pytest.mark.parametrize("thin", [False, True])
def test_repeated_rows_have_the_products_of_the_matrix_written_out(thin):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 3))
    rows = RepeatedRows(AugmentedRows(sparse.csr_array(X) if thin else X, 2.0), np.array([0, 3, 3, 5, 0, 1, 2]))
    A = rows.written_out()
    np.testing.assert_array_equal(A, np.column_stack([X, np.full(6, 2.0)])[rows.which])
    u, r, h = rng.standard_normal(4), rng.standard_normal(7), rng.uniform(0.0, 1.0, 7)
    np.testing.assert_allclose(rows.scores(u), A @ u)
    np.testing.assert_allclose(rows.transposed_times(r), A.T @ r)
    np.testing.assert_allclose(rows.gram(h), A.T @ (h[:, None] * A), atol=1e-12)
    np.testing.assert_allclose(rows.curve(h, u), A.T @ (h * (A @ u)))
    np.testing.assert_allclose(rows.gram_diagonal(h), np.diagonal(A.T @ (h[:, None] * A)))
    np.testing.assert_allclose(rows.sq_lengths(), (A**2).sum(axis=1))
    np.testing.assert_allclose(rows.inner_products(), A @ A.T, atol=1e-12)
    np.testing.assert_array_equal(rows.by_column().toarray(), A)
    some = rows.part(np.array([1, 2, 5]))
    np.testing.assert_array_equal(some.written_out(), A[[1, 2, 5]])
    assert some.base.n == 2
    assert set(rows.which[rows.sampled(3)]).isdisjoint(np.delete(rows.which, rows.sampled(3)))


# peer


@pytest.mark.peer
@every_loss
@pytest.mark.parametrize(
    "options", [{}, {"C": 0.05}, {"intercept_scaling": 7.0}, {"fit_intercept": False}, {"epsilon": 0.5}], ids=str
)
def test_agrees_with_scikit_learn(loss, options):
    X, y = data(100, 6, seed=3)
    weight = np.random.default_rng(3).uniform(0.5, 2.0, len(y))
    peer = Peer(tol=1e-9, max_iter=1_000_000, random_state=0, loss=loss, **options).fit(X, y, weight)
    ours = LinearSVR(loss=loss, **options).fit(X, y, weight)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=1e-3)
    assert np.shape(ours.intercept_) == np.shape(peer.intercept_)
    assert type(ours.n_iter_) is type(peer.n_iter_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_is_at_least_as_good_as_scikit_learn_on_raw_data():
    X, y = load_diabetes(return_X_y=True)
    for C in (1.0, 1000.0):
        ours, peer = LinearSVR(C=C).fit(X, y), Peer(C=C, random_state=0).fit(X, y)
        assert objective(ours, X, y) <= objective(peer, X, y) * (1.0 + 1e-6)


# errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"epsilon": -0.1}, "epsilon must be at least 0"),
        ({"dual": False}, "dual must be True or 'auto'"),
        ({"C": 0.0}, "C must be above 0"),
        ({"loss": "squared"}, "loss must be one of"),
        ({"intercept_scaling": 0.0}, "intercept_scaling must be above 0.*fit_intercept=False"),
        ({"verbose": -1}, "verbose must be at least 0"),
    ],
    ids=str,
)
def test_impossible_parameters_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        LinearSVR(**options).fit([[0.0], [1.0]], [0.0, 1.0])


def test_missing_numbers_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        LinearSVR().fit([[0.0], [np.nan]], [0.0, 1.0])
    with pytest.raises(ValueError, match="NaN"):
        LinearSVR().fit([[0.0], [1.0]], [0.0, np.nan])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("options", "scale", "weight"),
    [({"C": 1e300}, 1.0, 1.0), ({"intercept_scaling": 1e300}, 1.0, 1.0), ({}, 1e100, 1.0), ({}, 1.0, 1e200)],
)
def test_costs_that_overflow_are_refused_and_nothing_is_fitted(loss, options, scale, weight):
    X, y = data()
    model = LinearSVR(loss=loss, **options)
    with pytest.raises(
        ValueError, match=r"C times the squares of X over the size of y must be at most 1e80, got 1e\d+"
    ):
        model.fit(scale * X, y, sample_weight=np.full(len(y), weight))
    assert not [name for name in vars(model) if name.endswith("_")]


def test_targets_too_small_for_their_cost_are_refused():
    X, y = data()
    with pytest.raises(ValueError, match="change the units of X or y"):
        LinearSVR().fit(X, 1e-200 * y)


@pytest.mark.parametrize("loss", LOSSES)
def test_rows_of_hardly_any_weight_change_nothing(loss):
    X, y = data()
    weight = np.ones(len(y))
    weight[0] = 1e-300
    model = LinearSVR(loss=loss).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.coef_, LinearSVR(loss=loss).fit(X[1:], y[1:]).coef_, atol=1e-6)


@pytest.mark.parametrize("offset", [1e4, 1e6])
@pytest.mark.parametrize("thin", [False, True])
def test_the_squared_loss_of_rows_far_from_zero_is_proved(offset, thin):
    X, y = data()
    X = X + offset
    rows = sparse.csr_array(X) if thin else X
    model = LinearSVR(loss=SQUARED, epsilon=0.1).fit(rows, y)
    assert pellucid.verify(model, rows, y).holds
    worse = copy.copy(model)
    worse.coef_ = 1.01 * model.coef_  # in whose sum the offset cancels
    with pytest.warns(pellucid.UncertifiedWarning, match="duality gap"):
        pellucid.verify(worse, rows, y)
