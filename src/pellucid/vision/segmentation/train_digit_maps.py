"""Train a small segmenter on made scenes of digits: ``python -m pellucid.vision.segmentation.train_digit_maps --help``.

Scenes are drawn from MNIST's digits if its folder is given, else from the small ones that come with scikit-learn; those
to test on are drawn from digits that no scene to learn from has. Labels are 0 to 9, and 10 for the ground.
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
from pellucid.vision.models import UNet
from pellucid.vision.scene_augmentation import ColorShift, SceneScale
from pellucid.vision.scenes import Digits, digit_scenes, digits_to_learn_and_test, label_map
from pellucid.vision.segmentation.segmenter import Segmenter
from pellucid.vision.time_box import epochs_within


def main(words: Sequence[str] | None = None) -> None:
    """Make scenes, train for about so many minutes, score on new digits, and write model and figures."""
    arguments = _options().parse_args(words)
    started = time.perf_counter()
    learn, test = digits_to_learn_and_test(arguments.mnist)
    scenes, maps = scenes_with_maps(arguments.scenes, learn, arguments.size, arguments.seed)
    model = Segmenter(
        UNet(None, None, "same", width=arguments.width, dropout=0.0, batch_normalization=True),
        batch_size=arguments.batch,
        learning_rate=arguments.rate,
        weight_decay=0.01,
        augmentation=(SceneScale(0.8, 1.25), ColorShift()),
        precision="bfloat16" if arguments.device != "cpu" else "auto",
        channels_last=True,
        deterministic=False,
        device=arguments.device,
        random_state=arguments.seed,
        verbose=arguments.verbose,
    )
    epochs = arguments.epochs or epochs_within(model, scenes, maps, started + 60.0 * arguments.minutes)
    model.set_params(epochs=epochs).fit(scenes, maps)
    figures: dict[str, Any] = {
        "network": repr(model.architecture_),
        "weights": sum(weight.size for weight in model.weights_.values()),
        "trained on": f"{len(scenes)} scenes of {arguments.size} x {arguments.size}, {len(learn.images)} digits",
        "epochs": epochs,
        "seed": arguments.seed,
        "minutes": round((time.perf_counter() - started) / 60.0, 2),
    }
    pellucid.save(model, arguments.out)
    score = model.evaluate(*scenes_with_maps(arguments.tested, test, arguments.size, arguments.seed + 1))
    figures |= {
        "mean IoU": score.mean_iou,
        "interval of 95 %": score.interval(),
        "mean accuracy": score.mean_accuracy,
        "pixel accuracy": score.pixel_accuracy,
        "IoU": dict(zip(map(str, score.classes.tolist()), score.class_iou.tolist(), strict=True)),
    }
    Path(arguments.out).with_suffix(".json").write_text(json.dumps(figures, indent=1), encoding="utf-8")
    print(figures)


def scenes_with_maps(count: int, digits: Digits, size: int, seed: int) -> tuple[Array, Array]:
    """Return scenes (count, size, size) and their label maps."""
    scenes, truth = digit_scenes(count, digits, size=size, random_state=seed)
    return scenes, np.stack([label_map(one).astype(np.uint8) for one in truth])


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Train a small segmenter on made scenes of digits.")
    parser.add_argument("--mnist", type=Path, default=None, help="folder with MNIST's four files")
    parser.add_argument("--minutes", type=float, default=4.0, help="time for training")
    parser.add_argument("--epochs", type=int, default=None, help="instead of the time")
    parser.add_argument("--scenes", type=int, default=3000)
    parser.add_argument("--tested", type=int, default=300)
    parser.add_argument("--size", type=int, default=320, help="height and width of a scene")
    parser.add_argument("--width", type=int, default=12, help="of the U-Net; 12 makes a file of 4.4 MB")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, required=True, help="model file; the figures get the ending .json")
    parser.add_argument("--verbose", action="store_true")
    return parser


if __name__ == "__main__":
    main()
