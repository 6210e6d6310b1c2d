"""Gaussian mixtures on a device: the steps of EM in memory, and their proof made there."""

from __future__ import annotations

import numpy as np
import pytest

import pellucid
from pellucid.core.arrays import on_host
from pellucid.core.scale.row_blocks import RowBlock
from pellucid.mixture import GaussianMixture
from pellucid.proofs.mixture.gaussian_components import written_out
from pellucid.proofs.mixture.gaussian_mixture_passes import mixture_block
from pellucid.proofs.on_device import mixture_of_rows
from tests.core.device.conftest import DEVICE

torch = pytest.importorskip("torch")
KINDS = ("full", "tied", "diag", "spherical")


def there(array):
    return None if array is None else torch.as_tensor(array, device=DEVICE)


def tables():
    rng = np.random.default_rng(0)
    centers = 3 * rng.standard_normal((4, 5))
    usual = centers[rng.integers(0, 4, 2000)] + rng.standard_normal((2000, 5))
    narrow = usual.copy()
    narrow[:400] = usual[0] + 1e-5 * rng.standard_normal((400, 5))  # sums of products would lose its digits
    return {"usual": usual, "a narrow component": narrow, "far from zero": 1e6 + usual}


@pytest.mark.parametrize("name", tables())
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("init", "weighted"), [("kmeans", True), ("k-means++", False), ("random_from_data", False)])
@pytest.mark.filterwarnings("ignore:GaussianMixture. 1 of 4 components have collapsed")
def test_components_are_those_in_memory_and_proved(name, kind, init, weighted):
    X = tables()[name]
    weight = np.random.default_rng(1).integers(0, 3, len(X)).astype(float) if weighted else None
    model = GaussianMixture(4, covariance_type=kind, init_params=init, random_state=0, max_iter=300)
    here = GaussianMixture(**model.get_params()).fit(X, sample_weight=weight)
    found = model.fit(there(X), sample_weight=there(weight))
    assert found.n_iter_ == here.n_iter_
    assert found.log_likelihood_ == pytest.approx(here.log_likelihood_, rel=1e-9)
    np.testing.assert_allclose(on_host(found.means_), here.means_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(on_host(found.covariances_), here.covariances_, rtol=1e-5, atol=1e-8)
    assert {claim.name for claim in here.certificate_.claims} <= {claim.name for claim in found.certificate_.claims}
    assert found.certificate_.holds
    assert pellucid.verify(found, there(X), sample_weight=there(weight)).holds
    assert pellucid.verify(pellucid.to_host(found), X, sample_weight=weight).holds


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_those_in_memory(kind):
    X = tables()["usual"].astype(np.float32)
    found = GaussianMixture(3, covariance_type=kind, random_state=0, tol=1e-5).fit(there(X))
    here, rows = pellucid.to_host(found), there(X[:300])
    np.testing.assert_array_equal(on_host(found.predict(rows)), here.predict(X[:300]))
    np.testing.assert_allclose(on_host(found.predict_proba(rows)), here.predict_proba(X[:300]), atol=1e-6)
    np.testing.assert_allclose(on_host(found.score_samples(rows)), here.score_samples(X[:300]), rtol=1e-9)
    assert found.score(rows) == pytest.approx(here.score(X[:300]), rel=1e-9)


@pytest.mark.parametrize("name", ["weights_", "means_", "covariances_", "precisions_cholesky_", "log_likelihood_"])
@pytest.mark.filterwarnings("ignore::pellucid.UncertifiedWarning")
def test_a_changed_attribute_is_noticed_there(name):
    X = there(tables()["usual"])
    found = GaussianMixture(3, random_state=0).fit(X)
    value = getattr(found, name)
    setattr(found, name, value * 1.01 if name != "weights_" else value.flip(0))
    assert not pellucid.verify(found, X).holds


def test_given_components_and_a_warm_start():
    X = tables()["usual"]
    given = {"weights_init": np.full(2, 0.5), "means_init": X[:2], "precisions_init": np.tile(np.eye(5), (2, 1, 1))}
    found = GaussianMixture(2, tol=1e-6, max_iter=500, warm_start=True, **given).fit(there(X))
    here = GaussianMixture(2, tol=1e-6, max_iter=500, **given).fit(X)
    np.testing.assert_allclose(on_host(found.means_), here.means_, atol=1e-8)
    assert found.fit(there(X)).n_iter_ <= 3  # goes on from where it was


def test_refuses_a_start_that_only_memory_has():
    with pytest.raises(ValueError, match="init_params must not be 'random'"):
        GaussianMixture(init_params="random").fit(there(np.ones((9, 2))))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_proof_there_sums_what_the_proof_of_blocks_does(kind, weighted):
    X = tables()["usual"]
    weight = np.random.default_rng(1).integers(0, 3, len(X)).astype(float) if weighted else None
    fitted = GaussianMixture(3, covariance_type=kind, random_state=0).fit(X, sample_weight=weight)
    spreads = (fitted.covariances_, fitted.precisions_cholesky_)
    model = written_out(kind, fitted.weights_, fitted.means_, *spreads)
    here = mixture_block(RowBlock(2, X, None, weight), model, 50, 7)
    found = mixture_of_rows(RowBlock(2, there(X), None, there(weight)), model, 50, 7)
    for ours, theirs in zip(found.step, here.step, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-8)
    for name in ("least", "most", "n_rows", "keys", "rows", "weight"):
        np.testing.assert_array_equal(getattr(found, name), getattr(here, name))
