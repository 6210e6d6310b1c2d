"""``pellucid fit-detector``: a folder of images and a file of boxes become a detector, judged on images kept aside."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from pellucid.app.cli.errors import refuse_a_file

MODEL_FILE, REPORT_FILE, FOUND_FILE = "detector.safetensors", "detector.html", "test_objects.json"


def fit_detector(
    images: Annotated[Path, typer.Argument(help="Folder of PNG, JPEG or TIFF files.")],
    boxes: Annotated[
        Path,
        typer.Option(help="CSV with image, label, x1, y1, x2, y2 (or xmin, ...), or COCO's JSON."),
    ],
    network: Annotated[
        str,
        typer.Option(
            help="pretrained faster r-cnn (needs a package with weights), faster r-cnn, "
            "mask r-cnn (needs masks), retinanet, yolo."
        ),
    ] = "auto",
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the images.")] = 40,
    flip: Annotated[bool, typer.Option(help="Learn from mirrored images, too; not for texts.")] = True,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")] = "auto",
    seed: Annotated[int, typer.Option(min=0, help="What images to test on and first weights are drawn from.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for model, page and what was found.")] = Path("detector"),
) -> None:
    """Fit a detector to images with boxes: say how good it is on others, where it is wrong, what to beware of."""
    given = dict(locals())
    from rich.console import Console

    from pellucid.app.cli.fit import command_line
    from pellucid.app.cli.screen import print_fitted_detector
    from pellucid.app.pictures import fit_detector_on, read_annotated_folder
    from pellucid.app.pictures.fit_detector import WITH_MASKS
    from pellucid.app.report import Origin, render_fitted_detector
    from pellucid.core.atomic import write_all_whole
    from pellucid.core.files.saving import model_bytes
    from pellucid.core.watching import terminal_bar
    from pellucid.vision.detection.annotation_files import coco_detections

    refuse_a_file(out)
    with terminal_bar() as show:
        folder = read_annotated_folder(
            images, boxes, lambda done, total: show("reading images", done, total), masks=network == WITH_MASKS
        )
    result = fit_detector_on(
        folder,
        network=network,
        epochs=epochs,
        flip=flip,
        device=device,
        seed=seed,
        verbose=sys.stderr.isatty(),
    )
    page = render_fitted_detector(result, Origin(images.name, MODEL_FILE, command_line(given, of=fit_detector)))
    sizes = [(image.shape[0], image.shape[1]) for image in result.tested.images]
    found = coco_detections(result.found, result.tested.names, sizes, result.model.classes_.tolist())
    files = {
        out / MODEL_FILE: model_bytes(result.model),
        out / FOUND_FILE: json.dumps(found, indent=1).encode(),
        out / REPORT_FILE: page.encode(),
    }
    out.mkdir(parents=True, exist_ok=True)
    write_all_whole(files)
    print_fitted_detector(result, Console(), list(files))
