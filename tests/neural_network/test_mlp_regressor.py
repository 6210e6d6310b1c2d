"""MLPRegressor: scikit-learn's weights, several targets, counts, bad input."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.neural_network import MLPRegressor as Peer

import pellucid
from pellucid.neural_network import MLPRegressor

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X / X.std(axis=0), y / 100


@pytest.mark.by_hand
def test_without_hidden_layers_it_is_ridge_regression_by_hand():
    # centered: X'X = 2, X'y = 2; the penalty alpha/2 w^2 adds 2: w = 2 / (2 + 2), b = mean of y
    X, y = [[-1.0], [0.0], [1.0]], [1.0, 2.0, 3.0]
    model = MLPRegressor(hidden_layer_sizes=(), solver="lbfgs", alpha=2.0, tol=1e-10).fit(X, y)
    assert model.coefs_[0] == pytest.approx(np.array([[0.5]]), abs=1e-6)
    assert model.intercepts_[0] == pytest.approx([2.0], abs=1e-6)


@pytest.mark.peer
@pytest.mark.parametrize("settings", [{}, {"loss": "poisson"}, {"early_stopping": True}, {"solver": "lbfgs"}])
def test_the_weights_are_those_of_scikit_learn(settings):
    X, y = diabetes()
    options = {"hidden_layer_sizes": (10,), "max_iter": 15, "random_state": 0, "learning_rate_init": 0.01, **settings}
    ours, peer = MLPRegressor(**options).fit(X, y), Peer(**options).fit(X, y)
    np.testing.assert_allclose(ours.coefs_[0], peer.coefs_[0], atol=1e-7)
    np.testing.assert_allclose(ours.predict(X), peer.predict(X), rtol=1e-6)
    assert ours.loss_ == pytest.approx(peer.loss_, rel=1e-8)
    assert not pellucid.verify(ours, X, y).failed


def test_several_targets_have_one_column_each():
    X, y = diabetes()
    Y = np.column_stack([y, -y])
    options = {"hidden_layer_sizes": (10,), "max_iter": 15, "random_state": 0}
    ours, peer = MLPRegressor(**options).fit(X, Y), Peer(**options).fit(X, Y)
    np.testing.assert_allclose(ours.predict(X), peer.predict(X), atol=1e-7)


def test_parts_lower_the_loss():
    X, y = diabetes()
    model = MLPRegressor(hidden_layer_sizes=(10,), random_state=0)
    for _ in range(10):
        model.partial_fit(X, y)
    assert model.loss_curve_[-1] < model.loss_curve_[0]


@pytest.mark.bad_input
def test_counts_are_not_negative():
    with pytest.raises(ValueError, match="y must be at least 0 for loss='poisson', got -1"):
        MLPRegressor(loss="poisson").fit([[1.0], [2.0]], [-1.0, 1.0])


@pytest.mark.property
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_a_standardized_target_is_learned_in_any_units_and_answered_in_its_own(scale):
    X, y = diabetes()
    options = {"hidden_layer_sizes": (10,), "max_iter": 60, "random_state": 0, "learning_rate_init": 0.01}
    plain = MLPRegressor(standardize_target=True, **options).fit(X, y)
    scaled = MLPRegressor(standardize_target=True, **options).fit(X, scale * (y + 7))
    np.testing.assert_allclose(scaled.predict(X) / scale - 7, plain.predict(X), rtol=1e-6)
    assert plain.score(X, y) > 0.4
    again = pickle.loads(pickle.dumps(plain)).partial_fit(X, y)
    assert again.loss_ < plain.loss_ + 0.01
    assert not pellucid.verify(scaled, X, scale * (y + 7)).failed


def test_a_file_goes_on_learning_in_the_units_of_its_target(tmp_path):
    X, y = diabetes()
    options = {"hidden_layer_sizes": (10,), "max_iter": 60, "random_state": 0, "learning_rate_init": 0.01}
    model = MLPRegressor(standardize_target=True, **options).fit(X, 1000 * y)
    pellucid.save(model, tmp_path / "m.safetensors")
    again = pellucid.load(tmp_path / "m.safetensors").partial_fit(X, 1000 * y)
    assert again.loss_ == pytest.approx(model.loss_, rel=0.05)


def test_counts_have_one_unit():
    with pytest.raises(ValueError, match="standardize_target must be False for loss='poisson'"):
        MLPRegressor(loss="poisson", standardize_target=True).fit([[1.0], [2.0]], [1.0, 1.0])


def test_rows_in_float32_are_proved_against_the_target_as_it_was_given():
    X, y = diabetes()
    model = MLPRegressor(hidden_layer_sizes=(10,), max_iter=20, random_state=0).fit(X.astype(np.float32), y / 3)
    assert not pellucid.verify(model, X.astype(np.float32), y / 3).failed


@pytest.mark.parametrize(("scale", "shift"), [(100.0, 0.0), (100.0, 1e3), (1.0, 1e6)])
def test_units_that_are_saturated_raise_no_alarm(scale, shift):
    X, y = diabetes()
    X, y = scale * X[:60] + shift, y[:60]
    options = {"activation": "tanh", "solver": "lbfgs", "max_iter": 200, "random_state": 1}
    model = MLPRegressor(hidden_layer_sizes=(6, 5), **options).fit(X, y)
    assert not pellucid.verify(model, X, y).failed
    model.gradient_norm_ *= 1 + 1e-4
    assert pellucid.verify(model, X, y).failed
