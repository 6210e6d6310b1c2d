"""Train SRCNN for one enlargement: ``python -m pellucid.vision.restoration.networks.train_srcnn --help``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import torch
from torch import Tensor

from pellucid.core.types import Array
from pellucid.vision.restoration.networks.network_runs import enlarge
from pellucid.vision.restoration.networks.srcnn_network import SRCNNNetwork
from pellucid.vision.restoration.networks.tables import enlarging_row
from pellucid.vision.restoration.networks.training_patches import patches_of, read_images
from pellucid.vision.restoration.networks.training_run import (
    arguments_of,
    opening,
    record_of,
    run_from,
    write_weights,
)
from pellucid.vision.restoration.operators import Downscale, bicubic_resize


def main(words: Sequence[str] | None = None) -> None:
    """Train on patches of images that were reduced and enlarged again, each beside the image itself."""
    arguments, device, schedule = opening(_options(), words, "tf32")
    scale = arguments.scale
    network = SRCNNNetwork(scale=scale)

    def enlarged_again(clean: Array) -> Array:
        return bicubic_resize(Downscale(scale).apply(clean), scale)

    patches = patches_of(read_images(arguments.images), device, network.reach, enlarged_again, step=scale)

    def draw(step: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        return patches.draw(step, arguments.batch, arguments.patch, generator)

    run = run_from(arguments, network.build(), draw, schedule)
    record = record_of(run, schedule, arguments)
    write_weights(arguments.out, run.module, record)
    if arguments.test is not None:
        table = {}
        for folder in ("set5", "set14"):
            found = enlarging_row(lambda y: enlarge(run.module, y, 255.0), arguments.test / folder, scale)
            table[f"{folder} x{scale}"] = round(found, 3)
        write_weights(arguments.out, run.module, record | {"table": table})


def _options() -> argparse.ArgumentParser:
    parser = arguments_of("Train a super-resolution network.", minutes=2.5, batch=64, patch=48, rate=1e-3)
    parser.add_argument("--scale", type=int, default=2)
    return parser


if __name__ == "__main__":
    main()
