"""Speed of multilayer perceptrons: the same network, batches and epochs; the objective is the last epoch's loss."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.neural_network import MLPClassifier as PeerMLPClassifier

from benchmarks.harness import OURS, Row
from benchmarks.linear_classifiers import mnist
from pellucid.neural_network import MLPClassifier

HIDDEN = (512, 256)


class Task(NamedTuple):
    """Rows in float32, labels, hidden units and epochs."""

    X: np.ndarray
    y: np.ndarray
    hidden: tuple[int, ...]
    epochs: int


def digits() -> Task:
    """Return all digits."""
    whole = mnist()
    return Task(whole.X.astype(np.float32), whole.y, HIDDEN, 3)


def table() -> Task:
    """Return a small table, on which each step is mostly overhead."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2_000, 20)).astype(np.float32)
    return Task(X, (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int), (100,), 100)


def by(kind: Any) -> Callable[[Task], Any]:
    """Return the fit of an estimator with scikit-learn's parameters."""

    def fit(data: Task) -> Any:
        options = {"max_iter": data.epochs, "n_iter_no_change": 1_000, "batch_size": 200, "random_state": 0}
        return kind(data.hidden, **options).fit(data.X, data.y)

    return fit


def by_loop(data: Task) -> Any:
    """Return the last loss of a loop of torch, written by hand: whole tensors, slices of a permutation, fused Adam."""
    import torch

    torch.manual_seed(0)
    module = _module(data)
    X, y = torch.from_numpy(data.X), torch.from_numpy(data.y).long()
    optimizer = torch.optim.Adam(module.parameters(), fused=True)
    for _ in range(data.epochs):
        losses = []
        for places in torch.randperm(len(X)).split(200):
            optimizer.zero_grad(set_to_none=True)
            loss = torch.nn.functional.cross_entropy(module(X[places]), y[places])
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
    return float(torch.stack(losses).mean())


def by_skorch(data: Task) -> Any:
    """Return the last loss of skorch."""
    import torch
    from skorch import NeuralNetClassifier

    torch.manual_seed(0)
    options = {"max_epochs": data.epochs, "batch_size": 200, "lr": 0.001, "train_split": None, "verbose": 0}
    net = NeuralNetClassifier(
        _module(data),
        criterion=torch.nn.CrossEntropyLoss,
        optimizer=torch.optim.Adam,
        iterator_train__shuffle=True,
        **options,
    )
    return float(net.fit(data.X, data.y.astype(np.int64)).history[-1, "train_loss"])


def _module(data: Task) -> Any:
    from pellucid.neural_network import DenseNetwork

    classes = len(np.unique(data.y))
    return DenseNetwork(data.X.shape[1], classes, hidden=data.hidden, initialization="glorot").build()


def last_loss(_data: Task, result: Any) -> float:
    """Return the mean loss of the last epoch, which scikit-learn counts with its tiny penalty."""
    return result if isinstance(result, float) else float(result.loss_)


def rows() -> list[Row]:
    """Return the rows of the table."""
    contenders = {
        OURS: by(MLPClassifier),
        "sklearn": by(PeerMLPClassifier),
        "skorch": by_skorch,
        "torch loop": by_loop,
    }
    # torch draws other first weights: its losses differ by chance, scikit-learn's are ours to seven digits
    row = partial(Row, contenders=contenders, objective=last_loss, slack=0.5)
    return [
        row("MLPClassifier 784-512-256-10, MNIST, batch 200, 3 epochs", digits, rounds=2),
        row("MLPClassifier 2,000 x 20, 100 epochs", table, rounds=5),
    ]
