"""LinearSVC: by hand, properties, against scikit-learn, errors."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.svm import LinearSVC as Peer

import pellucid
from pellucid.svm import LinearSVC

KINDS = [{}, {"loss": "hinge"}, {"penalty": "l1"}]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=["squared", "hinge", "l1"])


def data(n=120, p=6, n_classes=2, seed=0):
    return make_classification(n, p, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.1, random_state=seed)


def objective(model, X, signs, cost):
    """The objective of the first machine, written out."""
    s = float(model.intercept_scaling)
    b = model.intercept_[0] if model.fit_intercept else 0.0
    u = np.append(model.coef_[0], b / s)
    short = np.maximum(0.0, 1.0 - signs * (X @ model.coef_[0] + b))
    norm = np.abs(u).sum() if model.penalty == "l1" else 0.5 * u @ u
    return norm + (cost * (short if model.loss == "hinge" else short**2)).sum()


# by hand


@pytest.mark.by_hand
@pytest.mark.parametrize(("C", "weight"), [(10.0, 1.0), (0.25, 0.5)])
def test_hinge_of_two_points_has_margin_one_or_the_cost_as_weight(C, weight):
    model = LinearSVC(loss="hinge", C=C, fit_intercept=False).fit([[-1.0], [1.0]], [0, 1])
    assert model.coef_[0, 0] == pytest.approx(weight)  # w = min(1, 2C)
    assert model.intercept_ == 0.0


def test_squared_hinge_of_two_points_balances_norm_and_loss():
    # d/dw (w^2/2 + 2 C (1 - w)^2) = 0: w = 4C / (1 + 4C)
    model = LinearSVC(C=0.5, fit_intercept=False).fit([[-1.0], [1.0]], ["no", "yes"])
    assert model.coef_[0, 0] == pytest.approx(2 / 3)
    assert model.predict([[3.0]]).tolist() == ["yes"]


@pytest.mark.parametrize(("C", "weight"), [(0.2, 0.0), (0.5, 0.5)])
def test_l1_of_two_points_is_zero_until_the_cost_pays(C, weight):
    # slope at 0 is 1 - 4C; otherwise 4C(1 - w) = 1
    model = LinearSVC(penalty="l1", C=C, fit_intercept=False).fit([[-1.0], [1.0]], [0, 1])
    assert model.coef_[0, 0] == pytest.approx(weight, abs=1e-9)


def test_the_intercept_is_penalized_as_the_weight_of_the_constant():
    # rows at 0 only: b minimizes (b/s)^2 / 2 + C(2 (1 - b)^2 + (1 + b)^2), so b = 2C / (1/s^2 + 6C)
    for s in (1.0, 10.0):
        model = LinearSVC(intercept_scaling=s).fit([[0.0], [0.0], [0.0]], [1, 1, 0])
        assert model.intercept_[0] == pytest.approx(2 / (1 / s**2 + 6))


def test_dual_variables_of_two_points_are_the_weight_they_carry():
    model = LinearSVC(loss="hinge", C=10.0, fit_intercept=False).fit([[-1.0], [1.0]], [0, 1])
    assert (model.dual_coef_ @ [[-1.0], [1.0]]).item() == pytest.approx(1.0)
    assert not hasattr(model.set_params(loss="squared_hinge").fit([[-1.0], [1.0]], [0, 1]), "dual_coef_")


# properties


@every_kind
@given(seed=st.integers(0, 30), C=st.sampled_from([0.01, 1.0, 100.0]))
def test_the_gap_holds_and_no_nearby_point_is_better(kind, seed, C):
    X, y = data(40, 4, seed=seed)
    model = LinearSVC(C=C, **kind).fit(X, y)
    assert model.certificate_.holds
    signs = np.where(y == 1, 1.0, -1.0)
    best = objective(model, X, signs, C)
    gap = model.certificate_["duality gap"].value
    rng = np.random.default_rng(seed)
    for size in (1e-4, 1e-2, 1.0):
        other = copy.deepcopy(model)
        other.coef_ = model.coef_ + size * rng.standard_normal(model.coef_.shape)
        assert objective(other, X, signs, C) >= best * (1.0 - gap - 1e-12)


@pytest.mark.property
@every_kind
@given(seed=st.integers(0, 30))
def test_weights_are_repetitions(kind, seed):
    X, y = data(30, 4, n_classes=3, seed=seed)
    times = np.random.default_rng(seed).integers(0, 3, len(y))
    weighted = LinearSVC(**kind).fit(X, y, sample_weight=times)
    repeated = LinearSVC(**kind).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=2e-5)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=2e-5)
    assert pellucid.verify(weighted, X, y, sample_weight=times).holds


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("factor", [1e-3, 1e4])
def test_scaling_the_data_and_the_cost_scales_the_weights(loss, factor):
    X, y = data()
    model = LinearSVC(loss=loss, fit_intercept=False).fit(X, y)
    scaled = LinearSVC(loss=loss, fit_intercept=False, C=factor**-2).fit(factor * X, y)
    np.testing.assert_allclose(factor * scaled.coef_, model.coef_, rtol=1e-4, atol=1e-5)


@every_kind
def test_sparse_rows_give_the_same_machine(kind):
    X, y = data(80, 6, n_classes=3)
    X[np.abs(X) < 0.7] = 0.0
    dense, thin = LinearSVC(**kind).fit(X, y), LinearSVC(**kind).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-6)
    assert pellucid.verify(thin, sparse.csr_array(X), y).holds
    np.testing.assert_array_equal(dense.sparsify().predict(X), dense.densify().predict(X))


@every_kind
@pytest.mark.parametrize("shape", [(20, 70), (1, 3), (200, 1)], ids=str)
def test_wide_tiny_and_single_column_data_are_certified(kind, shape):
    rng = np.random.default_rng(1)
    X = np.vstack([rng.standard_normal(shape), rng.standard_normal(shape) + 0.5])
    X[:, -1] *= 1e5
    y = np.repeat([0, 1], shape[0])
    model = LinearSVC(**kind).fit(X, y)
    assert pellucid.verify(model, X, y).holds


@every_kind
def test_columns_of_very_different_scales_are_certified(kind):
    X, y = data()
    for scale in ([1e-6, 1.0, 1e4, 1e6, 1.0, 1.0], [1e8] * 6, [1e-150] * 6):
        assert pellucid.verify(LinearSVC(**kind).fit(X * scale, y), X * scale, y).holds


def test_rows_far_from_the_origin_get_an_answer_and_an_honest_certificate():
    X, y = data()
    far = X + 1e8  # the penalized intercept cannot center them, and I + X'X is singular to rounding
    with pytest.warns(pellucid.UncertifiedWarning, match="standardize X"):
        model = LinearSVC().fit(far, y)
    assert np.all(np.isfinite(model.coef_))


def test_a_class_without_weight_is_left_out_of_the_balance():
    X, y = data(100, 6, n_classes=3)
    weight = (y > 0).astype(float)
    model = LinearSVC(class_weight="balanced").fit(X, y, weight)
    assert pellucid.verify(model, X, y, sample_weight=weight).holds
    assert set(model.predict(X)) <= {1, 2}


@every_kind
def test_too_few_iterations_are_admitted(kind):
    X, y = make_classification(200, 6, class_sep=2.0, random_state=0)
    with pytest.warns(pellucid.UncertifiedWarning, match="duality gap"):
        model = LinearSVC(max_iter=1, **kind).fit(X, y)
    assert model.n_iter_ == 1


@every_kind
def test_verify_objects_to_changed_weights(kind):
    X, y = data(100, 5, n_classes=3)
    model = LinearSVC(**kind).fit(X, y)
    names = ["coef_", "intercept_", *(["dual_coef_"] if "loss" in kind else [])]
    for name in names:
        broken = copy.deepcopy(model)
        value = getattr(broken, name)
        value.flat[np.flatnonzero(value)[0]] *= 1.05
        with pytest.warns(pellucid.UncertifiedWarning):
            assert not pellucid.verify(broken, X, y).holds


def test_trace_ends_at_the_certified_gap_of_each_machine():
    X, y = data(100, 5, n_classes=3)
    model = LinearSVC().fit(X, y)
    last = [model.trace_["gap"][model.trace_["machine"] == k][-1] for k in range(3)]
    ends = [model.trace_["objective"][model.trace_["machine"] == k][-1] for k in range(3)]
    assert max(np.divide(last, ends)) == pytest.approx(model.certificate_["duality gap"].value, abs=1e-12)
    assert np.all(np.diff(model.trace_["objective"][model.trace_["machine"] == 0]) <= 1e-9)


@pytest.mark.parametrize("options", [{"loss": "hinge"}, {"fit_intercept": False}, {"class_weight": {0: 2.0}}], ids=str)
def test_saves_and_loads_with_its_dual_point(options, tmp_path):
    X, y = data()
    model = LinearSVC(**options).fit(X, y)
    pellucid.save(model, tmp_path / "model.safetensors")
    again = pellucid.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert pellucid.verify(again, X, y).holds


# peer


@pytest.mark.peer
@every_kind
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "options",
    [{}, {"C": 0.05}, {"intercept_scaling": 7.0}, {"fit_intercept": False}, {"class_weight": "balanced"}],
    ids=str,
)
def test_agrees_with_scikit_learn(kind, n_classes, options):
    X, y = data(100, 6, n_classes=n_classes, seed=3)
    weight = np.random.default_rng(3).uniform(0.5, 2.0, len(y))
    peer = Peer(tol=1e-8, max_iter=100_000, random_state=0, dual="auto", **kind, **options).fit(X, y, weight)
    ours = LinearSVC(**kind, **options).fit(X, y, weight)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=2e-4)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=2e-3)
    assert ours.decision_function(X).shape == peer.decision_function(X).shape
    assert type(ours.n_iter_) is type(peer.n_iter_)


def test_weights_of_named_classes_agree_with_scikit_learn():
    X, y = data(100, 6, n_classes=3, seed=4)
    names = np.array(["a", "b", "c"])[y]
    options = {"class_weight": {"a": 3.0, "b": 0.2}}
    peer, ours = Peer(tol=1e-9, **options).fit(X, names), LinearSVC(**options).fit(X, names)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-6)
    assert ours.predict(X).tolist() == peer.predict(X).tolist()


# errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"penalty": "l1", "loss": "hinge"}, "penalty must be 'l2' for loss='hinge'"),
        ({"loss": "hinge", "dual": False}, "dual must be True or 'auto'"),
        ({"penalty": "l1", "dual": True}, "dual must be False or 'auto'"),
        ({"C": 0.0}, "C must be above 0"),
        ({"intercept_scaling": -1.0}, "intercept_scaling must be above 0"),
        ({"multi_class": "one"}, "multi_class must be one of"),
        ({"class_weight": "fair"}, "class_weight must be None, 'balanced' or a dict"),
        ({"verbose": -1}, "verbose must be at least 0"),
    ],
    ids=str,
)
def test_impossible_parameters_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        LinearSVC(**options).fit([[0.0], [1.0]], [0, 1])


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="at least 2 classes, got one class: 'a'"):
        LinearSVC().fit([[0.0], [1.0]], ["a", "a"])


def test_columns_far_from_0_are_solved_and_certified_with_an_l1_penalty():
    # nearly parallel columns: coordinate descent would take hundreds of thousands of passes
    X, y = load_breast_cancer(return_X_y=True)
    model = LinearSVC(penalty="l1", dual=False).fit(X + 1e6, y)
    assert model.certificate_.holds
    assert model.n_iter_ < 100
    assert pellucid.verify(model, X + 1e6, y).holds
    model.coef_[0, np.flatnonzero(model.coef_[0])[0]] *= 1.001
    with pytest.warns(pellucid.UncertifiedWarning, match="duality gap"):
        assert not pellucid.verify(model, X + 1e6, y).holds
