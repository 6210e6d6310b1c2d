"""Train DnCNN, with or without biases: ``python -m pellucid.vision.restoration.networks.train_dncnn --help``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import torch
from torch import Tensor

from pellucid.vision.restoration.networks.dncnn_network import DnCNNNetwork, fused
from pellucid.vision.restoration.networks.network_runs import denoise
from pellucid.vision.restoration.networks.tables import denoising_table
from pellucid.vision.restoration.networks.training_patches import patches_of, read_images
from pellucid.vision.restoration.networks.training_run import (
    arguments_of,
    opening,
    record_of,
    run_from,
    write_weights,
)


def main(words: Sequence[str] | None = None) -> None:
    """Train on patches with noise of a random level each, and write the network without its normalizations."""
    arguments, device, schedule = opening(_options(), words)
    network = DnCNNNetwork(arguments.depth, arguments.width, bias=not arguments.bias_free, normalized=True)
    patches = patches_of(read_images(arguments.images), device, context=0, step=1)
    most = arguments.most_noise / 255.0

    def draw(step: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        clean, _ = patches.draw(step, arguments.batch, arguments.patch, generator)
        levels = torch.rand((len(clean), 1, 1, 1), generator=generator, device=device) * most
        return clean + levels * torch.randn(clean.shape, generator=generator, device=device), clean

    run = run_from(arguments, network.build(), draw, schedule)
    module = fused(run.module.cpu()).to(device)
    noise = f"white, sigma drawn from 0 to {arguments.most_noise:g} of 255"
    record = record_of(run, schedule, arguments, noise=noise)
    write_weights(arguments.out, module, record)
    if arguments.test is not None:
        sigmas = (5, 10, 15, 25, 50) if arguments.most_noise > 10 else (5, 10, 20, 30, 50, 70, 90, 100)
        table = denoising_table(lambda y: denoise(module, y, 255.0), arguments.test, ("bsd68", "set12"), sigmas)
        write_weights(arguments.out, module, record | {"table": table})


def _options() -> argparse.ArgumentParser:
    parser = arguments_of("Train a denoising network.", minutes=9.0, batch=128, patch=64, rate=1e-3)
    parser.add_argument("--bias-free", action="store_true", help="add nothing after any convolution")
    parser.add_argument("--most-noise", type=float, default=55.0, help="largest sigma, of 255 gray levels")
    parser.add_argument("--depth", type=int, default=20)
    parser.add_argument("--width", type=int, default=64)
    return parser


if __name__ == "__main__":
    main()
