"""Made scenes: digits of any number, size and place on an uneven ground, with boxes, masks and label maps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from pellucid.core.checks import check_whole
from pellucid.core.types import Array
from pellucid.data import read_mnist
from pellucid.vision.detection.annotations import Annotations
from pellucid.vision.detection.boxes.box_geometry import box_iou

SEEN = 0.35
"""Share of its brightest pixel from which a pixel belongs to a digit."""

MOST_OVERLAP = 0.1
"""Largest IoU of the boxes of two digits."""

TRIES = 30
"""How often a place is drawn for a digit before it is left out."""

SMALLEST_DIGIT, LARGEST_DIGIT = 20, 100
"""Sides of a digit, in pixels of a scene of 320; their logarithm is drawn evenly."""

NOT_A_DIGIT = 10
"""Label of the ground in label maps."""


@dataclass(frozen=True)
class Digits:
    """Images of single digits (n, side, side), white on black in bytes, and which they are (n,)."""

    images: Array
    labels: Array


def small_digits() -> Digits:
    """Return the 1,797 digits of 8 x 8 that come with scikit-learn."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    return Digits((images.reshape(-1, 8, 8) * (255 / 16)).astype(np.uint8), labels)


def digits_to_learn_and_test(folder: Path | None) -> tuple[Digits, Digits]:
    """Return digits for scenes to learn from and others to test on: MNIST's in a folder, or else the small ones."""
    if folder is not None:
        return Digits(*read_mnist(folder, "train")), Digits(*read_mnist(folder, "t10k"))
    every = small_digits()
    is_test = np.arange(len(every.labels)) % 5 == 0
    return Digits(every.images[~is_test], every.labels[~is_test]), Digits(every.images[is_test], every.labels[is_test])


def digit_scenes(
    count: int,
    digits: Digits | None = None,
    *,
    size: int = 320,
    fewest: int = 1,
    most: int = 15,
    sides: tuple[float, float] | None = None,
    masks: bool = True,
    random_state: int = 0,
) -> tuple[Array, list[Annotations]]:
    """Return scenes (count, size, size) of bytes, and the digits in each: boxes, labels 0 to 9, and masks.

    Sides of digits are drawn from ``sides``, evenly on a log scale; by default a sixteenth to a third of the scene's.

    Examples
    --------
    >>> scenes, truth = digit_scenes(2, size=64, most=3)
    >>> scenes.shape, truth[0].masks.shape == (len(truth[0]), 64, 64)
    ((2, 64, 64), True)
    """
    check_whole(count=count, size=size, fewest=fewest, most=most)
    digits = small_digits() if digits is None else digits
    random = np.random.default_rng(random_state)
    low, high = (size * SMALLEST_DIGIT / 320, size * LARGEST_DIGIT / 320) if sides is None else sides
    made = [
        _scene(digits, size, int(random.integers(fewest, most + 1)), (low, high), random, masks) for _ in range(count)
    ]
    return np.stack([image for image, _ in made]), [seen for _, seen in made]


def label_map(truth: Annotations, ground: int = NOT_A_DIGIT) -> Array:
    """Return the label of each pixel; where masks overlap, that of the later digit."""
    if truth.masks is None:
        raise ValueError("annotations must have masks to make a label map, got boxes only.")
    found = np.full(truth.masks.shape[1:], ground, dtype=np.int64)
    for label, mask in zip(truth.labels, truth.masks, strict=True):
        found[mask] = label
    return found


def _scene(
    digits: Digits, size: int, count: int, sides: tuple[float, float], random: np.random.Generator, with_masks: bool
) -> tuple[Array, Annotations]:
    """Return one scene: light that changes slowly, noise, and digits that nearly do not overlap."""
    picture = _ground(size, random)
    boxes: list[Array] = []
    labels, masks = [], []
    for _ in range(count):
        chosen = int(random.integers(len(digits.images)))
        digit = _resized(digits.images[chosen], size, sides, random)
        placed = _place(digit, size, boxes, random)
        if placed is None:
            continue
        top, left, box = placed
        window = (slice(top, top + len(digit)), slice(left, left + len(digit)))
        bright = random.uniform(0.55, 1.0)
        picture[window] = picture[window] * (1.0 - digit) + bright * digit
        boxes.append(box)
        labels.append(digits.labels[chosen])
        if with_masks:
            masks.append(np.zeros((size, size), dtype=bool))
            masks[-1][window] = digit > SEEN
    picture += random.normal(0.0, 0.03, picture.shape)
    seen = Annotations(
        boxes=np.array(boxes).reshape(-1, 4),
        labels=np.array(labels, dtype=np.int64),
        masks=np.array(masks, dtype=bool).reshape(-1, size, size) if with_masks else None,
    )
    return (picture.clip(0.0, 1.0) * 255).round().astype(np.uint8), seen


def _ground(size: int, random: np.random.Generator) -> Array:
    """Return a dark ground whose brightness changes slowly."""
    coarse = random.uniform(0.0, 0.35, (4, 4)).astype(np.float32)
    return np.asarray(Image.fromarray(coarse).resize((size, size), Image.Resampling.BICUBIC), dtype=np.float64)


def _resized(digit: Array, size: int, sides: tuple[float, float], random: np.random.Generator) -> Array:
    """Return a digit in a random size, of values 0 to 1."""
    side = max(8, round(float(np.exp(random.uniform(*np.log(sides))))))
    resized = Image.fromarray(digit).resize((min(side, size),) * 2, Image.Resampling.BICUBIC)
    return np.asarray(resized, dtype=np.float64) / 255.0


def _place(digit: Array, size: int, boxes: list[Array], random: np.random.Generator) -> tuple[int, int, Array] | None:
    """Return row and column for a digit, and the box around what is seen of it; None if there is no room."""
    rows, columns = (np.flatnonzero((digit > SEEN).any(axis=axis)) for axis in (1, 0))
    if not len(rows):
        return None
    tight = np.array([columns[0], rows[0], columns[-1] + 1, rows[-1] + 1], dtype=np.float64)
    for _ in range(TRIES):
        top, left = (int(random.integers(0, size - len(digit) + 1)) for _ in range(2))
        box = tight + np.array([left, top, left, top])
        if not boxes or box_iou(box[None], np.array(boxes)).max() <= MOST_OVERLAP:
            return top, left, box
    return None
