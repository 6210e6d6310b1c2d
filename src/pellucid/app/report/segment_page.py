"""The page about a segmented photo: picture and classes under a slider, how much of each, and where it is unsure."""

from __future__ import annotations

import pellucid
from pellucid.app.pictures import SegmentedFile
from pellucid.app.pictures.segment_image import as_color
from pellucid.app.report.page import Origin, page_template, versions
from pellucid.app.report.restore_page import picture_address


def render_segmentation(result: SegmentedFile, origin: Origin) -> str:
    """Return the page: pictures are inside it, nothing is fetched.

    Parameters
    ----------
    result : SegmentedFile
        What ``segment_image`` found.
    origin : Origin
        Names of image and model file, and the command.
    """
    model = result.model
    height, width = result.codes.shape
    return page_template("segment_report.html").render(
        result=result,
        name=origin.table_name,
        height=height,
        width=width,
        before=picture_address(as_color(result.before.pixels)),
        after=picture_address(result.overlay),
        unsure=picture_address(1.0 - result.confidence, 1.0),
        sure=float((result.confidence > SURE).mean()),
        confidence=float(result.confidence.mean()),
        threshold=SURE,
        network=type(model.architecture_).__name__,
        n_weights=sum(weight.size for weight in model.weights_.values()),
        training_score=model.training_score_,
        model_file=origin.model_name,
        command=origin.command,
        version=pellucid.__version__,
        versions=versions(),
    )


SURE = 0.9
"""Probability from which on the page calls a pixel sure."""
