"""Networks of torch on a device: recorded steps end in the bits of steps that are launched one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pellucid.core.device.replaying import Replayed
from tests.core.device.conftest import DEVICE, torch

IS_CARD = DEVICE != "cpu"


def digits(n: int = 600) -> tuple[Any, Any]:
    """Return images with a bright band that is their label."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    X = rng.random((n, 1, 28, 28)).astype(np.float32) * 0.2
    for k, label in enumerate(y):
        X[k, 0, 8 * label : 8 * label + 8] += 1.0
    return X, y


def fitted(X: Any, y: Any, module: Any, **settings: Any) -> Any:
    """Fit a network with shifted images; every draw hangs on the seed."""
    from pellucid.neural_network import NetworkClassifier
    from pellucid.optimize import CosineDecay
    from pellucid.vision.augmentation import Shift

    options = {"epochs": 3, "batch_size": 32, "learning_rate": CosineDecay(0.01, length=3), "method": "adamw"}
    options |= {"augmentation": (Shift(2),), "random_state": 5, "device": DEVICE}
    return NetworkClassifier(module, **options | settings).fit(X, y)


def lenet() -> Any:
    """Return a network of convolutions."""
    from pellucid.vision.models import LeNet5

    return LeNet5(classes=3)


def dropping() -> Any:
    """Return a network that draws on the device."""
    from pellucid.neural_network import DenseNetwork

    return DenseNetwork(hidden=(40, 20), dropout=0.3, batch_normalization=True, flatten=True)


@pytest.mark.parametrize("kind", [lenet, dropping])
@pytest.mark.parametrize(
    "settings", [{}, {"method": "sgd", "learning_rate": 0.1, "deterministic": False}, {"precision": "bfloat16"}]
)
def test_recorded_and_launched_steps(kind: Any, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from pellucid.neural_network.training import recorded_steps, trainer

    X, y = digits()
    made: list[Any] = []

    class Kept(recorded_steps.RecordedSteps):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            made.append(self)

    monkeypatch.setattr(trainer, "RecordedSteps", Kept)
    recorded = fitted(X, y, kind(), **settings)
    assert len(made) == IS_CARD
    if IS_CARD:
        assert made[0]._again._graph is not None, "the steps of a known network wait for nothing"
    monkeypatch.setattr(recorded_steps, "records_on", lambda _: True)
    monkeypatch.setattr(Replayed, "__call__", lambda self: self.step())  # the same, launched one by one
    launched = fitted(X, y, kind(), **settings)
    exact = settings.get("deterministic", True) and IS_CARD
    for name, weight in launched.weights_.items():
        # sums whose order is left to the card drift apart, here and there by more than elsewhere: their mean does not
        apart = np.abs(recorded.weights_[name] - weight)
        assert np.max(apart) == 0.0 if exact else np.mean(apart) < 0.01, name
    assert abs(recorded.score(X, y) - launched.score(X, y)) < 0.1
    assert recorded.score(X, y) > 0.9 or not exact


def test_a_run_goes_on_from_its_file_to_the_same_bits(tmp_path: Any) -> None:
    X, y = digits()
    file = tmp_path / "run.safetensors"
    fitted(X, y, lenet(), epochs=2, checkpoint=file)
    assert fitted(X, y, lenet(), checkpoint=file).weights_digest_ == fitted(X, y, lenet()).weights_digest_


class Reading(torch.nn.Module):
    """A layer that waits for the device."""

    def forward(self, rows: Any) -> Any:
        """Return the rows, halved where the host says so."""
        return rows * 0.5 if float(rows.sum()) > 0.0 else rows


def test_steps_that_wait_are_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    from pellucid.neural_network.training import recorded_steps, trainer

    X, y = digits()
    made: list[Any] = []

    class Kept(recorded_steps.RecordedSteps):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            made.append(self)

    monkeypatch.setattr(trainer, "RecordedSteps", Kept)
    monkeypatch.setattr(recorded_steps, "OUR_CODE", ("",))  # as if all code were known
    model = fitted(X, y, torch.nn.Sequential(torch.nn.Flatten(), Reading(), torch.nn.Linear(784, 3)))
    assert model.score(X, y) > 0.9
    assert len(made) == IS_CARD
    if IS_CARD:
        assert made[0]._waits
        assert made[0]._again._graph is None
