"""Maps of least stress on a device: the steps of those in memory."""

from __future__ import annotations

import numpy as np
import pytest

import pellucid
from pellucid.core.arrays import on_host
from pellucid.core.cards import card_of
from pellucid.manifold import MDS
from pellucid.manifold.mds.mds_on_device import stress_there
from pellucid.manifold.stress_solvers import look_at
from pellucid.proofs.manifold.stress import prove_mds
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData
from tests.core.device.conftest import DEVICE

torch = pytest.importorskip("torch")


def there(array):
    return torch.as_tensor(array, device=DEVICE)


def rows(n=150, dtype=np.float64):
    return np.random.default_rng(0).standard_normal((n, 4)).astype(dtype)


@pytest.mark.parametrize(("dtype", "offset"), [(np.float64, 0.0), (np.float64, 1e6), (np.float32, 0.0)])
@pytest.mark.parametrize("options", [{}, {"n_components": 3, "normalized_stress": True, "n_init": 3}], ids=str)
def test_the_map_is_that_in_memory(dtype, offset, options):
    X = rows(dtype=dtype) + dtype(offset)
    model = MDS(random_state=0, eps=1e-9, max_iter=1000, **options)
    here, found = MDS(**model.get_params()).fit(X), model.fit(there(X))
    assert found.stress_ == pytest.approx(here.stress_, rel=1e-4)
    assert isinstance(found.embedding_, torch.Tensor)
    np.testing.assert_allclose(on_host(found.dissimilarity_matrix_), here.dissimilarity_matrix_, rtol=1e-9, atol=1e-9)
    assert [claim.name for claim in found.certificate_.claims] == [claim.name for claim in here.certificate_.claims]
    assert found.certificate_.holds
    assert pellucid.verify(found, there(X)).holds


@pytest.mark.parametrize("n", [2, 90])
def test_a_step_is_that_in_memory(n):
    rng = np.random.default_rng(1)
    places, wanted = rng.standard_normal((n, 2)), np.abs(rng.standard_normal((n, n)))
    wanted = np.triu(wanted, 1) + np.triu(wanted, 1).T
    places[1] = places[0]  # which do not pull at each other
    here, found = look_at(places, wanted, np.ones((1, n))), stress_there(places, there(wanted))
    assert found[:2] == pytest.approx((here.stress, here.spread), rel=1e-12)
    np.testing.assert_allclose(found[2], here.pulled, atol=1e-11)


def proofs(X, changes=None, options=None):
    """Return the claims about a map of some rows, on the host and there, with changes of what was fitted."""
    model = MDS(random_state=0, eps=1e-9, max_iter=1000, **(options or {})).fit(X)
    fitted = {name: getattr(model, name) for name in card_of(MDS).attributes} | (changes or (lambda _: {}))(model)
    away = fitted | {"dissimilarity_matrix_": there(fitted["dissimilarity_matrix_"])}
    return [prove_mds(Seen(**seen), model, TrainingData(X, given=(X,))).claims for seen in (fitted, away)]


@pytest.mark.parametrize("options", [{}, {"normalized_stress": True}], ids=str)
def test_the_proof_there_is_that_on_the_host(monkeypatch, options):
    monkeypatch.setattr("pellucid.proofs.on_device.NUMBERS_AT_ONCE", 1 << 10)
    for here, away in zip(*proofs(rows(), options=options), strict=True):
        assert (away.name, away.bound, away.holds) == (here.name, here.bound, True)
        assert away.value == pytest.approx(here.value, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(
    ("wrong", "changes"),
    [
        ("distances", lambda model: {"dissimilarity_matrix_": model.dissimilarity_matrix_ * (1.0 + 1e-9)}),
        ("stress", lambda model: {"stress_": model.stress_ * (1.0 + 1e-6)}),
        ("stationary", lambda model: {"embedding_": 1.01 * model.embedding_}),
        ("orientation", lambda model: {"embedding_": -model.embedding_}),
        ("training rows", lambda model: {"X_fit_": model.X_fit_ + 1.0}),
    ],
)
def test_the_proof_there_objects(wrong, changes):
    for claims in proofs(rows(), changes):
        assert wrong in [claim.name for claim in claims if not claim.holds]


def test_refuses_what_it_does_not_do_on_a_device():
    for options, said in (
        ({"metric": "manhattan"}, "metric must be 'euclidean', got 'manhattan'"),
        ({"metric_mds": False}, "metric_mds must be True, got False"),
        ({"init": "classical_mds"}, "init must be 'random', got 'classical_mds'"),
    ):
        with pytest.raises(ValueError, match=said):
            MDS(**options).fit(there(rows()))
