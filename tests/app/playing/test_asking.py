"""Ask: changes are told only if the model really says something else there, and rows by fits without them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pellucid.app.playing.performing import perform_request
from pellucid.app.playing.questions import row_influence
from pellucid.app.playing.questions.asking import answers

SIDES = {"points": [[-3, 0], [-2, 1], [-2, -1], [2, 0], [3, 1], [3, -1]], "target": list("lllrrr")}


def asked(play, question, data=None, **parameters):
    performance = perform_request({"play": play, "parameters": parameters, "data": data or SIDES})
    return performance, answers(performance, question)


def cells(answer):
    return [dict(zip(answer["table"]["columns"], row, strict=True)) for row in answer["table"]["rows"]]


def test_the_smallest_change_of_a_column_lies_on_the_boundary():
    performance, (says, one, both, _) = asked("NearestCentroid", {"row": 3})
    assert "predicts class r" in says["answer"]
    # the boundary of centroids (-7/3, 0) and (8/3, 0) is x = 1/6
    (change,) = cells(one)
    assert (change["column"], change["then predicts"]) == ("x", "class l")
    assert float(change["to"]) == pytest.approx(1 / 6, abs=1e-3)
    arrow, ring = both["layers"]
    assert performance.model.predict([[ring["x"][0] - 1e-3, ring["y"][0]]]) == ["l"]
    assert arrow["dx"][0] == pytest.approx(1 / 6 - 2, abs=1e-2)
    assert arrow["dy"][0] == pytest.approx(0.0, abs=0.1)


@pytest.mark.parametrize(
    "play", ["LogisticRegression", "SVC", "KNeighborsClassifier", "DecisionTreeClassifier", "KMeans"]
)
def test_what_is_told_to_change_the_prediction_does(play):
    data = {"set": "moons", "rows": 60}
    settings = {"n_clusters": 3} if play == "KMeans" else {}
    performance, (_, one, both, _) = asked(play, {"row": 7}, data, **settings)
    was = performance.model.predict(performance.X[7:8])[0]
    row = np.array(performance.X[7])
    for change in cells(one):
        j = ["x", "y"].index(change["column"])
        moved = row.copy()
        moved[j] += 1.001 * (float(change["to"]) - row[j])  # what is told is rounded
        assert performance.model.predict(moved[np.newaxis])[0] != was
    place = row + 1.001 * np.array([both["layers"][0]["dx"][0], both["layers"][0]["dy"][0]])
    assert performance.model.predict(place[np.newaxis])[0] != was
    lengths = [abs(float(change["in deviations"])) for change in cells(one)]
    both_length = float(re.search(r"([\d.]+) standard deviations in all", both["answer"])[1])
    assert both_length <= min(lengths) * 1.05  # two columns can do what one can


def test_a_number_changes_by_a_tenth_of_the_targets_range():
    data = {"set": "line", "rows": 30}
    performance, (_, one, *_rest) = asked("LinearRegression", {"row": 0}, data)
    (change,) = cells(one)
    step = np.ptp(performance.y) / 10
    moved = abs(float(change["to"]) - float(performance.X[0, 0]))
    assert moved == pytest.approx(step / abs(performance.model.coef_[0]), rel=1e-2)


def test_a_column_that_does_not_matter_is_not_depended_on():
    data = {
        "points": [[x, y] for x in (0, 1, 2, 3) for y in (0, 5, 9)],
        "target": [x for x in (0, 1, 2, 3) for _ in range(3)],
    }
    _, found = asked("LinearRegression", {"row": 0}, data)
    depends = {row["column"]: float(row["range of predictions"]) for row in cells(found[-1])}
    assert depends["x"] == pytest.approx(3.0)
    assert depends["y"] == pytest.approx(0.0, abs=1e-9)
    assert found[-1]["answer"].startswith("Most on x")


def test_a_place_in_the_picture_can_be_asked_about():
    _, found = asked("NearestCentroid", {"point": [0.5, 2.0]})
    assert "At x = 0.5, y = 2 the model predicts class r." in found[0]["answer"]


def test_the_row_that_moved_the_picture_most_is_the_one_whose_absence_does():
    # without the outlier the mean of class r moves from 12 to 3, and the boundary with it
    points = [[0, 0], [0, 1], [1, 0], [1, 1], [3, 0], [3, 1], [3, 0.5], [39, 0.5]]
    performance, (found,) = asked("NearestCentroid", {"row": None}, {"points": points, "target": list("llllrrrr")})
    assert found["answer"].startswith("Row 7: without it ")
    assert "each of the 8 rows" in found["answer"]
    first = cells(found)[0]
    grid = row_influence._places(row_influence.AskedModel.of(performance))
    others = np.arange(8) != 7
    refit = performance.model.__class__().fit(np.array(points)[others], np.array(list("llllrrrr"))[others])
    share = np.mean(refit.predict(grid) != performance.model.predict(grid))
    assert first["share of the picture"] == f"{share:.2%}"


def test_of_a_line_the_mean_change_of_the_curve_is_told():
    data = {"set": "line", "rows": 20}
    performance, (found,) = asked("LinearRegression", {"row": None}, data)
    k, change = int(cells(found)[0]["row"]), float(cells(found)[0]["mean change"])
    others = np.arange(20) != k
    refit = performance.model.__class__().fit(performance.X[others], performance.y[others])
    x = np.linspace(performance.X.min(), performance.X.max(), 160)[:, np.newaxis]
    assert change == pytest.approx(np.mean(np.abs(refit.predict(x) - performance.model.predict(x))), rel=1e-2)


def test_clusters_are_compared_whatever_their_numbers():
    data = {"points": [[0, 0], [0, 1], [9, 0], [9, 1], [20, 0], [20, 1]]}
    _, (found,) = asked("KMeans", {"row": None}, data, n_clusters=3)
    shares = [float(row["share of the picture"].rstrip("%")) for row in cells(found)]
    assert max(shares) < 15.0  # with other numbers for the same clusters it would be most of it


def test_where_time_is_short_it_is_said_which_rows_were_tried(monkeypatch):
    monkeypatch.setattr(row_influence, "SECONDS", 0.0)
    _, (found,) = asked("LogisticRegression", {"row": None}, {"set": "moons", "rows": 40})
    assert "1 of 40 rows, those that are least certain," in found["answer"]


WRONG = [
    ("NearestCentroid", {"row": 6}, "row must be a whole number from 0 to 5, got 6"),
    ("NearestCentroid", {"row": "1"}, "row must be a whole number"),
    ("NearestCentroid", {"row": True}, "row must be a whole number"),
    ("NearestCentroid", {"point": [1]}, "point must be two numbers"),
    ("MDS", {"row": 0}, "play must have a fitted model that predicts new rows to be asked, got 'MDS on points'"),
]


@pytest.mark.parametrize(("play", "question", "sentence"), WRONG)
def test_what_cannot_be_asked_gets_a_sentence(play, question, sentence):
    with pytest.raises(ValueError, match=sentence):
        asked(play, question)


def test_a_model_that_says_the_same_everywhere_says_so():
    data = {"set": "moons", "rows": 30}
    _, (_, one, both, depends) = asked("KMeans", {"row": 0}, data, n_clusters=1)
    assert one["answer"].startswith("None:")
    assert both["answer"].startswith("None:")
    assert depends["answer"].startswith("On no column by itself")


def test_of_a_column_of_codes_only_its_own_values_are_tried():
    rows = [[x, y] for x in (0, 1) for y in np.linspace(0, 1, 8)]
    data = {"points": rows, "target": ["a" if x == 0 else "b" for x, _ in rows]}
    _, (_, one, *_rest) = asked("LogisticRegression", {"row": 0}, data)
    (change,) = [row for row in cells(one) if row["column"] == "x"]
    assert change["to"] == "1"
