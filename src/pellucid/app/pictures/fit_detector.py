"""From a folder of images with boxes to a detector: split, trained, judged on images it has not seen."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.app.pictures.annotated_folder import AnnotatedFolder, near_duplicates
from pellucid.core.types import Array
from pellucid.vision.detection.annotations import Annotations, Detections
from pellucid.vision.detection.scoring.average_precision import AveragePrecision, average_precision
from pellucid.vision.detection.scoring.confusion import ClassConfusion, class_confusion

if TYPE_CHECKING:
    from pellucid.vision.detection.detector import Detector

TESTED = 0.25
"""Share of the images that the detector is judged on."""
FEWEST = 4
FEW_IMAGES, FEW_OBJECTS, FEW_TESTED = 100, 20, 30
"""Fewer images to learn from, objects of a class, or images to test on get a warning."""
SHORT_SIDE, LONG_SIDE = 320, 544
"""Larger images are reduced to these sides, as small networks expect."""
SMALL = 8.0
"""Objects narrower than this many pixels, as the network sees them, are hardly ever found."""
WORST = 6
LEARNED_BEFORE: dict[str, Any] = {"initial_weights": "imagenet", "learning_rate": 6e-4, "weight_decay": 0.05}
"""How a network is fitted whose body has learned already."""
PRETRAINED = "pretrained faster r-cnn"
WITH_MASKS = "mask r-cnn"
NETWORKS = (PRETRAINED, "faster r-cnn", WITH_MASKS, "retinanet", "yolo")
"""One on a body that has seen ImageNet, and the small detectors that take a folder of any images."""


@dataclass(frozen=True, eq=False)
class FittedDetector:
    """A detector and what it reaches on images that it was not fitted to."""

    model: Detector
    """Fitted to the images of ``learned``."""
    learned: AnnotatedFolder
    """About three quarters of the images, that it was fitted to."""
    tested: AnnotatedFolder
    """The others, that it was judged on."""
    found: list[Detections]
    """What it found in each of the tested images, with all scores, not only the high ones."""
    score: AveragePrecision
    """Average precision of the boxes in the tested images."""
    interval: tuple[float, float]
    """Ends of a bootstrap interval of 95 % for ``score.ap``: other images of the same kind."""
    interval50: tuple[float, float]
    """The same for AP50, where half of the union has to be shared."""
    masks: AveragePrecision | None
    """Average precision of the masks there; None of a network that finds none."""
    confusion: ClassConfusion
    """Which classes are taken for which, of detections with a score of at least 0.5."""
    cautions: list[str]
    """What to beware of before the detector is used, in sentences."""
    duplicates: list[list[str]]
    """Groups of names of images that are nearly the same; each group is in one of the two parts."""
    seconds: float
    """How long all of it took."""

    @property
    def worst(self) -> list[int]:
        """Places among the tested images of those with the most mistakes, the worst first."""
        wrong = self.confusion.wrong
        order = np.argsort(-wrong, kind="stable")[:WORST]
        return [int(place) for place in order if wrong[place]]


def fit_detector_on(
    folder: AnnotatedFolder,
    *,
    network: str = "auto",
    epochs: int = 40,
    flip: bool = True,
    device: str = "auto",
    seed: int = 0,
    verbose: bool = False,
    listen: Callable[[str], None] = lambda _said: None,
) -> FittedDetector:
    """Return a detector fitted to three quarters of the images, and judged on the rest.

    Images that show the same scene stay on one side of the split. Larger images are reduced; anchors are as large as
    the objects are.

    Parameters
    ----------
    folder : AnnotatedFolder
        At least 4 images with their objects, as ``read_annotated_folder`` returns them.
    network : {"auto", "pretrained faster r-cnn", "faster r-cnn", "mask r-cnn", "retinanet", "yolo"}, default="auto"
        "auto" takes the first, whose body has seen ImageNet, if the package with its weights is there, else "faster
        r-cnn". "mask r-cnn" needs masks.
    epochs : int, default=40
        Passes over the images.
    flip : bool, default=True
        Whether to learn from mirrored images, too: not where there are texts.
    device : str, default="auto"
        "cpu", "cuda" or "mps"; "auto" is the graphics card if there is one.
    seed : int, default=0
        What the images to test on and the first weights are drawn by.
    verbose : bool, default=False
        Whether to show a bar while the network is trained.
    listen : callable, default=None
        Called with what is being done, in a few words; by default nobody is told.
    """
    from pellucid.vision.detection.detector import Detector
    from pellucid.vision.scene_augmentation import ColorShift, SceneFlip, SceneScale

    started = time.perf_counter()
    if network == "auto":
        network = PRETRAINED if has_imagenet_weights() else "faster r-cnn"
    if network not in NETWORKS:
        raise ValueError(f"network must be auto or one of {', '.join(NETWORKS)}, got {network!r}.")
    groups = near_duplicates(folder.images)
    learned, tested = (folder.take(places) for places in split_scenes(len(folder.images), groups, seed))
    if not any(len(one) for one in learned.annotations):
        raise ValueError("boxes must name objects in more images: those to learn from have none. Annotate more.")
    listen(f"fitting to {len(learned.images)} images")
    changes = ((SceneFlip(),) if flip else ()) + (SceneScale(0.7, 1.4), ColorShift())
    model = Detector(
        network_for(network, learned),
        epochs=epochs,
        batch_size=min(8, len(learned.images)),
        augmentation=changes,
        **(LEARNED_BEFORE if network == PRETRAINED else {}),
        device=device,
        verbose=verbose,
        random_state=seed,
    ).fit(learned.images, learned.annotations)
    listen(f"testing on {len(tested.images)} images")
    found = model.predict(tested.images)
    score = average_precision(found, tested.annotations)
    names = [[folder.names[place] for place in group] for group in groups]
    return FittedDetector(
        model,
        learned,
        tested,
        found,
        score,
        score.interval(),
        score.interval(threshold=0.5),
        average_precision(found, tested.annotations, masks=True) if network == WITH_MASKS else None,
        class_confusion(found, tested.annotations),
        cautions_of(learned, tested, names),
        names,
        time.perf_counter() - started,
    )


def has_imagenet_weights() -> bool:
    """Return whether the package with the weights of EfficientNet-Lite0 is installed."""
    from pellucid.vision.models.efficientnet import PACKAGE

    return find_spec(PACKAGE) is not None


def split_scenes(n_images: int, groups: list[list[int]], seed: int) -> tuple[Array, Array]:
    """Return the places of images to learn from, and of a quarter to test on; groups stay together.

    Examples
    --------
    >>> learned, tested = split_scenes(8, [[0, 1, 2]], seed=0)
    >>> len(tested), {0, 1, 2} <= set(learned) or {0, 1, 2} <= set(tested)
    (2, True)
    """
    if n_images < FEWEST:
        raise ValueError(f"images must be at least {FEWEST}, some to learn from and some to test on, got {n_images}.")
    together = {place for group in groups for place in group}
    parts = groups + [[place] for place in range(n_images) if place not in together]
    tested: list[int] = []
    most = max(1, round(TESTED * n_images))
    for number in np.random.default_rng(seed).permutation(len(parts)):
        if len(tested) + len(parts[number]) <= most:
            tested += parts[number]
    if not tested:
        raise ValueError(
            f"images must show different scenes, got {n_images} of which {len(together)} are nearly the same. "
            "Without others there is nothing to test on."
        )
    return np.setdiff1d(np.arange(n_images), tested), np.sort(tested)


def network_for(name: str, learned: AnnotatedFolder) -> Any:
    """Return a small detector for images and objects of these sizes."""
    network: Any = _network_named(name)
    if _is_reduced(learned):
        network = replace(network, short_side=SHORT_SIDE, long_side=LONG_SIDE)
    sides = _seen_sides(learned, is_reduced=network.short_side is not None)
    low, high = np.quantile(np.sqrt(sides.prod(axis=1)), [0.1, 0.9])
    n_sizes = len(network.anchors if name == "yolo" else network.anchor_sizes)
    sizes = np.geomspace(max(low, SMALL), max(high, 4.0 * SMALL), n_sizes)
    if name == "yolo":  # its anchors have a shape, too: that of most objects
        root = float(np.sqrt(np.median(sides[:, 1] / sides[:, 0])))
        return replace(
            network, anchors=tuple((round(size / root, 1), round(size * root, 1)) for size in sizes.tolist())
        )
    return replace(network, anchor_sizes=tuple(int(size) for size in sizes.round()))


def _network_named(name: str) -> Any:
    from pellucid.vision.detection.networks.small_detectors import SMALL_DETECTORS

    if name != PRETRAINED:
        return SMALL_DETECTORS[name]
    from pellucid.vision.detection.networks.backbones import EfficientNetBody, FeaturePyramid
    from pellucid.vision.detection.networks.region_detectors import FasterRCNN

    pyramid = FeaturePyramid(EfficientNetBody("frozen"), maps=96)
    return FasterRCNN(pyramid, width=256, regions=256, short_side=None, long_side=None)


def _seen_sides(folder: AnnotatedFolder, *, is_reduced: bool) -> Array:
    """Return widths and heights of all objects (n, 2), in pixels as the network sees them."""
    found = [
        (one.boxes[:, 2:] - one.boxes[:, :2]) * (_reduction(image) if is_reduced else 1.0)
        for image, one in zip(folder.images, folder.annotations, strict=True)
    ]
    return np.concatenate(found)


def _is_reduced(folder: AnnotatedFolder) -> bool:
    """Return whether images are brought to the sides of the network: small ones are taken as they are."""
    return max(min(image.shape[:2]) for image in folder.images) > SHORT_SIDE


def _reduction(image: Array) -> float:
    short, long = sorted(image.shape[:2])
    return min(SHORT_SIDE / short, LONG_SIDE / long)


def cautions_of(learned: AnnotatedFolder, tested: AnnotatedFolder, duplicates: list[list[str]]) -> list[str]:
    """Return what to beware of, in sentences."""
    said = []
    if len(learned.images) < FEW_IMAGES:
        said.append(
            f"There are only {len(learned.images)} images to learn from: expect much less on photos from elsewhere."
        )
    if len(tested.images) < FEW_TESTED:
        said.append(f"There are only {len(tested.images)} images to test on: look at the interval, not at the number.")
    if duplicates:
        some = "; ".join(", ".join(names[:3]) for names in duplicates[:3])
        said.append(
            f"{sum(map(len, duplicates))} images are nearly the same as another one ({some}): each group was kept on "
            "one side of the split, and counts for less than its number."
        )
    taught, asked = _counts(learned.annotations), _counts(tested.annotations)
    rare = [f"{label} ({taught.get(label, 0)})" for label in learned.classes if taught.get(label, 0) < FEW_OBJECTS]
    if rare:
        said.append(f"Classes with fewer than {FEW_OBJECTS} objects to learn from: {', '.join(rare)}.")
    untested = [label for label in learned.classes if label not in asked]
    if untested:
        said.append(f"Nothing is known about {', '.join(untested)}: no image to test on has one.")
    new = [label for label in tested.classes if label not in taught]
    if new:
        said.append(f"{', '.join(new)} could not be learned: only images to test on have one.")
    is_reduced = _is_reduced(learned)
    share = float(np.mean(_seen_sides(learned, is_reduced=is_reduced).min(axis=1) < SMALL))
    if share > 0.1:
        said.append(f"{share:.0%} of the objects are narrower than {SMALL:g} pixels as the network sees them.")
    if learned.left_out:
        said.append(f"{len(learned.left_out)} images of the folder are in no line of the file, and were left out.")
    return said


def _counts(annotations: list[Annotations]) -> dict[str, int]:
    labels = np.concatenate([one.labels for one in annotations if len(one)] or [np.zeros(0, str)])
    return {str(label): int(count) for label, count in zip(*np.unique(labels, return_counts=True), strict=True)}
