"""Networks of dense layers on a device: the fit in memory, from the same start by the same steps."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import pellucid
from pellucid.core.arrays import is_foreign, on_host
from pellucid.core.device.replaying import BEFORE, Replayed
from pellucid.neural_network import MLPClassifier, MLPRegressor
from pellucid.optimize import Adam
from tests.core.device.conftest import DEVICE, torch

There = Callable[[Any], Any]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of a dozen epochs

SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"alpha": 1.0, "activation": "tanh", "beta_1": 0.8, "beta_2": 0.99, "epsilon": 1e-4},
    {"solver": "sgd", "learning_rate": "adaptive", "learning_rate_init": 0.3, "tol": 0.02, "n_iter_no_change": 1},
    {"solver": "sgd", "learning_rate": "invscaling", "learning_rate_init": 0.1, "nesterovs_momentum": False},
    {"solver": "sgd", "learning_rate_init": 0.05, "momentum": 0.5, "shuffle": False},
    {"solver": "lbfgs", "max_iter": 8},
    {"early_stopping": True, "activation": "elu", "n_iter_no_change": 2, "tol": 0.01},
    {"batch_normalization": True, "activation": "leaky_relu"},
    {"activation": "maxout", "pieces": 3, "initialization": "he"},
    {"activation": "gelu", "batch_size": 310},
    {"activation": "logistic", "hidden_layer_sizes": 5},
    {"activation": "identity", "hidden_layer_sizes": ()},
)


def table(dtype: str = "float64") -> tuple[Any, Any, Any]:
    """Return rows, numbers and labels that no line tells apart."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((310, 6))
    y = X[:, 0] * X[:, 1] + 0.3 * X[:, 2]
    return X.astype(dtype), y.astype(dtype), np.digitize(y, [-0.4, 0.4])


def options(**settings: Any) -> dict[str, Any]:
    """Return the parameters of a small network; 310 rows are nine batches of 32 and one of 22."""
    return {"hidden_layer_sizes": (8, 7), "max_iter": 12, "batch_size": 32, "random_state": 3, **settings}


def assert_same(model: Any, host: Any, rtol: float = 1e-8) -> None:
    """Compare what a fit on a device leaves with the fit in memory."""
    assert model.n_iter_ == host.n_iter_
    assert model.t_ == host.t_
    for name in ("coefs_", "intercepts_"):
        for ours, theirs in zip(getattr(model, name), getattr(host, name), strict=True):
            assert is_foreign(ours)
            assert on_host(ours).dtype == theirs.dtype
            np.testing.assert_allclose(on_host(ours), theirs, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(model.trace_["objective"], host.trace_["objective"], rtol=rtol)
    for name in ("loss_curve_", "validation_scores_"):
        if getattr(host, name, None) is not None:
            np.testing.assert_allclose(getattr(model, name), getattr(host, name), rtol=rtol)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("kind", [MLPClassifier, MLPRegressor])
def test_same_start_same_batches_same_steps(kind: Any, settings: dict[str, Any], there: There) -> None:
    X, y, labels = table()
    target = labels if kind is MLPClassifier else y
    model, host = (kind(**options(**settings)).fit(*given) for given in ((there(X), there(target)), (X, target)))
    assert_same(model, host, 1e-5 if DEVICE != "cpu" else 1e-8)
    for claims in (model.certificate_.claims, pellucid.verify(model, there(X), there(target)).claims):
        assert all(claim.holds for claim in claims)
        assert {claim.name for claim in claims} == {claim.name for claim in host.certificate_.claims}
    np.testing.assert_allclose(on_host(model.predict(there(X))), host.predict(X), atol=1e-4)
    np.testing.assert_allclose(model.predict(X), host.predict(X), atol=1e-4)
    assert model.score(there(X), there(target)) == pytest.approx(host.score(X, target), abs=1e-4)
    if kind is MLPClassifier:
        for name in ("predict_proba", "predict_log_proba"):
            said = getattr(model, name)(there(X))
            assert is_foreign(said)
            np.testing.assert_allclose(on_host(said), getattr(host, name)(X), atol=1e-4)
    assert "torch on" in model.backend_


@pytest.mark.parametrize("kind", [MLPClassifier, MLPRegressor])
def test_single_precision_stays_single(kind: Any, there: There) -> None:
    X, y, labels = table("float32")
    target = labels if kind is MLPClassifier else y
    model, host = (kind(**options()).fit(*given) for given in ((there(X), there(target)), (X, target)))
    assert_same(model, host, 1e-3)
    assert on_host(model.coefs_[0]).dtype == np.float32
    assert model.certificate_.claims
    assert all(claim.holds for claim in model.certificate_.claims)


@pytest.mark.parametrize("settings", [{}, {"solver": "lbfgs"}, {"batch_normalization": True}], ids=str)
def test_weights_and_rows_of_weight_0(settings: dict[str, Any], there: There) -> None:
    X, _, labels = table()
    weight = np.arange(len(X)) % 4 * 0.5
    model = MLPClassifier(**options(**settings)).fit(there(X), there(labels), sample_weight=there(weight))
    host = MLPClassifier(**options(**settings)).fit(X, labels, sample_weight=weight)
    assert_same(model, host, 1e-5 if DEVICE != "cpu" else 1e-8)
    assert all(c.holds for c in pellucid.verify(model, there(X), there(labels), sample_weight=there(weight)).claims)


def test_two_classes_words_and_weights_of_classes(there: There) -> None:
    X, _, labels = table()
    words = np.array(["low", "middle", "top"])[labels]
    for target, settings in ((labels > 0, {}), (words, {"class_weight": "balanced"}), (labels * 0 + 4, {})):
        given = target if target is words else there(target)
        model = MLPClassifier(**options(**settings)).fit(there(X), given)
        host = MLPClassifier(**options(**settings)).fit(X, target)
        assert_same(model, host, 1e-5 if DEVICE != "cpu" else 1e-8)
        np.testing.assert_array_equal(on_host(model.predict(there(X))), host.predict(X))
        assert model.predict_proba(there(X)).shape == host.predict_proba(X).shape


def test_several_labels_and_several_numbers(there: There) -> None:
    X, y, labels = table()
    several, numbers = np.stack([labels > 0, labels > 1], axis=1).astype(int), np.stack([y, -y, X[:, 0]], axis=1)
    for kind, target in ((MLPClassifier, several), (MLPRegressor, numbers)):
        model, host = (kind(**options()).fit(*given) for given in ((there(X), there(target)), (X, target)))
        assert_same(model, host, 1e-5 if DEVICE != "cpu" else 1e-8)
        np.testing.assert_allclose(on_host(model.predict(there(X))), host.predict(X), atol=1e-4)
        assert all(claim.holds for claim in pellucid.verify(model, there(X), there(target)).claims)


def test_counts_and_standardized_targets(there: There) -> None:
    X, y, _ = table()
    for settings, target in (({"loss": "poisson"}, np.exp(y).round()), ({"standardize_target": True}, 100.0 + 9 * y)):
        model, host = (
            MLPRegressor(**options(**settings)).fit(*given) for given in ((there(X), there(target)), (X, target))
        )
        assert_same(model, host, 1e-5 if DEVICE != "cpu" else 1e-8)
    with pytest.raises(ValueError, match="y must be at least 0 for loss='poisson'"):
        MLPRegressor(loss="poisson").fit(there(X), there(y))


def test_dropout_draws_from_the_seed(there: There) -> None:
    X, _, labels = table()
    first, again, other = (
        MLPClassifier(**options(dropout=0.3, random_state=seed)).fit(there(X), there(labels)) for seed in (3, 3, 4)
    )
    assert first.weights_digest_ == again.weights_digest_ != other.weights_digest_
    without = MLPClassifier(**options()).fit(there(X), there(labels))
    assert first.loss_ > without.loss_  # half of the units are learned at a time
    means = [
        MLPClassifier(**options(dropout=0.3, max_iter=80, tol=0.0)).fit(*given).loss_
        for given in ((there(X), there(labels)), (X, labels))
    ]
    assert means[0] == pytest.approx(means[1], rel=0.15)


def test_steps_are_recorded_and_the_last_rows_are_learned(there: There, monkeypatch: pytest.MonkeyPatch) -> None:
    X, _, labels = table("float32")
    made: list[Any] = []

    class Kept(Replayed):
        def __call__(self) -> Any:
            made.append(self)
            return super().__call__()

    monkeypatch.setattr("pellucid.neural_network.training.dense_device_trainer.Replayed", Kept)
    model = MLPClassifier(**options(dropout=0.2)).fit(there(X), there(labels))
    assert len(made) == 9 * 12 > BEFORE
    assert len(set(made)) == 1
    assert (made[0]._graph is None) is (DEVICE == "cpu")
    monkeypatch.setattr(Kept, "__call__", lambda self: self.step())  # the same, launched one by one
    launched = MLPClassifier(**options(dropout=0.2)).fit(there(X), there(labels))
    assert launched.weights_digest_ == model.weights_digest_


def test_a_network_that_diverges_says_where(there: There) -> None:
    X, y, _ = table("float32")
    model = MLPRegressor(**options(solver="sgd", learning_rate_init=1e20))
    with pytest.raises(ValueError, match=r"loss must stay finite, got (inf|nan) at batch \d+ of epoch 1"):
        model.fit(there(X), there(y))
    assert not hasattr(model, "coefs_")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"warm_start": True}, "warm_start must be False, got True: MLPClassifier has no other form for arrays on a"),
        ({"solver": Adam(0.1)}, "solver must be 'adam', 'sgd' or 'lbfgs', got Adam"),
    ],
)
def test_what_has_no_form_is_refused(settings: dict[str, Any], words: str, there: There) -> None:
    X, _, labels = table()
    with pytest.raises(ValueError, match=words):
        MLPClassifier(**settings).fit(there(X), there(labels))


def test_files_pickles_parts_and_the_host(there: There, tmp_path: Any) -> None:
    X, _, labels = table("float32")
    model = MLPClassifier(**options()).fit(there(X), there(labels))
    pellucid.save(model, tmp_path / "network.safetensors")
    again = pellucid.load(tmp_path / "network.safetensors")
    assert isinstance(again.coefs_[0], np.ndarray)
    assert all(claim.holds for claim in pellucid.verify(again, X, labels).claims)
    host, copied = pellucid.to_host(model), pickle.loads(pickle.dumps(model))
    assert isinstance(host.intercepts_[1], np.ndarray)
    assert torch.equal(copied.coefs_[0], model.coefs_[0])
    np.testing.assert_array_equal(host.predict(X), again.predict(X))
    module = model.module_(torch.as_tensor(X)).softmax(1).detach().numpy()
    np.testing.assert_allclose(module, host.predict_proba(X), atol=1e-5)
    later = model.partial_fit(X, labels)
    assert isinstance(later.coefs_[0], np.ndarray)
    assert not np.array_equal(later.coefs_[0], host.coefs_[0])


def test_forged_layers_are_found(there: There) -> None:
    X, _, labels = table()
    model = MLPClassifier(**options()).fit(there(X), there(labels))
    model.coefs_[1] = model.coefs_[1] * 1.01
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not all(claim.holds for claim in pellucid.verify(model, there(X), there(labels)).claims)


def test_rows_of_the_host_are_sent(there: There) -> None:
    X, y, _ = table()
    with pellucid.on_device(there(X).device):
        model = MLPRegressor(**options()).fit(X, y)
    assert isinstance(model.coefs_[0], np.ndarray)
    np.testing.assert_allclose(model.coefs_[0], MLPRegressor(**options()).fit(X, y).coefs_[0], atol=1e-5)


def test_callbacks_see_each_epoch(there: There) -> None:
    X, _, labels = table()
    with pytest.warns(ConvergenceWarning, match=r"Maximum iterations \(12\) reached"):
        model = MLPClassifier(**options()).fit(there(X), there(labels))
    assert len(model.trace_["objective"]) == 12
    with pellucid.record():
        recorded = MLPClassifier(**options()).fit(there(X), there(labels))
    assert recorded.weights_digest_ == model.weights_digest_
