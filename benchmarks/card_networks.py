"""Lines of ``benchmarks card`` about networks of dense layers."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from sklearn import neural_network
from sklearn.exceptions import ConvergenceWarning

from benchmarks.card import CardRow
from pellucid.neural_network import MLPClassifier

EPOCHS, CLASSES = 5, 10


def card_rows(scale: float) -> list[CardRow]:
    """Return the lines."""
    return [_classifier(scale)]


def _classifier(scale: float) -> CardRow:
    """The same start, batches of 200 and epochs on both sides; scikit-learn gets a twentieth of the rows."""
    n, d, hidden = max(1000, int(1e6 * scale)), 100, (100, 100)
    options: dict[str, Any] = {"max_iter": EPOCHS, "tol": 0.0, "random_state": 0}

    def make(there: Any) -> Mapping[str, Any]:
        import torch

        random = torch.Generator(there).manual_seed(0)
        X = torch.randn((n, d), generator=random, device=there)
        first, second = (torch.randn(shape, generator=random, device=there) for shape in ((d, 20), (20, CLASSES)))
        noise = torch.randn((n, CLASSES), generator=random, device=there)
        return {"X": X, "y": (torch.tanh(X @ first / d**0.5) @ second + 0.5 * noise).argmax(1)}

    def fitted(kind: Any, data: Mapping[str, Any]) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a few epochs, not as many as it takes
            return kind(hidden, **options).fit(data["X"], data["y"])

    sizes = (d, *hidden, CLASSES)
    weights = sum(into * out for into, out in pairwise(sizes))
    return CardRow(
        f"MLPClassifier, {n:,} x {d}, 2 x 100 units, {EPOCHS} epochs", make,
        lambda data: fitted(MLPClassifier, data), lambda data: fitted(neural_network.MLPClassifier, data), _loss,
        flops=6.0 * n * weights * EPOCHS, part=0.05 if scale > 0.01 else 1.0,
    )  # fmt: skip


def _loss(ours: Any, other: Any, _data: Mapping[str, Any]) -> float:
    """Return how much larger our mean objective of the last epoch is."""
    return float(ours.loss_) / float(other.loss_) - 1.0
