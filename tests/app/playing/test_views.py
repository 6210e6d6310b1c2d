"""Views: what is drawn beside points and regions has the numbers of the model."""

from __future__ import annotations

from base64 import b64decode

import numpy as np
import pytest

from pellucid.app.playing import load_set, record_play
from pellucid.app.playing.layers import plain
from pellucid.app.playing.views.class_layers import mosaic, tile
from pellucid.decomposition import NMF, PCA, KernelPCA
from pellucid.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from pellucid.ensemble import RandomForestClassifier
from pellucid.kernels import RBF
from pellucid.linear_model import LinearRegression, LogisticRegression
from pellucid.manifold import Isomap, LocallyLinearEmbedding
from pellucid.naive_bayes import GaussianNB
from pellucid.neural_network import MLPClassifier
from pellucid.svm import SVC

MOONS, SIDES, _ = load_set("moons", rows=60)


def layers_of(recording, kind, frame=-1):
    return [layer for layer in recording.frames[frame].layers if layer.kind == kind]


def pixels(layer):
    return np.frombuffer(b64decode(layer.values), np.uint8).reshape(layer.height, layer.width)


def on_line(layer):
    known = [(x, y) for x, y in zip(layer.x, layer.y, strict=True) if x is not None]
    return np.array(known)


@pytest.mark.filterwarnings("ignore::pellucid.core.user_warnings.UncertifiedWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_machine_is_shown_pair_by_pair_as_it_was_found():
    model = SVC(kernel="linear").fit(MOONS, SIDES)
    recording = record_play(SVC(kernel="linear"), MOONS, SIDES)
    assert len(recording.frames) == model.n_iter_[0]
    assert recording.frames[3].label == "pair 4"
    stars = [layer for layer in layers_of(recording, "points", 3) if layer.marker == "star"]
    assert len(stars[0].x) == 2
    before, after = (SVC(kernel="linear", max_iter=k).fit(MOONS, SIDES) for k in (3, 4))
    multipliers = [np.zeros(60), np.zeros(60)]
    for values, fit in zip(multipliers, (before, after), strict=True):
        values[fit.support_] = fit.dual_coef_[0]
    moved = np.flatnonzero(multipliers[0] != multipliers[1])
    assert set(zip(stars[0].x, stars[0].y, strict=True)) == {plain(row) for row in MOONS[moved]}
    assert recording.trace["columns"]["dual"][3] == plain(after.trace_["dual"][-1])
    assert recording.trace["columns"]["iteration"][-1] == model.n_iter_[0]


def test_margins_are_where_the_score_is_one():
    recording = record_play(SVC(kernel="linear"), MOONS, SIDES)
    lower, upper = layers_of(recording, "polyline")
    model = SVC(kernel="linear").fit(MOONS, SIDES)
    np.testing.assert_allclose(model.decision_function(on_line(lower)), -1.0, atol=0.01)
    np.testing.assert_allclose(model.decision_function(on_line(upper)), 1.0, atol=0.01)


def test_lines_of_a_logistic_regression_are_where_a_class_is_thrice_as_likely():
    recording = record_play(LogisticRegression(), MOONS, SIDES)
    lower, upper = layers_of(recording, "polyline")
    model = LogisticRegression().fit(MOONS, SIDES)
    np.testing.assert_allclose(model.predict_proba(on_line(lower))[:, 1], 0.25, atol=0.01)
    np.testing.assert_allclose(model.predict_proba(on_line(upper))[:, 1], 0.75, atol=0.01)


@pytest.mark.parametrize("kind", [GaussianNB, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_gaussian_classes_are_ellipses_of_two_deviations(kind):
    options = {} if kind is GaussianNB else {"store_covariance": True}
    (layer,) = layers_of(record_play(kind(**options), MOONS, SIDES), "ellipses")
    of_class = MOONS[SIDES == 1]
    np.testing.assert_allclose([layer.x[1], layer.y[1]], of_class.mean(axis=0), rtol=1e-4)
    if kind is GaussianNB:
        np.testing.assert_allclose(sorted([layer.a[1], layer.b[1]]), sorted(2 * of_class.std(axis=0)), rtol=1e-3)
    if kind is LinearDiscriminantAnalysis:
        assert layer.a[0] == layer.a[1]


def test_a_kernel_matrix_has_the_products_of_rows_sorted_by_class():
    (layer,) = layers_of(record_play(KernelPCA(2, kernel="rbf", gamma=0.5), MOONS[:30], SIDES[:30]), "matrix")
    rows = MOONS[:30][np.argsort(SIDES[:30], kind="stable")]
    np.testing.assert_allclose(np.array(layer.values, dtype=float), RBF(gamma=0.5)(rows), atol=1e-4)


def test_a_forest_votes_tree_by_tree():
    recording = record_play(RandomForestClassifier(8, random_state=0), MOONS, SIDES)
    assert [frame.label for frame in recording.frames[:2]] == ["1 member", "2 members"]
    assert len(recording.frames) == 8
    first, last = (layers_of(recording, "image", k)[0] for k in (0, -1))
    assert set(np.unique(pixels(first))) == {0, 255}  # one tree says all or nothing
    assert len(np.unique(pixels(last))) > 3


@pytest.mark.parametrize("estimator", [Isomap(n_neighbors=4), LocallyLinearEmbedding(n_neighbors=4)])
def test_links_join_rows_to_their_nearest(estimator):
    X, y, _ = load_set("swiss_roll", rows=80)
    recording = record_play(estimator, X, y)
    (links,), (points,) = layers_of(recording, "segments"), layers_of(recording, "points")
    number = {place: k for k, place in enumerate(zip(points.x, points.y, strict=True))}
    found = {
        frozenset((number[a, b], number[c, d]))
        for a, b, c, d in zip(links.x1, links.y1, links.x2, links.y2, strict=True)
    }
    distances = ((X[:, np.newaxis] - X) ** 2).sum(axis=2)
    nearest = np.argsort(distances, axis=1)[:, 1:5]
    assert found == {frozenset((i, int(j))) for i in range(80) for j in nearest[i]}


def test_residuals_reach_from_rows_to_the_line():
    X, y, _ = load_set("line", rows=30)
    (layer,) = layers_of(record_play(LinearRegression(), X, y), "segments")
    assert layer.y1 == plain(y)
    np.testing.assert_allclose(layer.y2, LinearRegression().fit(X, y).predict(X), rtol=1e-4)


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_a_network_shows_its_weights_and_its_units():
    settings = {"hidden_layer_sizes": (5,), "max_iter": 6, "random_state": 0, "activation": "tanh"}
    recording = record_play(MLPClassifier(**settings), MOONS, SIDES)
    (graph,), (units,) = layers_of(recording, "graph"), layers_of(recording, "image")
    weights = MLPClassifier(**settings).fit(MOONS, SIDES).coefs_
    assert len(graph.graph_nodes) == 2 + 5 + 1
    assert [link[2] for link in graph.links] == list(plain(np.concatenate([weights[0].ravel(), weights[1].ravel()])))
    assert (units.width, units.height) == (3 * 24 + 2, 2 * 24 + 1)


def test_parts_of_images_are_tiles():
    rng = np.random.default_rng(0)
    X = rng.random((20, 25))
    recording = record_play(NMF(4, random_state=0, max_iter=5000), X)
    (layer,) = layers_of(recording, "image")
    part = NMF(4, random_state=0, max_iter=5000).fit(X).components_[3].reshape(5, 5)
    expected = np.round(255 * (part - part.min()) / np.ptp(part))
    np.testing.assert_allclose(pixels(layer)[6:, 6:], expected, atol=1)


def test_coordinates_of_unlike_reach_fill_the_picture_but_distances_are_kept():
    X = np.random.default_rng(0).random((30, 3)) * [100.0, 1.0, 0.1]
    assert not record_play(PCA(2), X).axes["equal"]
    assert record_play(Isomap(), X).axes["equal"]


def test_tiles_are_gray_from_lowest_to_highest_with_white_lines_between():
    layer = mosaic([tile(np.array([[1.0, 3.0]])), np.array([[0.0, 0.5]])], "two", columns=2)
    assert pixels(layer).tolist() == [[0, 255, 255, 0, 128]]
