"""k-means on a device: the start, the rounds and the labels of k-means in memory."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import pellucid
from pellucid.cluster import KMeans
from pellucid.cluster.kmeans import card_loops, starts_triton
from pellucid.cluster.kmeans.center_answers import ClusterSums, assign_rows
from pellucid.cluster.kmeans.clusters_on_device import MeasuredOnDevice
from pellucid.cluster.kmeans.kmeans_solvers import PROVED_LATER
from pellucid.cluster.kmeans.kmeans_starts import draw_far_rows, drawn_rows
from pellucid.cluster.kmeans.measured_rows import hashes_of, measured_rows
from pellucid.cluster.kmeans.starts_on_device import content_hashes
from pellucid.cluster.kmeans.starts_triton import PART
from pellucid.core.arrays import on_host
from pellucid.proofs.training_data import TrainingData
from tests.core.device.conftest import DEVICE

torch = pytest.importorskip("torch")


def there(array):
    return torch.as_tensor(array, device=DEVICE)


def tables():
    rng = np.random.default_rng(0)
    normal = rng.standard_normal
    return {
        "usual": normal((3000, 8)),
        "more rows than one bucket": normal((40_000, 3)),
        "ties": rng.integers(0, 4, (2000, 3)).astype(float),
        "far from zero": 1e8 + normal((2000, 3)),
        "huge": 1e150 * normal((1500, 3)),
        "one row far away": np.vstack([normal((1500, 3)), [[1e9] * 3]]),
        "one column": normal((400, 1)),
        "few rows": normal((30, 2)),
    }


def fitted_there(model, X, weight=None):
    return model.fit(there(X), sample_weight=None if weight is None else there(weight))


@pytest.mark.parametrize("name", tables())
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("init", ["k-means++", "random", "furthest-first", "k-log-k"])
@pytest.mark.filterwarnings("ignore::pellucid.UncertifiedWarning")  # of 30 rounds, which are not always enough
def test_labels_rounds_and_objective_are_those_in_memory(name, weighted, init):
    X = tables()[name]
    weight = np.random.default_rng(1).integers(0, 3, len(X)).astype(float) if weighted else None
    model = KMeans(8, init=init, n_init=1, max_iter=30, tol=1e-3, random_state=0)
    here = KMeans(**model.get_params()).fit(X, sample_weight=weight)
    found = fitted_there(model, X, weight)
    assert isinstance(found.labels_, torch.Tensor)
    assert found.labels_.dtype == torch.int32
    np.testing.assert_array_equal(found.labels_.cpu().numpy(), here.labels_)
    assert found.n_iter_ == here.n_iter_
    assert found.inertia_ == pytest.approx(here.inertia_, rel=1e-10)
    np.testing.assert_allclose(
        found.cluster_centers_.cpu().numpy(), here.cluster_centers_, rtol=1e-9, atol=1e-9 * np.abs(X).max()
    )
    assert found.certificate_.holds == here.certificate_.holds
    if (len(X) if weight is None else np.count_nonzero(weight)) > PROVED_LATER:  # fewer are proved as ``verify`` does
        assert [claim.name for claim in found.certificate_.claims] == [claim.name for claim in here.certificate_.claims]
    checked = pellucid.verify(found, there(X), sample_weight=None if weight is None else there(weight))
    assert checked.holds == here.certificate_.holds


def test_single_precision_stays_so_and_given_centers_may_be_a_tensor():
    X = tables()["usual"].astype(np.float32)
    found = fitted_there(KMeans(5, init=there(X[:5])), X)
    here = KMeans(5, init=X[:5]).fit(X)
    assert found.cluster_centers_.dtype == torch.float32
    np.testing.assert_array_equal(found.labels_.cpu().numpy(), here.labels_)


def test_clusters_that_lose_their_rows_get_those_in_memory():
    X = tables()["usual"]
    start = np.vstack([X[:5], np.full((3, 8), 40.0)])
    found, here = fitted_there(KMeans(8, init=start), X), KMeans(8, init=start).fit(X)
    assert len(np.unique(here.labels_)) == 8
    np.testing.assert_array_equal(found.labels_.cpu().numpy(), here.labels_)


def test_more_clusters_than_different_rows_are_warned_of():
    with pytest.warns(ConvergenceWarning, match="only 1 of 3 clusters"):
        found = KMeans(3, random_state=0).fit(torch.ones(90, 2, device=DEVICE))
    assert found.inertia_ == 0.0


def test_the_same_seed_gives_the_same_bits():
    X = tables()["usual"].astype(np.float32)
    first, second = (fitted_there(KMeans(7, random_state=3), X) for _ in range(2))
    assert torch.equal(first.cluster_centers_, second.cluster_centers_)
    assert first.inertia_ == second.inertia_


def test_answers_are_those_in_memory():
    X = tables()["usual"]
    found = fitted_there(KMeans(7, random_state=3), X)
    here, rows = pellucid.to_host(found), there(X[:500])
    labels, distances, score = found.predict(rows), found.transform(rows), found.score(rows)
    np.testing.assert_array_equal(labels.cpu().numpy(), here.predict(X[:500]))
    np.testing.assert_allclose(distances.cpu().numpy(), here.transform(X[:500]), rtol=1e-12)
    assert score == pytest.approx(here.score(X[:500]), rel=1e-12)
    again = pickle.loads(pickle.dumps(found))
    assert torch.equal(again.labels_, found.labels_)


@pytest.mark.parametrize("name", [name for name in tables() if name != "one column"])
def test_nearest_centers_and_sums_are_those_in_memory(name):
    from pellucid.cluster.kmeans.cluster_sums_on_device import SumsOnDevice
    from pellucid.cluster.kmeans.clusters_on_device import MeasuredOnDevice

    X, rng = tables()[name], np.random.default_rng(2)
    centers, weight = X[rng.choice(len(X), 20)], rng.random(len(X))
    rows = MeasuredOnDevice(there(X), there(weight))
    labels = rows.nearest(centers)
    np.testing.assert_array_equal(labels.cpu().numpy(), assign_rows(X, centers))
    sums, here = SumsOnDevice(rows, 20), ClusterSums(measured_rows(X), weight, 20)
    sums.gather(labels)
    here.gather(labels.cpu().numpy().astype(np.int32))
    np.testing.assert_allclose(sums.sums, here.sums, atol=1e-13 * np.abs(here.sums).max())
    np.testing.assert_allclose(sums.totals, here.totals, rtol=1e-13)
    np.testing.assert_array_equal(sums.counts, here.counts)
    assert sums.scatter == pytest.approx(here.scatter, rel=1e-12)


def draws():
    rng = np.random.default_rng(3)
    normal, weights = rng.standard_normal, lambda n: rng.random(n) + 0.1
    return {
        "single precision": (normal((3001, 5)).astype(np.float32), weights(3001), 40),
        "the largest bucket": (normal((32_768, 3)), None, 12),
        "one row more": (normal((32_769, 3)), weights(32_769), 12),
        "whole numbers": (rng.integers(0, 4, (2999, 3)).astype(float), None, 60),
        "all rows drawn": (normal((61, 2)), weights(61), 61),
        "fewer different rows": (np.repeat(normal((30, 3)), 3, axis=0), None, 40),
        "a row far away, many buckets": (np.vstack([normal((33_000, 3)), [[1e9] * 3]]), weights(33_001), 12),
        "huge": (1e150 * normal((1500, 3)), None, 12),
        "tiny": (1e-150 * normal((1025, 3)), weights(1025), 12),
        "many columns": (normal((333, 130)), None, 20),
    }


def drawn_from(X, weight, n_clusters, step, convert=there):
    rng = np.random.RandomState(0)
    drawn = drawn_rows(TrainingData(convert(X), weight=None if weight is None else convert(weight)), n_clusters)
    drawn.draw_any(rng)
    while not drawn.is_done:
        step(drawn, rng)
    return drawn, rng.uniform()


STEPS = {
    "any": lambda drawn, rng: drawn.draw_any(rng),
    "far": lambda drawn, rng: drawn.draw_far(rng, 1),
    "best of 5": lambda drawn, rng: drawn.draw_far(rng, 5),
    "best of 8": lambda drawn, rng: drawn.draw_far(rng, 8),
    "farthest": lambda drawn, _rng: drawn.add_farthest(),
}


@pytest.mark.parametrize("name", draws())
@pytest.mark.parametrize("step", STEPS)
def test_the_rows_drawn_are_those_in_memory(name, step):
    given = (*draws()[name], STEPS[step])
    found, next_found = drawn_from(*given)
    here, next_here = drawn_from(*given, convert=np.asarray)
    assert found.indices == [int(row) for row in here.indices]
    np.testing.assert_array_equal(found.centers, here.centers)
    assert next_found == next_here
    nearest = on_host(found.nearest)[: len(given[0])][on_host(found.order.argsort())]
    np.testing.assert_allclose(nearest, here.nearest, rtol=1e-12)
    np.testing.assert_array_equal(nearest == 0.0, here.nearest == 0.0)


@pytest.mark.skipif(DEVICE == "cpu", reason="the loops in Triton need a card")
@pytest.mark.parametrize("name", draws())
def test_loops_of_the_card_draw_the_rows_of_plain_torch(name, monkeypatch):
    given = (*draws()[name], STEPS["best of 8"])
    assert starts_triton.kernels() is not None
    quick, _ = drawn_from(*given)
    monkeypatch.setattr(starts_triton, "kernels", lambda: None)
    plain, _ = drawn_from(*given)
    assert quick.indices == plain.indices
    np.testing.assert_allclose(on_host(quick.nearest), on_host(plain.nearest), rtol=1e-12)
    np.testing.assert_allclose(on_host(quick.heights), on_host(plain.heights), rtol=1e-12)


def test_the_same_seed_draws_and_measures_the_same_bits():
    X = there(tables()["usual"].astype(np.float32))
    first, second = (draw_far_rows(TrainingData(X), 60, np.random.RandomState(0)) for _ in range(2))
    assert first.indices == second.indices
    assert torch.equal(first.nearest, second.nearest)
    assert torch.equal(first.heights, second.heights)


def test_chances_are_summed_part_by_part():
    X = tables()["more rows than one bucket"]
    drawn = draw_far_rows(TrainingData(there(X), weight=there(np.full(len(X), 2.0))), 5, np.random.RandomState(0))
    squares = 2.0 * np.square(X[:, None] - drawn.centers).sum(axis=2).min(axis=1)[on_host(drawn.order)]
    for heights, chances in zip(on_host(drawn.heights), (squares, 2.0 * (squares > 0.0)), strict=True):
        expected = [chances[start : start + PART].sum() for start in range(0, len(X), PART)]
        np.testing.assert_allclose(heights, expected, rtol=1e-12)


def test_rows_have_the_hashes_of_rows_in_memory():
    X = np.random.default_rng(0).integers(-2, 3, (500, 4)) * 0.1
    found = on_host(content_hashes(there(X))).view(np.uint64)
    np.testing.assert_array_equal(found, hashes_of(measured_rows(X)))


@pytest.mark.parametrize("lengths", [[0, 1, 256, 0], [257, 70_000, 3], [0, 0, 5]])
def test_segments_of_any_length_are_summed(lengths):
    from pellucid.cluster.kmeans.cluster_sums_on_device import segment_sums

    ends = torch.tensor([0, *np.cumsum(lengths)], device=DEVICE)
    values = torch.arange(1.0, int(ends[-1]) + 1, dtype=torch.float64, device=DEVICE)
    found = segment_sums(lambda some: values[some][..., None], torch.arange(len(values), device=DEVICE), ends, 1)[:, 0]
    expected = [float(values[ends[k] : ends[k + 1]].sum()) for k in range(len(lengths))]
    assert found.tolist() == expected  # whole numbers: exact in any order


def test_refuses_a_start_that_only_memory_has():
    with pytest.raises(ValueError, match="init must not be 'random-partition'"):
        KMeans(2, init="random-partition").fit(torch.ones(9, 2, device=DEVICE))


def without_loops(monkeypatch, *languages):
    if "CUDA" in languages:
        monkeypatch.setattr(card_loops, "run_cuda_loop", lambda *_given, **_options: False)
    if "Triton" in languages:
        monkeypatch.setattr(card_loops, "kernels", lambda: None)


@pytest.mark.filterwarnings("ignore::pellucid.UncertifiedWarning")  # after five rounds
@pytest.mark.skipif(DEVICE == "cpu", reason="the loops need a card")
@pytest.mark.parametrize(("n", "d", "k"), [(1000, 5, 3), (5000, 32, 1), (40_000, 64, 300), (3001, 130, 129)])
def test_loops_of_the_card_find_what_plain_torch_does(n, d, k, monkeypatch):
    rows = np.random.default_rng(0).standard_normal((n, d)).astype(np.float32)
    parameters = {"init": rows[:k], "n_init": 1, "max_iter": 5}
    assert card_loops.kernels() is not None
    found = []
    for missing in ((), ("CUDA",), ("CUDA", "Triton")):
        without_loops(monkeypatch, *missing)
        found.append(KMeans(k, **parameters).fit(there(rows)))
    for quick in found[:2]:
        np.testing.assert_array_equal(on_host(quick.labels_), on_host(found[2].labels_))
        np.testing.assert_allclose(
            on_host(quick.cluster_centers_), on_host(found[2].cluster_centers_), rtol=1e-6, atol=1e-7
        )


@pytest.mark.skipif(DEVICE == "cpu", reason="the loops need a card")
@pytest.mark.parametrize("kind", ["normal", "grid", "zeros", "far", "vast"])
@pytest.mark.parametrize(("d", "k"), [(3, 4), (32, 65), (64, 256), (90, 7), (128, 350), (200, 9)])
@pytest.mark.parametrize("missing", [(), ("CUDA",)], ids=["CUDA", "Triton"])
def test_what_a_loop_is_sure_of_is_right(kind, d, k, missing, monkeypatch):
    without_loops(monkeypatch, *missing)
    rng = np.random.default_rng(d)
    rows = {
        "normal": lambda: rng.standard_normal((3001, d)),
        "grid": lambda: rng.integers(-1, 2, (3001, d)).astype(float),
        "zeros": lambda: np.zeros((3001, d)),
        "far": lambda: 1e4 + rng.standard_normal((3001, d)),
        "vast": lambda: rng.standard_normal((3001, d)) * np.where(np.arange(3001) % 50, 1.0, 1e12)[:, None],
    }[kind]()
    measured = MeasuredOnDevice(there(rows))
    centers = rows[1 : k + 1]
    labels, unsure = (torch.ones(3001, dtype=kind, device=DEVICE) for kind in (torch.int64, torch.bool))
    measured._by_short_products((centers - measured.middle) * measured.unit, labels, unsure)
    exact = np.stack([np.square(rows - center).sum(axis=1) for center in centers], axis=1)
    sure = ~on_host(unsure)
    own, others = exact[np.arange(3001), on_host(labels)], np.sort(exact, axis=1)
    np.testing.assert_array_equal(own[sure], others[sure, 0])
    assert np.all(others[sure, 1] > others[sure, 0])  # of equally near ones nobody is sure
    if kind == "normal":
        assert sure.mean() > 0.5
    decided = exact[np.arange(3001), on_host(measured.nearest(centers))]
    np.testing.assert_allclose(decided, others[:, 0], rtol=1e-13)  # sums in another order
