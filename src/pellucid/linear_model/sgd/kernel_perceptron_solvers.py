"""The kernel perceptron: mistakes are counted row by row, and each moves the scores of all rows at once."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch, ignore
from pellucid.kernels.functions import check_products
from pellucid.kernels.kernel import Kernel
from pellucid.linear_model.sgd.sgd_solvers import shuffled

MOST_KEPT = 1 << 28
"""Bytes of products that are kept; the rest is computed again when a row is a mistake again."""

WHOLE = 1 << 27
"""Bytes up to which all products are computed at once."""


class ProductRows:
    """The products of one row with all rows shown, on demand."""

    def __init__(self, kernel: Kernel, X: Any, order: Array, *, is_given: bool) -> None:
        self.kernel, self.order = kernel, order
        self.rows = X if is_given else X[order]
        self.columns: Any = order if is_given else self.rows
        self.shown: Any = order if is_given else slice(None)
        self.kept: OrderedDict[int, Array] = OrderedDict()
        self.whole = None
        if 8 * len(order) ** 2 <= WHOLE:
            self.whole = kernel(self.rows, self.columns)[self.shown]
            check_products(self.whole)

    def __getitem__(self, i: int) -> Array:
        """Return the products with the row shown in place ``i``."""
        if self.whole is not None:
            return np.asarray(self.whole[:, i])
        if i not in self.kept:
            if 8 * len(self.order) * (len(self.kept) + 1) > MOST_KEPT:
                self.kept.popitem(last=False)
            self.kept[i] = self.kernel(self.rows, self.columns[[i]])[self.shown, 0]
            check_products(self.kept[i])
        return self.kept[i]


@dataclass
class KernelMachine:
    """One class (``y`` = +1) against the rest (-1): the mistakes of each row shown, and the scores of all."""

    y: Array
    weight: Array
    seed: int
    counts: Array = field(default_factory=lambda: np.zeros(0))
    scores: Array = field(default_factory=lambda: np.zeros(0))
    n_iter: int = 0
    is_done: bool = False

    @property
    def dual(self) -> Array:
        """What each row has added to the weights: its mistakes, with its weight and sign."""
        return self.counts * self.weight * self.y


def count_mistakes(
    machines: list[KernelMachine], products: ProductRows, *, max_iter: int, shuffle: bool, watch: Watch = ignore
) -> Trace:
    """Show all rows, epoch by epoch, until no machine makes a mistake; return the trace."""
    n, trace = len(products.order), Trace()
    randoms = [np.random.default_rng(machine.seed) for machine in machines]
    for machine in machines:
        machine.counts, machine.scores = np.zeros(n), np.zeros(n)
    orders = [np.arange(n) for _ in machines]
    for epoch in range(1, max_iter + 1):
        losses = 0.0
        for k, (machine, random) in enumerate(zip(machines, randoms, strict=True)):
            if not machine.is_done:
                orders[k] = shuffled(np.arange(n), random) if shuffle else orders[k]
                with np.errstate(over="ignore", invalid="ignore"):
                    losses += _run_epoch(machine, products, orders[k])
        if not np.isfinite(losses):
            raise ValueError(
                "X must have smaller products, or sample_weight smaller weights: got scores that overflow. "
                "Change the units of X, or divide the weights by their mean."
            )
        n_mistakes = sum(float(machine.counts.sum()) for machine in machines)
        trace.add(iteration=epoch, objective=losses, updates=n_mistakes)
        trace.keep(dual=np.stack([machine.dual for machine in machines]), order=orders)
        stop = watch is not ignore and watch(machines)
        if stop or all(machine.is_done for machine in machines):
            break
    return trace


def _run_epoch(machine: KernelMachine, products: ProductRows, order: Array) -> float:
    """Go from mistake to mistake; return the mean loss of the rows when they were shown."""
    losses, start = 0.0, 0
    y, scores = machine.y, machine.scores
    while start < len(order):
        ahead = order[start:]
        wrong = y[ahead] * scores[ahead] <= 0.0
        step = int(np.argmax(wrong))
        if not wrong[step]:
            break
        i = int(ahead[step])
        losses += machine.weight[i] * abs(scores[i])
        scores += machine.weight[i] * y[i] * products[i]
        machine.counts[i] += 1.0
        start += step + 1
    machine.n_iter += 1
    machine.is_done = start == 0
    return losses / float(machine.weight.sum())
