"""k-means on a device: the start, the rounds and the labels of k-means in memory."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import pellucid
from pellucid.cluster import KMeans
from pellucid.cluster.kmeans.center_answers import ClusterSums, assign_rows
from pellucid.cluster.kmeans.measured_rows import hashes_of, measured_rows

torch = pytest.importorskip("torch")


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
        "fewer different rows than clusters": np.repeat(normal((6, 2)), 20, axis=0),
    }


def fitted_there(model, X, weight=None):
    with pellucid.on_device("cpu"):
        return model.fit(torch.from_numpy(X), sample_weight=None if weight is None else torch.from_numpy(weight))


@pytest.mark.parametrize("name", tables())
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("init", ["k-means++", "random", "furthest-first", "k-log-k"])
@pytest.mark.filterwarnings("ignore:n_clusters should be at most the number of different rows")
def test_labels_rounds_and_objective_are_those_in_memory(name, weighted, init):
    X = tables()[name]
    weight = np.random.default_rng(1).integers(0, 3, len(X)).astype(float) if weighted else None
    model = KMeans(8, init=init, n_init=1, max_iter=30, tol=1e-3, random_state=0)
    here = KMeans(**model.get_params()).fit(X, sample_weight=weight)
    there = fitted_there(model, X, weight)
    assert isinstance(there.labels_, torch.Tensor)
    assert there.labels_.dtype == torch.int32
    np.testing.assert_array_equal(there.labels_.numpy(), here.labels_)
    assert there.n_iter_ == here.n_iter_
    assert there.inertia_ == pytest.approx(here.inertia_, rel=1e-10)
    np.testing.assert_allclose(
        there.cluster_centers_.numpy(), here.cluster_centers_, rtol=1e-9, atol=1e-9 * np.abs(X).max()
    )
    assert there.certificate_.holds == here.certificate_.holds
    if len(X) > 64:  # fewer are proved as ``verify`` does
        assert [claim.name for claim in there.certificate_.claims] == [claim.name for claim in here.certificate_.claims]
    assert pellucid.verify(there, X, sample_weight=weight).holds


def test_single_precision_stays_so_and_given_centers_may_be_a_tensor():
    X = tables()["usual"].astype(np.float32)
    there = fitted_there(KMeans(5, init=torch.from_numpy(X[:5])), X)
    here = KMeans(5, init=X[:5]).fit(X)
    assert there.cluster_centers_.dtype == torch.float32
    np.testing.assert_array_equal(there.labels_.numpy(), here.labels_)


def test_the_same_seed_gives_the_same_bits():
    X = tables()["usual"].astype(np.float32)
    first, second = (fitted_there(KMeans(7, random_state=3), X) for _ in range(2))
    assert torch.equal(first.cluster_centers_, second.cluster_centers_)
    assert first.inertia_ == second.inertia_


def test_answers_are_those_in_memory():
    X = tables()["usual"]
    there = fitted_there(KMeans(7, random_state=3), X)
    here, rows = pellucid.to_host(there), torch.from_numpy(X[:500])
    with pellucid.on_device("cpu"):
        labels, distances, score = there.predict(rows), there.transform(rows), there.score(rows)
    np.testing.assert_array_equal(labels.numpy(), here.predict(X[:500]))
    np.testing.assert_allclose(distances.numpy(), here.transform(X[:500]), rtol=1e-12)
    assert score == pytest.approx(here.score(X[:500]), rel=1e-12)
    again = pickle.loads(pickle.dumps(there))
    assert torch.equal(again.labels_, there.labels_)


@pytest.mark.parametrize("name", [name for name in tables() if name != "one column"])
def test_nearest_centers_and_sums_are_those_in_memory(name):
    from pellucid.cluster.kmeans.clusters_on_device import MeasuredOnDevice, SumsOnDevice

    X, rng = tables()[name], np.random.default_rng(2)
    centers, weight = X[rng.choice(len(X), 20)], rng.random(len(X))
    rows = MeasuredOnDevice(torch.from_numpy(X), torch.from_numpy(weight))
    labels = rows.nearest(centers)
    np.testing.assert_array_equal(labels.numpy(), assign_rows(X, centers))
    there, here = SumsOnDevice(rows, 20), ClusterSums(measured_rows(X), weight, 20)
    there.gather(labels)
    here.gather(labels.numpy().astype(np.int32))
    np.testing.assert_allclose(there.sums, here.sums, atol=1e-13 * np.abs(here.sums).max())
    np.testing.assert_allclose(there.totals, here.totals, rtol=1e-13)
    np.testing.assert_array_equal(there.counts, here.counts)
    assert there.scatter == pytest.approx(here.scatter, rel=1e-12)


@pytest.mark.parametrize("name", ["usual", "far from zero", "one row far away"])
def test_no_row_within_reach_of_a_center_is_passed_over(name):
    from pellucid.cluster.kmeans.clusters_on_device import MeasuredOnDevice

    X = tables()[name]
    rows, centers = MeasuredOnDevice(torch.from_numpy(X)), X[:4]
    squares = np.square(X[None] - centers[:, None]).sum(axis=2)
    reach = np.quantile(squares, 0.2, axis=0)
    which, found, measured = rows.pairs_in_reach(centers, torch.from_numpy(reach))
    seen = np.zeros_like(squares, dtype=bool)
    seen[which.numpy(), found.numpy()] = True
    assert seen[squares < reach].all()
    assert seen.mean() < 0.5 or name == "far from zero"  # almost all others are
    np.testing.assert_allclose(measured.numpy(), squares[which.numpy(), found.numpy()], rtol=1e-12)


def test_rows_have_the_hashes_of_rows_in_memory():
    from pellucid.cluster.kmeans.starts_on_device import RowsDrawnOnDevice
    from pellucid.proofs.training_data import TrainingData

    X = np.random.default_rng(0).integers(-2, 3, (500, 4)) * 0.1
    drawn = RowsDrawnOnDevice(TrainingData(torch.from_numpy(X)), 3)
    np.testing.assert_array_equal(drawn._hashes(slice(None)).numpy().view(np.uint64), hashes_of(measured_rows(X)))


@pytest.mark.parametrize("lengths", [[0, 1, 256, 0], [257, 70_000, 3], [0, 0, 5]])
def test_segments_of_any_length_are_summed(lengths):
    from pellucid.cluster.kmeans.clusters_on_device import segment_sums

    ends = torch.tensor([0, *np.cumsum(lengths)])
    values = torch.arange(1.0, int(ends[-1]) + 1, dtype=torch.float64)
    found = segment_sums(lambda some: values[some][..., None], torch.arange(len(values)), ends, 1)[:, 0]
    expected = [float(values[ends[k] : ends[k + 1]].sum()) for k in range(len(lengths))]
    assert found.tolist() == expected  # whole numbers: exact in any order


def test_refuses_a_start_that_only_memory_has():
    with pellucid.on_device("cpu"), pytest.raises(ValueError, match="init must not be 'random-partition'"):
        KMeans(2, init="random-partition").fit(torch.ones(9, 2))
