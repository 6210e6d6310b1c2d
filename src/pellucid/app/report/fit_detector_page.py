"""The page about a fitted detector: what it reaches on images it has not seen, where it is wrong, what to beware of."""

from __future__ import annotations

from typing import Any

import numpy as np

import pellucid
from pellucid.app.pictures import FittedDetector
from pellucid.app.pictures.detect_image import draw_boxes, surest
from pellucid.app.report.page import Origin, page_template, versions
from pellucid.app.report.restore_page import picture_address
from pellucid.core.types import Array

THERE, FOUND = (255, 255, 255), (230, 60, 30)
"""Colors of what is there and of what was found."""
LEAST_SCORE = 0.5
MOST_CLASSES = 20


def render_fitted_detector(result: FittedDetector, origin: Origin) -> str:
    """Return the page: pictures are inside it, nothing is fetched.

    Parameters
    ----------
    result : FittedDetector
        What ``fit_detector_on`` returned.
    origin : Origin
        Names of the folder of images and the model file, and the command.
    """
    classes = [str(label) for label in result.confusion.classes.tolist()]
    return page_template("fit_detector_report.html").render(
        result=result,
        name=origin.table_name,
        rows=_rows_by_class(result),
        classes=[*classes, "nothing"],
        confusion=result.confusion.counts.tolist() if len(classes) <= MOST_CLASSES else None,
        most_classes=MOST_CLASSES,
        worst=[_worst(result, place) for place in result.worst],
        least_score=LEAST_SCORE,
        network=type(result.model.architecture_).__name__,
        n_weights=sum(weight.size for weight in result.model.weights_.values()),
        model_file=origin.model_name,
        command=origin.command,
        version=pellucid.__version__,
        versions=versions(),
    )


def _rows_by_class(result: FittedDetector) -> list[tuple[str, int, int, float]]:
    """Return for each class how many objects were learned and tested, and its average precision."""
    learned, tested = (
        [str(label) for one in folder.annotations for label in one.labels[~one.crowd]]
        for folder in (result.learned, result.tested)
    )
    reached = {str(label): value for label, value in result.score.by_class.items()}
    names = sorted({*learned, *tested})
    return [(name, learned.count(name), tested.count(name), reached.get(name, float("nan"))) for name in names]


def _worst(result: FittedDetector, place: int) -> tuple[str, str, str]:
    """Return the name of an image, how many mistakes there are in it, and a picture of them."""
    mistakes = f"{result.confusion.missed[place]} missed, {result.confusion.false[place]} false"
    return result.tested.names[place], mistakes, picture_address(_judged(result, place))


def _judged(result: FittedDetector, place: int) -> Array:
    """Return an image with what is there and what was found."""
    there, found = result.tested.annotations[place], surest(result.found[place], LEAST_SCORE)
    boxes = np.concatenate([found.boxes, there.boxes])
    texts: list[Any] = [f"{label} {score:.2f}" for label, score in zip(found.labels, found.scores, strict=True)]
    texts += [""] * len(there)
    return draw_boxes(result.tested.images[place], boxes, texts, [FOUND] * len(found) + [THERE] * len(there))
