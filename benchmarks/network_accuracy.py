"""How well networks learn: test accuracy over seeds with its spread, ours beside a plain loop of torch.

``PELLUCID_DATA=... python -m benchmarks.network_accuracy [mlp] [lenet] [resnet] [--seeds 0 1 2]``; a graphics card is
used if there is one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from benchmarks.network_data import Images, digits, pictures
from pellucid.neural_network import DenseNetwork, NetworkClassifier
from pellucid.optimize import CosineDecay
from pellucid.vision.augmentation import Crop, Flip, Shift
from pellucid.vision.models import CifarResNet, LeNet5

RESNET = {"epochs": 60, "batch_size": 128, "weight_decay": 5e-4}
RATE = 0.1


def mlp(data: Images, seed: int) -> float:
    """Return the accuracy of 784-512-256-10 with dropout."""
    network = DenseNetwork(hidden=(512, 256), dropout=0.25, flatten=True)
    options = {"epochs": 40, "batch_size": 128, "learning_rate": CosineDecay(0.001, length=40), "method": "adamw"}
    return NetworkClassifier(network, random_state=seed, **options).fit(data.X, data.y).score(data.X_test, data.y_test)


def lenet(data: Images, seed: int) -> float:
    """Return the accuracy of LeNet-5 on shifted digits."""
    options = {"epochs": 25, "batch_size": 128, "learning_rate": CosineDecay(0.002, length=25), "method": "adamw"}
    model = NetworkClassifier(LeNet5(), random_state=seed, augmentation=(Shift(2),), weight_decay=0.01, **options)
    return model.fit(data.X, data.y).score(data.X_test, data.y_test)


def resnet(data: Images, seed: int) -> float:
    """Return the accuracy of ResNet-20 by our trainer."""
    model = NetworkClassifier(
        CifarResNet(20, classes=10),
        method="sgd",
        learning_rate=CosineDecay(RATE, length=RESNET["epochs"]),
        augmentation=(Flip(), Crop(padding=4)),
        random_state=seed,
        **RESNET,
    )
    return model.fit(data.X, data.y).score(data.X_test, data.y_test)


def plain_resnet(data: Images, seed: int) -> float:
    """Return the accuracy of the same network, recipe and changes of images in a loop as in a tutorial."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(seed)
    module = CifarResNet(20, classes=10).build().to(device)
    X, y = torch.from_numpy(data.X).to(device), torch.from_numpy(data.y).to(device)
    steps = -(-len(X) // RESNET["batch_size"])
    options = {"lr": RATE, "momentum": 0.9, "nesterov": True, "weight_decay": RESNET["weight_decay"]}
    optimizer = torch.optim.SGD(module.parameters(), **options)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, RESNET["epochs"] * steps)
    draws = torch.Generator(device).manual_seed(seed)
    changes = (Flip(), Crop(padding=4))
    for _ in range(RESNET["epochs"]):
        module.train()
        for places in torch.randperm(len(X), device=device).split(RESNET["batch_size"]):
            images, labels = X[places], y[places]
            for change in changes:
                images, labels = change(images, labels, draws)
            optimizer.zero_grad()
            nn.functional.cross_entropy(module(images), labels).backward()
            optimizer.step()
            schedule.step()
    module.eval()
    with torch.no_grad():
        found = torch.cat([module(part.to(device)).argmax(1) for part in torch.from_numpy(data.X_test).split(500)])
    return float((found.cpu().numpy() == data.y_test).mean())


RUNS: dict[str, tuple[Callable[[], Images], tuple[Callable[[Images, int], float], ...]]] = {
    "mlp": (digits, (mlp,)),
    "lenet": (digits, (lenet,)),
    "resnet": (pictures, (resnet, plain_resnet)),
}


def main() -> None:
    """Print a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])  # type: ignore[union-attr]
    parser.add_argument("names", nargs="*", metavar="name", help=f"one or more of {', '.join(RUNS)}; all without one")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    asked = parser.parse_args()
    for name in asked.names or RUNS:
        load, runs = RUNS[name]
        data = load()
        for run in runs:
            started = time.perf_counter()
            scores = [run(data, seed) for seed in asked.seeds]
            seconds = (time.perf_counter() - started) / len(scores)
            shown = " ".join(f"{score:.4f}" for score in scores)
            spread = f" +- {np.std(scores, ddof=1):.4f}" if len(scores) > 1 else ""
            print(f"{run.__name__}: {np.mean(scores):.4f}{spread} ({shown}), {seconds:.1f} s each", flush=True)


if __name__ == "__main__":
    main()
