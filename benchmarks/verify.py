"""What a proof costs: the time of ``verify`` as a multiple of the time of the fit, method by method."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.base import is_classifier

import pellucid
from pellucid.core.cards import all_cards
from pellucid.core.input_rules import CLASSES, NO_TARGET

ROWS, COLUMNS, CLASSES_MADE = 2000, 10, 3
ROUNDS = 3


def made(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows of whole numbers that every method takes, labels and numbers to learn."""
    random = np.random.default_rng(0)
    codes = np.arange(n) % CLASSES_MADE
    X = random.poisson(random.uniform(1.0, 6.0, (CLASSES_MADE, COLUMNS))[codes]).astype(float)
    return X, codes, X @ random.standard_normal(COLUMNS) + random.standard_normal(n)


def seconds(call: Callable[[], Any]) -> float:
    """Return the least time of a few calls, the first of which may compile."""
    call()
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def report(console: Console, only: str) -> None:
    """Print the table, the dearest proof first."""
    found = []
    for card in all_cards():
        if only not in card.name or card.extra:
            continue
        X, codes, numbers = made(ROWS // 10 if card.trial.few_rows else ROWS)
        model = card.estimator()
        target = card.rules_for(model).target
        is_class = target == CLASSES or is_classifier(model)
        given = (X,) if target == NO_TARGET else (X, codes) if is_class else (X, numbers)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fit, check = seconds(partial(model.fit, *given)), seconds(partial(pellucid.verify, model, *given))
        except (TypeError, ValueError, MemoryError) as refusal:
            console.print(f"{card.name}: left out, {str(refusal)[:90]}", highlight=False)
            continue
        found.append((check / fit, card.name, fit, check, len(X)))
    table = Table("method", "rows", "fit, ms", "verify, ms", "verify / fit", title="what a proof costs")
    for ratio, name, fit, check, n in sorted(found, reverse=True):
        table.add_row(name, f"{n:,}", f"{1e3 * fit:.1f}", f"{1e3 * check:.1f}", f"{ratio:.2f}")
    console.print(table)
    if found:
        ratios = [row[0] for row in found]
        console.print(f"verify / fit: median {median(ratios):.2f}, worst {max(ratios):.1f}", highlight=False)
