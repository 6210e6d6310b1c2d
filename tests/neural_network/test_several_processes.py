"""Several processes that share every batch find the network of one; each of them gets a card of its own."""

from __future__ import annotations

import os
import socket

import numpy as np
import pytest

from pellucid.neural_network import DenseNetwork, NetworkClassifier
from pellucid.optimize import Adam
from tests.neural_network.processes import running

torch = pytest.importorskip("torch")
nn = torch.nn

SMALL = DenseNetwork(hidden=(5,))
NORMALIZED = DenseNetwork(hidden=(5,), batch_normalization=True)
RUNS = {  # 22 rows in batches of 7: the processes never get the same number, and the last row is for one of them
    "weighted": NetworkClassifier(SMALL, epochs=2, batch_size=7, random_state=0, learning_rate=0.01),
    "method": NetworkClassifier(SMALL, epochs=2, batch_size=7, random_state=0, method=Adam(0.01)),
    "normalized": NetworkClassifier(NORMALIZED, epochs=3, random_state=0, validation_fraction=0.3, patience=0),
    "unseeded": NetworkClassifier(SMALL, epochs=3, validation_fraction=0.3, patience=0),
}


def weights_of_runs():
    """Train each network; return all its weights as one vector, by name."""
    random = np.random.default_rng(0)
    X, weight = random.standard_normal((22, 3)), random.uniform(0.1, 9.0, 22)
    y = np.arange(22) % 3
    found = {}
    for name, model in RUNS.items():
        model.fit(X, y, sample_weight=weight if name == "weighted" else None)
        found[name] = np.concatenate([model.trace_["objective"], *map(np.ravel, model.weights_.values())])
    return found


def save_runs(rank, count, port, folder):
    """Train as one of several processes, which find each other as those of ``torchrun`` do; save the weights."""
    place = {"RANK": rank, "WORLD_SIZE": count, "MASTER_PORT": port, "MASTER_ADDR": "localhost"}
    os.environ.update({name: str(value) for name, value in place.items()})
    np.random.seed(rank)  # noqa: NPY002  (what random_state=None draws from, equal in forked processes)
    np.savez(folder / str(rank), **weights_of_runs())


def test_two_processes_find_the_network_of_one_whatever_the_weights_of_their_rows(tmp_path):
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    with running(save_runs, (0, 2, port, tmp_path), (1, 2, port, tmp_path)) as processes:
        for process in processes:
            process.join(120)
            assert process.exitcode == 0
    first, second = (np.load(tmp_path / f"{rank}.npz") for rank in range(2))
    for name in RUNS:
        np.testing.assert_array_equal(first[name], second[name])
    alone = weights_of_runs()
    for name in ("weighted", "method"):
        np.testing.assert_allclose(first[name], alone[name], atol=1e-6)


def test_batch_normalization_of_all_processes_shares_the_memory_of_the_network():
    from pellucid.neural_network.training.devices import synchronized

    module = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Sequential(nn.BatchNorm2d(2)))
    shared = synchronized(module)
    assert [type(layer) for layer in shared.modules() if "Norm" in type(layer).__name__] == [nn.SyncBatchNorm] * 2
    assert not any(isinstance(layer, nn.SyncBatchNorm) for layer in module.modules())
    for own, other in zip(module.state_dict().values(), shared.state_dict().values(), strict=True):
        assert own.data_ptr() == other.data_ptr()
    assert [id(weight) for weight in module.parameters()] == [id(weight) for weight in shared.parameters()]


def test_each_process_takes_its_own_card(monkeypatch):
    from pellucid.neural_network.training.devices import device_named

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert str(device_named("auto")) == "cuda"
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert str(device_named("auto")) == str(device_named("cuda")) == "cuda:1"
    assert str(device_named("cuda:0")) == "cuda:0"
    assert str(device_named("cpu")) == "cpu"
    with pytest.raises(ValueError, match="one of the 2 cards of this machine, got 'cuda:2'"):
        device_named("cuda:2")
