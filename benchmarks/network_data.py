"""Images for the benchmarks of networks: MNIST and a part of CIFAR-10, from the folder PELLUCID_DATA."""

from __future__ import annotations

import gzip
from typing import NamedTuple

import numpy as np

from benchmarks.linear_classifiers import DATA


class Images(NamedTuple):
    """Training and test images, (n, channels, height, width) in float32, with their labels."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def digits() -> Images:
    """Return MNIST, between 0 and 1."""
    folder = DATA / "mnist"

    def read(name: str, offset: int) -> np.ndarray:
        with gzip.open(folder / name) as file:
            return np.frombuffer(file.read(), np.uint8, offset=offset)

    parts = []
    for part in ("train", "t10k"):
        images = read(f"{part}-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28)
        parts += [images.astype(np.float32) / 255, read(f"{part}-labels-idx1-ubyte.gz", 8).astype(np.int64)]
    return Images(*parts)


def pictures() -> Images:
    """Return 10,000 images of CIFAR-10 and 2,000 to test on, standardized by channel."""
    from PIL import Image

    parts = []
    for part in ("train", "test"):
        stacks = [np.asarray(Image.open(path)) for path in sorted((DATA / "cifar10").glob(f"{part}_*.png"))]
        images = np.concatenate([stack.reshape(-1, 32, 32, 3) for stack in stacks]).transpose(0, 3, 1, 2)
        labels = np.genfromtxt(DATA / "cifar10" / f"{part}_labels.csv", delimiter=",", dtype=str, skip_header=1)
        parts += [images.astype(np.float32) / 255, np.unique(labels[:, 1], return_inverse=True)[1]]
    mean = parts[0].mean(axis=(0, 2, 3), keepdims=True)
    deviation = parts[0].std(axis=(0, 2, 3), keepdims=True)
    return Images((parts[0] - mean) / deviation, parts[1], (parts[2] - mean) / deviation, parts[3])
