"""The page about a photo in which objects were found: the photo and the boxes under a slider, and what is known."""

from __future__ import annotations

from collections import Counter

import pellucid
from pellucid.app.pictures import DetectedFile
from pellucid.app.pictures.segment_image import as_color
from pellucid.app.report.page import Origin, page_template, versions
from pellucid.app.report.restore_page import picture_address


def render_detection(result: DetectedFile, origin: Origin) -> str:
    """Return the page: pictures are inside it, nothing is fetched.

    Parameters
    ----------
    result : DetectedFile
        What ``detect_image`` found.
    origin : Origin
        Names of image and model file, and the command.
    """
    model = result.model
    height, width = result.before.pixels.shape[:2]
    labels = [str(label) for label in result.found.labels.tolist()]
    return page_template("detect_report.html").render(
        result=result,
        name=origin.table_name,
        height=height,
        width=width,
        before=picture_address(as_color(result.before.pixels)),
        after=picture_address(result.picture),
        counts=Counter(labels).most_common(),
        rows=list(zip(labels, result.found.scores.tolist(), result.found.boxes.tolist(), strict=True)),
        network=type(model.architecture_).__name__,
        n_weights=sum(weight.size for weight in model.weights_.values()),
        training_score=model.training_score_,
        model_file=origin.model_name,
        command=origin.command,
        version=pellucid.__version__,
        versions=versions(),
    )
