"""Nonnegative factors of rows on a device: the descent of the fit in memory, and a proof made there."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import pellucid
from pellucid.core.arrays import on_host
from pellucid.decomposition import NMF
from pellucid.decomposition.nmf import sweeps_triton
from pellucid.decomposition.nmf.nmf_fits import leading_singular_vectors
from pellucid.decomposition.nmf.nmf_kernels import finish_columns
from pellucid.decomposition.nmf.nmf_on_device import FactorsThere, ProblemThere, Sweeper, finished_rows
from pellucid.decomposition.nmf.nmf_problem import Penalties
from pellucid.decomposition.nmf.nmf_solvers import sweep
from pellucid.proofs.decomposition.nmf import prove_nmf
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData
from tests.core.device.conftest import DEVICE

torch = pytest.importorskip("torch")


def there(array):
    return torch.as_tensor(array, device=DEVICE)


def rows(n=300, d=20, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random((n, 4)) @ rng.random((4, d)) + 0.1 * rng.random((n, d))).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"init": "random", "random_state": 1, "shuffle": True},
        {"alpha_W": 1e-3, "alpha_H": 2e-3, "l1_ratio": 0.5, "init": "nndsvd"},
    ],
    ids=str,
)
def test_the_factors_are_as_good_as_those_in_memory(dtype, options):
    X = rows(dtype=dtype)
    model = NMF(4, max_iter=2000, tol=1e-5, **options)
    here, found = NMF(**model.get_params()).fit(X), model.fit(there(X))
    assert found.trace_["objective"][-1] <= 1.01 * here.trace_["objective"][-1]
    assert found.weights_.dtype == found.components_.dtype == there(X).dtype
    assert [claim.name for claim in found.certificate_.claims] == [claim.name for claim in here.certificate_.claims]
    assert found.certificate_.holds
    assert pellucid.verify(found, there(X)).holds
    said = found.transform(there(X))
    np.testing.assert_allclose(on_host(said), on_host(found.weights_), atol=1e-4 * float(said.max()))
    np.testing.assert_allclose(on_host(said), pellucid.to_host(found).transform(X), atol=1e-4 * float(said.max()))
    back = found.inverse_transform(said)
    np.testing.assert_allclose(on_host(back), on_host(said) @ on_host(found.components_), rtol=1e-5)


@pytest.mark.parametrize("unit", [4.0**-250, 4.0**250])
def test_units_change_nothing_but_the_units(unit):
    one, other = NMF(3).fit(there(rows())), NMF(3).fit(there(unit * rows()))
    assert other.reconstruction_err_ == pytest.approx(unit * one.reconstruction_err_, rel=1e-3)
    assert other.certificate_.holds


def test_whole_numbers_and_more_columns_than_rows():
    X = np.random.default_rng(0).integers(0, 5, (15, 40))
    found = NMF(3, max_iter=2000).fit(there(X))
    assert found.certificate_.holds
    assert found.weights_.dtype == torch.float64


def test_parts_of_which_nothing_is_left_are_as_large_in_both_factors():
    X = np.random.default_rng(0).integers(0, 17, (60, 16)).astype(np.float32)
    X[:, [0, 8]] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pellucid.UncertifiedWarning)  # more rounds would be better
        found = NMF(16, max_iter=40).fit(there(X))
    sizes = found.weights_.amax(0) / found.components_.amax(1)
    assert float(sizes.log2().abs().max()) <= 42


def problem(penalties, q=5, m=200):
    """Return a factor (q, m) on its way, the products of its problem, and penalties.

    One component is all 0; another one all but that, so that the best values for it would overflow.
    """
    rng = np.random.default_rng(3)
    other = rng.random((q, 30))
    other[q // 2], other[0] = 0.0, 1e-157 * other[0]
    return rng.random((q, m)), (other @ other.T, other @ rng.random((30, m))), Penalties(*penalties)


def swept(factor, products, added, order, most, enough):
    """Return a factor after some sweeps there."""
    away = there(factor.copy())
    Sweeper(away).sweep(tuple(map(there, products)), added, order, most, enough)
    return on_host(away)


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [3, 0, 4, 2, 1]], ids=str)
@pytest.mark.parametrize("penalties", [(0.0, 0.0), (0.3, 0.2), (0.5, 0.0)], ids=str)
def test_a_sweep_is_that_in_memory(penalties, order):
    factor, products, added = problem(penalties)
    found = swept(factor, products, added, order, 3, 0.0)
    sweep(factor, products, added, np.array(order), 3, 0.0)
    np.testing.assert_allclose(found, factor, atol=1e-12)


def test_columns_side_by_side_stop_without_the_others():
    factor, products, added = problem((0.0, 0.0), m=5 * sweeps_triton.WIDTH - 3)
    blocks = [slice(start, start + sweeps_triton.WIDTH) for start in range(0, factor.shape[1], sweeps_triton.WIDTH)]
    how = added, [0, 1, 2, 3, 4], 50, 0.1
    apart = [swept(factor[:, part], (products[0], products[1][:, part]), *how) for part in blocks]
    factor[:, blocks[1]] = apart[1]  # what is nearly right moves less and less slowly from here: it stops last
    apart[1] = swept(apart[1], (products[0], products[1][:, blocks[1]]), *how)
    np.testing.assert_allclose(swept(factor, products, *how), np.hstack(apart), atol=1e-12)


@pytest.mark.skipif(DEVICE == "cpu", reason="the loop in Triton needs a card")
@pytest.mark.parametrize("penalties", [(0.0, 0.0), (0.3, 0.2)], ids=str)
@pytest.mark.parametrize(("q", "m"), [(1, 1), (5, 200), (8, 33), (23, 1000), (32, 4001), (64, 500)])
def test_the_loop_of_the_card_sweeps_as_plain_torch_does(q, m, penalties, monkeypatch):
    assert sweeps_triton.kernels() is not None
    given = *problem(penalties, q, m), list(np.random.default_rng(0).permutation(q)), 16, 0.03
    calls, run = [], sweeps_triton.run_loop
    monkeypatch.setattr(sweeps_triton, "run_loop", lambda *asked, **how: calls.append(run(*asked, **how)) or calls[-1])
    quick, again = swept(*given), swept(*given)
    np.testing.assert_array_equal(quick, again)
    assert calls == [True, True]
    monkeypatch.setattr(sweeps_triton, "kernels", lambda: None)
    np.testing.assert_allclose(quick, swept(*given), atol=1e-9)


@pytest.mark.parametrize("shape", [(520, 600), (600, 520)], ids=str)
def test_the_start_is_made_of_singular_vectors(shape):
    X = rows(*shape)
    (U, values, V), parts = map(on_host, leading_singular_vectors(there(X), 3)), np.linalg.svd(X, full_matrices=False)
    np.testing.assert_allclose(values, parts.S[:3], rtol=1e-4)
    best = (parts.U[:, :3] * parts.S[:3]) @ parts.Vh[:3]
    np.testing.assert_allclose((U * values) @ V.T, best, atol=1e-2 * best.max())  # nearly: it is a start


def test_a_start_from_next_to_nothing_ends():
    for table in (np.eye(600), np.zeros((600, 510))):
        U, values, _ = map(on_host, leading_singular_vectors(there(table), 3))
        assert np.isfinite(U).all()
        np.testing.assert_allclose(values, table[0, 0], atol=1e-10)


def test_the_best_rows_are_those_in_memory():
    factor, (gram, right), _ = problem((0.0, 0.0))
    gram += 0.1 * np.eye(5)
    right[:, :100] -= 0.5 * right.max(axis=0)[:100]  # so that entries of many columns are 0
    found = finished_rows(there(factor).T, there(gram), there(right).T)  # from a start that is far from right
    finish_columns(factor, gram, right)
    np.testing.assert_allclose(on_host(found).T, factor, atol=1e-10)
    assert (factor == 0.0).any(axis=0).sum() > 50


def test_the_best_rows_are_found_of_components_that_are_nearly_the_same():
    rng = np.random.default_rng(0)
    parts = rng.random((12, 14)) ** 0.1
    gram, right = parts @ parts.T, parts @ rng.random((14, 3000))
    found = on_host(finished_rows(there(rng.random((3000, 12))), there(gram), there(right).T)).T
    slope = gram @ found - right
    assert found.min() >= 0.0
    assert slope.min() > -1e-6
    assert np.abs(slope * found).max() < 1e-6


def test_rows_of_dependent_components_stay_as_they_were():
    start = there(np.random.default_rng(0).random((10, 2)))
    found = finished_rows(start, there(np.ones((2, 2))), there(np.ones((10, 2))))
    assert torch.equal(found, start)


def proofs(X, changes=None):
    """Return the claims about a fit, on the host and there, with changes of what was fitted."""
    model = pellucid.to_host(NMF(3, max_iter=1000, alpha_W=1e-3).fit(there(X)))
    names = ("components_", "weights_", "n_components_", "reconstruction_err_")
    fitted = {name: getattr(model, name) for name in names} | (changes or (lambda _: {}))(model)
    away = fitted | {"weights_": there(fitted["weights_"])}
    kinds = (TrainingData(X), fitted), (TrainingData(there(X), stored_in=X.dtype), away)
    return [prove_nmf(Seen(**seen), model, data).claims for data, seen in kinds]


@pytest.mark.parametrize("shape", [(300, 20), (20, 300)], ids=str)
def test_the_proof_there_is_that_on_the_host(monkeypatch, shape):
    monkeypatch.setattr("pellucid.proofs.on_device.NUMBERS_AT_ONCE", 1 << 10)
    for here, away in zip(*proofs(rows(*shape)), strict=True):
        assert (away.name, away.bound, away.holds) == (here.name, here.bound, True)
        assert away.value == pytest.approx(here.value, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(
    ("wrong", "changes"),
    [
        ("error", lambda model: {"reconstruction_err_": model.reconstruction_err_ * (1.0 + 1e-6)}),
        ("stationary", lambda model: {"weights_": 1.05 * model.weights_}),
        ("stationary", lambda model: {"components_": 1.05 * model.components_}),
        ("factors", lambda model: {"weights_": model.weights_ - 1e-3}),
        ("factors", lambda model: {"components_": model.components_ - 1.0}),
        ("factors", lambda model: {"weights_": model.weights_[:, :2]}),
    ],
)
def test_the_proof_there_objects(wrong, changes):
    for claims in proofs(rows(), changes):
        assert wrong in [claim.name for claim in claims if not claim.holds]


def test_products_in_blocks_are_those_at_once(monkeypatch):
    X, q = rows(dtype=np.float32), 3
    monkeypatch.setattr("pellucid.decomposition.nmf.nmf_on_device.ROWS_OF_SHARE", 9)
    whole = ProblemThere.of(there(X), NMF(q))
    found = FactorsThere(whole, there(X[:, :q]), there(X[:q]), lambda: np.arange(q))
    once = (*found.products_for_weights(), *found.products_for_components(), whole.size)
    assert whole.in_double.dtype == torch.float64
    monkeypatch.setattr("pellucid.decomposition.nmf.nmf_on_device.NUMBERS_AT_ONCE", 1 << 7)
    monkeypatch.setattr("pellucid.decomposition.nmf.nmf_on_device.has_room", lambda *_: False)
    parts = ProblemThere.of(there(X), NMF(q))
    found = FactorsThere(parts, there(X[:, :q]), there(X[:q]), lambda: np.arange(q))
    again = (*found.products_for_weights(), *found.products_for_components(), parts.size)
    assert parts.in_double is parts.X
    for one, other in zip(once, again, strict=True):
        np.testing.assert_allclose(on_host(one), on_host(other), rtol=1e-12)


def test_refuses_what_it_does_not_do_on_a_device():
    X = rows()
    for options, said in (
        ({"solver": "mu"}, "solver must be 'cd', got 'mu'"),
        ({"init": "custom"}, "init must not be 'custom'"),
    ):
        with pytest.raises(ValueError, match=said):
            NMF(2, **options).fit(there(X))
    with pytest.raises(ValueError, match="Negative values in data passed to NMF.*got -1"):
        NMF(2).fit(there(np.where(X[0, 0] == X, -1.0, X)))
    with pytest.raises(ValueError, match="X must be complete for NMF on a device, got NaN"):
        NMF(2).fit(there(np.where(X[0, 0] == X, np.nan, X)))
    with pytest.raises(ValueError, match="W must be left out for arrays on a device"):
        NMF(2).fit(there(X), W=X[:, :2])
