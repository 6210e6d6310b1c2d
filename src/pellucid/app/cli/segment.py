"""``pellucid segment``: what is where in a photo, by a trained network: a picture, a label map, and one page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from pellucid.app.cli.errors import CommandError, refuse_a_file

REPORT_FILE = "segmented.html"


def segment(
    image: Annotated[Path, typer.Argument(help="PNG, JPEG or TIFF file, gray or color.")],
    model: Annotated[
        str,
        typer.Option(help="File of a fitted Segmenter, or the name of one that the package brings: digits u-net."),
    ],
    names: Annotated[
        Path | None, typer.Option(help="Text file with a name for each class of the model, one a line, in their order.")
    ] = None,
    tile: Annotated[
        int | None, typer.Option(min=32, help="Cut larger images into overlapping tiles of this side.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for picture, label map, JSON and page.")] = Path("segmented"),
) -> None:
    """Give every pixel of a photo its class: write the picture in colors, the label map, COCO's JSON and one page."""
    given = dict(locals())
    from rich.console import Console

    from pellucid.app.cli.fit import command_line
    from pellucid.app.cli.model_input import load_shipped_or_own
    from pellucid.app.cli.screen import print_segmentation
    from pellucid.app.pictures import ImageFile, image_bytes, read_image
    from pellucid.app.pictures.segment_image import coco_document, label_map_bytes, segment_image, with_legend
    from pellucid.app.report import Origin, render_segmentation
    from pellucid.core.atomic import write_all_whole
    from pellucid.vision.segmentation.segmenter import Segmenter
    from pellucid.vision.segmentation.shipped_segmenters import SHIPPED

    refuse_a_file(out)
    picture = read_image(image)
    loaded = load_shipped_or_own(model, SHIPPED)
    if not isinstance(loaded, Segmenter):
        raise CommandError(f"model must be a fitted Segmenter, got {type(loaded).__name__} in {Path(model).name}.")
    if tile is not None:
        loaded.set_params(tile=tile, overlap=tile // 4)
    result = segment_image(picture, loaded, None if names is None else _names(names))
    page = render_segmentation(result, Origin(image.name, Path(model).name, command_line(given, of=segment)))
    legend = with_legend(result.overlay, [(one.name, one.color) for one in result.found])
    files = {
        out / f"{image.stem}_segmented.png": image_bytes(ImageFile(legend, "PNG")),
        out / f"{image.stem}_labels.png": label_map_bytes(result),
        out / f"{image.stem}_segments.json": json.dumps(coco_document(result, image.name), indent=1).encode(),
        out / REPORT_FILE: page.encode(),
    }
    out.mkdir(parents=True, exist_ok=True)
    write_all_whole(files)
    print_segmentation(result, Console(), list(files))


def _names(path: Path) -> list[str]:
    if not path.is_file():
        raise CommandError(f"names must be a text file, got {path}, which does not exist.")
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise CommandError(f"names must be a text file, got {path.name}, which cannot be read: {error}") from error
    return [line.strip() for line in lines if line.strip()]
