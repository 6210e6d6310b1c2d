"""RegressionDiscriminant: by hand, properties, against SciPy, refusals."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.datasets import load_digits

import pellucid
from pellucid.linear_model import RegressionDiscriminant
from pellucid.proofs.linear_model.regression_discriminant import column_units, prove_outputs
from tests.proving import quiet_proof

FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
FEW = settings(max_examples=10, deadline=None)


def problem(seed=0, n=80, p=3, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 1.0
    score = X @ [1.0, -2.0, 0.5] + rng.logistic(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


def objective(model, X, targets, weight=None):
    weight = np.ones(len(X)) if weight is None else weight
    errors = model.outputs(X) - targets
    loss = 0.5 * np.sum(weight[:, None] * errors**2) / weight.sum()
    return loss + 0.5 * model.alpha * np.sum(model.coef_**2)


@pytest.mark.by_hand
def test_without_features_that_tell_an_output_is_the_share_of_its_class():
    model = RegressionDiscriminant(tol=1e-10).fit([[0.0]] * 4, ["no", "yes", "yes", "yes"])
    assert model.outputs([[0.0]])[0, 0] == pytest.approx(0.75)
    assert model.coef_[0, 0] == 0.0


def test_two_points_by_hand():
    # x = -1 and 1, b = 0 by symmetry: with s = sigma(-w) both errors are s, and -s * s (1 - s) + alpha w = 0
    model = RegressionDiscriminant(alpha=0.01, tol=1e-12).fit([[-1.0], [1.0]], [0, 1])
    w = model.coef_[0, 0]
    s = expit(-w)
    assert model.intercept_[0] == pytest.approx(0.0, abs=1e-9)
    assert s * s * (1 - s) == pytest.approx(0.01 * w, abs=1e-10)


def test_a_gradient_by_hand():
    # at w = b = 0 outputs are 1/2 and slopes 1/4; targets 1, 0 at x = 2, 0: dE/dw = 2 * (-1/2) * (1/4) / 2 = -1/8;
    # dE/db = 0; the unit of the column is sqrt(1/16) = 1/4, so the gradient is -1/2
    X, weight = np.array([[2.0], [0.0]]), np.ones(2)
    columns = column_units(X, weight, 0.0, fit_intercept=True)
    claim = prove_outputs(X, np.array([[1.0], [0.0]]), weight, np.zeros((1, 1)), np.zeros(1), 0.0, 1e-6, columns)[
        "gradient"
    ]
    assert claim.value == pytest.approx(0.5)
    assert not claim.holds


def test_a_maximum_bends_down():
    # one row of target 0 with output near 1: far out on the sigmoid the error bends down
    X, weight = np.array([[1.0], [-1.0]]), np.ones(2)
    columns = column_units(X, weight, 0.0, fit_intercept=False)
    coef = np.array([[-2.0]])
    proof = prove_outputs(X, np.array([[1.0], [0.0]]), weight, coef, np.zeros(1), 0.0, 1e-6, columns)
    assert not proof["curvature"].holds


def test_labels_that_do_not_exclude_each_other():
    X, y = problem()
    Y = np.column_stack([y, 1 - y, X[:, 0] > 1.0]).astype(int)
    model = RegressionDiscriminant(tol=1e-9).fit(X, Y)
    assert model.multilabel_
    np.testing.assert_allclose(model.coef_[0], -model.coef_[1], atol=1e-5)
    np.testing.assert_array_equal(model.predict(X), (model.outputs(X) > 0.5).astype(int))
    np.testing.assert_array_equal(model.predict_proba(X), model.outputs(X))
    alone = RegressionDiscriminant(tol=1e-9).fit(X, Y[:, 2])
    np.testing.assert_allclose(alone.coef_[0], model.coef_[2], atol=1e-5)
    assert pellucid.verify(model, X, Y).holds


def test_probabilities_of_classes_add_up_to_1():
    for classes in (2, 3):
        X, y = problem(classes=classes)
        model = RegressionDiscriminant().fit(X, y)
        probability = model.predict_proba(X)
        np.testing.assert_allclose(probability.sum(axis=1), 1.0)
        np.testing.assert_array_equal(model.classes_[np.argmax(probability, axis=1)], model.predict(X))
    assert model.predict_proba([[1e6, 1e6, 1e6]]).sum() == pytest.approx(1.0)


@pytest.mark.property
@FORMS
@FEW
@given(st.integers(0, 1000))
def test_weights_are_repetitions(form, seed):
    X, y = problem(seed, classes=3)
    weight = np.random.default_rng(seed).integers(0, 3, len(y))
    again = np.repeat(np.arange(len(y)), weight)
    how = {"tol": 1e-9, "alpha": 0.01}
    once = RegressionDiscriminant(**how).fit(form(X), y, sample_weight=weight)
    repeated = RegressionDiscriminant(**how).fit(form(X[again]), y[again])
    np.testing.assert_allclose(once.coef_, repeated.coef_, atol=1e-5)


@pytest.mark.parametrize(("shift", "scale"), [(1e8, 1.0), (0.0, 1e-100), (0.0, 1e100), (-1e3, 1e3)])
def test_units_do_not_matter(shift, scale):
    X, y = problem()
    alpha = 0.001 if scale == 1.0 else 0.0
    wanted = RegressionDiscriminant(alpha=alpha).fit(X, y)
    model = RegressionDiscriminant(alpha=alpha).fit(scale * X + shift, y)
    np.testing.assert_allclose(scale * model.coef_, wanted.coef_, rtol=1e-3)
    assert model.certificate_.holds


@pytest.mark.parametrize("shift", [1e7, 1e8, -1e9])
def test_columns_far_from_0_are_certified_whatever_the_rounding(shift):
    for seed in range(40):
        X, y = problem(seed)
        wanted, model = RegressionDiscriminant().fit(X, y), RegressionDiscriminant().fit(X + shift, y)
        assert model.certificate_.holds
        assert pellucid.verify(model, X + shift, y).holds
        np.testing.assert_allclose(model.coef_, wanted.coef_, rtol=1e-3, atol=1e-4)


def test_float32_gives_the_same_line_in_float32():
    X, y = problem()
    model = RegressionDiscriminant().fit(X.astype(np.float32), y)
    assert model.coef_.dtype == np.float32
    np.testing.assert_allclose(model.coef_, RegressionDiscriminant().fit(X, y).coef_, rtol=1e-3)
    assert model.certificate_.holds


@pytest.mark.parametrize("attribute", ["coef_", "intercept_"])
def test_verify_objects_to_a_broken_model(attribute):
    X, y = problem(classes=3)
    broken = copy.deepcopy(RegressionDiscriminant().fit(X, y))
    getattr(broken, attribute).flat[0] *= 1.001
    with pytest.warns(pellucid.UncertifiedWarning, match="gradient is .* above its bound"):
        pellucid.verify(broken, X, y)


@pytest.mark.parametrize("run_away", ["constant", "all 0", "all 1", "multiple"])
def test_verify_objects_to_a_plateau_where_every_gradient_is_0(run_away):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = (X @ [1.0, 2.0, -1.0] + 2.0 * rng.standard_normal(200) > 2.0).astype(int)
    model = RegressionDiscriminant(alpha=0.0).fit(X, y)
    if run_away == "multiple":
        model.coef_, model.intercept_ = 1e6 * model.coef_, 1e6 * model.intercept_
    else:
        model.coef_ = 0.0 * model.coef_
        model.intercept_ = np.full_like(
            model.intercept_, {"constant": 0.0, "all 0": -1000.0, "all 1": 1000.0}[run_away]
        )
    proof = quiet_proof(model, X, y)
    assert not proof.holds
    assert proof["gradient"].holds == (run_away != "constant")
    assert not proof["plateau"].holds


def test_bound_does_not_grow_with_the_coefficients_nor_with_their_dtype():
    X, y = np.random.default_rng(0).standard_normal((50, 2)), np.arange(50) % 2
    model = RegressionDiscriminant().fit(X, y)
    bound = pellucid.verify(model, X, y)["gradient"].bound
    model.coef_ = 1e9 * model.coef_
    assert quiet_proof(model, X, y)["gradient"].bound == bound
    model.coef_ = model.coef_.astype(np.float32)
    assert quiet_proof(model, X, y)["gradient"].bound == bound


def test_a_descent_that_runs_away_starts_again_from_a_smaller_multiple():
    X, y = load_digits(return_X_y=True)
    X, y = 1e6 * X[:400], y[:400]
    assert pellucid.verify(RegressionDiscriminant(alpha=0.1, fit_intercept=False).fit(X, y), X, y).holds


def test_verify_objects_to_labels_that_mean_something_else():
    X, y = problem()
    Y = np.column_stack([y, 1 - y])
    for attribute, wrong in [("multilabel_", False), ("classes_", np.array([1, 0]))]:
        model = RegressionDiscriminant().fit(X, Y)
        setattr(model, attribute, wrong)
        with pytest.warns(pellucid.UncertifiedWarning, match="labels is 1, above its bound"):
            assert not pellucid.verify(model, X, Y).holds
    with pytest.raises(ValueError, match="a row for each of 2 outputs, got 1"):
        pellucid.verify(RegressionDiscriminant().fit(X, y), X, Y)


def test_warns_if_it_has_to_stop_early():
    with pytest.warns(pellucid.UncertifiedWarning, match="gradient is .* Raise max_iter or tol"):
        RegressionDiscriminant(max_iter=1).fit(*problem())


@pytest.mark.peer
@FORMS
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_no_worse_than_scipy_from_the_same_start(form, fit_intercept):
    X, y = problem()
    model = RegressionDiscriminant(alpha=0.01, fit_intercept=fit_intercept).fit(form(X), y)

    def loss(v):
        outputs = expit(X @ v[:3] + (v[3] if fit_intercept else 0.0))
        return 0.5 * np.mean((outputs - y) ** 2) + 0.005 * v[:3] @ v[:3]

    found = minimize(loss, np.zeros(4), tol=1e-12)
    assert objective(model, form(X).toarray() if form is not np.asarray else X, y[:, None]) <= found.fun + 1e-9
    np.testing.assert_allclose(model.coef_[0], found.x[:3], atol=1e-3)


def test_a_far_row_can_lead_to_a_minimum_that_is_not_the_lowest():
    X, y = problem()
    clean = RegressionDiscriminant().fit(X, y)
    far, labels = np.vstack([X, [[30.0, -60.0, 15.0]]]), np.append(y, 0)
    dirty = RegressionDiscriminant().fit(far, labels)
    assert dirty.certificate_.holds
    assert objective(clean, far, labels[:, None]) < objective(dirty, far, labels[:, None])
    assert dirty.certificate_.grade == "stationary"
    assert "other minima may be lower" in dirty.certificate_.reason


@pytest.mark.bad_input
def test_refuses_with_a_sentence():
    X, y = problem()
    with pytest.raises(ValueError, match="alpha must be at least 0, got -1"):
        RegressionDiscriminant(alpha=-1).fit(X, y)
    with pytest.raises(ValueError, match="tol must be above 0, got 0"):
        RegressionDiscriminant(tol=0).fit(X, y)
    with pytest.raises(ValueError, match="at least 2 classes, got one class: 0"):
        RegressionDiscriminant().fit(X, np.zeros(len(y), int))
    with pytest.raises(ValueError, match="only the labels"):
        pellucid.verify(RegressionDiscriminant().fit(X, y), X, y + 5)
