"""Train a segmenter of road scenes: ``python -m pellucid.vision.segmentation.train_camvid --help``.

CamVid's images and labels are for research and not for sale (CC BY-NC): what is learned from them is not shipped.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import pellucid
from pellucid.core.types import Array
from pellucid.neural_network.architecture import Architecture
from pellucid.vision.models import FCN, DilatedNetwork, EfficientUNet, UNet
from pellucid.vision.scene_augmentation import ColorShift, SceneFlip, SceneScale
from pellucid.vision.segmentation.scoring import SegmentationScore
from pellucid.vision.segmentation.segmenter import Segmenter
from pellucid.vision.time_box import epochs_within

UNLABELED = 11
"""The label of pixels that do not count."""

SCENE = 10
"""Frames that are drawn together for an interval: the video has one a second, and neighbors are nearly the same."""

NETWORKS: dict[str, tuple[Architecture, float]] = {
    "unet": (UNet(None, None, "same", batch_normalization=True), 1e-3),
    "dilated": (DilatedNetwork(None, width=64, stride=4), 1e-3),
    "fcn8": (FCN(8, None, width=32, batch_normalization=True), 1e-3),
    "efficientnet": (EfficientUNet(None, width=32, enlarge=2), 6e-4),
}
"""Name -> network and learning rate."""


def main(words: Sequence[str] | None = None) -> None:
    """Train for about so many minutes, score on the test frames once, and write model and figures."""
    arguments = _options().parse_args(words)
    started = time.perf_counter()
    images, maps = read_split(arguments.images, "train", arguments.most)
    model = segmenter_for(arguments, maps)
    epochs = arguments.epochs or epochs_within(model, images, maps, started + 60.0 * arguments.minutes)
    model.set_params(epochs=epochs).fit(images, maps)
    found = {
        "network": repr(model.architecture_),
        "weights": sum(weight.size for weight in model.weights_.values()),
        "started from": "ImageNet" if model.initial_weights else "random weights",
        "trained on": f"CamVid train, {len(images)} frames of 240 x 180",
        "epochs": model.n_iter_,
        "seed": arguments.seed,
        "minutes": round((time.perf_counter() - started) / 60.0, 2),
        "objective": [round(value, 4) for value in model.trace_["objective"][:: max(1, model.n_iter_ // 20)]],
    }
    pellucid.save(model, arguments.out)
    names = (arguments.images / "classes.txt").read_text(encoding="utf-8").split()
    for split in ("val", "test"):
        score = model.evaluate(*read_split(arguments.images, split, arguments.most))
        found[split] = figures(score, names)
        Path(arguments.out).with_suffix(".json").write_text(json.dumps(found, indent=1), encoding="utf-8")
    print(arguments.network, f"test mIoU {100 * score.mean_iou:.1f}, val {100 * found['val']['mean IoU']:.1f}")


def read_split(folder: Path, split: str, most: int | None = None) -> tuple[list[Array], list[Array]]:
    """Return the frames of a split in order, and their label maps."""
    from PIL import Image

    files = sorted((folder / split).glob("*.jpg"))
    files = files if most is None else files[:: -(-len(files) // most)]
    if not files:
        raise FileNotFoundError(f"images must be a folder with {split}/*.jpg, got {str(folder)!r}.")
    images = [np.asarray(Image.open(file).convert("RGB")) for file in files]
    return images, [np.asarray(Image.open(folder / f"{split}_labels" / f"{file.stem}.png")) for file in files]


def segmenter_for(arguments: argparse.Namespace, maps: Sequence[Array]) -> Segmenter:
    """Return the estimator that the words on the command line ask for."""
    network, rate = NETWORKS[arguments.network]
    return Segmenter(
        network,
        batch_size=arguments.batch,
        learning_rate=arguments.rate or rate,
        weight_decay=0.01,
        clip_norm=5.0,
        augmentation=(SceneFlip(), SceneScale(0.7, 2.0), ColorShift(0.3, 0.3, 0.1)),
        precision="bfloat16" if arguments.device != "cpu" else "auto",
        channels_last=True,
        deterministic=False,
        device=arguments.device,
        random_state=arguments.seed,
        verbose=arguments.verbose,
        ignore_label=UNLABELED,
        class_weight=root_balance(maps),
        initial_weights=arguments.weights if arguments.network == "efficientnet" else None,
    )


def root_balance(maps: Sequence[Array]) -> dict[int, float]:
    """Return weights by the root of how rare classes are: half way between equal pixels and equal classes."""
    counts = sum(np.bincount(one.ravel(), minlength=UNLABELED + 1) for one in maps)[:UNLABELED]  # type: ignore[index]
    rare = np.sqrt(counts.sum() / np.maximum(counts, 1))
    rare *= counts.sum() / (counts @ rare)  # a pixel counts 1 on average
    return {int(label): float(rare[label]) for label in np.flatnonzero(counts)}


def figures(score: SegmentationScore, names: Sequence[str]) -> dict[str, Any]:
    """Return a score in words and numbers."""
    return {
        "mean IoU": score.mean_iou,
        "interval of 95 %, scenes drawn": score.interval(block=SCENE),
        "interval of 95 %, frames drawn": score.interval(),
        "mean accuracy": score.mean_accuracy,
        "pixel accuracy": score.pixel_accuracy,
        "IoU": {names[label]: float(iou) for label, iou in zip(score.classes.tolist(), score.class_iou, strict=True)},
    }


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Train a segmenter of CamVid's road scenes.")
    parser.add_argument("--images", type=Path, required=True, help="folder with train, val, test and *_labels")
    parser.add_argument("--network", choices=tuple(NETWORKS), default="unet")
    parser.add_argument("--minutes", type=float, default=6.0, help="time for training")
    parser.add_argument("--epochs", type=int, default=None, help="instead of the time")
    parser.add_argument("--out", type=Path, required=True, help="model file; the figures get the ending .json")
    parser.add_argument("--weights", default="imagenet", help=".pth file for the trunk of efficientnet")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--rate", type=float, default=None)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--most", type=int, default=None, help="frames of each split, evenly spaced, to try it out")
    parser.add_argument("--verbose", action="store_true")
    return parser


if __name__ == "__main__":
    main()
