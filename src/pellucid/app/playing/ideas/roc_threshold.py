"""The threshold of a score: where it stands, what it does right and wrong, and the point of the ROC curve it gives."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from pellucid.app.playing.given.given_data import GivenData
from pellucid.app.playing.layers import GraphLayer, Layer, MatrixLayer, PointsLayer, PolylineLayer, SegmentsLayer
from pellucid.app.playing.performance import Performance
from pellucid.app.playing.play import idea
from pellucid.app.playing.recording import Frame, Recording
from pellucid.app.playing.stages import Report, shown_not_warned
from pellucid.app.playing.telling import told_certificate, told_columns, told_workings
from pellucid.core.cards import find_card
from pellucid.core.kinds.plain import Number, OneOf, Whole
from pellucid.core.types import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import sum_error

MOST_FRAMES = 150
MOST_WORKED_ROWS = 20
JITTER = 0.35
SCORERS = ("LogisticRegression", "GaussianNB", "LinearDiscriminantAnalysis", "KNeighborsClassifier")


def perform_roc(
    data: GivenData,
    report: Report | None = None,
    *,
    scorer: str = "LogisticRegression",
    held_out: float = 0.5,
    random_state: int = 0,
) -> Performance:
    """Score rows that a classifier has not seen, and move the threshold through the scores.

    Parameters
    ----------
    scorer : {"LogisticRegression", "GaussianNB", "LinearDiscriminantAnalysis", "KNeighborsClassifier"}
        The classifier whose probability of the second class is the score.
    held_out : float, default=0.5
        Share of the rows that are scored; the others are learned from.
    random_state : int, default=0
        Seed of the split.
    """
    X, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
    classes = np.unique(y)
    if len(classes) != 2:
        raise ValueError(f"{data.target} must have two classes for a ROC curve, got {len(classes)}.")
    learn, left, y_learn, y_left = train_test_split(X, y, test_size=held_out, random_state=random_state, stratify=y)
    card = find_card(scorer)
    assert card is not None  # one of those above
    with shown_not_warned():
        model = card.estimator().fit(learn, y_learn)
    scores = np.asarray(model.predict_proba(left))[:, 1]
    is_second = y_left == classes[1]
    thresholds, wrong, right = roc_points(scores, is_second)
    shown = np.unique(np.linspace(0, len(thresholds) - 1, min(len(thresholds), MOST_FRAMES)).round().astype(int))
    area = float(np.sum(np.diff(wrong) * (right[1:] + right[:-1]) / 2))
    frames = []
    for k, i in enumerate(shown.tolist()):
        label = "nothing is called positive" if i == 0 else f"score of at least {thresholds[i]:.3g}"
        counts = confusion(scores, is_second, thresholds[i])
        layers = _layers(scores, is_second, thresholds[i], counts, classes, wrong, right, i)
        frames.append(Frame(label, layers, k))
        if report is not None:
            report(k + 1, label, 0.0)
    columns: dict[str, Any] = {
        "iteration": np.arange(1, len(shown) + 1),
        "threshold": np.minimum(thresholds[shown], 1.0),
        "false positive rate": wrong[shown],
        "true positive rate": right[shown],
    }
    axes = {
        "x": {"label": "false positive rate", "range": [-0.03, 1.03]},
        "y": {"label": "true positive rate", "range": [-0.03, 1.03]},
        "equal": True,
    }
    recording = Recording(
        title=f"ROC and its threshold: {scorer} on {data.name}, area {area:.3f}",
        method=scorer,
        parameters={"held_out": str(held_out), "random_state": str(random_state)},
        python=_python(data, card.estimator, held_out, random_state),
        data={"name": data.name, "columns": data.names, "rows": len(left), "classes": [str(one) for one in classes]},
        axes=axes,
        layers=(SegmentsLayer([0], [0], [1], [1], dash=True), PolylineLayer(wrong, right, None, width=1)),
        frames=tuple(frames),
        trace=told_columns(columns),
        certificate=told_certificate(_certificate(scores, is_second, area)),
        workings=told_workings("roc", scores.round(3).tolist(), [str(one) for one in y_left])
        if len(left) <= MOST_WORKED_ROWS
        else None,
    )
    return Performance(recording)


def roc_points(scores: Array, is_second: Array) -> tuple[Array, Array, Array]:
    """Return falling thresholds, the first above all scores, and the false and true positive rate at each."""
    thresholds = np.concatenate([[np.inf], np.unique(scores)[::-1]])
    at_least = scores >= thresholds[:, np.newaxis]
    return thresholds, at_least[:, ~is_second].mean(axis=1), at_least[:, is_second].mean(axis=1)


def confusion(scores: Array, is_second: Array, threshold: float) -> Array:
    """Return how many rows of each true class (rows: second, first) are called second and first."""
    called = scores >= threshold
    return np.array([[np.sum(called & part), np.sum(~called & part)] for part in (is_second, ~is_second)])


def _layers(
    scores: Array, is_second: Array, threshold: float, counts: Array, classes: Array, wrong: Array, right: Array, i: int
) -> tuple[Layer, ...]:
    names = [str(classes[1]), str(classes[0])]
    table = MatrixLayer(
        counts,
        rows=[f"truly {name}" for name in names],
        columns=[f"called {name}" for name in names],
        title="rows right and wrong at this threshold",
    )
    return (
        PolylineLayer(wrong[: i + 1], right[: i + 1], 0, width=2.5),
        PointsLayer([wrong[i]], [right[i]], [0], marker="star"),
        table,
        _score_line(scores, is_second, threshold, names),
    )


def _score_line(scores: Array, is_second: Array, threshold: float, names: list[str]) -> GraphLayer:
    """Return the scores from left to right, a row of dots for each class, and the threshold as a line across."""
    spread = JITTER * (np.arange(len(scores)) * 0.618 % 1 - 0.5)  # so that equal scores are seen side by side
    nodes: list[dict[str, Any]] = [
        {"x": float(score), "y": float((0.75 if second else 0.25) + shift), "text": "", "class": int(second)}
        for score, second, shift in zip(scores, is_second, spread, strict=True)
    ]
    place = min(float(threshold), 1.0)
    ends = [{"x": place, "y": y, "text": "" if y else f"{threshold:.3g}"} for y in (1.0, 0.0)]
    return GraphLayer(
        [*nodes, *ends],
        [(len(nodes), len(nodes) + 1, None)],
        title=f"scores; right of the line is called {names[0]}",
    )


def _certificate(scores: Array, is_second: Array, area: float) -> Certificate:
    above, below = scores[is_second][:, np.newaxis], scores[~is_second]
    wins = float(np.mean((above > below) + 0.5 * (above == below)))
    bound = sum_error(len(scores))
    statement = "difference of the area to the share of pairs that the scores order rightly"
    return Certificate("exact", (Claim("area", statement, abs(area - wins), bound),))


def _python(data: GivenData, kind: type, held_out: float, random_state: int) -> str:
    package = ".".join(kind.__module__.split(".")[:2])
    return (
        "import numpy as np\nfrom sklearn.metrics import roc_auc_score, roc_curve\n"
        "from sklearn.model_selection import train_test_split\n\n"
        f"from pellucid.app.playing import read_data\nfrom {package} import {kind.__name__}\n\n"
        f"{data.loading}\n"
        "X, held_out, y, told = train_test_split(\n"
        f"    data.X, data.y, test_size={held_out}, random_state={random_state}, stratify=data.y\n)\n"
        f"model = {kind.__name__}().fit(X, y)\nscores = model.predict_proba(held_out)[:, 1]\n"
        "is_second = told == np.unique(data.y)[1]\n"
        "print(roc_curve(is_second, scores), roc_auc_score(is_second, scores))\nprint(model.certificate_)\n"
    )


ROC = idea(
    "roc",
    "ROC and its threshold",
    perform_roc,
    {
        "scorer": OneOf(SCORERS),
        "held_out": Number(above=0, below=1),
        "random_state": Whole(low=0, high=2**32 - 1),
    },
    first={"set": "moons", "rows": 100},
    wants="classes",
)
