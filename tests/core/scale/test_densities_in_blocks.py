"""The Gaussian density of rows in blocks: that of the rows in memory, proved by a pass."""

from __future__ import annotations

import numpy as np
import pytest

import pellucid
from pellucid.probability import Gaussian, MultivariateGaussian

da = pytest.importorskip("dask.array", reason="the extra 'scale' is not installed")

rng = np.random.default_rng(0)
ROWS = rng.normal(size=(2000, 3)) @ rng.normal(size=(3, 3)) + [0.0, 1e3, -2.0]
WEIGHT = rng.integers(0, 3, 2000).astype(float)


def blocks(array):
    return da.from_array(array, chunks=(300, 2) if array.ndim == 2 else 300)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weighted"])
@pytest.mark.parametrize("kind", ["full", "diagonal", "spherical"])
def test_the_density_is_that_of_the_rows_in_memory(kind, weight):
    lazy = None if weight is None else blocks(weight)
    in_memory = MultivariateGaussian.fit(ROWS, weight, kind=kind)
    in_blocks = MultivariateGaussian.fit(blocks(ROWS), lazy, kind=kind)
    np.testing.assert_allclose(in_blocks.mean, in_memory.mean, rtol=1e-12)
    np.testing.assert_allclose(in_blocks.covariance, in_memory.covariance, rtol=1e-10, atol=1e-10)
    assert pellucid.verify(in_blocks, blocks(ROWS), sample_weight=lazy).holds
    assert pellucid.verify(in_blocks, ROWS, sample_weight=weight).holds
    for changed in (
        MultivariateGaussian(in_blocks.mean + 1e-3, in_blocks.covariance),
        MultivariateGaussian(in_blocks.mean, in_blocks.covariance * 1.001),
    ):
        with pytest.warns(pellucid.UncertifiedWarning):
            assert not pellucid.verify(changed, blocks(ROWS), sample_weight=lazy).holds


@pytest.mark.parametrize(
    ("rows", "weight", "sentence"),
    [
        (np.where(np.arange(6000).reshape(2000, 3) == 900, np.nan, ROWS), None, "in row 0 of block 1"),
        (ROWS, np.zeros(2000), "sample_weight must be above 0"),
        (np.column_stack([ROWS, ROWS[:, 0]]), None, "positive definite"),
    ],
)
def test_what_is_wrong_is_one_sentence(rows, weight, sentence):
    with pytest.raises(ValueError, match=sentence):
        MultivariateGaussian.fit(blocks(rows), None if weight is None else blocks(weight))


def test_other_densities_are_verified_in_memory():
    with pytest.raises(ValueError, match="X must be in memory for Gaussian"):
        pellucid.verify(Gaussian(0.0, 1.0), blocks(ROWS[:, :1]))
