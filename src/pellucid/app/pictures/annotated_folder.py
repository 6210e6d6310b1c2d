"""A folder of images and a file of boxes: read together, with everything that is wrong said at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pellucid.app.pictures.image_files import KINDS, ImageFileError, read_image
from pellucid.app.pictures.segment_image import as_color
from pellucid.core.types import Array
from pellucid.vision.detection.annotation_files import AnnotationFile, read_annotation_file
from pellucid.vision.detection.annotations import Annotations
from pellucid.vision.scene_images import raise_faults

HASHED = 8
"""An image is told from another by so many squared differences of brightness."""
ALIKE = 4
"""Images in which no more of these differ show the same scene."""


@dataclass(frozen=True, eq=False)
class AnnotatedFolder:
    """Images in color and their objects."""

    names: list[str]
    """Names of the image files, without their folders."""
    images: list[Array]
    """One of shape (height, width, 3) for each name, in bytes."""
    annotations: list[Annotations]
    """The objects of each image, with masks if they were asked for."""
    left_out: list[str]
    """Images of the folder that the file does not speak of."""

    @property
    def classes(self) -> list[str]:
        """The labels, in order."""
        return sorted({str(label) for one in self.annotations for label in one.labels})

    def take(self, places: Array) -> AnnotatedFolder:
        """Return some of the images."""
        chosen = [int(place) for place in places]
        return AnnotatedFolder(
            [self.names[k] for k in chosen],
            [self.images[k] for k in chosen],
            [self.annotations[k] for k in chosen],
            self.left_out,
        )


def read_annotated_folder(
    folder: str | Path,
    boxes: str | Path,
    listen: Callable[[int, int], None] = lambda _done, _total: None,
    *,
    masks: bool = False,
) -> AnnotatedFolder:
    """Return the images that a file speaks of, and their objects; raise one error with all that is wrong.

    Wrong are boxes that are empty or outside of their images, classes and images that are not there, and files that
    cannot be read; if masks are asked for, objects without one, too.

    Parameters
    ----------
    folder : str or path
        The images: PNG, JPEG and TIFF files in it, or in folders of it.
    boxes : str or path
        A ``.json`` file as COCO writes it, or a ``.csv`` file with a line for each box. It names an image with or
        without its folder and its ending.
    listen : callable, default=None
        Called with how many images are read, and how many there are; by default nobody is told.
    masks : bool, default=False
        Whether every object must have a mask, and it is read, too.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ImageFileError(f"images must be a folder, got {folder}, which is none.")
    file = read_annotation_file(boxes)
    if masks and not file.has_masks:
        raise ValueError(
            f"boxes must give every object a segmentation to learn masks, got {file.name}, where some have none. "
            "Take a network without masks."
        )
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in KINDS)
    if not files:
        raise ImageFileError(f"images must be a folder with PNG, JPEG or TIFF files, got {folder}, which has none.")
    by_name = {key: path for path in reversed(files) for key in _names_of(path, folder)}
    found, faults = AnnotatedFolder([], [], [], []), list(file.faults)
    for done, name in enumerate(file.images):
        listen(done, len(file.images))
        if name not in by_name:
            faults.append(f"{name} is in {file.name}, but not in {folder.name}")
            continue
        faults += _add(found, file, name, by_name[name], masks)
    raise_faults("images and boxes must fit each other", faults)
    used = {by_name[name] for name in file.images}
    found.left_out.extend(path.name for path in files if path not in used)
    if not found.classes:
        raise ValueError(f"boxes must name an object in some image, got none in {file.name}.")
    return found


def _names_of(path: Path, folder: Path) -> tuple[str, ...]:
    """Return what a file may call an image: its place in the folder, its name, or either without the ending."""
    place = path.relative_to(folder)
    return path.stem, path.name, place.with_suffix("").as_posix(), place.as_posix()


def _add(found: AnnotatedFolder, file: AnnotationFile, name: str, path: Path, masks: bool) -> list[str]:
    """Add an image and its objects; return what is wrong with them."""
    try:
        image = as_color(read_image(path).pixels)
    except ImageFileError as error:
        return [str(error).rstrip(".")]
    annotations, faults = file.in_image(name, *image.shape[:2], masks=masks)
    found.names.append(path.name)
    found.images.append(image)
    found.annotations.append(annotations)
    return faults


def near_duplicates(images: list[Array]) -> list[list[int]]:
    """Return groups of images that show the same scene: frames of one film, or one picture stored twice.

    Each image becomes 64 bits: whether a square of it is brighter than the one on its right. Images with at most four
    different bits are alike, and so are images that are like the same one. Flat images are like nothing.

    Examples
    --------
    >>> ramp = np.tile(np.arange(90, dtype=np.uint8), (80, 1))
    >>> near_duplicates([ramp, np.flip(ramp), ramp // 2, np.zeros((9, 9), np.uint8), np.zeros((9, 9), np.uint8)])
    [[0, 2]]
    """
    small = [_reduced(image) for image in images]
    bits = np.array([(one[:, :-1] < one[:, 1:]).ravel() for one in small])
    is_flat = np.array([np.ptp(one) < 1.0 for one in small], dtype=bool)
    group = np.arange(len(images))
    for k in np.flatnonzero(~is_flat):
        different = np.count_nonzero(bits[:k] != bits[k], axis=1)
        for place in np.flatnonzero((different <= ALIKE) & ~is_flat[:k]):
            group[group == group[k]] = group[place]
    found = [np.flatnonzero(group == number).tolist() for number in np.unique(group)]
    return [places for places in found if len(places) > 1]


def _reduced(image: Array) -> Array:
    from PIL import Image

    gray = image.mean(axis=2) if image.ndim == 3 else image
    picture = Image.fromarray(gray.astype(np.float32))
    return np.asarray(picture.resize((HASHED + 1, HASHED), Image.Resampling.BOX))
