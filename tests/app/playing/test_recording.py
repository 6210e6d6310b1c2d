"""Recordings: the last frame is the fitted model, JSON is read back equal, and no recording is too large."""

from __future__ import annotations

import json
from base64 import b64decode

import numpy as np
import pytest
from sklearn.base import is_classifier

import pellucid
from pellucid.app.playing import Frame, Recording, load_set, read_recording, record_descent, record_play
from pellucid.app.playing.layers import KINDS, PointsLayer, plain, read_layer, regions
from pellucid.app.playing.recording import LARGEST
from pellucid.cluster import AgglomerativeClustering, KMeans
from pellucid.decomposition import NMF, PCA, KernelPCA
from pellucid.discriminant_analysis import LinearDiscriminantAnalysis
from pellucid.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from pellucid.linear_model import Lasso, LassoLars, LinearRegression, LogisticRegression, Perceptron, Ridge
from pellucid.manifold import MDS, Isomap, LocallyLinearEmbedding
from pellucid.mixture import GaussianMixture
from pellucid.naive_bayes import GaussianNB
from pellucid.neighbors import KNeighborsClassifier
from pellucid.neural_network import MLPClassifier
from pellucid.optimize import Formula, GradientDescent, minimize
from pellucid.svm import SVC
from pellucid.tree import DecisionTreeClassifier, DecisionTreeRegressor

MOONS, SIDES, _ = load_set("moons", rows=60)
LINE_X, LINE_Y, _ = load_set("line", rows=40)
METHODS = [
    (LinearRegression(), LINE_X, LINE_Y),
    (Ridge(), MOONS, SIDES),
    (Lasso(alpha=0.1), MOONS, SIDES),
    (LassoLars(alpha=0.0), MOONS, SIDES),
    (LogisticRegression(), MOONS, SIDES),
    (Perceptron(max_iter=5, tol=None), MOONS, SIDES),
    (LinearDiscriminantAnalysis(), MOONS, SIDES),
    (KNeighborsClassifier(), MOONS, SIDES),
    (GaussianNB(), MOONS, SIDES),
    (SVC(), MOONS, SIDES),
    (DecisionTreeClassifier(max_depth=4), MOONS, SIDES),
    (DecisionTreeRegressor(max_depth=3), LINE_X, LINE_Y),
    (AdaBoostClassifier(n_estimators=6), MOONS, SIDES),
    (RandomForestClassifier(n_estimators=6), MOONS, SIDES),
    (HistGradientBoostingClassifier(max_iter=6, min_samples_leaf=5), MOONS, SIDES),
    (KMeans(3, n_init=3), MOONS, None),
    (AgglomerativeClustering(3), MOONS[:30], None),
    (GaussianMixture(2, n_init=2), MOONS, None),
    (PCA(1), MOONS, SIDES),
    (KernelPCA(2, kernel="rbf"), MOONS, SIDES),
    (NMF(2), np.abs(MOONS), SIDES),
    (MDS(2, n_init=1), MOONS, SIDES),
    (Isomap(), MOONS, SIDES),
    (LocallyLinearEmbedding(), MOONS, SIDES),
    (MLPClassifier((4,), max_iter=12), MOONS, SIDES),
]
every_method = pytest.mark.parametrize(("estimator", "X", "y"), METHODS, ids=lambda value: type(value).__name__)


short_of_the_end = pytest.mark.filterwarnings("ignore:Stochastic Optimizer")


def refitted(estimator, X, y):
    """Return the model that the last frame must show."""
    again = type(estimator)(**estimator.get_params())
    if again.get_params().get("random_state", 0) is None:
        again.set_params(random_state=0)
    return again.fit(X, y)


def layer_of(recording, kind, frame=-1):
    return next(layer for layer in recording.frames[frame].layers if layer.kind == kind)


def cells(layer):
    return np.frombuffer(b64decode(layer.cells), dtype=np.uint8).reshape(layer.height, layer.width)


def places_of(layer):
    x0, x1, y0, y1 = layer.extent
    x = x0 + (x1 - x0) * (np.arange(layer.width) + 0.5) / layer.width
    y = y0 + (y1 - y0) * (np.arange(layer.height) + 0.5) / layer.height
    return np.column_stack([side.ravel() for side in np.meshgrid(x, y)])


@every_method
@short_of_the_end
def test_a_recording_is_read_back_equal_made_again_equal_and_small(estimator, X, y):
    recording = record_play(estimator, X, y)
    text = recording.text()
    assert read_recording(text) == recording
    assert record_play(estimator, X, y) == recording  # but for the seconds, which no two fits share
    seconds = [frame.seconds for frame in recording.frames if frame.seconds is not None]
    assert seconds == sorted(seconds)
    assert seconds
    assert recording.size == len(text.encode()) <= LARGEST
    assert recording.frames[-1].label == "the answer"
    rows = [frame.row for frame in recording.frames if frame.row is not None]
    assert rows == sorted(rows)
    if recording.trace["columns"]:
        assert rows[-1] == len(recording.trace["columns"]["iteration"]) - 1
    model = refitted(estimator, X, y)
    assert recording.certificate["holds"] == model.certificate_.holds
    assert [claim["name"] for claim in recording.certificate["claims"]] == [c.name for c in model.certificate_.claims]


@pytest.mark.parametrize(
    ("estimator", "X", "y"),
    [method for method in METHODS if is_classifier(method[0])],
    ids=lambda value: type(value).__name__,
)
@short_of_the_end
def test_the_last_regions_are_what_the_model_answers(estimator, X, y):
    layer = layer_of(record_play(estimator, X, y), "regions")
    answers = refitted(estimator, X, y).predict(places_of(layer))
    # places are rounded to five digits in the extent, so a cell on a border may differ
    assert np.mean(answers == cells(layer).ravel()) > 0.999


def test_centers_of_the_first_frame_are_the_start_and_of_the_last_the_answer():
    start = np.array([[0.0, 0.0], [1.0, 1.0]])
    recording = record_play(KMeans(2, init=start, n_init=1), MOONS)
    first, last = (recording.frames[k].layers[-1] for k in (0, -1))
    assert (first.x, first.y) == ((0, 1), (0, 1))
    centers = KMeans(2, init=start, n_init=1).fit(MOONS).cluster_centers_
    assert (last.x, last.y) == (plain(centers[:, 0]), plain(centers[:, 1]))
    assert last.movable == {"attribute": "cluster_centers_", "rows": None, "columns": (0, 1)}


def test_only_the_start_that_won_is_shown():
    model = refitted(KMeans(3, n_init=5), MOONS, None)
    recording = record_play(KMeans(3, n_init=5), MOONS)
    assert [frame.row for frame in recording.frames] == list(range(len(model.trace_)))


def test_frames_of_k_means_and_of_the_perceptron_name_the_round_of_the_workings():
    X = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [4.0, 4.0], [5.0, 4.0], [4.0, 5.0]]
    y = [0, 0, 0, 1, 1, 1]
    rounds = record_play(KMeans(2, init=np.array(X[:2]), n_init=1), X)
    epochs = record_play(Perceptron(shuffle=False, max_iter=3, tol=None), X, y)
    for recording, word in ((rounds, "Round"), (epochs, "Epoch")):
        for k, frame in enumerate(recording.frames):
            assert recording.workings["steps"][frame.step]["heading"] == f"{word} {k + 1}"
    assert rounds.workings["steps"][0]["html"].startswith("<p")


def test_a_tree_grows_split_by_split():
    recording = record_play(DecisionTreeClassifier(max_depth=3), MOONS, SIDES)
    counts = [len(layer_of(recording, "tree", k).tree_nodes) for k in range(len(recording.frames))]
    assert counts == list(range(1, 2 * len(counts), 2))
    assert set(np.unique(cells(layer_of(recording, "regions", 0)))) == {np.bincount(SIDES).argmax()}


def test_weights_of_rows_are_those_of_the_round():
    recording = record_play(AdaBoostClassifier(n_estimators=4), MOONS, SIDES)
    assert set(layer_of(recording, "points", 0).size) == {1}  # all rows weigh the same at first
    assert len(set(layer_of(recording, "points", -1).size)) > 1


def test_merges_join_clusters_one_by_one():
    recording = record_play(AgglomerativeClustering(2), MOONS[:12])
    counts = [len(set(layer_of(recording, "points", k).classes)) for k in range(len(recording.frames))]
    assert counts == [*range(11, 0, -1), 2]


def test_coefficients_end_at_the_answer():
    X, y, names = load_set("diabetes")
    layer = layer_of(record_play(LassoLars(alpha=0.0), X, y, names=names), "bars")
    assert layer.values == plain(LassoLars(alpha=0.0).fit(X, y).coef_)
    assert layer.labels == tuple(names)


def test_a_line_has_the_band_of_its_predictions():
    recording = record_play(LinearRegression(), LINE_X, LINE_Y)
    band, curve = (layer_of(recording, kind) for kind in ("band", "polyline"))
    assert np.all(np.array(band.low) < np.array(curve.y))
    assert np.all(np.array(curve.y) < np.array(band.high))
    slope = (curve.y[-1] - curve.y[0]) / (curve.x[-1] - curve.x[0])
    assert slope == pytest.approx(LinearRegression().fit(LINE_X, LINE_Y).coef_[0], rel=1e-3)


@pytest.mark.parametrize("estimator", [GaussianNB(), Perceptron()], ids=lambda one: type(one).__name__)
def test_classes_of_one_column_are_curves_of_probability(estimator):
    recording = record_play(estimator, MOONS[:, :1], SIDES)
    curves = [layer for layer in recording.frames[-1].layers if layer.kind == "polyline"]
    x = np.array(curves[0].x)[:, np.newaxis]
    model = refitted(estimator, MOONS[:, :1], SIDES)
    expected = model.predict_proba(x)[:, 1] if hasattr(model, "predict_proba") else model.predict(x) == 1
    np.testing.assert_allclose(curves[1].y, np.asarray(expected, dtype=float), atol=1e-3)
    assert recording.layers[0].classes == plain(SIDES)


def test_ellipses_of_round_components_have_two_deviations():
    recording = record_play(GaussianMixture(1, covariance_type="spherical"), MOONS)
    layer = layer_of(recording, "ellipses")
    deviation = np.sqrt(GaussianMixture(1, covariance_type="spherical").fit(MOONS).covariances_[0])
    assert layer.a == layer.b == plain([2 * deviation])


def test_an_ellipse_lies_along_its_rows():
    t = np.linspace(-3.0, 3.0, 40)
    rows = np.column_stack([t, t + 0.1 * np.sin(7 * t)])  # along the diagonal
    layer = layer_of(record_play(GaussianMixture(1), rows), "ellipses")
    assert layer.a[0] > 10 * layer.b[0]
    assert np.tan(layer.angle[0]) == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("estimator", [MDS(2, n_init=1, random_state=0), Isomap()], ids=lambda one: type(one).__name__)
def test_rows_of_a_map_end_at_its_embedding(estimator):
    layer = layer_of(record_play(estimator, MOONS, SIDES), "points")
    places = estimator.fit(MOONS).embedding_
    assert (layer.x, layer.y) == (plain(places[:, 0]), plain(places[:, 1]))
    assert layer.classes == plain(SIDES)


def test_more_than_two_columns_are_a_slice_of_the_two_that_tell_classes_best():
    X, y, names = load_set("iris")
    recording = record_play(GaussianNB(), X, y, names=names)
    assert [recording.axes[axis]["label"] for axis in "xy"] == ["petal_length", "petal_width"]
    assert recording.data["classes"] == ("setosa", "versicolor", "virginica")


def test_two_hundred_frames_of_two_thousand_rows_stay_below_a_megabyte():
    X, y, _ = load_set("moons", rows=2000)
    recording = record_play(Perceptron(max_iter=200, tol=None), X, y)
    assert len(recording.frames) == 200
    assert recording.size <= LARGEST


@short_of_the_end
def test_frames_are_left_out_evenly_but_not_the_ends():
    whole = record_play(Perceptron(max_iter=30, tol=None), MOONS, SIDES)
    some = record_play(Perceptron(max_iter=30, tol=None), MOONS, SIDES, most_frames=4)
    assert [frame.row for frame in some.frames] == [0, 10, 19, 29]
    assert some.frames[-1].label == whole.frames[-1].label


def test_the_way_over_contours_ends_where_minimize_does():
    recording = record_descent("x**2 + 10*y**2", [3.0, 1.0])
    found = minimize(Formula("x**2 + 10*y**2"), np.array([3.0, 1.0]), "gradient descent")
    star = layer_of(recording, "points")
    assert (star.x[0], star.y[0]) == plain(found.x)
    assert [frame.row for frame in recording.frames] == list(range(len(found.trace)))
    assert recording.workings["steps"][recording.frames[2].step]["heading"] == "Iteration 2"
    assert read_recording(recording.text()) == recording


@pytest.mark.parametrize(
    "recording",
    [
        record_play(KMeans(2), load_set("blobs")[0], name="blobs"),
        record_play(SVC(C=2.0), *load_set("moons")[:2], name="moons"),
        record_descent("x**2 + y**2", [1.0, 2.0], GradientDescent()),
    ],
    ids=lambda recording: recording.method,
)
def test_the_python_code_runs_and_proves_the_same(recording, capsys):
    exec(compile(recording.python, "python", "exec"), {})
    assert f"Certificate({recording.certificate['grade']}, holds)" in capsys.readouterr().out


def test_code_loads_a_set_only_if_these_are_its_rows():
    assert "load_set('moons', rows=60)" in record_play(GaussianNB(), MOONS, SIDES, name="moons").python
    assert "load_set" not in record_play(GaussianNB(), MOONS + 1.0, SIDES, name="moons").python


def test_arrows_of_columns_reach_as_far_as_the_rows_and_no_farther():
    X, _, names = load_set("iris")
    recording = record_play(PCA(2), X, names=names)
    arrows = layer_of(recording, "arrows")
    for axis, ways in (("x", arrows.dx), ("y", arrows.dy)):
        assert max(map(abs, ways)) <= max(map(abs, recording.axes[axis]["range"]))
    assert arrows.label == tuple(names)


def test_what_an_earlier_frame_has_is_not_repeated():
    layer = PointsLayer([0.0], [1.0])
    frames = (Frame("a", (layer,)), Frame("b", (PointsLayer([2.0], [1.0]), layer)))
    recording = Recording("t", "M", {}, "", {}, {}, (), frames, {"columns": {}, "log": []}, {})
    told = recording.to_json()["frames"][1]["layers"]
    assert told[1] == {"same_as": 0, "layer": 0}
    assert read_recording(recording.text()) == recording


def test_points_that_change_their_classes_only_are_told_by_these():
    moved = PointsLayer([2.0], [1.0], [1])
    frames = (Frame("a", (PointsLayer([0.0], [1.0], [0]),)), Frame("b", (PointsLayer([0.0], [1.0], [2]), moved)))
    recording = Recording("t", "M", {}, "", {}, {}, (), frames, {"columns": {}, "log": []}, {})
    told = recording.to_json()["frames"][1]["layers"]
    assert told[0] == {"same_as": 0, "layer": 0, "class": (2,)}
    assert told[1] == moved.to_json()
    assert read_recording(recording.text()) == recording


def test_numbers_have_five_digits_and_nan_is_null():
    layer = PointsLayer([1 / 3, np.nan, np.inf], np.array([1e-7 / 3, 2, 123456.7]))
    assert json.loads(json.dumps(layer.to_json())) == {
        "kind": "points", "x": [0.33333, None, None], "y": [3.3333e-08, 2, 123460.0],
    }  # fmt: skip
    assert read_layer(layer.to_json()) == layer


def test_regions_have_the_lowest_row_first():
    layer = regions(np.array([[0, 1], [2, 3]]), (0.0, 1.0, 0.0, 1.0))
    assert list(b64decode(layer.cells)) == [0, 1, 2, 3]


def test_the_page_is_promised_fourteen_kinds_of_layers():
    assert set(KINDS) == {
        "points", "segments", "polyline", "band", "regions", "heat", "ellipses", "arrows", "tree", "bars", "matrix",
        "text", "image", "graph",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "must be a JSON document"),
        ("[]", "must be of version 1, got 'list'"),
        ('{"version": 1}', "must have the fields"),
    ],
)
def test_a_text_that_is_no_recording_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        read_recording(text)


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"kind": "cloud"}, "one of the kinds .* got 'cloud'"),
        ({"kind": "points", "x": [], "y": [], "z": []}, r"none but its own fields, got \['z'\]"),
        ({"kind": "points", "x": []}, "must have all its fields"),
    ],
)
def test_a_layer_that_is_none_is_refused(node, message):
    with pytest.raises(ValueError, match=message):
        read_layer(node)


def test_a_layer_of_a_later_frame_is_refused():
    recording = record_play(GaussianNB(), MOONS, SIDES).to_json()
    recording["frames"][0]["layers"] = [{"same_as": 3, "layer": 0}]
    with pytest.raises(ValueError, match="earlier frame, got layer 0 of frame 3"):
        read_recording(json.dumps(recording))


def test_what_cannot_be_drawn_or_is_misnamed_gets_a_sentence():
    with pytest.raises(ValueError, match="drawn on 1 column, got KMeans"):
        record_play(KMeans(2), MOONS[:, :1])
    with pytest.raises(ValueError, match=r"names must be as many as columns \(2\), got 1"):
        record_play(GaussianNB(), MOONS, SIDES, names=["a"])
    with pytest.raises(ValueError, match="most_frames must be at least 2, got 1"):
        record_play(GaussianNB(), MOONS, SIDES, most_frames=1)
    with pytest.raises(ValueError, match="formula must have two variables"):
        record_descent("x**2", [1.0])


def test_recording_leaves_no_trace_of_itself():
    estimator = KMeans(2)
    record_play(estimator, MOONS)
    assert not hasattr(estimator, "cluster_centers_")
    assert not pellucid.core.trace.is_recording()
