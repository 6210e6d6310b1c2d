"""NetworkRegressor: numbers by any module."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import pellucid
from pellucid.neural_network import DenseNetwork, NetworkRegressor

torch = pytest.importorskip("torch")


def line(n=60):
    X = np.random.default_rng(0).standard_normal((n, 2))
    return X, X @ [2.0, -1.0] + 0.5


@pytest.mark.by_hand
def test_one_step_on_one_row_by_hand():
    # from w = b = 0 at x = 2, y = 3: half the squared error has slopes -6 and -3
    module = torch.nn.Linear(1, 1)
    for parameter in module.parameters():
        torch.nn.init.zeros_(parameter)
    model = NetworkRegressor(module, epochs=1, method=lambda groups: torch.optim.SGD(groups, lr=0.1))
    model.fit([[2.0], [2.0]], [3.0, 3.0])
    assert model.weights_["weight"] == pytest.approx(0.6)
    assert model.weights_["bias"] == pytest.approx(0.3)


@pytest.mark.peer
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


@pytest.mark.property
def test_the_whole_data_as_two_parts_are_two_epochs_sparse_or_not():
    X, y = line()
    options = {"module": DenseNetwork(hidden=(4,)), "batch_size": 16, "random_state": 0}
    whole = NetworkRegressor(epochs=2, **options).fit(X, y)
    model = NetworkRegressor(**options).partial_fit(X, y).partial_fit(sparse.coo_array(X), y)
    assert model.weights_digest_ == whole.weights_digest_
    assert not pellucid.verify(model, sparse.csr_matrix(X), y).failed
    with pytest.raises(ValueError, match="whose targets_ is 0, got 2"):
        model.partial_fit(X, np.column_stack([y, y]))


def test_the_best_epoch_is_proved_for_several_targets():
    X, y = line()
    options = {"epochs": 3, "random_state": 0, "validation_fraction": 0.2}
    model = NetworkRegressor(DenseNetwork(hidden=(4,)), **options).fit(X, np.column_stack([y, -y]))
    assert not pellucid.verify(model, X, np.column_stack([y, -y])).failed
    model.best_validation_score_ += 0.01
    with pytest.warns(UserWarning, match="best epoch"):
        assert pellucid.verify(model, X, np.column_stack([y, -y])).failed


def test_targets_that_float32_cannot_hold_are_verified_as_they_were_given():
    X, y = line()
    model = NetworkRegressor(DenseNetwork(hidden=(4,)), epochs=2, random_state=0, validation_fraction=0.2)
    model.fit(X.astype(np.float32), 100 * y)
    assert model.weights_["0.weight"].dtype == np.float32
    assert not model.certificate_.failed


@pytest.mark.bad_input
def test_too_few_rows_to_hold_some_out_are_refused():
    X, y = line(5)
    with pytest.raises(ValueError, match="must leave at least 2 rows to score on and 1 to learn from, got 0.1 of 5"):
        NetworkRegressor(validation_fraction=0.1).fit(X, y)
