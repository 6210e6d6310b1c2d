"""Neighbor embedding: affinities and forces by hand, properties, scikit-learn's TSNE, its certificate, bad input."""

from __future__ import annotations

import copy
import inspect
import warnings
from functools import cache

import numpy as np
import pytest
import sklearn.manifold
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist, squareform
from scipy.special import entr
from sklearn.datasets import load_digits, load_iris
from sklearn.manifold import _t_sne, trustworthiness
from sklearn.neighbors import kneighbors_graph
from threadpoolctl import threadpool_limits

import pellucid
from pellucid.manifold import TSNE
from pellucid.manifold.embedding import oriented
from pellucid.manifold.tsne import tsne_kernels, tsne_solvers
from pellucid.manifold.tsne.tsne_parameters import place_by_affinity
from pellucid.manifold.tsne.tsne_solvers import Forces, affinities_of, joint_affinities
from pellucid.proofs.manifold.tsne import _affinities, _squares_above_the_least
from tests.plain_kernels import in_python

THREE = np.ones((3, 3)) - np.eye(3)


def cloud(seed=0, n=60, p=4):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) + 6.0 * rng.integers(3, size=(n, 1))


def digits(n):
    return load_digits().data[:n]


@cache
def model_of(n=60, **how):
    return TSNE(**{"perplexity": 10.0, "random_state": 0} | how).fit(cloud(n=n))


def forces_of(X, k, perplexity, n_components, spacing=0.0):
    neighbors, distances = tsne_solvers.neighbors_and_distances(X, k, tsne_solvers.Metric("euclidean"))
    return Forces(joint_affinities(neighbors, affinities_of(distances, perplexity)), n_components, spacing)


# by hand


@pytest.mark.by_hand
def test_affinities_of_two_neighbors():
    # squares 1 and 2, precision log 2: exp(-log 2) to exp(-2 log 2) is 2 to 1; perplexity (2/3)^(-2/3) (1/3)^(-1/3)
    found = affinities_of(np.sqrt([[1.0, 2.0]]), 3.0 / 2.0 ** (2.0 / 3.0))
    np.testing.assert_allclose(found, [[2 / 3, 1 / 3]], rtol=1e-9)


def test_rows_that_cannot_have_the_perplexity_share_as_nearly_as_they_can():
    tied = affinities_of(np.array([[1.0, 1.0, 1.0, 2.0]]), 2.0)  # three are equally near: no fewer in effect
    np.testing.assert_array_equal(tied, [[1 / 3, 1 / 3, 1 / 3, 0.0]])
    nearly = affinities_of(np.array([[1.0, 1.0 + 1e-15, 1.0, 2.0]]), 2.0)  # nothing rests on rounding
    np.testing.assert_array_equal(nearly, tied)
    np.testing.assert_array_equal(affinities_of(np.array([[1.0, 5.0]]), 2.5), [[0.5, 0.5]])  # too few
    np.testing.assert_array_equal(affinities_of(np.zeros((1, 3)), 2.0), [[1 / 3] * 3])


def test_forces_on_three_points_on_a_line():
    # places -1, 0, 1 and equal affinities 1/6; kernels 1/2 and 1/5, total 2 (1/2 + 1/2 + 1/5) = 2.4
    # on the first: attraction -(1/2 + 2/5) / 6 = -0.15, repulsion -(1/4 + 2/25) / 2.4 = -0.1375, gradient 4 * -0.0125
    forces = Forces(sparse.csr_array(THREE / 6.0), 1, 0.0)
    np.testing.assert_allclose(forces.gradient(np.array([[-1.0], [0.0], [1.0]])).ravel(), [-0.05, 0.0, 0.05], atol=1e-7)
    assert forces.total == pytest.approx(2.4)
    # log(1/6) - log(1/2 / 2.4) for four pairs of six, log(1/6) - log(1/5 / 2.4) for two
    wanted = np.log(1 / 6) - (4 * np.log(0.5 / 2.4) + 2 * np.log(0.2 / 2.4)) / 6
    assert forces.divergence(np.array([[-1.0], [0.0], [1.0]])) == pytest.approx(wanted)


def test_three_rows_at_one_distance_make_a_triangle():
    model = TSNE(perplexity=2, metric="precomputed", init="random", random_state=0).fit(THREE)
    sides = cdist(model.embedding_, model.embedding_)[np.triu_indices(3, 1)]
    np.testing.assert_allclose(sides, sides[0], rtol=1e-2)
    assert model.kl_divergence_ < 1e-4


def test_two_rows_have_nothing_to_lose():
    model = TSNE(perplexity=1.0, init="random").fit([[0.0, 1.0], [2.0, 1.0]])
    assert model.kl_divergence_ == pytest.approx(0.0, abs=1e-9)
    assert np.isfinite(model.embedding_).all()


def test_a_new_row_goes_where_its_affinities_draw_it():
    # two known places 0 and 2, shares 3/4 and 1/4: slope 3/4 2z/(1+z^2) = 1/4 2(2-z)/(1+(2-z)^2) at z about 0.0716
    found = place_by_affinity(np.array([[0.0], [2.0]]), np.array([[0, 1]]), np.array([[0.75, 0.25]]))[0, 0]
    slope = 0.75 * found / (1 + found**2) - 0.25 * (2 - found) / (1 + (2 - found) ** 2)
    assert slope == pytest.approx(0.0, abs=1e-6)
    assert found < 0.5  # with the larger share, not in the middle


def test_a_new_row_between_two_clusters_goes_to_the_one_it_has_more_to_do_with():
    known = np.array([[0.0], [0.1], [-0.1], [50.0], [50.1]])
    found = place_by_affinity(known, np.array([[3, 4, 0, 1, 2]]), np.full((1, 5), 0.2))
    assert abs(found[0, 0]) < 0.5


# properties


@given(st.integers(0, 1000), st.floats(1.1, 15.0))
def test_every_row_has_the_perplexity_asked_for(seed, perplexity):
    distances = np.sort(np.random.default_rng(seed).uniform(1.0, 9.0, (5, 20)), axis=1)
    found = affinities_of(distances, perplexity)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(entr(found).sum(axis=1)), perplexity, rtol=1e-9)
    again, _ = _affinities(*_squares_above_the_least(distances), perplexity)
    np.testing.assert_allclose(found, again, rtol=1e-7)


@pytest.mark.parametrize("unit", [2.0**-500, 2.0**500])
def test_affinities_do_not_depend_on_the_unit(unit):
    distances = np.sort(np.random.default_rng(0).uniform(1.0, 9.0, (5, 20)), axis=1)
    np.testing.assert_array_equal(affinities_of(unit * distances, 6.0), affinities_of(distances, 6.0))


@pytest.mark.parametrize("n_components", [1, 2, 3, 4])
def test_the_gradient_is_that_of_the_divergence(n_components):
    forces = forces_of(cloud(n=12), 11, 4.0, n_components)
    rng = np.random.default_rng(0)
    Z, step = rng.standard_normal((12, n_components)), 1e-3 * rng.standard_normal((12, n_components))
    gradient = forces.gradient(Z)
    values = []
    for sign in (1.0, -1.0):
        forces.gradient(Z + sign * step)
        values.append(forces.divergence(Z + sign * step))
    assert np.vdot(gradient, step) == pytest.approx((values[0] - values[1]) / 2.0, rel=1e-4)


@pytest.mark.parametrize("n_components", [1, 2])
def test_a_grid_gives_the_forces_of_all_pairs(n_components):
    rng = np.random.default_rng(0)
    Z = 8.0 * rng.standard_normal((400, n_components))
    forces = forces_of(rng.standard_normal((400, 3)), 30, 10.0, n_components, spacing=0.3)
    forces._repel(Z, np.float64)
    repulsion, total = forces.repulsion.copy(), forces.total
    errors = []
    for forces.spacing in (1.0, 0.5, 0.25):
        forces._repel_on_grid(Z)
        assert forces.total == pytest.approx(total, rel=5e-3)
        errors.append(np.linalg.norm(forces.repulsion - repulsion) / np.linalg.norm(repulsion))
    assert errors[2] < 1e-3 < errors[1] < 0.05 < errors[0]


def test_a_grid_is_taken_where_it_is_less_work():
    forces = forces_of(cloud(n=60), 20, 5.0, 2, spacing=0.5)
    crowd = np.random.default_rng(0).uniform(size=(5000, 2))
    assert forces._pays(crowd, 0.5)
    assert not forces._pays(1e5 * crowd, 0.5)  # too far apart
    assert not forces._pays(crowd[:50], 0.5)  # too few
    assert not Forces(forces.joint, 3, 0.5)._pays(crowd[:, [0, 1, 0]], 0.5)  # no grid for so many dimensions


@pytest.mark.parametrize("angle", [0.5, 1.0])
def test_a_descent_on_grids_alone_ends_where_forces_balance(monkeypatch, angle):
    monkeypatch.setattr(tsne_solvers, "GRID_COST", 0.0)
    monkeypatch.setattr(tsne_solvers, "NODE_COST", 0.0)
    model = TSNE(angle=angle, learning_rate=1.0, random_state=0).fit(digits(300))  # so slow that L-BFGS has to end it
    assert 501 in model.trace_["iteration"]
    assert pellucid.verify(model, digits(300)).holds


def test_the_loops_do_the_same_as_plain_python():
    Z = 3.0 * np.random.default_rng(0).standard_normal((9, 3))
    for p in (1, 2, 3):
        columns, ones, room = np.ascontiguousarray(Z[:, :p].T), np.ones(1), np.empty(9)
        first, second = np.empty((2, 9, p))
        totals = [
            run(columns, ones, 2, 7, room, forces)
            for run, forces in ((tsne_kernels.repel, first), (in_python(tsne_kernels.repel), second))
        ]
        assert totals[0] == pytest.approx(totals[1])
        np.testing.assert_allclose(first[2:7], second[2:7])
        square = 1.0 + cdist(Z[:, :p], Z[:, :p], "sqeuclidean") / max(p - 1, 1)
        kernel = square ** (-max(p, 2) / 2.0) - np.eye(9)
        assert totals[0] == pytest.approx(kernel[2:7].sum())
        np.testing.assert_allclose(first[2], np.sum((kernel / square)[2, :, None] * (Z[2, :p] - Z[:, :p]), axis=0))
    flat, forces, again = np.ascontiguousarray(Z[:, :2]), *np.zeros((2, 9, 2))
    grids = np.zeros((2, 40, 40))
    low = np.floor(flat.min(axis=0))
    for kernel, grid, out in ((lambda k: k, grids[0], forces), (in_python, grids[1], again)):
        kernel(tsne_kernels.spread_charges)(flat, low, 0.5, np.empty((4, 6)), grid)
        kernel(tsne_kernels.gather_potential)(flat, low, 0.5, np.empty((4, 6)), grid, 0, 9, out)
    np.testing.assert_allclose(grids[0], grids[1], atol=1e-12)
    assert grids[0].sum() == pytest.approx(9.0)  # no charge is lost
    np.testing.assert_allclose(forces, again, atol=1e-12)
    distances = np.sort(np.random.default_rng(1).uniform(1.0, 3.0, (3, 8)), axis=1)
    found = np.empty_like(distances)
    in_python(tsne_kernels.calibrate)(distances, np.log(3.0), np.empty_like(distances), found)
    np.testing.assert_allclose(found, affinities_of(distances, 3.0), rtol=1e-9)


def test_the_number_of_threads_changes_no_bit():
    X, models = cloud(n=1500), []  # on a grid, and on all pairs
    for n_threads in (1, 2):
        with threadpool_limits(n_threads), warnings.catch_warnings():
            warnings.simplefilter("ignore", pellucid.UncertifiedWarning)
            models.append(TSNE(max_iter=290, random_state=0).fit(X))
            models.append(TSNE(max_iter=520, random_state=0, learning_rate=0.2).fit(X[:400]))
    for one, other in zip(models[:2], models[2:], strict=True):
        np.testing.assert_array_equal(one.embedding_, other.embedding_)
        assert one.kl_divergence_ == other.kl_divergence_
        assert one.trace_ == other.trace_


@pytest.mark.property
def test_the_same_seed_gives_the_same_map_and_another_another():
    first, second, other = (model_of(init="random", random_state=seed) for seed in (1, np.int64(1), 2))
    np.testing.assert_array_equal(first.embedding_, second.embedding_)
    assert not np.array_equal(first.embedding_, other.embedding_)


def test_a_power_of_two_as_unit_changes_no_bit():
    one, other = (TSNE(perplexity=10.0).fit(unit * cloud()) for unit in (1.0, 1024.0))
    np.testing.assert_array_equal(one.embedding_, other.embedding_)


def test_the_trace_marks_exaggeration_and_never_rises_at_the_end():
    model = model_of(learning_rate=0.2)  # so slow that L-BFGS has to end it
    trace = model.trace_
    assert 501 in trace["iteration"]  # which has a row for each step
    np.testing.assert_array_equal(trace["exaggeration"], np.where(trace["iteration"] < 250, 12.0, 1.0))
    last = trace["objective"][trace["iteration"] >= 500]
    assert len(last) > 5
    assert np.all(np.diff(last) <= 0.0)
    assert last[-1] == pytest.approx(model.kl_divergence_, rel=1e-4)
    assert model.certificate_["descent"].holds


def test_clusters_stay_together_and_new_rows_find_their_place():
    X = cloud(n=90)
    model = TSNE(perplexity=10.0).fit(X)
    np.testing.assert_array_equal(model.transform(X[:7]), model.embedding_[:7])
    near = model.transform(X + 1e-6)
    assert np.median(np.linalg.norm(near - model.embedding_, axis=1)) < 0.15 * np.ptp(model.embedding_)
    group = np.round(X.mean(axis=1) / 6.0)
    nearest = np.argsort(cdist(near, model.embedding_), axis=1)[:, 1:6]
    assert np.mean(group[nearest] == group[:, None]) > 0.9
    assert model.quality().trustworthiness > 0.9


def test_callbacks_see_the_places_and_record_keeps_them():
    from sklearn.callback import ProgressBar

    assert TSNE(perplexity=5.0).set_callbacks(ProgressBar()).fit(cloud()).certificate_.holds
    with pellucid.record():
        model = TSNE(perplexity=5.0).fit(cloud())
    assert len(model.trace_.states) == len(model.trace_)
    assert model.trace_.states[-1]["embedding_"].shape == (60, 2)


# peer


def test_parameters_and_defaults_are_those_of_scikit_learn():
    ours, peer = (inspect.signature(kind).parameters for kind in (TSNE, sklearn.manifold.TSNE))
    assert [(one.name, one.default) for one in ours.values()] == [(one.name, one.default) for one in peer.values()]


@pytest.mark.peer
def test_affinities_are_those_of_scikit_learn():
    X = digits(200) + np.random.default_rng(0).uniform(size=(200, 64))  # no two rows equally near
    graph = kneighbors_graph(X, 91, mode="distance")
    graph.data **= 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = _t_sne._joint_probabilities_nn(graph, 30.0, 0)
    model = TSNE().fit(X)
    ours = joint_affinities(model.neighbors_, model.affinities_)
    assert abs(ours - sparse.csr_array(theirs)).max() < 1e-5 * ours.max()  # its search stops at 1e-5


def test_the_divergence_is_that_of_scikit_learn():
    model = model_of(method="exact")
    joint = joint_affinities(model.neighbors_, model.affinities_).toarray()
    theirs, gradient = _t_sne._kl_divergence(
        model.embedding_.astype(float).ravel(), squareform(joint, checks=False), 1, 60, 2
    )
    assert model.kl_divergence_ == pytest.approx(theirs, rel=1e-6)
    ours = Forces(sparse.csr_array(joint), 2, 0.0).gradient(model.embedding_.astype(float))
    np.testing.assert_allclose(ours.ravel(), gradient, atol=1e-9)


@pytest.mark.parametrize("load", [lambda: digits(400), lambda: load_iris().data])
def test_the_divergence_is_no_larger_than_that_of_scikit_learn(load):
    X = load()
    ours, peer = TSNE(random_state=0).fit(X), sklearn.manifold.TSNE(random_state=0).fit(X)
    forces = Forces(joint_affinities(ours.neighbors_, ours.affinities_), 2, 0.0)
    theirs = forces.measured(peer.embedding_.astype(float))[0]
    assert ours.kl_divergence_ < 1.1 * theirs  # both end in one of many valleys
    assert theirs > peer.kl_divergence_  # which it sums up over cells of a tree
    assert ours.n_iter_ <= 1000
    kept = [trustworthiness(X, model.embedding_, n_neighbors=10) for model in (ours, peer)]
    assert kept[0] > kept[1] - 0.01
    assert ours.learning_rate_ == peer.learning_rate_
    assert ours.embedding_.dtype == peer.embedding_.dtype


def test_rows_distances_graphs_and_sparse_rows_have_the_same_affinities():
    X = np.round(cloud(n=50))
    models = [
        TSNE(perplexity=6.0, init="random", random_state=0).fit(X),
        TSNE(perplexity=6.0, init="random", random_state=0).fit(sparse.csr_matrix(X)),
        TSNE(perplexity=6.0, init="random", random_state=0, metric="precomputed").fit(cdist(X, X)),
        TSNE(perplexity=6.0, init="random", random_state=0, metric="precomputed").fit(
            kneighbors_graph(X, 30, mode="distance")
        ),
    ]
    for model in models[1:]:
        np.testing.assert_allclose(model.affinities_, models[0].affinities_, atol=1e-9)
        assert model.certificate_.holds
    np.testing.assert_array_equal(models[2].transform(cdist(X[:4], X)), models[2].embedding_[:4])
    with pytest.raises(ValueError, match="distances must be given for the quality"):
        models[3].quality()


# the certificate


def swapped(Z):
    return Z[[1, 0, *range(2, len(Z))]]


def with_one_far(Z):
    Z = Z.copy()
    Z[7] += 100.0
    return Z - Z.mean(axis=0)


@pytest.mark.parametrize(
    ("name", "change", "claim"),
    [
        ("embedding_", swapped, "divergence"),
        ("embedding_", with_one_far, "divergence"),
        ("embedding_", lambda Z: np.float32(1.01) * Z, "divergence"),
        ("embedding_", lambda Z: Z + np.float32(1.0), "orientation"),
        ("embedding_", lambda Z: -Z, "orientation"),
        ("embedding_", lambda Z: (Z @ [[0.8, 0.6], [-0.6, 0.8]]).astype(np.float32), "orientation"),
        ("embedding_", lambda Z: Z[:, :1], "shape"),
        ("kl_divergence_", lambda value: value * (1 + 1e-7), "divergence"),
        ("affinities_", lambda A: A[:, ::-1].copy(), "affinities"),
        ("affinities_", lambda A: np.full_like(A, 1.0 / A.shape[1]), "perplexity"),
        ("neighbors_", lambda N: np.roll(N, 1, axis=0), "neighbors"),
        ("neighbors_", lambda N: np.repeat(N[:, :1], N.shape[1], axis=1), "neighbors"),
        ("neighbors_", lambda N: N + 40, "shape"),
        ("learning_rate_", lambda rate: 2 * rate, "meaning"),
        ("X_fit_", lambda X: X[::-1].copy(), "training rows"),
    ],
)
def test_a_changed_model_is_noticed(name, change, claim):
    broken = copy.deepcopy(model_of())
    setattr(broken, name, change(getattr(broken, name)))
    with pytest.warns(pellucid.UncertifiedWarning):
        assert claim in {failed.name for failed in pellucid.verify(broken, cloud()).failed}


def test_a_map_that_is_no_optimum_is_noticed_even_if_its_divergence_is_right():
    broken = copy.deepcopy(model_of())
    places = np.random.default_rng(0).standard_normal((60, 2))
    broken.embedding_ = oriented(places).astype(np.float32)
    forces = Forces(joint_affinities(broken.neighbors_, broken.affinities_), 2, 0.0)
    broken.kl_divergence_ = forces.measured(broken.embedding_.astype(np.float64))[0]
    with pytest.warns(pellucid.UncertifiedWarning):
        failed = {claim.name for claim in pellucid.verify(broken, cloud()).failed}
    assert failed == {"gradient", "one more step"}


def test_other_parameters_and_other_data_are_noticed():
    model = copy.deepcopy(model_of())
    with pytest.warns(pellucid.UncertifiedWarning):
        assert pellucid.verify(model, cloud() + np.eye(60, 4)).failed
    model.perplexity = 11.0
    with pytest.warns(pellucid.UncertifiedWarning):
        assert pellucid.verify(model, cloud()).failed


def test_pairs_of_some_rows_stand_for_those_of_all(monkeypatch):
    from pellucid.proofs.manifold import tsne

    model, X = TSNE(random_state=0).fit(digits(400)), digits(400)
    monkeypatch.setattr(tsne, "ALL_PAIRS", 400 * 300)
    monkeypatch.setattr(tsne, "FEWEST_ROWS", 100)
    proof = pellucid.verify(model, X, random_state=0)
    assert "pairs of 300 rows, at 99 %" in proof["divergence"].statement
    assert proof["divergence"].value > 1e-3  # the uncertainty is part of it
    assert "one more step" not in {claim.name for claim in proof.claims}
    seen = tsne._look(
        tsne._joint(model.neighbors_, model.affinities_), model.embedding_.astype(float), np.arange(0, 400, 2)
    )
    assert abs(seen.divergence - model.kl_divergence_) < seen.margin


def test_a_descent_that_stops_early_says_so():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        TSNE(max_iter=250).fit(digits(200))
    words = [str(warning.message) for warning in said]
    assert len(words) == 2  # the gradient, and what one more step would gain
    assert all("above its bound" in text and "Raise max_iter" in text for text in words)


@pytest.mark.parametrize(
    "prepare",
    [
        lambda X: 1e-120 * X,
        lambda X: 1e120 * X,
        lambda X: X + 1e6,
        np.float32,
        sparse.csr_array,
        lambda X: np.repeat(X[:25], 4, axis=0),
        lambda X: np.repeat(X[:4], 40, axis=0),
        lambda X: np.column_stack([X, np.ones(len(X))]),
        lambda X: X[:, :1],
        lambda X: np.ones((30, 2)),
        lambda X: (X > 0.0).astype(float),
        lambda X: X[:11],
    ],
)
def test_no_false_alarm(prepare):
    X = prepare(cloud(n=120))
    assert pellucid.verify(TSNE(perplexity=10.0, random_state=0).fit(X), X).holds


@pytest.mark.parametrize("how", [{"perplexity": 0.5}, {"perplexity": 59.5}, {"angle": 0.0}, {"learning_rate": 500.0}])
def test_no_false_alarm_at_the_ends_of_parameters(how):
    assert pellucid.verify(model_of(**how), cloud()).holds


def test_given_places_are_the_start_and_travel_with_the_file(tmp_path):
    start = np.random.default_rng(0).standard_normal((60, 2))
    model = TSNE(perplexity=10.0, init=start).fit(cloud())
    np.testing.assert_array_equal(start, np.random.default_rng(0).standard_normal((60, 2)))
    pellucid.save(model, tmp_path / "map.safetensors")
    again = pellucid.load(tmp_path / "map.safetensors")
    np.testing.assert_array_equal(again.init, start)
    assert pellucid.verify(again, cloud()).holds


def test_a_descent_without_progress_ends():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pellucid.UncertifiedWarning)
        assert model_of(min_grad_norm=10.0).n_iter_ == 50
        hasty, patient = (
            TSNE(perplexity=10.0, learning_rate=1e-30, n_iter_without_progress=most, random_state=0).fit(cloud())
            for most in (-1, 1000)
        )
    assert hasty.n_iter_ == 350  # the first look without exaggeration is at 300: steps so short lower nothing
    assert patient.n_iter_ > 500


# errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"perplexity": 60}, r"perplexity \(60\) must be less than n_samples \(60\)"),
        ({"perplexity": 0.0}, "perplexity must be above 0, got 0.0"),
        ({"early_exaggeration": 0.5}, "early_exaggeration must be at least 1, got 0.5"),
        ({"max_iter": 200}, "max_iter must be at least 250, got 200"),
        ({"angle": 1.5}, "angle must be between 0 and 1, got 1.5"),
        ({"metric": "miles"}, "metric must be one of"),
        ({"metric": "precomputed"}, "init must be 'random' or an array"),
        ({"metric": "precomputed", "init": "random"}, "X should be a square distance matrix"),
        ({"n_components": 4}, "n_components must be at most 3 with method='barnes_hut', got 4"),
        ({"init": np.ones((3, 2))}, r"init must be finite places of shape \(60, 2\), got \(3, 2\)"),
        ({"init": "ica"}, "init must be one of"),
        ({"method": "fft"}, "method must be one of"),
        ({"metric": lambda a, b: -1.0}, "All distances should be positive"),
    ],
)
def test_refuses_with_a_sentence(how, words):
    with pytest.raises(ValueError, match=words):
        TSNE(**{"perplexity": 10.0} | how).fit(cloud())


def test_refuses_distances_below_zero_and_a_graph_with_the_exact_method():
    with pytest.raises(ValueError, match="X must have no negative numbers as distances"):
        TSNE(perplexity=2.0, metric="precomputed", init="random").fit(-THREE)
    graph = kneighbors_graph(cloud(), 40, mode="distance")
    with pytest.raises(TypeError, match="does not accept sparse precomputed"):
        TSNE(metric="precomputed", init="random", method="exact").fit(graph)
    with pytest.raises(ValueError, match="at most the number of stored distances"):
        TSNE(perplexity=20.0, metric="precomputed", init="random").fit(graph)
