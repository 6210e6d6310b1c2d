"""Neighbors on a device: the answers of the search in memory, to the bit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pellucid.neighbors import KNeighborsRegressor
from pellucid.neighbors.metric import Metric
from pellucid.neighbors.nearest_on_device import GroupedRows, nearest_on_device
from pellucid.solvers.rough_products_on_device import in_three, short, tensor_cores

torch = pytest.importorskip("torch")
EUCLIDEAN = Metric("euclidean")


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
    on_device = torch.from_numpy(X)
    for asked, own in ((queries, False), (None, True)):
        distances, rows = model.kneighbors(asked)
        found = nearest_on_device(
            on_device, on_device if own else torch.from_numpy(queries), 5, EUCLIDEAN, own=own
        )  # fmt: skip
        np.testing.assert_array_equal(found[1].numpy(), rows)
        np.testing.assert_array_equal(found[0].numpy(), distances)


@pytest.mark.parametrize("k", [1, 64, 511, 512])
def test_any_number_of_neighbors_up_to_all_rows(k):
    X = np.random.default_rng(1).standard_normal((512, 3))
    expected = KNeighborsRegressor(k).fit(X, np.zeros(512)).kneighbors(X[:9])
    found = nearest_on_device(torch.from_numpy(X), torch.from_numpy(X[:9]), k, EUCLIDEAN, own=False)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs)


def test_squared_distances_are_those_in_memory():
    X = np.random.default_rng(2).standard_normal((300, 3))
    expected = KNeighborsRegressor(4, metric="sqeuclidean", algorithm="brute").fit(X, X[:, 0]).kneighbors(X[:9])
    found = nearest_on_device(torch.from_numpy(X), torch.from_numpy(X[:9]), 4, Metric("sqeuclidean"), own=False)
    np.testing.assert_array_equal(found[0].numpy(), expected[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ["usual", "far from zero", "one row far away", "ties"])
def test_a_product_never_exceeds_the_distance_it_bounds(name, dtype):
    X, queries = (torch.from_numpy(part) for part in tables()[name])
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
    found = nearest_on_device(torch.from_numpy(X), torch.from_numpy(queries), 5, EUCLIDEAN, own=False)
    np.testing.assert_array_equal(found[1].numpy(), expected)


def test_short_numbers_have_eleven_bits_and_three_of_them_thirty_three():
    values = torch.tensor([1.0 + 2.0**-10, 1.0 + 2.0**-12, math.pi, -math.pi * 1e5], dtype=torch.float64)
    rounded = short(values)
    assert rounded[:2].tolist() == [1.0 + 2.0**-10, 1.0]
    assert bool(((rounded - values).abs() <= 2.0**-11 * values.abs()).all())
    whole = sum(part.double() for part in in_three(values))
    assert bool(((whole - values).abs() <= 2.0**-33 * values.abs()).all())
