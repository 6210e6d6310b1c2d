"""Train small detectors on made scenes of digits: ``python -m pellucid.vision.detection.train_digits --help``.

Scenes are drawn from MNIST's digits if its folder is given, else from the small ones that come with scikit-learn; those
to test on are drawn from digits that no scene to learn from has.
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
from pellucid.vision.detection.annotations import Annotations
from pellucid.vision.detection.detector import Detector
from pellucid.vision.detection.networks.backbones import SmallBody
from pellucid.vision.detection.networks.detection_network import DetectorArchitecture
from pellucid.vision.detection.networks.localizer import Localizer
from pellucid.vision.detection.networks.small_detectors import SMALL_DETECTORS
from pellucid.vision.detection.scoring.average_precision import average_precision
from pellucid.vision.scene_augmentation import ColorShift, SceneScale
from pellucid.vision.scenes import Digits, digit_scenes, digits_to_learn_and_test
from pellucid.vision.time_box import epochs_within

LOCALIZERS: dict[str, DetectorArchitecture] = {
    "one digit": Localizer(SmallBody((32, 64, 128), blocks=2), objects=1),
    "two digits": Localizer(SmallBody((32, 64, 128), blocks=2), objects=2),
}
"""Classification with localization, on scenes of 64 x 64 with a known number of digits."""


def main(words: Sequence[str] | None = None) -> None:
    """Make scenes, train for about so many minutes, score on new digits, and write model and figures."""
    arguments = _options().parse_args(words)
    started = time.perf_counter()
    learn, test = digits_to_learn_and_test(arguments.mnist)
    architecture = {**SMALL_DETECTORS, **LOCALIZERS}[arguments.network]
    scenes, truth = _scenes(arguments, learn, arguments.scenes, seed=arguments.seed)
    model = detector_for(arguments, architecture)
    epochs = arguments.epochs or epochs_within(model, scenes, truth, started + 60.0 * arguments.minutes)
    model.set_params(epochs=epochs).fit(scenes, truth)
    figures: dict[str, Any] = {
        "network": arguments.network,
        "weights": sum(weight.size for weight in model.weights_.values()),
        "trained on": f"{len(scenes)} scenes of {scenes.shape[1]} x {scenes.shape[2]}, {len(learn.images)} digits",
        "epochs": epochs,
        "seed": arguments.seed,
        "minutes": round((time.perf_counter() - started) / 60.0, 2),
        "losses": {name: model.trace_[name].round(4).tolist() for name in model.trace_.columns if "loss" in name},
    }
    pellucid.save(model, arguments.out)
    figures |= measured(model, *_scenes(arguments, test, arguments.tested, seed=arguments.seed + 1))
    Path(arguments.out).with_suffix(".json").write_text(json.dumps(figures, indent=1), encoding="utf-8")
    print({name: value for name, value in figures.items() if name != "losses"})


def measured(model: Detector, scenes: Array, truth: list[Annotations]) -> dict[str, Any]:
    """Return average precisions, the accuracy where the number of objects is known, and images per second."""
    model.predict(scenes[:8])
    started = time.perf_counter()
    found = model.predict(scenes)
    figures: dict[str, Any] = {"images per second": len(scenes) / (time.perf_counter() - started)}
    score = average_precision(found, truth)
    figures |= {
        "AP": score.ap,
        "AP50": score.ap50,
        "AP75": score.ap75,
        "AP50 interval": score.interval(threshold=0.5),
    }
    if truth[0].masks is not None and found[0].masks is not None:
        figures["mask AP50"] = average_precision(found, truth, masks=True).ap50
    if isinstance(model.architecture_, Localizer):
        figures |= accuracy_and_overlap(found, truth)
    return figures


def accuracy_and_overlap(found: Sequence[Any], truth: Sequence[Annotations]) -> dict[str, float]:
    """Return the share of objects with the right class, and the mean overlap; objects are paired to overlap most."""
    from scipy.optimize import linear_sum_assignment

    from pellucid.vision.detection.boxes.box_geometry import box_iou

    right, overlaps = [], []
    for one, seen in zip(found, truth, strict=True):
        overlap = box_iou(one.boxes, seen.boxes)
        ours, theirs = linear_sum_assignment(overlap, maximize=True)
        right.append(one.labels[ours] == seen.labels[theirs])
        overlaps.append(overlap[ours, theirs])
    return {"accuracy": float(np.mean(right)), "mean overlap": float(np.mean(overlaps))}


def detector_for(arguments: argparse.Namespace, architecture: DetectorArchitecture) -> Detector:
    """Return the estimator that the words on the command line ask for."""
    return Detector(
        architecture,
        batch_size=arguments.batch,
        learning_rate=arguments.rate,
        weight_decay=0.01,
        augmentation=() if isinstance(architecture, Localizer) else (SceneScale(0.8, 1.25), ColorShift()),
        deterministic=False,
        device=arguments.device,
        random_state=arguments.seed,
        verbose=arguments.verbose,
    )


def _scenes(arguments: argparse.Namespace, digits: Digits, count: int, seed: int) -> tuple[Array, list[Annotations]]:
    """Return scenes for the network: of 64 x 64 with so many digits, or of 320 x 320 with any number."""
    wants_masks = arguments.network == "mask r-cnn"
    if arguments.network not in LOCALIZERS:
        return digit_scenes(count, digits, random_state=seed, masks=wants_masks)
    number = LOCALIZERS[arguments.network].objects  # type: ignore[attr-defined]  # a Localizer's
    scenes, truth = digit_scenes(
        count, digits, size=64, fewest=number, most=number, sides=(26, 30), random_state=seed, masks=False
    )
    whole = [place for place, one in enumerate(truth) if len(one) == number]
    return scenes[whole], [truth[place] for place in whole]


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Train a small detector on made scenes of digits.")
    parser.add_argument("--network", choices=(*SMALL_DETECTORS, *LOCALIZERS), default="faster r-cnn")
    parser.add_argument("--mnist", type=Path, default=None, help="folder with MNIST's four files")
    parser.add_argument("--minutes", type=float, default=8.0, help="time for training")
    parser.add_argument("--epochs", type=int, default=None, help="instead of the time")
    parser.add_argument("--scenes", type=int, default=4000)
    parser.add_argument("--tested", type=int, default=500)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, required=True, help="model file; the figures get the ending .json")
    parser.add_argument("--verbose", action="store_true")
    return parser


if __name__ == "__main__":
    main()
