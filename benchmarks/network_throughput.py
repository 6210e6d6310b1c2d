"""Training speed on a graphics card: ours against the best plain loop of torch, and as a share of the card's peak.

``python -m benchmarks.network_throughput``; it needs a graphics card. Times are of whole epochs on data that lie on
the card, in alternating rounds, after one epoch to compile and warm up.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import nn

from pellucid.neural_network import DenseNetwork
from pellucid.neural_network.training.device_rows import DeviceRows
from pellucid.neural_network.training.recipe import TrainingRecipe
from pellucid.neural_network.training.trainer import cross_entropy, train
from pellucid.vision.models import ResNet

ROUNDS = 5
MULTIPLY_ADDS = 1.814e9
"""Of ResNet-18 for one image of 224 x 224, forward; a training step takes three times as many."""


def matrix_peak() -> float:
    """Return floating-point operations in a second of a large bfloat16 product on this card."""
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    return 2 * 8192**3 / _seconds(lambda: a @ b, 20)


def _seconds(work: Callable[[], object], times: int) -> float:
    for _ in range(3):
        work()
    torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(times):
        work()
    torch.cuda.synchronize()
    return (time.perf_counter() - started) / times


def plain_epochs(module: nn.Module, rows: DeviceRows, recipe: TrainingRecipe) -> Callable[[int], None]:
    """Return the loop that a careful user of torch writes: compiled, fused, in bfloat16, channels last."""
    optimizer = torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9, nesterov=True, fused=True)
    compiled = torch.compile(module) if recipe.compiled else module

    def run(epochs: int) -> None:
        module.train()
        for _ in range(epochs):
            for places in torch.randperm(len(rows), device="cuda").split(recipe.batch_size):
                optimizer.zero_grad(set_to_none=True)
                with torch.autocast("cuda", torch.bfloat16, enabled=recipe.precision == "bfloat16"):
                    scores = compiled(rows.inputs[places])
                    loss = nn.functional.cross_entropy(scores, rows.targets[places])
                loss.backward()
                optimizer.step()
        torch.cuda.synchronize()

    return run


def our_epochs(module: nn.Module, rows: DeviceRows, recipe: TrainingRecipe) -> list[float]:
    """Return the seconds of each epoch of our trainer."""

    def loss(network: nn.Module, batch: object) -> torch.Tensor:
        return cross_entropy(network(batch.inputs), batch.targets, batch.weight)

    return list(train(module, rows, loss, recipe).trace["seconds"])


def compare(name: str, build: Callable[[], nn.Module], rows: DeviceRows, recipe: TrainingRecipe, epochs: int) -> None:
    """Print the speed of both, epoch by epoch in turn."""
    ours, plain = build(), build()
    loop = plain_epochs(plain, rows, recipe)
    loop(1)
    seconds: dict[str, list[float]] = {"ours": [], "plain": []}
    for _ in range(ROUNDS):
        seconds["ours"] += our_epochs(ours, rows, replace(recipe, epochs=epochs + 1))[1:]  # the first one compiles
        for _ in range(epochs):
            started = time.perf_counter()
            loop(1)
            seconds["plain"].append(time.perf_counter() - started)
    medians = {who: statistics.median(times) for who, times in seconds.items()}
    speeds = ", ".join(f"{who} {len(rows) / median:,.0f} rows/s" for who, median in medians.items())
    print(f"{name}: {speeds}, plain / ours {medians['plain'] / medians['ours']:.3f}", flush=True)
    if name.startswith("ResNet-18"):
        share = len(rows) / medians["ours"] * 3 * 2 * MULTIPLY_ADDS / matrix_peak()
        print(f"  share of the measured peak of bfloat16 products: {share:.1%}", flush=True)


def main() -> None:
    """Print ResNet-18 on images of 224 x 224, and a dense network on rows like MNIST's."""
    torch.manual_seed(0)
    images = torch.randn(256 * 16, 3, 224, 224, device="cuda").to(torch.bfloat16)
    images = images.to(memory_format=torch.channels_last)
    labels = torch.randint(0, 1000, (len(images),), device="cuda")
    fast = TrainingRecipe(method="sgd", learning_rate=0.01, compiled=True, deterministic=False, channels_last=True)

    def resnet() -> nn.Module:
        return ResNet(18).build().to("cuda", memory_format=torch.channels_last)

    recipe = replace(fast, batch_size=256, precision="bfloat16")
    compare("ResNet-18, 224 x 224, bfloat16, channels last, batch 256", resnet, DeviceRows(images, labels), recipe, 4)
    table = torch.rand(60_000, 784, device="cuda")
    classes = torch.randint(0, 10, (60_000,), device="cuda")

    def dense() -> nn.Module:
        return DenseNetwork(784, 10, hidden=(512, 256)).build().to("cuda")

    for compiled in (False, True):
        recipe = replace(fast, batch_size=200, compiled=compiled)
        name = f"784-512-256-10, 60,000 rows, batch 200, {'compiled' if compiled else 'plain'}"
        compare(name, dense, DeviceRows(table, classes), recipe, 3)


if __name__ == "__main__":
    main()
