"""Ideas: each picture has the numbers that other code finds, and the code beside it runs."""

from __future__ import annotations

from base64 import b64decode

import numpy as np
import pytest
from scipy.signal import correlate2d
from sklearn.linear_model import Lasso as PeerLasso
from sklearn.linear_model import Ridge as PeerRidge
from sklearn.metrics import confusion_matrix, roc_auc_score, roc_curve
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as PeerTree

from pellucid.app.playing import find_play, load_set, read_data
from pellucid.app.playing.ideas import IDEAS
from pellucid.app.playing.ideas.convolution_windows import KERNELS
from pellucid.cluster import KMeans
from pellucid.linear_model import LogisticRegression
from pellucid.neural_network import Graph


def record(name, told=None, **parameters):
    play = find_play(name)
    return play.record(read_data(told or play.first), parameters)


def layer_of(recording, kind, frame=-1):
    return next(layer for layer in recording.frames[frame].layers if layer.kind == kind)


def column(recording, name):
    return np.array(recording.trace["columns"][name], dtype=float)


@pytest.mark.parametrize("play", IDEAS, ids=lambda play: play.name)
def test_the_python_beside_an_idea_runs(play, capsys):
    quick = {name: value for name, value in {"n_alphas": 5, "n_weights": 3}.items() if name in play.domains}
    recording = play.record(read_data(play.first), quick)
    exec(compile(recording.python, "python", "exec"), {})
    assert capsys.readouterr().out
    assert recording.certificate["holds"]
    assert [frame.row for frame in recording.frames] == list(range(len(recording.frames)))


@pytest.mark.parametrize(("name", "peer"), [("lasso-path", PeerLasso), ("ridge-path", PeerRidge)])
def test_a_path_has_the_coefficients_of_each_weight(name, peer):
    recording = record(name, n_alphas=6)
    X, y, names = load_set("diabetes")
    X = StandardScaler().fit_transform(X)
    for k, alpha in enumerate(column(recording, "alpha")):
        told = peer(alpha=alpha, tol=1e-10, max_iter=100_000).fit(X, y).coef_
        np.testing.assert_allclose(layer_of(recording, "bars", k).values, told, atol=0.05)
    assert layer_of(recording, "bars").labels == tuple(names)
    if name == "lasso-path":
        assert recording.trace["columns"]["not zero"][0] == 0
        assert recording.trace["columns"]["not zero"][1] > 0


def test_pruning_cuts_at_the_prices_of_scikit_learn():
    told = {"set": "moons", "rows": 120}
    recording = record("pruning", told)
    X, y, _ = load_set("moons", rows=120)
    learn, _, y_learn, _ = train_test_split(X, y, test_size=0.3, random_state=0)
    path = PeerTree(max_depth=6, random_state=0).cost_complexity_pruning_path(learn, y_learn)
    alphas = column(recording, "alpha")[:-1]
    np.testing.assert_allclose(alphas, np.unique(path.ccp_alphas), rtol=1e-4, atol=1e-12)
    leaves = [
        sum(node["text"][-1] != "?" for node in layer_of(recording, "tree", k).tree_nodes) for k in range(len(alphas))
    ]
    assert leaves == column(recording, "leaves")[:-1].tolist()
    assert leaves == sorted(leaves, reverse=True)
    assert leaves[-1] == 1
    best = column(recording, "held out error").min()
    assert column(recording, "held out error")[-1] == best
    peer = PeerTree(max_depth=6, random_state=0, ccp_alpha=np.unique(path.ccp_alphas)[2] * (1 + 1e-9)).fit(
        learn, y_learn
    )
    assert column(recording, "training error")[2] == pytest.approx(np.mean(peer.predict(learn) != y_learn), abs=1e-4)


def test_the_start_of_least_inertia_wins():
    recording = record("k-means-starts", n_starts=5)
    X, _, _ = load_set("blobs")
    ends = [KMeans(3, init="random", n_init=1, random_state=start).fit(X).inertia_ for start in range(5)]
    bars = layer_of(recording, "bars")
    np.testing.assert_allclose(bars.values, ends, rtol=1e-4)
    assert bars.classes[int(np.argmin(ends))] == 1
    assert column(recording, "inertia")[-1] == pytest.approx(min(ends), rel=1e-4)
    unknown = layer_of(recording, "bars", 0).values
    assert unknown == (None,) * 5


def test_a_search_finds_the_nearest_and_opens_what_it_must():
    recording = record("kd-tree", n_neighbors=4, query_x=0.3, query_y=0.1)
    X, _, _ = load_set("moons", rows=60)
    nearest = np.argsort(((X - [0.3, 0.1]) ** 2).sum(axis=1))[:4]
    rings = next(layer for layer in recording.frames[-1].layers if layer.kind == "points" and layer.marker == "ring")
    found = sorted(zip(rings.x, rings.y, strict=True))
    np.testing.assert_allclose(found, sorted(X[nearest].tolist()), rtol=1e-4)
    circle = layer_of(recording, "ellipses")
    assert circle.a[0] == pytest.approx(np.sqrt(((X[nearest[-1]] - [0.3, 0.1]) ** 2).sum()), rel=1e-4)
    passed = [node for node in layer_of(recording, "tree").tree_nodes if node.get("cut")]
    assert passed
    assert column(recording, "rows measured")[-1] < 60


@pytest.mark.parametrize("seed", range(8))
def test_a_search_opens_the_nodes_that_the_library_opens(seed):
    x, y = np.random.default_rng(seed).uniform(-1.0, 2.0, 2)
    claims = record("kd-tree", n_neighbors=5, leaf_size=2, query_x=x, query_y=y).certificate["claims"]
    assert {claim["name"]: claim["value"] for claim in claims} == {"nearest": 0, "library": 0, "nodes": 0}


def test_error_splits_into_noise_bias_and_variance():
    recording = record("bias-and-variance", max_degree=4, noise=0.2, n_fits=60)
    bars = layer_of(recording, "bars", 1)
    assert bars.values[0] == pytest.approx(0.04)
    assert column(recording, "error")[1] == pytest.approx(sum(bars.values), rel=1e-3)
    bias, variance = column(recording, "bias²"), column(recording, "variance")
    assert bias[0] > bias[1] > bias[3]
    assert variance[4] > variance[0]
    # a constant fits the mean of the curve, so its bias² is that of the sine: 1/2
    assert bias[0] == pytest.approx(0.5, abs=0.05)
    assert variance[0] == pytest.approx(0.04 / 20, rel=0.4)


def test_points_of_the_roc_curve_are_those_of_scikit_learn():
    recording = record("roc")
    X, y, _ = load_set("moons", rows=100)
    learn, left, y_learn, y_left = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    scores = LogisticRegression().fit(learn, y_learn).predict_proba(left)[:, 1]
    wrong, right, thresholds = roc_curve(y_left, scores, drop_intermediate=False)
    np.testing.assert_allclose(column(recording, "false positive rate"), wrong, atol=1e-4)
    np.testing.assert_allclose(column(recording, "true positive rate"), right, atol=1e-4)
    assert f"{roc_auc_score(y_left, scores):.3f}" in recording.title
    k = 17
    star = layer_of(recording, "points", k)
    np.testing.assert_allclose((star.x[0], star.y[0]), (wrong[k], right[k]), atol=1e-4)
    counts = confusion_matrix(y_left, scores >= thresholds[k])
    assert np.array(layer_of(recording, "matrix", k).values).tolist() == counts[::-1, ::-1].tolist()


@pytest.mark.parametrize(("kernel", "stride", "padding"), [("outline", 1, 0), ("vertical edges", 2, 1)])
def test_convolution_writes_down_what_scipy_does(kernel, stride, padding):
    recording = record("convolution", {"image": "digit"}, kernel=kernel, stride=stride, padding=padding)
    image = np.pad(read_data({"image": "digit"}).image, padding)
    expected = correlate2d(image, np.array(KERNELS[kernel]), mode="valid")[::stride, ::stride]
    output = recording.frames[-1].layers[-1]
    np.testing.assert_allclose(np.array(output.values, dtype=float), expected, atol=1e-4)
    first = recording.frames[0].layers
    assert first[0].marked == (0, 0, 3, 3)
    assert np.sum(np.array(first[2].values)) == pytest.approx(expected[0, 0], abs=1e-4)
    assert np.isnan(np.array(first[3].values, dtype=float)).sum() == expected.size - 1


def test_gradients_come_back_after_all_values_are_known():
    recording = record("computation-graph")
    graph = Graph("(x + y)*z", x=-2, y=5, z=-4)
    assert len(recording.frames) == 2 * len(graph.nodes)
    middle, end = (layer_of(recording, "graph", k).graph_nodes for k in (len(graph.nodes) - 1, -1))
    assert all("value" in node["text"] and "gradient" not in node["text"] for node in middle)
    texts = {node["text"].split("\n")[0]: node["text"] for node in end}
    assert texts["x"].endswith("gradient −4")
    assert texts["z"].endswith("gradient 3")
    assert recording.workings["latex"].startswith("\\documentclass")


def test_restoration_takes_noise_away_and_too_much_weight_takes_more():
    recording = record("restoration", n_weights=6)
    quality = column(recording, "PSNR")
    assert quality[-1] > quality[0] + 3
    assert quality[5] < quality[-1]
    pixels = np.frombuffer(b64decode(recording.frames[-1].layers[3].values), np.uint8)
    assert pixels.tolist() == np.round(255 * read_data({"image": "disk"}).image).astype(int).ravel().tolist()


@pytest.mark.parametrize(
    ("name", "told", "parameters", "message"),
    [
        ("roc", {"set": "iris"}, {}, "two classes for a ROC curve, got 3"),
        ("bias-and-variance", {"formula": "x*y"}, {}, "formula must have one variable, got 'x\\*y'"),
        ("computation-graph", {"formula": "x*y", "start": [1]}, {}, "a number for each of x, y, got 1"),
        ("convolution", {"image": "disk"}, {}, "image must be at most 12 pixels"),
        ("kd-tree", {"set": "line"}, {}, "two columns for a kd-tree to be drawn, got 1"),
        ("computation-graph", {"formula": "x", "start": [1]}, {"a": 1}, "must have no parameters, got a"),
    ],
)
def test_what_an_idea_cannot_take_gets_a_sentence(name, told, parameters, message):
    with pytest.raises(ValueError, match=message):
        find_play(name).perform(read_data(told), parameters)
