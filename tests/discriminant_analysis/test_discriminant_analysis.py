"""Linear and quadratic discriminant analysis."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import LinAlgError
from sklearn import discriminant_analysis as peer
from sklearn.covariance import LedoitWolf
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

import pellucid
from pellucid.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from pellucid.probability import MultivariateGaussian
from tests.proving import quiet_proof

IRIS, WINE = load_iris(return_X_y=True), load_wine(return_X_y=True)


def gaussian_classes(seed, n=60, p=3, k=3):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(k), n // k)
    return rng.standard_normal((n, p)) @ rng.standard_normal((p, p)) + 3 * rng.standard_normal((k, p))[y], y


# by hand


@pytest.mark.by_hand("LinearDiscriminantAnalysis")
def test_the_boundary_of_two_classes_by_hand():
    # means (1, 0) and (3, 2), pooled covariance of four points each: diag(1/2, 1/2); w = 2 (2, 2), w_0 = -(4, 2).w/2
    square = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    X, y = np.vstack([square + [1, 0], square + [3, 2]]), np.repeat(["a", "b"], 4)
    for solver in ("svd", "lsqr", "eigen"):
        model = LinearDiscriminantAnalysis(solver=solver).fit(X, y)
        np.testing.assert_allclose(model.coef_, [[4.0, 4.0]])
        np.testing.assert_allclose(model.intercept_, [-12.0])


def test_unequal_priors_shift_the_boundary_by_their_log_odds():
    X, y = np.array([[0.0], [1.0], [2.0], [4.0], [5.0], [6.0]]), np.repeat([0, 1], 3)
    even, uneven = (LinearDiscriminantAnalysis(priors=priors).fit(X, y) for priors in ([0.5, 0.5], [0.9, 0.1]))
    assert uneven.intercept_[0] - even.intercept_[0] == pytest.approx(np.log(0.1 / 0.9))


@pytest.mark.by_hand("QuadraticDiscriminantAnalysis")
def test_quadratic_scores_are_log_densities_plus_log_priors():
    X, y = gaussian_classes(0)
    model = QuadraticDiscriminantAnalysis(priors=[0.2, 0.3, 0.5]).fit(X, y)
    joint = np.column_stack(
        [MultivariateGaussian.fit(X[y == k]).log_prob(X) + np.log(model.priors_[k]) for k in range(3)]
    )
    expected = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_log_proba(X), expected, atol=1e-10)


# properties


@pytest.mark.property("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis")
@given(st.integers(0, 10**6))
def test_linear_maps_of_the_features_change_no_probability(seed):
    X, y = gaussian_classes(seed)
    rng = np.random.default_rng(seed + 1)
    A = rng.standard_normal((3, 3)) + 3 * np.eye(3)
    for kind in (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis):
        settings = {"tol": 1e-10}
        before, after = kind(**settings).fit(X, y), kind(**settings).fit(X @ A + 5, y)
        np.testing.assert_allclose(after.predict_proba(X @ A + 5), before.predict_proba(X), atol=1e-6)


def test_classes_have_unit_covariance_in_the_projection():
    for settings in ({}, {"solver": "eigen"}):
        model = LinearDiscriminantAnalysis(**settings).fit(*WINE)
        Z = model.transform(WINE[0])
        within = sum(np.cov(Z[WINE[1] == k].T, ddof=0) * np.mean(WINE[1] == k) for k in range(3))
        np.testing.assert_allclose(within, np.eye(2), atol=1e-9)
        assert model.certificate_["projection"].holds


def test_data_far_from_zero_keep_their_digits():
    X, y = gaussian_classes(1)
    near = LinearDiscriminantAnalysis().fit(X, y).predict_proba(X)
    shifted = X + 1e8
    model = LinearDiscriminantAnalysis().fit(shifted, y)
    assert model.certificate_.holds
    np.testing.assert_allclose(model.means_ - 1e8, LinearDiscriminantAnalysis().fit(X, y).means_, atol=1e-6)
    np.testing.assert_array_equal(model.predict_proba(shifted).argmax(axis=1), near.argmax(axis=1))


def test_nearly_collinear_features_use_the_data_not_its_square():
    X, y = gaussian_classes(2)
    X = np.column_stack([X, X[:, 0] + 1e-5 * np.random.default_rng(0).standard_normal(len(X))])
    ours, theirs = (kind(tol=1e-9).fit(X, y) for kind in (LinearDiscriminantAnalysis, peer.LinearDiscriminantAnalysis))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6)


def test_tiny_variances_use_the_rows_not_their_square():
    X, y = gaussian_classes(3)
    X = np.column_stack([X, X[:, 0] + 1e-6 * np.random.default_rng(0).standard_normal(len(X))])
    ours, theirs = (
        kind(tol=0.0).fit(X, y) for kind in (QuadraticDiscriminantAnalysis, peer.QuadraticDiscriminantAnalysis)
    )
    for mine, other in zip(ours.scalings_, theirs.scalings_, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-6)


def test_single_precision_stays_single():
    X, y = IRIS
    model = LinearDiscriminantAnalysis().fit(X.astype(np.float32), y)
    assert model.coef_.dtype == model.transform(X.astype(np.float32)).dtype == np.float32
    assert model.certificate_.holds


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_the_fitted_priors_are_a_copy_of_the_given_ones(kind):
    priors = np.array([0.2, 0.3, 0.5])
    model = kind(priors=priors).fit(*IRIS)
    priors[:] = [0.5, 0.3, 0.2]
    assert model.priors_.tolist() == [0.2, 0.3, 0.5]


class PlainCovariance:
    """An estimator of a covariance that is no estimator of scikit-learn: no parameters, and fit returns nothing."""

    def fit(self, X):
        self.covariance_ = np.cov(X.T, bias=True)


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_any_object_with_fit_can_estimate_the_covariance(kind):
    X, y = IRIS
    given = PlainCovariance()
    model, plain = kind(solver="eigen", covariance_estimator=given).fit(X, y), kind(solver="eigen").fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-8)
    assert pellucid.verify(model, X, y).holds
    assert not hasattr(given, "covariance_")  # a copy was fitted


def test_regularization_makes_up_for_rows_that_a_class_lacks():
    X, y = gaussian_classes(5, n=12, p=6, k=3)  # four rows of six features in each class
    model = QuadraticDiscriminantAnalysis(reg_param=0.3, store_covariance=True).fit(X, y)
    for k in range(3):
        np.testing.assert_allclose(model.covariance_[k], 0.7 * np.cov(X[y == k].T, bias=True) + 0.3 * np.eye(6))
    assert pellucid.verify(model, X, y).holds


# peer

LINEAR = [
    {},
    {"solver": "lsqr"},
    {"solver": "eigen"},
    {"solver": "eigen", "shrinkage": "auto"},
    {"solver": "lsqr", "shrinkage": 0.3},
    {"solver": "eigen", "covariance_estimator": LedoitWolf()},
    {"priors": [0.2, 0.3, 0.5], "store_covariance": True},
    {"n_components": 1},
]


@pytest.mark.peer("LinearDiscriminantAnalysis")
@pytest.mark.parametrize("settings", LINEAR, ids=str)
@pytest.mark.parametrize("data", [IRIS, WINE], ids=["iris", "wine"])
def test_same_discriminants_as_scikit_learn(data, settings):
    X, y = data
    for target in (y, np.where(y > 0, "some", "none")) if "priors" not in settings else (y,):
        ours = LinearDiscriminantAnalysis(**settings).fit(X, target)
        theirs = peer.LinearDiscriminantAnalysis(**settings).fit(X, target)
        size = np.abs(theirs.coef_).max()
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9 * size)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
        assert ours.decision_function(X).shape == theirs.decision_function(X).shape
        if settings.get("solver") != "lsqr":
            np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), atol=1e-7)
            np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, atol=1e-9)
        if hasattr(theirs, "covariance_"):
            np.testing.assert_allclose(ours.covariance_, theirs.covariance_, atol=1e-9)


QUADRATIC = [
    {},
    {"reg_param": 0.1, "store_covariance": True},
    {"solver": "eigen"},
    {"solver": "eigen", "shrinkage": 0.2},
    {"solver": "eigen", "shrinkage": "auto"},
    {"priors": [0.2, 0.3, 0.5]},
]


@pytest.mark.peer("QuadraticDiscriminantAnalysis")
@pytest.mark.parametrize("settings", QUADRATIC, ids=str)
def test_same_quadratic_scores_as_scikit_learn(settings):
    X, y = IRIS
    ours, theirs = (
        kind(**settings).fit(X, y) for kind in (QuadraticDiscriminantAnalysis, peer.QuadraticDiscriminantAnalysis)
    )
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-8, atol=1e-8)
    for mine, other in zip(ours.scalings_, theirs.scalings_, strict=True):
        np.testing.assert_allclose(mine, np.sort(other)[::-1], rtol=1e-9)
    if "store_covariance" in settings:
        np.testing.assert_allclose(ours.covariance_, theirs.covariance_, atol=1e-10)


# broken models


@pytest.mark.parametrize("attribute", ["rotations_", "scalings_", "means_", "priors_"])
def test_verify_objects_to_a_broken_quadratic_model(attribute):
    X, y = IRIS
    model = copy.deepcopy(QuadraticDiscriminantAnalysis().fit(X, y))
    value = getattr(model, attribute)
    if isinstance(value, list):
        value[1] = value[1] * 1.001
    else:
        value[1] *= 1.001
    with pytest.warns(pellucid.UncertifiedWarning, match="above its bound"):
        assert not pellucid.verify(model, X, y).holds


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
@pytest.mark.parametrize(
    ("attribute", "claim"),
    [("means_", "means"), ("priors_", "priors"), ("coef_", "discriminants"), ("intercept_", "intercepts")],
)
def test_verify_names_what_is_broken(solver, attribute, claim):
    model = LinearDiscriminantAnalysis(solver=solver).fit(*IRIS)
    value = getattr(model, attribute).copy()
    value.flat[-1] *= 1.001
    setattr(model, attribute, value)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert not pellucid.verify(model, *IRIS)[claim].holds
    assert any(claim in str(warning.message) for warning in caught)


def test_axes_must_be_orthonormal_even_if_the_covariance_is_right():
    model = QuadraticDiscriminantAnalysis().fit(*IRIS)
    model.rotations_[0], model.scalings_[0] = 1.001 * model.rotations_[0], model.scalings_[0] / 1.001**2
    with pytest.warns(pellucid.UncertifiedWarning, match="axes"):
        assert pellucid.verify(model, *IRIS)["covariances"].holds


def test_verify_objects_to_a_broken_projection():
    model = LinearDiscriminantAnalysis().fit(*IRIS)
    model.scalings_ = model.scalings_ * 1.001
    with pytest.warns(pellucid.UncertifiedWarning, match="projection"):
        pellucid.verify(model, *IRIS)


CANCER = load_breast_cancer(return_X_y=True)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("settings", [{}, {"solver": "lsqr"}, {"solver": "eigen", "shrinkage": "auto"}])
def test_raw_columns_of_all_sizes_are_certified_and_coefficients_of_the_other_sign_are_not(settings, offset, dtype):
    X, y = (CANCER[0] + offset).astype(dtype), CANCER[1]
    model = LinearDiscriminantAnalysis(**settings).fit(X, y)
    proof = pellucid.verify(model, X, y)
    assert proof.holds
    assert max(claim.bound for claim in proof.claims) < 1e-3
    model.coef_ = -model.coef_
    broken = quiet_proof(model, X, y)
    assert broken["discriminants"].value == pytest.approx(2.0, abs=1e-3)
    assert [claim.bound for claim in broken.claims] == [claim.bound for claim in proof.claims]


def test_bounds_depend_on_the_training_data_not_on_the_model():
    model = LinearDiscriminantAnalysis().fit(*IRIS)
    bounds = [claim.bound for claim in pellucid.verify(model, *IRIS).claims]
    for change in (lambda w: w.astype(np.float32), lambda w: 1e6 * w):
        broken = copy.copy(model)
        broken.coef_ = change(model.coef_)
        proof = quiet_proof(broken, *IRIS)
        assert not proof.holds
        assert [claim.bound for claim in proof.claims] == bounds


def test_coefficients_in_directions_without_spread_are_noticed():
    X, y = np.column_stack([IRIS[0], np.zeros(len(IRIS[0]))]), IRIS[1]
    model = LinearDiscriminantAnalysis().fit(X, y)
    model.coef_[:, -1] = 1.0  # changes no score of the training rows, and those of others
    assert not quiet_proof(model, X, y)["discriminants"].holds


def test_nearly_dependent_columns_are_claimed_nothing_of():
    X, y = IRIS
    X = np.column_stack([X, X[:, 0] + 1e-6 * np.random.default_rng(0).standard_normal(len(X))])
    model = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    assert model.certificate_.grade == "none"
    assert "nearly dependent" in model.certificate_.reason


@pytest.mark.parametrize("column", [0, 1])
def test_quadratic_errors_are_measured_column_by_column(column):
    X, y = IRIS[0][:, :2] * [1e4, 1.0], IRIS[1]
    model = QuadraticDiscriminantAnalysis(tol=1e-12).fit(X, y)
    assert pellucid.verify(model, X, y).holds
    model.means_ = model.means_ * np.where(np.arange(2) == column, 1.001, 1.0)
    assert not quiet_proof(model, X, y)["means"].holds
    model = QuadraticDiscriminantAnalysis(tol=1e-12).fit(X, y)
    model.scalings_ = [scaling * np.where(np.arange(2) == column, 1.001, 1.0) for scaling in model.scalings_]
    assert not quiet_proof(model, X, y)["covariances"].holds


def test_columns_too_unequal_for_their_covariances_are_claimed_nothing_of():
    X, y = IRIS[0][:, :2] * [1e12, 1.0], IRIS[1]
    model = QuadraticDiscriminantAnalysis(tol=1e-12).fit(X, y)
    assert model.certificate_.grade == "none"
    assert "standardize X" in model.certificate_.reason


# errors


@pytest.mark.bad_input("LinearDiscriminantAnalysis")
@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"solver": "magic"}, ValueError, "solver must be one of"),
        ({"shrinkage": 0.5}, NotImplementedError, "shrinkage must be None with solver='svd', got 0.5"),
        (
            {"solver": "eigen", "shrinkage": 2.0},
            ValueError,
            "shrinkage must be between 0 and 1, got 2.0",
        ),
        ({"covariance_estimator": LedoitWolf()}, ValueError, "covariance_estimator must be None with solver='svd'"),
        ({"priors": [0.5, 0.5]}, ValueError, r"priors must have one entry per class \(3\), got shape \(2,\)"),
        ({"priors": [-0.5, 0.5, 1.0]}, ValueError, "priors must be non-negative"),
        ({"n_components": 3}, ValueError, r"n_components cannot be larger than .* = 2, got 3"),
    ],
)
def test_bad_settings_get_one_sentence(settings, error, message):
    with pytest.raises(error, match=message):
        LinearDiscriminantAnalysis(**settings).fit(*IRIS)


@pytest.mark.bad_input("QuadraticDiscriminantAnalysis")
def test_a_class_without_spread_is_refused_with_its_remedy():
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 1.0], [4.0, 0.0], [5.0, 3.0]]), [0, 0, 0, 1, 1, 1]
    with pytest.raises(LinAlgError, match="class 0 is not full rank: its 3 samples .* Increase reg_param"):
        QuadraticDiscriminantAnalysis().fit(X, y)
    QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X, y)


def test_one_sample_or_one_class_is_refused():
    with pytest.raises(ValueError, match="y has only 1 sample in class 1"):
        QuadraticDiscriminantAnalysis().fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    with pytest.raises(ValueError, match="number of samples must be more than the number of classes"):
        LinearDiscriminantAnalysis().fit([[0.0], [1.0]], [0, 1])


def test_constant_features_are_left_out():
    X, y = IRIS
    with_constant = np.column_stack([X, np.full(len(X), 7.0)])
    model = LinearDiscriminantAnalysis().fit(with_constant, y)
    np.testing.assert_allclose(
        model.predict_proba(with_constant), LinearDiscriminantAnalysis().fit(X, y).predict_proba(X), atol=1e-9
    )
    assert model.certificate_.holds
    with pytest.raises(LinAlgError, match="covariance must be positive definite for solver='eigen'"):
        LinearDiscriminantAnalysis(solver="eigen").fit(with_constant, y)


def test_least_squares_cannot_transform():
    with pytest.raises(NotImplementedError, match="transform not implemented for 'lsqr' solver"):
        LinearDiscriminantAnalysis(solver="lsqr").fit(*IRIS).transform(IRIS[0])


def test_priors_that_do_not_add_up_are_renormalized_with_a_warning():
    with pytest.warns(UserWarning, match="priors do not sum to 1"):
        model = LinearDiscriminantAnalysis(priors=[1.0, 1.0, 2.0]).fit(*IRIS)
    np.testing.assert_allclose(model.priors_, [0.25, 0.25, 0.5])
