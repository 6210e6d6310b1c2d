"""NMF of rows in blocks: a stationary point as good as the one in memory, proved with weights that nobody stored."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

import pellucid
from pellucid.decomposition import NMF
from pellucid.proofs.decomposition.nmf import best_nonnegative

dask = pytest.importorskip("dask", reason="the extra 'scale' is not installed")
da = pytest.importorskip("dask.array")

N, D, Q = 700, 9, 3
rng = np.random.default_rng(0)
PARTS = rng.gamma(1.0, 1.0, (Q, D)) * (rng.random((Q, D)) < 0.6)
X = np.maximum(rng.gamma(1.0, 1.0, (N, Q)) @ PARTS + 0.1 * rng.normal(size=(N, D)), 0.0)


def blocks(array, height=150):
    return da.from_array(array, chunks=(height, -1))


def test_rows_that_are_multiples_of_one_another_need_one_part():
    # the second row is twice the first: one part, up to its length, is 1 : 2
    model = NMF(1).fit(blocks(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]), height=1))
    assert model.components_[0, 1] / model.components_[0, 0] == pytest.approx(2.0)
    assert model.reconstruction_err_ == pytest.approx(0.0, abs=1e-7)
    assert not hasattr(model, "weights_")


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"init": "random"},
        {"init": "nndsvd"},
        {"init": "nndsvdar", "shuffle": True},
        {"alpha_W": 0.01, "l1_ratio": 0.5},
        {"alpha_W": 0.0, "alpha_H": 0.02},
    ],
    ids=str,
)
def test_the_minimum_is_that_in_memory(settings):
    settings = {"tol": 1e-6, "max_iter": 3000, "random_state": 0, **settings}
    in_memory, model = NMF(Q, **settings).fit(X), NMF(Q, **settings).fit(blocks(X))
    assert model.reconstruction_err_ == pytest.approx(in_memory.reconstruction_err_, rel=1e-5)
    assert model.certificate_.holds
    assert pellucid.verify(model, blocks(X, height=99)).holds
    assert pellucid.verify(model, X).holds
    first, *_, last = model.trace_.frame()["objective"]
    assert last < first


def test_the_defaults_reach_their_goal_and_say_so():
    model = NMF(Q).fit(blocks(X))
    assert model.n_iter_ < 200
    stationary = next(claim for claim in pellucid.verify(model, blocks(X)).claims if claim.name == "stationary")
    assert 0.0 < stationary.value <= stationary.bound == 1e-4


def test_too_few_passes_are_told():
    with pytest.warns(pellucid.UncertifiedWarning, match="stationary"):
        assert not NMF(Q, max_iter=2).fit(blocks(X)).certificate_.holds


def test_weights_are_lazy_and_those_of_transform():
    model = NMF(Q, random_state=0)
    lazy = model.fit_transform(blocks(X))
    assert isinstance(lazy, da.Array)
    np.testing.assert_allclose(lazy.compute(), model.transform(X), rtol=1e-9, atol=1e-12)
    error = np.linalg.norm(X - model.transform(X) @ model.components_)
    assert model.reconstruction_err_ == pytest.approx(error, rel=1e-9)


def test_bits_are_the_same_on_any_number_of_threads_and_without_any():
    found = []
    for setting in ({"num_workers": 1}, {"num_workers": 2}, {"num_workers": 4}, {"scheduler": "synchronous"}):
        with dask.config.set(**{"scheduler": "threads", **setting}):
            model = NMF(Q, random_state=0, max_iter=8, tol=0.05).fit(blocks(X, height=60))
        found.append((model.components_.tobytes(), model.reconstruction_err_, model.n_iter_))
    assert len(set(found)) == 1


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_data_of_any_size_are_factored(scale):
    model = NMF(Q).fit(blocks(scale * X))
    assert model.reconstruction_err_ == pytest.approx(scale * NMF(Q).fit(blocks(X)).reconstruction_err_, rel=1e-3)
    assert pellucid.verify(model, blocks(scale * X)).holds


def test_float32_rows_are_factored_in_float64():
    model = NMF(Q).fit(blocks(X.astype(np.float32)))
    assert model.components_.dtype == np.float64
    assert pellucid.verify(model, blocks(X.astype(np.float32))).holds


CHANGES = {
    "scaled entry": lambda m: m.components_.__setitem__((0, int(m.components_[0].argmax())), 1.01),
    "components": lambda m: setattr(m, "components_", m.components_ * np.linspace(1.0, 1.1, D)),
    "swapped columns": lambda m: setattr(m, "components_", np.ascontiguousarray(m.components_[:, ::-1])),
    "below 0": lambda m: setattr(m, "components_", m.components_ - 0.5),
    "NaN": lambda m: setattr(m, "components_", m.components_ * np.nan),
    "1e200": lambda m: setattr(m, "components_", m.components_ + 1e200),
    "fewer": lambda m: (setattr(m, "components_", m.components_[:2]), setattr(m, "n_components_", 2)),
    "error": lambda m: setattr(m, "reconstruction_err_", m.reconstruction_err_ * 1.001),
    "no error": lambda m: setattr(m, "reconstruction_err_", np.nan),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("in_memory", [False, True], ids=["blocks", "memory"])
def test_changed_models_are_noticed(change, in_memory):
    model = NMF(Q).fit(blocks(X))
    CHANGES[change](model)
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, X if in_memory else blocks(X)).holds


def test_a_copy_of_a_part_in_place_of_another_is_noticed():
    model = NMF(Q).fit(blocks(X))
    model.components_[1] = model.components_[0]
    weights = model.transform(X)
    model.reconstruction_err_ = float(np.linalg.norm(X - weights @ model.components_))  # so that they agree
    with pytest.warns(pellucid.UncertifiedWarning, match="stationary"):
        assert not pellucid.verify(model, blocks(X)).holds


def test_other_rows_are_noticed():
    model, other = NMF(Q).fit(blocks(X)), X.copy()
    other[17] *= 3.0
    with pytest.warns(pellucid.UncertifiedWarning, match="not the training data"):
        assert not pellucid.verify(model, blocks(other)).holds


@pytest.mark.parametrize("seed", range(5))
def test_the_solver_of_the_proof_finds_the_best_weights(seed):
    draw = np.random.default_rng(seed)
    H, rows = draw.random((4, 7)), draw.normal(size=(50, 7))
    H[3] = H[2] if seed == 4 else H[3]  # parts that are the same
    W = best_nonnegative(H @ H.T, H @ rows.T)
    expected = [nnls(H.T, row)[1] for row in rows]
    np.testing.assert_allclose(np.linalg.norm(rows - W.T @ H, axis=1), expected, rtol=1e-9)


def test_blocks_without_rows_are_passed_over():
    rows = da.concatenate([blocks(X[:0]), blocks(X)])
    np.testing.assert_array_equal(NMF(Q).fit(rows).components_, NMF(Q).fit(blocks(X)).components_)


@pytest.mark.parametrize(
    ("change", "settings", "sentence"),
    [
        (np.nan, {}, "in row 10 of block 2"),
        (-1.0, {}, "block 2 must hold numbers of at least 0 for NMF: Negative values in data, -1"),
        (1.0, {"solver": "mu"}, "For all rows take solver='cd'"),
        (1.0, {"init": "custom"}, "For all rows take solver='cd'"),
        (1.0, {"n_components": 12, "init": "nndsvd"}, "can only be used when n_components"),
    ],
)
def test_what_is_wrong_is_said(change, settings, sentence):
    wrong, model = X.copy(), NMF(**{"n_components": Q, **settings})
    wrong[310, 2] = change
    with pytest.raises(ValueError, match=sentence):
        model.fit(blocks(wrong))
    assert not hasattr(model, "components_")
