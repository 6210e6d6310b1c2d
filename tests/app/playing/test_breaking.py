"""Break it: a moved number makes the proof object, the picture follows, and the fit itself stays as it was."""

from __future__ import annotations

import numpy as np
import pytest

from pellucid.app.playing.performing import perform_request
from pellucid.app.playing.questions.breaking import broken, changed

MOVABLE = (
    "LinearRegression",
    "Ridge",
    "Lasso",
    "KernelRidge",
    "LogisticRegression",
    "LinearDiscriminantAnalysis",
    "GaussianNB",
    "NearestCentroid",
    "LinearSVC",
    "SVC",
    "AdaBoostClassifier",
    "HistGradientBoostingRegressor",
    "KMeans",
    "KMedoids",
    "AgglomerativeClustering",
    "GaussianMixture",
    "PCA",
    "NMF",
    "MDS",
    "newton",
    "gradient-descent",
)
VISIBLE = 0.1
"""Of the size of the number, or of the largest beside it, or of the picture."""


def performed(name):
    from pellucid.app.playing.plays import find_play

    data = dict(find_play(name).first)
    return perform_request({"play": name, "data": data | ({"rows": 40} if "set" in data else {})})


@pytest.fixture(scope="module")
def k_means():
    data = {"points": [[0, 0], [0, 2], [8, 0], [8, 2]]}
    return perform_request({"play": "KMeans", "parameters": {"n_clusters": 2}, "data": data})


def move(attribute, index, value):
    return [{"attribute": attribute, "index": list(index), "value": value}]


def test_a_moved_center_is_found_out_by_how_far_one_step_moves_it_back(k_means):
    centers = k_means.model.cluster_centers_
    found = broken(k_means, move("cluster_centers_", (0, 0), float(centers[0, 0]) + 1.0))
    (claim,) = [one for one in found["certificate"]["claims"] if one["name"] == "centers"]
    assert (claim["value"], claim["holds"]) == (1.0, False)  # the step back has length 1
    assert not found["certificate"]["holds"]
    assert "problem" not in found


def test_the_picture_is_drawn_with_the_moved_number_and_the_fit_stays(k_means):
    before = k_means.model.cluster_centers_.copy()
    found = broken(k_means, move("cluster_centers_", (0, 0), 5.5))
    (stars,) = [layer for layer in found["layers"] if layer.get("marker") == "star"]
    assert stars["x"][0] == 5.5
    np.testing.assert_array_equal(k_means.model.cluster_centers_, before)
    assert k_means.recording.certificate["holds"]


def test_a_number_that_is_put_back_where_it_was_is_right_again(k_means):
    value = float(k_means.model.cluster_centers_[0, 1])
    assert broken(k_means, move("cluster_centers_", (0, 1), value))["certificate"]["holds"]


def test_a_single_number_has_no_index_and_stays_what_it_was(k_means):
    model = changed(k_means, move("inertia_", (), 3.0))
    assert type(model.inertia_) is type(k_means.model.inertia_)
    assert model.inertia_ == 3.0


@pytest.mark.parametrize("name", MOVABLE)
def test_every_number_that_may_be_moved_is_proved(name):
    performance = performed(name)
    assert performance.recording.certificate["holds"]
    assert performance.recording.fitted
    for told in performance.recording.fitted:
        values = np.asarray(getattr(performance.model, told["name"]), dtype=float)
        is_place = told["name"] == "x"
        reach = np.ptp(performance.recording.axes["x"]["range"]) if is_place else np.abs(values).max()
        for place in list(np.ndindex(values.shape))[:4]:
            step = VISIBLE * ((not is_place and abs(values[place])) or reach or 1.0)
            found = broken(performance, move(told["name"], place, float(values[place] + step)))
            certificate = found["certificate"]
            assert certificate is None or not certificate["holds"], (told["name"], place)
            assert found["layers"] is not None, found["problem"]


WRONG = [
    (None, "changes must be a list"),
    ([], "changes must be a list of 1 to"),
    ([{}], "change must be an object like"),
    (move("labels_", (0,), 1.0), "attribute must be"),
    (move("cluster_centers_", (0,), 1.0), r"index must be a place in cluster_centers_, which has shape \(2, 2\)"),
    (move("cluster_centers_", (0, 2), 1.0), "index must be a place"),
    (move("cluster_centers_", (0, -1), 1.0), "index must be a place"),
    (move("cluster_centers_", (0, 0.5), 1.0), "index must be a list of whole numbers"),
    (move("cluster_centers_", (0, 0), float("nan")), "value must be a finite number"),
    (move("cluster_centers_", (0, 0), "1"), "value must be a finite number"),
]


@pytest.mark.parametrize(("changes", "sentence"), WRONG)
def test_what_is_no_change_gets_a_sentence(k_means, changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        broken(k_means, changes)


def test_a_proof_that_refuses_says_so():
    performance = performed("GaussianMixture")

    def refuse(_model):
        raise ValueError("weights_ must sum to 1.")

    refusing = performance.__class__(**{**vars(performance), "prove": refuse})
    found = broken(refusing, move("weights_", (0,), -1.0))
    assert found["certificate"] is None
    assert found["problem"].startswith("The proof refuses this model: weights_ must sum to 1.")


def test_an_idea_without_a_model_cannot_be_broken(k_means):
    bare = k_means.__class__(k_means.recording)
    with pytest.raises(ValueError, match="got a play that has none"):
        broken(bare, move("x", (0,), 1.0))
