"""Alternating least squares of rows in blocks: the rounds of the fit in memory, proved with factors nobody stored."""

from __future__ import annotations

import numpy as np
import pytest

import pellucid
from pellucid.decomposition import AlternatingLeastSquares

dask = pytest.importorskip("dask", reason="the extra 'scale' is not installed")
da = pytest.importorskip("dask.array")

N, D, Q = 500, 8, 2
rng = np.random.default_rng(3)
WHOLE = rng.normal(size=(N, Q)) @ rng.normal(size=(Q, D)) + 0.1 * rng.normal(size=(N, D))
GAPS = np.where(rng.random((N, D)) < 0.4, np.nan, WHOLE)
GAPS[7] = np.nan  # a row of which nothing is known


def blocks(array, height=90):
    return da.from_array(array, chunks=(height, -1))


def model(**settings):
    return AlternatingLeastSquares(Q, **{"random_state": 0, **settings})


@pytest.mark.parametrize("rows", [WHOLE, GAPS], ids=["whole", "with gaps"])
@pytest.mark.parametrize("settings", [{}, {"alpha": 1.0, "alpha_components": 0.01}, {"alpha": 0.0}], ids=str)
def test_the_fit_is_that_in_memory(rows, settings):
    in_memory, in_blocks = model(**settings).fit(rows), model(**settings).fit(blocks(rows))
    assert in_blocks.n_iter_ == in_memory.n_iter_
    np.testing.assert_allclose(in_blocks.components_, in_memory.components_, rtol=1e-7, atol=1e-8)
    assert in_blocks.objective_ == pytest.approx(in_memory.objective_, rel=1e-9)
    assert in_blocks.certificate_.holds
    assert pellucid.verify(in_blocks, blocks(rows, height=77)).holds
    assert pellucid.verify(in_blocks, rows).holds
    assert not hasattr(in_blocks, "weights_")


def test_rows_are_answered_lazily():
    found = model()
    lazy = found.fit_transform(blocks(GAPS))
    assert isinstance(lazy, da.Array)
    np.testing.assert_allclose(lazy.compute(), found.transform(GAPS), rtol=1e-12)
    with pytest.raises(ValueError, match="X must have been in memory to ask for pairs"):
        found.predict_pairs([0], [1])


def test_bits_are_the_same_on_any_number_of_threads_and_without_any():
    found = set()
    for setting in ({"num_workers": 1}, {"num_workers": 2}, {"num_workers": 4}, {"scheduler": "synchronous"}):
        with dask.config.set(**{"scheduler": "threads", **setting}):
            found.add(model().fit(blocks(GAPS, height=40)).components_.tobytes())
    assert len(found) == 1


CHANGES = {
    "scaled": lambda B: B * 1.01,
    "one entry": lambda B: B + 0.01 * (np.arange(B.size) == 3).reshape(B.shape),
    "order": lambda B: B[::-1].copy(),
    "sign": lambda B: B * [[-1.0], [1.0]],
    "turned": lambda B: np.array([[0.8, 0.6], [-0.6, 0.8]]) @ B,
    "NaN": lambda B: B * np.nan,
    "1e200": lambda B: B + 1e200,
    "fewer": lambda B: B[:1],
}


@pytest.mark.parametrize("change", [*CHANGES, "objective_"])
def test_changed_models_are_noticed(change):
    found = model().fit(blocks(GAPS))
    if change == "objective_":
        found.objective_ *= 1.001
    else:
        found.components_ = CHANGES[change](found.components_)
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(found, blocks(GAPS)).holds


def test_other_components_with_their_own_objective_are_noticed():
    found, other = model().fit(blocks(GAPS)), model(alpha=50.0).fit(blocks(GAPS))
    found.components_ = other.components_
    Z = found.transform(GAPS)
    error = np.nansum((GAPS - Z @ found.components_) ** 2)
    found.objective_ = 0.5 * float(error + 0.1 * np.sum(Z**2) + 0.1 * np.sum(found.components_**2))
    with pytest.warns(pellucid.UncertifiedWarning, match="columns"):
        assert not pellucid.verify(found, blocks(GAPS)).holds


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (np.full((9, 3), np.nan), "X must have an entry that is known"),
        (np.where(np.arange(27).reshape(9, 3) == 20, np.inf, 1.0), "block 1 must have entries whose squares are fin"),
    ],
)
def test_what_is_wrong_is_said(rows, sentence):
    with pytest.raises(ValueError, match=sentence):
        model().fit(blocks(rows, height=5))
