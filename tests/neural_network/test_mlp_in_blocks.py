"""Networks on rows in blocks: block after block in a seeded order, one block as in memory, the same bits everywhere."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

import pellucid
from pellucid.neural_network import MLPClassifier, MLPRegressor

dask = pytest.importorskip("dask", reason="the extra 'scale' is not installed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

N, P = 600, 4
rng = np.random.default_rng(7)
X = rng.normal(size=(N, P))
NUMBERS = np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=N)
LABELS = np.array(["few", "many", "none"])[np.digitize(NUMBERS, [-0.7, 0.7])]
WEIGHT = rng.integers(0, 3, N).astype(float)
SMALL = {"hidden_layer_sizes": (8,), "random_state": 0, "max_iter": 15, "learning_rate_init": 0.02}


def blocks(array, height=90):
    return da.from_array(array, chunks=(height, -1) if array.ndim == 2 else height)


def bits(model):
    return b"".join(part.tobytes() for part in (*model.coefs_, *model.intercepts_))


@pytest.mark.parametrize(
    ("kind", "target", "settings"),
    [
        (MLPClassifier, LABELS, {}),
        (MLPClassifier, LABELS, {"class_weight": "balanced", "solver": "sgd", "batch_size": 32}),
        (MLPClassifier, LABELS == "few", {"dropout": 0.2}),
        (MLPRegressor, NUMBERS, {"batch_normalization": True}),
        (MLPRegressor, np.column_stack([NUMBERS, -NUMBERS]), {"standardize_target": True, "shuffle": False}),
        (MLPRegressor, NUMBERS, {"solver": "lbfgs"}),
    ],
)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weighted"])
def test_one_block_is_learned_as_in_memory_to_the_last_bit(kind, target, settings, weight):
    given = {} if weight is None else {"sample_weight": weight}
    in_memory = kind(**SMALL | settings).fit(X, target, **given)
    in_blocks = kind(**SMALL | settings).fit(blocks(X, N), blocks(target, N), **given)
    assert bits(in_blocks) == bits(in_memory)
    assert in_blocks.loss_ == in_memory.loss_


@pytest.mark.parametrize("kind", [MLPClassifier, MLPRegressor])
def test_many_blocks_are_learned_as_well_and_proved(kind):
    target = LABELS if kind is MLPClassifier else NUMBERS
    settings = SMALL | {"max_iter": 60}
    in_memory, model = kind(**settings).fit(X, target), kind(**settings).fit(blocks(X), blocks(target))
    assert model.score(X, target) > in_memory.score(X, target) - 0.05
    assert model.score(blocks(X), blocks(target)) == pytest.approx(model.score(X, target))
    lazy = model.predict(blocks(X))
    assert isinstance(lazy, da.Array)
    if kind is MLPClassifier:
        np.testing.assert_array_equal(lazy.compute(), model.predict(X))
    else:  # products of fewer rows at once may round otherwise
        np.testing.assert_allclose(lazy.compute(), model.predict(X), rtol=1e-12, atol=1e-14)
    expected = {claim.name for claim in in_memory.certificate_.claims}
    assert {claim.name for claim in model.certificate_.claims} == expected
    for rows in ((blocks(X, 70), blocks(target)), (X, target)):
        assert not pellucid.verify(model, *rows).failed


def test_full_batches_by_lbfgs_are_sums_over_blocks():
    settings = SMALL | {"solver": "lbfgs", "max_iter": 40, "activation": "tanh"}
    in_memory, model = (MLPRegressor(**settings).fit(*pair) for pair in ((X, NUMBERS), (blocks(X), blocks(NUMBERS))))
    assert model.loss_ == pytest.approx(in_memory.loss_, rel=1e-3)


def test_bits_are_the_same_on_any_number_of_threads_and_without_any():
    found = set()
    for setting in ({"num_workers": 1}, {"num_workers": 2}, {"num_workers": 4}, {"scheduler": "synchronous"}):
        with dask.config.set(**{"scheduler": "threads", **setting}), threadpool_limits(setting.get("num_workers", 1)):
            found.add(bits(MLPClassifier(**SMALL).fit(blocks(X, 40), blocks(LABELS, 40))))
    assert len(found) == 1


def test_the_order_of_blocks_is_drawn_from_the_seed():
    first, second, other = (
        bits(MLPClassifier(**SMALL | {"random_state": seed}).fit(blocks(X), blocks(LABELS))) for seed in (0, 0, 1)
    )
    assert first == second != other
    in_order, shuffled = (MLPClassifier(**SMALL | {"shuffle": s}).fit(blocks(X), blocks(LABELS)) for s in (False, True))
    assert bits(in_order) != bits(shuffled)


def test_rows_of_weight_zero_and_empty_blocks_are_passed_over():
    rows = da.concatenate([blocks(X[:0]), blocks(X)])
    weight = np.where(np.arange(N) < 180, 0.0, 1.0)  # two blocks whole
    settings = SMALL | {"shuffle": False, "batch_size": 30}
    model = MLPRegressor(**settings).fit(rows, NUMBERS, sample_weight=weight)
    assert bits(model) == bits(MLPRegressor(**settings).fit(blocks(X[180:]), NUMBERS[180:], sample_weight=weight[180:]))
    assert model.t_ == 15 * 420


def test_tables_with_names_are_learned():
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=NUMBERS)
    lazy = dd.from_pandas(frame, npartitions=3)
    model = MLPRegressor(**SMALL).fit(lazy[list("abcd")], lazy["y"])
    assert model.feature_names_in_.tolist() == list("abcd")
    assert not pellucid.verify(model, lazy[list("abcd")], lazy["y"]).failed


@pytest.mark.parametrize(
    "name", ["coefs_", "intercepts_", "objective_", "gradient_norm_", "weights_digest_", "classes_"]
)
def test_changed_models_are_noticed(name):
    model = MLPClassifier(**SMALL).fit(blocks(X), blocks(LABELS))
    value = getattr(model, name)
    if isinstance(value, list):
        value[0] = value[0] * 1.001
    else:
        setattr(model, name, value[::-1] if name in ("weights_digest_", "classes_") else value * 1.001)
    with pytest.warns(pellucid.UncertifiedWarning):
        assert pellucid.verify(model, blocks(X), blocks(LABELS)).failed


@pytest.mark.parametrize(
    ("rows", "target", "settings", "sentence"),
    [
        (np.where(X[200, 1] == X, np.nan, X), LABELS, {}, "Input contains NaN, infinity .* in block 2"),
        (X, LABELS, {"early_stopping": True}, "For all rows leave early_stopping and warm_start at False"),
        (X, LABELS, {"warm_start": True}, "For all rows leave early_stopping and warm_start at False"),
    ],
)
def test_what_is_wrong_is_said(rows, target, settings, sentence):
    model = MLPClassifier(**SMALL | settings)
    with pytest.raises(ValueError, match=sentence):
        model.fit(blocks(rows), blocks(target))
    assert not hasattr(model, "coefs_")
