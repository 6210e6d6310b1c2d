"""Neighbors on a device: the answers of the search in memory, to the bit."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pellucid
from pellucid.core.arrays import on_host
from pellucid.neighbors import KNeighborsClassifier, KNeighborsRegressor
from pellucid.neighbors.metric import Metric
from pellucid.neighbors.nearest_on_device import GroupedRows, nearest_on_device
from pellucid.solvers.rough_products_on_device import in_three, short, tensor_cores
from tests.core.device.conftest import DEVICE

torch = pytest.importorskip("torch")
EUCLIDEAN = Metric("euclidean")


def there(array):
    return torch.as_tensor(array, device=DEVICE)


def tables():
    rng = np.random.default_rng(0)
    normal = rng.standard_normal
    grid = rng.integers(0, 3, (2000, 3)).astype(float)
    return {
        "usual": (normal((4000, 20)), normal((90, 20))),
        "ties": (grid, grid[:50]),
        "all rows alike": (np.ones((1100, 4)), np.ones((3, 4))),
        "far from zero": (1e8 + normal((3000, 5)), 1e8 + normal((60, 5))),
        "huge": (1e150 * normal((800, 5)), 1e150 * normal((20, 5))),
        "tiny": (1e-170 * normal((800, 5)), 1e-170 * normal((20, 5))),
        "one row far away": tuple(np.vstack([normal((n, 5)), np.full((1, 5), 1e9)]) for n in (900, 20)),
        "few rows": (normal((7, 3)), normal((9, 3))),
        "a query far away": (normal((900, 2)), np.array([[1e20, 0.0], [0.0, 0.0]])),
    }


@pytest.mark.parametrize("name", tables())
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_neighbors_and_distances_are_those_of_the_search_in_memory(name, dtype):
    X, queries = tables()[name]
    if dtype == np.float32 and name in ("huge", "tiny"):
        X, queries = X / np.abs(X).max() * 1e30, queries / np.abs(X).max() * 1e30
    X, queries = X.astype(dtype), queries.astype(dtype)
    model = KNeighborsRegressor(5).fit(X, np.zeros(len(X)))
    on_device = there(X)
    for asked, own in ((queries, False), (None, True)):
        distances, rows = model.kneighbors(asked)
        found = nearest_on_device(
            on_device, on_device if own else there(queries), 5, EUCLIDEAN, own=own
        )  # fmt: skip
        np.testing.assert_array_equal(found[1].cpu().numpy(), rows)
        np.testing.assert_array_equal(found[0].cpu().numpy(), distances)


@pytest.mark.parametrize("k", [1, 64, 511, 512])
def test_any_number_of_neighbors_up_to_all_rows(k):
    X = np.random.default_rng(1).standard_normal((512, 3))
    expected = KNeighborsRegressor(k).fit(X, np.zeros(512)).kneighbors(X[:9])
    found = nearest_on_device(there(X), there(X[:9]), k, EUCLIDEAN, own=False)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours.cpu().numpy(), theirs)


def test_squared_distances_are_those_in_memory():
    X = np.random.default_rng(2).standard_normal((300, 3))
    expected = KNeighborsRegressor(4, metric="sqeuclidean", algorithm="brute").fit(X, X[:, 0]).kneighbors(X[:9])
    found = nearest_on_device(there(X), there(X[:9]), 4, Metric("sqeuclidean"), own=False)
    np.testing.assert_array_equal(found[0].cpu().numpy(), expected[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ["usual", "far from zero", "one row far away", "ties"])
def test_a_product_never_exceeds_the_distance_it_bounds(name, dtype):
    X, queries = (there(part) for part in tables()[name])
    grouped = GroupedRows(X, queries, dtype)
    with tensor_cores():
        bounds = (grouped.asked @ grouped.rows.T).double()[:, : len(X)] + grouped.shifts[:, None]
    squares = (X[None] - queries[:, None]).square().sum(dim=2) * grouped.unit**2
    assert bool((bounds <= squares).all())
    gaps = (squares - bounds)[torch.isfinite(bounds) & (bounds > -1e30)]
    assert float(gaps.max()) <= 4 * grouped.share * float(squares.max()) + 1e-12  # a bound that says something


def test_a_bound_that_decides_nothing_leaves_the_answer_right(monkeypatch):
    X, queries = tables()["usual"]
    expected = KNeighborsRegressor(5).fit(X, X[:, 0]).kneighbors(queries)[1]
    monkeypatch.setattr(GroupedRows, "_share", lambda *_: math.inf)
    found = nearest_on_device(there(X), there(queries), 5, EUCLIDEAN, own=False)
    np.testing.assert_array_equal(found[1].cpu().numpy(), expected)


def test_short_numbers_have_eleven_bits_and_three_of_them_thirty_three():
    values = torch.tensor([1.0 + 2.0**-10, 1.0 + 2.0**-12, math.pi, -math.pi * 1e5], dtype=torch.float64)
    rounded = short(values)
    assert rounded[:2].tolist() == [1.0 + 2.0**-10, 1.0]
    assert bool(((rounded - values).abs() <= 2.0**-11 * values.abs()).all())
    whole = sum(part.double() for part in in_three(values))
    assert bool(((whole - values).abs() <= 2.0**-33 * values.abs()).all())


def problem(seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((900, 6)), rng.integers(0, 3, 900), rng.standard_normal((70, 6))


@pytest.mark.parametrize("weights", ["uniform", "distance", "exponential", lambda distances: 1.0 / (1.0 + distances)])
@pytest.mark.parametrize("words", [False, True])
def test_votes_are_those_in_memory(weights, words):
    X, codes, queries = problem()
    y = np.array(["a", "b", "c"])[codes] if words else codes
    here = KNeighborsClassifier(7, weights=weights).fit(X, y)
    model = KNeighborsClassifier(7, weights=weights).fit(there(X), y)
    labels, shares = (ask(there(queries)) for ask in (model.predict, model.predict_proba))
    score = model.score(there(X), y)
    np.testing.assert_array_equal(on_host(labels), here.predict(queries))
    np.testing.assert_allclose(on_host(shares), here.predict_proba(queries), rtol=1e-14)
    assert score == here.score(X, y)
    np.testing.assert_array_equal(on_host(model.kneighbors()[1]), here.kneighbors()[1])
    assert (model.kneighbors_graph() != here.kneighbors_graph()).nnz == 0
    assert model.certificate_.holds
    assert pellucid.verify(model, X, y).holds


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("outputs", [1, 2])
def test_means_of_targets_are_those_in_memory(weights, outputs):
    X, _, queries = problem(1)
    y = np.squeeze(X[:, :outputs] ** 2)
    here = KNeighborsRegressor(5, weights=weights).fit(X, y)
    model = KNeighborsRegressor(5, weights=weights).fit(there(X), there(y))
    found = model.predict(there(queries))
    np.testing.assert_allclose(found.cpu().numpy(), here.predict(queries), rtol=1e-13)
    assert pellucid.verify(model, X, y).holds


@pytest.mark.filterwarnings("ignore::pellucid.UncertifiedWarning")
def test_a_changed_row_of_a_model_on_a_device_is_noticed():
    X, y, _ = problem(2)
    model = KNeighborsClassifier().fit(there(X.copy()), y)
    model._fit_X = model._fit_X + 1e-9
    assert not pellucid.verify(model, X, y).holds


def test_refuses_what_it_does_not_do_on_a_device():
    X, y, _ = problem(3)
    rows = there(X)
    with pytest.raises(ValueError, match="metric must be Euclidean for arrays on a device, got 'manhattan'"):
        KNeighborsRegressor(p=1).fit(rows, y)
    with pytest.raises(ValueError, match="several outputs"):
        KNeighborsClassifier().fit(rows, there(np.column_stack([y, y])))
    with pytest.raises(ValueError, match="Unknown label type"):
        KNeighborsClassifier().fit(rows, rows[:, 0])
    with pytest.raises(ValueError, match="n_neighbors must be at most 900, got 901"):
        KNeighborsClassifier(901).fit(rows, y).predict(rows)
