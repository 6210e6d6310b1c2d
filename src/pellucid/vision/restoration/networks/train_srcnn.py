"""Train SRCNN for one enlargement: ``python -m pellucid.vision.restoration.networks.train_srcnn --help``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import torch
from torch import Tensor

from pellucid.core.types import Array
from pellucid.neural_network.training.devices import device_named
from pellucid.vision.restoration.networks.network_runs import enlarge
from pellucid.vision.restoration.networks.srcnn_network import SRCNNNetwork
from pellucid.vision.restoration.networks.tables import enlarging_row
from pellucid.vision.restoration.networks.training_patches import patches_of, read_images
from pellucid.vision.restoration.networks.training_run import (
    Schedule,
    arguments_of,
    record_of,
    run_from,
    write_weights,
)
from pellucid.vision.restoration.operators import Downscale, bicubic_resize


def main(words: Sequence[str] | None = None) -> None:
    """Train on patches of images that were reduced and enlarged again, each beside the image itself."""
    arguments = _options().parse_args(words)
    device = device_named(arguments.device)
    torch.manual_seed(arguments.seed)
    scale = arguments.scale
    network = SRCNNNetwork(scale=scale)
    schedule = Schedule(arguments.minutes, arguments.steps, arguments.rate, arguments.seed, precision="tf32")

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
    parser = arguments_of("Train a super-resolution network.", minutes=2.5)
    parser.add_argument("--scale", type=int, default=2)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--patch", type=int, default=48)
    parser.add_argument("--rate", type=float, default=1e-3)
    return parser


if __name__ == "__main__":
    main()
