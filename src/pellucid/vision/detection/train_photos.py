"""Train on photographs: ``python -m pellucid.vision.detection.train_photos --help``.

Penn-Fudan's pedestrians, five folds, from weights of ImageNet or from scratch, and 128 photographs of COCO, learned by
heart on purpose. Rights to Penn-Fudan's photographs are its authors', and those of COCO's have many licenses: what is
learned from them here is not shipped.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import pellucid
from pellucid.core.types import Array
from pellucid.vision.detection.annotations import Annotations
from pellucid.vision.detection.detector import Detector
from pellucid.vision.detection.networks.backbones import EfficientNetBody, FeaturePyramid, SmallBody
from pellucid.vision.detection.networks.detection_network import DetectorArchitecture
from pellucid.vision.detection.networks.region_detectors import FasterRCNN, MaskRCNN
from pellucid.vision.detection.scoring.average_precision import average_precision
from pellucid.vision.scene_augmentation import ColorShift, SceneFlip, SceneScale
from pellucid.vision.time_box import epochs_within

FOLDS = 5
SIZES = (20, 40, 80, 160, 320)
PRETRAINED = FeaturePyramid(EfficientNetBody("frozen"), maps=96)
SCRATCH = FeaturePyramid(SmallBody((32, 64, 128, 192), normalization="group"), maps=96)
SIDES: dict[str, Any] = {"anchor_sizes": SIZES, "width": 256, "regions": 256, "short_side": 320, "long_side": 512}
FINE: dict[str, Any] = SIDES | {"anchor_sizes": (12, 24, 56, 128, 288), "short_side": 448, "long_side": 672}
"""For COCO, where two objects of five are smaller than 32 x 32 pixels."""

NETWORKS: dict[str, DetectorArchitecture] = {
    "pretrained": MaskRCNN(PRETRAINED, **SIDES, mask_width=96),
    "scratch": FasterRCNN(SCRATCH, **SIDES),
}


def main(words: Sequence[str] | None = None) -> None:
    """Train for about so many minutes, score on the images left out (or on those learned by heart), write figures."""
    arguments = _options().parse_args(words)
    started = time.perf_counter()
    images, truth = READERS[arguments.data](arguments.images, arguments.most)
    is_test = np.zeros(len(images), dtype=bool)
    if arguments.fold is not None:
        is_test = np.random.default_rng(0).permutation(len(images)) % FOLDS == arguments.fold
    learned, tested = np.flatnonzero(~is_test), np.flatnonzero(is_test if is_test.any() else ~is_test)
    model = detector_for(arguments)
    scenes = _some(images, truth, learned)
    epochs = arguments.epochs or epochs_within(model, *scenes, until=started + 60.0 * arguments.minutes)
    model.set_params(epochs=epochs).fit(*scenes)
    if arguments.out is not None:
        pellucid.save(model, arguments.out)
    seen, there = _some(images, truth, tested)
    found = model.predict(seen)
    score = average_precision(found, there)
    figures = {
        "data": arguments.data,
        "network": arguments.network,
        "fold": arguments.fold,
        "epochs": model.n_iter_,
        "minutes": round((time.perf_counter() - started) / 60.0, 2),
        "images": (len(learned), len(tested)),
        "AP50": score.ap50,
        "interval of AP50": score.interval(threshold=0.5),
        "AP": score.ap,
    }
    if all(one.masks is not None for one in there) and all(one.masks is not None for one in found):
        figures["mask AP50"] = average_precision(found, there, masks=True).ap50
    print(json.dumps(figures))


def detector_for(arguments: argparse.Namespace) -> Detector:
    """Return the estimator that the words on the command line ask for."""
    by_heart = arguments.data == "coco128"
    network = NETWORKS[arguments.network]
    if by_heart:
        network = FasterRCNN(network.backbone, **FINE)  # type: ignore[attr-defined]  # both have one
    return Detector(
        network,
        batch_size=4 if by_heart else 8,
        learning_rate=1e-3 if by_heart or arguments.network == "scratch" else 6e-4,
        weight_decay=0.0 if by_heart else 0.05,
        augmentation=() if by_heart else (SceneFlip(), SceneScale(0.7, 1.5), ColorShift()),
        initial_weights=arguments.weights if arguments.network == "pretrained" else None,
        deterministic=False,
        device=arguments.device,
        random_state=0,
    )


def _some(
    images: Sequence[Array], truth: Sequence[Annotations], places: Array
) -> tuple[list[Array], list[Annotations]]:
    return [images[i] for i in places], [truth[i] for i in places]


def read_pennfudan(folder: Path, most: int | None) -> tuple[list[Array], list[Annotations]]:
    """Return the photographs of pedestrians, and boxes around the pixels of each."""
    from PIL import Image

    images, truth = [], []
    for file in sorted((folder / "images").iterdir())[:most]:
        images.append(np.asarray(Image.open(file).convert("RGB")))
        numbers = np.asarray(Image.open(folder / "masks" / f"{file.stem}_mask.png"))
        masks = np.stack([numbers == k for k in range(1, int(numbers.max()) + 1)])
        truth.append(
            Annotations(np.stack([_box_around(mask) for mask in masks]), np.zeros(len(masks), int), masks=masks)
        )
    return images, truth


def _box_around(mask: Array) -> Array:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return np.array([columns[0], rows[0], columns[-1] + 1, rows[-1] + 1], dtype=np.float64)


def read_coco128(folder: Path, most: int | None) -> tuple[list[Array], list[Annotations]]:
    """Return the photographs of COCO's first 128 and the objects in them, crowds left out."""
    from PIL import Image

    rows: dict[str, list[list[float]]] = {}
    with (folder / "boxes_train2017.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            numbers = [float(row[name]) for name in ("class_id", "x_center", "y_center", "width", "height")]
            rows.setdefault(Path(row["image"]).stem, []).append(numbers)
    images, truth = [], []
    for photo in sorted((folder / "train2017").iterdir())[:most]:
        image = np.asarray(Image.open(photo).convert("RGB"))
        own = np.array(rows.get(photo.stem, [])).reshape(-1, 5)
        middle, half = own[:, 1:3], own[:, 3:5] / 2
        sides = np.tile([image.shape[1], image.shape[0]], 2)
        images.append(image)
        truth.append(Annotations(np.hstack((middle - half, middle + half)).clip(0, 1) * sides, own[:, 0].astype(int)))
    return images, truth


READERS = {"pennfudan": read_pennfudan, "coco128": read_coco128}


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Train a detector on photographs.")
    parser.add_argument("--data", choices=tuple(READERS), default="pennfudan")
    parser.add_argument("--images", type=Path, required=True, help="folder of the data")
    parser.add_argument("--network", choices=tuple(NETWORKS), default="pretrained")
    parser.add_argument("--weights", default="imagenet", help=".pth file of EfficientNet-Lite0")
    parser.add_argument("--fold", type=int, default=None, help="0 to 4: leave out this fifth and score on it")
    parser.add_argument("--minutes", type=float, default=5.0, help="time for training")
    parser.add_argument("--epochs", type=int, default=None, help="instead of the time")
    parser.add_argument("--most", type=int, default=None, help="photographs, to try it out")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, default=None, help="model file")
    return parser


if __name__ == "__main__":
    main()
