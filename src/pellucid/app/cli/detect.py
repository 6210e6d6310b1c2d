"""``pellucid detect``: which objects are where in a photo, by a trained network: a picture, COCO's JSON, and a page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from pellucid.app.cli.errors import CommandError, refuse_a_file

REPORT_FILE = "detected.html"


def detect(
    image: Annotated[Path, typer.Argument(help="PNG, JPEG or TIFF file, gray or color.")],
    model: Annotated[
        str, typer.Option(help="File of a fitted Detector, or the name of one that the package brings: digits ssd.")
    ],
    threshold: Annotated[float, typer.Option(min=0.0, max=1.0, help="Least score of what is shown.")] = 0.5,
    out: Annotated[Path, typer.Option(help="Folder for picture, JSON and page.")] = Path("detected"),
) -> None:
    """Find the objects of a photo: write the picture with their boxes or masks, COCO's JSON and one page."""
    given = dict(locals())
    from rich.console import Console

    from pellucid.app.cli.fit import command_line
    from pellucid.app.cli.model_input import load_shipped_or_own
    from pellucid.app.cli.screen import print_detection
    from pellucid.app.pictures import ImageFile, image_bytes, read_image
    from pellucid.app.pictures.detect_image import detect_image
    from pellucid.app.report import Origin, render_detection
    from pellucid.core.atomic import write_all_whole
    from pellucid.vision.detection.detector import Detector
    from pellucid.vision.detection.shipped_detectors import SHIPPED

    refuse_a_file(out)
    picture = read_image(image)
    loaded = load_shipped_or_own(model, SHIPPED)
    if not isinstance(loaded, Detector):
        raise CommandError(f"model must be a fitted Detector, got {type(loaded).__name__} in {Path(model).name}.")
    result = detect_image(picture, loaded, threshold)
    page = render_detection(result, Origin(image.name, Path(model).name, command_line(given, of=detect)))
    files = {
        out / f"{image.stem}_detected.png": image_bytes(ImageFile(result.picture, "PNG")),
        out / f"{image.stem}_objects.json": json.dumps(result.document(image.name), indent=1).encode(),
        out / REPORT_FILE: page.encode(),
    }
    out.mkdir(parents=True, exist_ok=True)
    write_all_whole(files)
    print_detection(result, Console(), list(files))
