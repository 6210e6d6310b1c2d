"""Train the networks that undo a blur: ``python -m pellucid.vision.restoration.networks.train_deconvolution -h``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from pellucid.vision.restoration.networks.deconvolution_network import (
    DeconvolutionArchitecture,
    disk_kernel,
    gaussian_kernel,
    start_from_inverse,
)
from pellucid.vision.restoration.networks.network_runs import deblur
from pellucid.vision.restoration.networks.tables import Restore, deblurring_row
from pellucid.vision.restoration.networks.training_patches import patches_of, read_images
from pellucid.vision.restoration.networks.training_run import (
    arguments_of,
    opening,
    record_of,
    run_from,
    write_weights,
)
from pellucid.vision.restoration.operators import Blur

KERNELS = {"disk": disk_kernel(5.0), "gaussian": gaussian_kernel(2.0, 17)}


def main(words: Sequence[str] | None = None) -> None:
    """Train on blurred patches with noise of a random level each, from the inverse of the blur on."""
    arguments, device, schedule = opening(_options(), words, "tf32")
    blur = Blur(KERNELS[arguments.kernel], "reflect")
    network = DeconvolutionArchitecture(kernel_size=len(blur.kernel))
    patches = patches_of(read_images(arguments.images), device, network.reach, blur.apply, step=1)
    most = arguments.most_noise / 255.0

    def draw(step: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        blurred, sharp = patches.draw(step, arguments.batch, arguments.patch, generator)
        levels = torch.rand((len(sharp), 1, 1, 1), generator=generator, device=device) * most
        return blurred + levels * torch.randn(blurred.shape, generator=generator, device=device), sharp

    module = network.build()
    start_from_inverse(module, blur.kernel)
    run = run_from(arguments, module, draw, schedule)
    noise = f"white, sigma drawn from 0 to {arguments.most_noise:g} of 255"
    record = record_of(run, schedule, arguments, kernel=arguments.kernel, noise=noise)
    write_weights(arguments.out, run.module, record)
    if arguments.test is not None:
        table = {}
        for sigma in (1.0, 2.55, 5.0):
            found = deblurring_row(_restorer(run.module, blur), arguments.test / "set12", blur.kernel, sigma)
            table[f"set12 sigma {sigma:g}"] = round(found, 3)
        write_weights(arguments.out, run.module, record | {"table": table})


def _restorer(module: nn.Module, blur: Blur) -> Restore:
    return lambda y: deblur(module, y, blur, 255.0)


def _options() -> argparse.ArgumentParser:
    parser = arguments_of("Train the networks that undo one blur.", minutes=2.0, batch=32, patch=96, rate=5e-4)
    parser.add_argument("--kernel", choices=tuple(KERNELS), default="disk")
    parser.add_argument("--most-noise", type=float, default=5.0, help="largest sigma, of 255 gray levels")
    return parser


if __name__ == "__main__":
    main()
