"""NetworkRegressor: numbers by any module."""

from __future__ import annotations

import numpy as np
import pytest

import pellucid
from pellucid.neural_network import DenseNetwork, NetworkRegressor

pytest.importorskip("torch")


def line(n=60):
    X = np.random.default_rng(0).standard_normal((n, 2))
    return X, X @ [2.0, -1.0] + 0.5


def test_without_hidden_layers_it_is_least_squares():
    X, y = line()
    options = {"epochs": 300, "batch_size": 60, "learning_rate": 0.1, "random_state": 0}
    model = NetworkRegressor(DenseNetwork(hidden=()), **options).fit(X, y)
    np.testing.assert_allclose(model.weights_["0.weight"], [[2.0, -1.0]], atol=1e-4)
    assert model.weights_["0.weight"].dtype == np.float64
    assert not pellucid.verify(model, X, y).failed


def test_several_targets_have_a_column_each():
    X, y = line()
    model = NetworkRegressor(DenseNetwork(hidden=(4,)), epochs=2, random_state=0).fit(X, np.column_stack([y, -y]))
    assert model.predict(X).shape == (60, 2)
    assert NetworkRegressor(epochs=1, random_state=0).fit(X, y).predict(X).shape == (60,)
