"""``pellucid restore``: an image without its noise, its blur, its gaps, or with more pixels, and one page about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pellucid.app.cli.errors import CommandError, refuse_a_file

if TYPE_CHECKING:
    from pellucid.vision.restoration.method import RestorationMethod

REPORT_FILE = "restored.html"
AUTO = "auto"
PLUGGED = "plug-and-play"


def restore(
    image: Annotated[Path, typer.Argument(help="PNG, JPEG or TIFF file, gray or color, of 8 or 16 bits.")],
    sigma: Annotated[
        float | None, typer.Option(min=0.0, help="Standard deviation of the noise in gray values; estimated if none.")
    ] = None,
    kernel: Annotated[
        Path | None, typer.Option(help="Image of the blur's kernel, or a .npy file; an image is divided by its sum.")
    ] = None,
    mask: Annotated[Path | None, typer.Option(help="Image of the same size: black where pixels are known.")] = None,
    scale: Annotated[int | None, typer.Option(min=2, max=8, help="How many times as large, along both sides.")] = None,
    method: Annotated[
        str, typer.Option(help="tikhonov, wiener, tv, dct, wavelet, nlm, bm3d, dictionary, dncnn, ...; auto compares.")
    ] = AUTO,
    time: Annotated[str, typer.Option(help="Time for the comparison, such as 30s or 5m.")] = "1m",
    out: Annotated[Path, typer.Option(help="Folder for the image and the page.")] = Path("restored"),
) -> None:
    """Restore an image: remove noise, a known blur or gaps, or enlarge it; write it and one page that judges it."""
    given = dict(locals())
    from rich.console import Console

    from pellucid.app.cli.fit import command_line, parse_duration
    from pellucid.app.cli.screen import print_restoration
    from pellucid.app.pictures import image_bytes, read_image, restore_image
    from pellucid.app.pictures.restore_image import operator_of
    from pellucid.app.report import Origin, render_restoration
    from pellucid.core.atomic import write_all_whole
    from pellucid.core.watching import terminal_bar

    seconds = parse_duration(time)
    refuse_a_file(out)
    chosen = method_named(method)
    picture = read_image(image)
    operator = operator_of(_kernel(kernel), _missing(mask), scale)
    with terminal_bar() as show:
        result = restore_image(picture, operator, sigma=sigma, method=chosen, seconds=seconds, listen=show)
    page = render_restoration(result, Origin(image.name, "", command_line(given, of=restore)))
    files = {out / image.name: image_bytes(result.after), out / REPORT_FILE: page.encode()}
    if (out / image.name).exists() and (out / image.name).samefile(image):
        raise CommandError(f"out must be another folder than that of {image.name}, got {out}. The image would be lost.")
    out.mkdir(parents=True, exist_ok=True)
    write_all_whole(files)
    print_restoration(result, Console(), list(files))


def method_named(name: str) -> RestorationMethod | None:
    """Return a method by the name that the command knows it by; None for auto."""
    from importlib import import_module

    from pellucid.core.checks import find_name

    room: Any = import_module("pellucid.vision.restoration")
    known = {
        "tikhonov": "Tikhonov",
        "wiener": "Wiener",
        "tv": "TotalVariation",
        "dct": "DCTThresholding",
        "wavelet": "WaveletThresholding",
        "nlm": "NonLocalMeans",
        "bm3d": "BM3D",
        "dictionary": "DictionaryDenoising",
        "dncnn": "DnCNN",
        "bias-free": "BiasFreeDnCNN",
        "bicubic": "Bicubic",
        "srcnn": "SRCNN",
    }
    wanted = find_name(name, (AUTO, PLUGGED, *known))
    if wanted == AUTO:
        return None
    if wanted == PLUGGED:
        plugged: RestorationMethod = room.PlugAndPlay(room.BM3D())
        return plugged
    found: RestorationMethod = getattr(room, known[wanted])()
    return found


def _kernel(path: Path | None) -> Any:
    """Return the kernel in a file: numbers as they are, an image divided by its sum."""
    if path is None:
        return None
    import numpy as np

    from pellucid.app.pictures import read_image

    if path.suffix.lower() == ".npy":
        if not path.is_file():
            raise CommandError(f"kernel must be a file, got {path}, which does not exist.")
        try:
            return np.load(path, allow_pickle=False)
        except ValueError as error:
            raise CommandError(f"kernel must be an array of numbers, got {path.name}: {error}") from error
    pixels = read_image(path).pixels.astype(np.float64)
    gray = pixels.mean(axis=2) if pixels.ndim == 3 else pixels
    if gray.sum() == 0:
        raise CommandError(f"kernel must have a pixel that is not black, got {path.name}.")
    return gray / gray.sum()


def _missing(path: Path | None) -> Any:
    if path is None:
        return None
    import numpy as np

    from pellucid.app.pictures import read_image

    pixels = read_image(path).pixels
    return np.asarray(pixels.max(axis=2) if pixels.ndim == 3 else pixels) > 0
