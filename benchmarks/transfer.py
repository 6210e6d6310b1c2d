"""Which way of transfer is best, by the number of rows and by how much the new images are like the old ones.

LeNet-5 learns the digits 0 to 4 of MNIST. Then it is to tell five classes apart, from few rows or many: the same digits
as another scanner saw them (scikit-learn's, 8 x 8 pixels, enlarged), the digits 5 to 9 (related), or five kinds of
photographs of CIFAR-10 in gray (different). Four ways: only the head learns; the last three of five stages do; all
stages do; all stages start at random. Each way gets the same steps, and the learning rate that is best for it on
average. Run ``python -m benchmarks transfer``; data come from the folder that PELLUCID_DATA names.
``recommend_transfer`` follows what this prints.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from joblib import Parallel, delayed
from PIL import Image
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.datasets import load_digits
from torch import Tensor, nn

from benchmarks.linear_classifiers import DATA
from benchmarks.network_data import digits
from pellucid.vision.models import LeNet5
from pellucid.vision.transfer import fine_tune, replace_head

ROWS = (10, 50, 250, 1000, 4000)
RATES = (1e-3, 5e-3)
WAYS = {"head": 1, "last stages": 3, "all stages": 5, "from scratch": 5}
"""Way -> how many of the last stages learn."""
SEEDS = 3
STEPS = 250
BATCH = 32
TESTED = 1500


class Images(NamedTuple):
    """Images (B, 1, 28, 28) from 0 to 1, and codes of classes from 0."""

    images: Tensor
    codes: Tensor

    def of(self, classes: range) -> Images:
        """Return the images of some classes, with codes from 0."""
        wanted = (self.codes >= classes.start) & (self.codes < classes.stop)
        return Images(self.images[wanted], self.codes[wanted] - classes.start)


def mnist() -> tuple[Images, Images]:
    """Return the digits to learn from, and those to test."""
    found = digits()
    pairs = (found.X, found.y), (found.X_test, found.y_test)
    train, test = (Images(torch.from_numpy(images), torch.from_numpy(codes)) for images, codes in pairs)
    return train, test


def gray_photographs(part: str) -> Images:
    """Return CIFAR-10's photographs in gray, 28 pixels of their middle: ``part`` is "train" or "test"."""
    folder = DATA / "cifar10"
    colors = np.concatenate([np.asarray(Image.open(path)) for path in sorted(folder.glob(f"{part}_*.png"))])
    gray = colors.reshape(-1, 32, 32, 3).mean(axis=3, dtype=np.float32)[:, None, 2:30, 2:30] / 255.0
    labels = np.genfromtxt(folder / f"{part}_labels.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
    return Images(torch.from_numpy(gray), torch.from_numpy(labels["label"].astype(np.int64)))


def other_scanner() -> tuple[Images, Images]:
    """Return scikit-learn's digits in a field like MNIST's: 400 to learn from, the others to test."""
    found = load_digits()
    small = torch.from_numpy(found.images.astype(np.float32) / 16.0)[:, None]
    large = nn.functional.pad(nn.functional.interpolate(small, size=(20, 20), mode="bilinear"), (4, 4, 4, 4))
    kept = Images(large, torch.from_numpy(found.target.astype(np.int64))).of(range(5))
    return Images(kept.images[:400], kept.codes[:400]), Images(kept.images[400:], kept.codes[400:])


def learn(module: nn.Module, groups: list[dict], data: Images, steps: int, seed: int) -> None:
    """Take steps of Adam on batches drawn with a seed."""
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(groups)
    module.train()
    for _ in range(steps):
        rows = torch.randint(len(data.codes), (min(BATCH, len(data.codes)),), generator=generator)
        loss = nn.functional.cross_entropy(module(data.images[rows]), data.codes[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def accuracy(module: nn.Module, data: Images) -> float:
    module.eval()
    with torch.inference_mode():
        return (module(data.images[:TESTED]).argmax(dim=1) == data.codes[:TESTED]).float().mean().item()


def balanced(data: Images, n_rows: int, seed: int) -> Images:
    """Return ``n_rows`` rows drawn at random, as many of each of the five classes."""
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(data.codes), generator=generator)
    chosen = torch.cat([order[data.codes[order] == code][: n_rows // 5] for code in range(5)])
    return Images(data.images[chosen], data.codes[chosen])


def measure(pretrained: nn.Module, way: str, rate: float, train: Images, test: Images, seed: int) -> float:
    torch.set_num_threads(1)  # runs are spread over the cores
    torch.manual_seed(seed)
    start = LeNet5(classes=5).build() if way == "from scratch" else pretrained
    module = replace_head(start, 5)
    learn(module, fine_tune(module, (rate,) * WAYS[way]), train, STEPS, seed)
    return accuracy(module, test)


def report(console: Console, only: str = "") -> None:
    """Print test accuracies: a table per kind of new images."""
    torch.manual_seed(0)
    train, test = mnist()
    pretrained = LeNet5(classes=5).build()
    learn(pretrained, fine_tune(pretrained, (1e-3,) * 5), train.of(range(5)), 1500, seed=0)
    old = accuracy(pretrained, test.of(range(5)))
    console.print(f"digits 0 to 4: {old:.1%} right after 1500 steps", highlight=False)
    targets = {
        "same: digits 0 to 4, another scanner": other_scanner(),
        "related: digits 5 to 9": (train.of(range(5, 10)), test.of(range(5, 10))),
        "different: five kinds of photographs": (
            gray_photographs("train").of(range(5)),
            gray_photographs("test").of(range(5)),
        ),
    }
    for title, (new, unseen) in targets.items():
        if only in title:
            console.print(_table(title, pretrained, new, unseen, console))


def _table(title: str, pretrained: nn.Module, train: Images, test: Images, console: Console) -> Table:
    table = Table(title=f"{title}; accuracy in %, mean of {SEEDS} draws (standard error), best of {len(RATES)} rates")
    for heading in ("rows", *WAYS):
        table.add_column(heading, justify="right")
    sizes = [n_rows for n_rows in ROWS if n_rows <= len(train.codes)]
    for n_rows in track(sizes, description=title, console=console, transient=True):
        draws = [balanced(train, n_rows, seed) for seed in range(SEEDS)]
        runs = [(way, rate, seed) for way in WAYS for rate in RATES for seed in range(SEEDS)]
        found = Parallel(n_jobs=-1)(
            delayed(measure)(pretrained, way, rate, draws[seed], test, seed) for way, rate, seed in runs
        )
        cells = [_best_rate(scores) for scores in np.reshape(found, (len(WAYS), len(RATES), SEEDS))]
        table.add_row(str(n_rows), *cells)
    return table


def _best_rate(scores: np.ndarray) -> str:
    """Return mean and standard error at the rate with the best mean: (rates, seeds) -> text."""
    best = 100 * scores[scores.mean(axis=1).argmax()]
    return f"{best.mean():.1f} ({best.std(ddof=1) / np.sqrt(SEEDS):.1f})"
