"""Networks of torch on rows in blocks: block after block in a seeded order, one block of them on the device."""

from __future__ import annotations

import numpy as np
import pytest

import pellucid
from pellucid.neural_network import DenseNetwork, NetworkClassifier, NetworkRegressor

torch = pytest.importorskip("torch")
dask = pytest.importorskip("dask", reason="the extra 'scale' is not installed")
da = pytest.importorskip("dask.array")

N, P = 500, 4
rng = np.random.default_rng(7)
X = rng.normal(size=(N, P))
NUMBERS = np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=N)
LABELS = np.array(["few", "many", "none"])[np.digitize(NUMBERS, [-0.7, 0.7])]
WEIGHT = rng.integers(0, 3, N).astype(float)
SMALL = {"epochs": 25, "batch_size": 40, "learning_rate": 0.05, "random_state": 0, "device": "cpu"}


def blocks(array, height=90):
    return da.from_array(array, chunks=(height, -1) if array.ndim == 2 else height)


def network(kind, **settings):
    return kind(DenseNetwork(hidden=(8,)), **SMALL | settings)


def bits(model):
    return b"".join(model.weights_[name].tobytes() for name in sorted(model.weights_))


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weighted"])
@pytest.mark.parametrize("kind", [NetworkClassifier, NetworkRegressor])
def test_blocks_are_learned_as_well_as_rows_in_memory_and_proved(kind, weight):
    target = LABELS if kind is NetworkClassifier else NUMBERS
    given = {} if weight is None else {"sample_weight": weight}
    lazy = {name: blocks(value) for name, value in given.items()}
    in_memory, model = network(kind).fit(X, target, **given), network(kind).fit(blocks(X), blocks(target), **lazy)
    assert model.score(X, target) > in_memory.score(X, target) - 0.08
    np.testing.assert_array_equal(model.predict(blocks(X)).compute().shape, in_memory.predict(X).shape)
    assert not pellucid.verify(model, blocks(X, 70), blocks(target), **lazy).failed
    assert not pellucid.verify(model, X, target, **given).failed


@pytest.mark.parametrize("kind", [NetworkClassifier, NetworkRegressor])
def test_one_block_is_learned_as_in_memory_to_the_last_bit(kind):
    target = LABELS if kind is NetworkClassifier else NUMBERS
    in_memory, model = network(kind, epochs=3).fit(X, target), network(kind, epochs=3).fit(blocks(X, N), target)
    assert bits(model) == bits(in_memory)


def test_bits_are_the_same_on_any_number_of_workers():
    found = set()
    for setting in ({"num_workers": 1}, {"num_workers": 4}, {"scheduler": "synchronous"}):
        with dask.config.set(**{"scheduler": "threads", **setting}):
            found.add(bits(network(NetworkClassifier, epochs=3).fit(blocks(X, 40), blocks(LABELS, 40))))
    assert len(found) == 1


def test_every_row_is_taken_once_in_an_epoch(monkeypatch):
    from pellucid.neural_network.training.device_rows import BlockDeviceRows

    taken, take = [], BlockDeviceRows.take
    monkeypatch.setattr(BlockDeviceRows, "take", lambda rows, places: (taken.append(places), take(rows, places))[1])
    network(NetworkRegressor, epochs=2).fit(blocks(X), blocks(NUMBERS))
    places = torch.cat(taken).numpy()
    for epoch in (places[:N], places[N:]):
        np.testing.assert_array_equal(np.sort(epoch), np.arange(N))
    assert not np.array_equal(places[:N], places[N:])


def test_a_batch_has_the_rows_that_it_names():
    from pellucid.core.scale.row_blocks import row_blocks
    from pellucid.core.scale.table_in_blocks import TableInBlocks
    from pellucid.neural_network.training.device_rows import BlockDeviceRows

    heights = (90, 90, 90, 90, 90, 50)
    kept = np.flatnonzero(WEIGHT)
    table = TableInBlocks(row_blocks(blocks(X)), heights)[kept]
    rows = BlockDeviceRows(table, NUMBERS[kept], None, torch.device("cpu"), torch.float64)
    for places in rows.batches(40):
        batch = rows.take(places)
        np.testing.assert_array_equal(batch.inputs.numpy(), X[kept][places.numpy()])
        np.testing.assert_array_equal(batch.targets.numpy(), NUMBERS[kept][places.numpy()])
    with pytest.raises(ValueError, match="X must be in memory for batches of any rows"):
        rows.take(torch.tensor([0, len(kept) - 1]))


@pytest.mark.parametrize("name", ["weights_", "objective_", "gradient_norm_", "weights_digest_"])
def test_changed_models_are_noticed(name):
    model = network(NetworkClassifier).fit(blocks(X), blocks(LABELS))
    value = getattr(model, name)
    if isinstance(value, dict):
        first = next(iter(value))
        value[first] = value[first] * 1.001
    else:
        setattr(model, name, value[::-1] if isinstance(value, str) else value * 1.001)
    with pytest.warns(pellucid.UncertifiedWarning):
        assert pellucid.verify(model, blocks(X), blocks(LABELS)).failed


@pytest.mark.parametrize(
    ("rows", "settings", "sentence"),
    [
        (np.where(X[200, 1] == X, np.nan, X), {}, "Input contains NaN, infinity .* in block 2"),
        (X, {"validation_fraction": 0.2}, "For all rows leave validation_fraction at 0"),
    ],
)
def test_what_is_wrong_is_said(rows, settings, sentence):
    model = network(NetworkClassifier, **settings)
    with pytest.raises(ValueError, match=sentence):
        model.fit(blocks(rows), blocks(LABELS))
    assert not hasattr(model, "weights_")
