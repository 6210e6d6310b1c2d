"""``pellucid warm-up``: compile every loop once, so that no later fit has to wait for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

ASKED = 100
"""Rows that answers are asked for: some methods take long for each, and the loops are the same for few."""
ROWS, COLUMNS = 2100, 8
"""Large enough for the loops that large data take, small enough that nothing but compiling takes time."""

MOST_ITERATIONS = 10
"""What an iteration needs is compiled by then."""

TABLES = "tables"
ANSWERS = ("predict", "transform", "kneighbors")


def warm_up() -> None:
    """Fit every method once on made-up data: what it compiles is kept on disk, and later first fits do not wait."""
    import sys
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context
    from time import monotonic

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from pellucid.core.cards import all_cards
    from pellucid.core.threads import thread_count

    start, console = monotonic(), Console(stderr=True)
    families = _families(card.estimator for card in all_cards())
    n_methods = sum(map(len, families.values()))
    layout = (
        TextColumn("compiling {task.description:<28}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    # methods of a family share loops, so that one process compiles them; the compiler uses one core
    pool = ProcessPoolExecutor(min(thread_count(), len(families)), mp_context=get_context("spawn"))
    with pool, Progress(*layout, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=n_methods)
        waiting = {pool.submit(_compile_methods, names): family for family, names in families.items()}
        waiting[pool.submit(compile_tables)] = TABLES
        for done in as_completed(waiting):
            done.result()
            family = waiting[done]
            progress.update(task, description=family, advance=len(families.get(family, ())))
    taken = f"{monotonic() - start:.0f} s"
    sys.stdout.write(
        f"{n_methods} methods are compiled, after {taken}: their first fits do not wait for it any more.\n"
    )


def _families(estimators: Iterable[type]) -> dict[str, list[str]]:
    """Return the names of the methods by family, the family with most methods first."""
    found: dict[str, list[str]] = {}
    for estimator in estimators:
        found.setdefault(estimator.__module__.split(".")[1], []).append(estimator.__name__)
    return dict(sorted(found.items(), key=lambda pair: -len(pair[1])))


def _compile_methods(names: Sequence[str]) -> None:
    """Fit the methods of these names."""
    from pellucid.core.cards import find_card

    for name in names:
        card = find_card(name)
        for model in variants_of(card):
            for data in data_for(card, model):
                compile_by_fitting(model, *data)


def compile_tables() -> None:
    """Fit what ``pellucid fit`` compares to a table of numbers, words and gaps: some loops are for these only."""
    import numpy as np
    import pandas as pd

    from pellucid.bake_off.contestants import contestants_for
    from pellucid.tables.column_reader import ColumnReader
    from pellucid.tables.understanding import understand

    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((ROWS, 3)), columns=["a", "b", "c"])
    table["gaps"] = table["a"].where(rng.random(ROWS) < 0.8)
    table["words"] = rng.choice(list("uvwxyz"), ROWS)
    columns = understand(table.assign(target=0), "target")
    read = ColumnReader(dict(columns.kinds)).fit_transform(table)
    signal = table["a"].to_numpy() + (table["words"] == "u") + rng.standard_normal(ROWS) / 4
    for is_classification, y in ((True, signal > 0), (False, signal)):
        for contestant in contestants_for(is_classification=is_classification):
            if not contestant.unsuited(columns, read, y):
                compile_by_fitting(contestant.with_rounds(MOST_ITERATIONS).pipeline(columns, read, y), read, y)


def variants_of(card: Any) -> Iterator[Any]:
    """Yield the estimator with its default settings, then with the others on its card, for a few iterations each."""
    for settings in ({}, *card.variants):
        model = card.estimator(**settings)
        if isinstance(getattr(model, "max_iter", None), int):
            model.max_iter = min(model.max_iter, MOST_ITERATIONS)
        yield model


def data_for(card: Any, model: Any) -> Iterator[tuple[Any, Any]]:
    """Yield rows and targets that suit the estimator: dense, of three classes, and sparse where it takes that."""
    import numpy as np
    from scipy import sparse

    from pellucid.core.training_data import CLASSES, NO_TARGET, NUMBERS

    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (ROWS, COLUMNS)).astype(np.float64)  # counts and categories too, for who takes nothing else
    signal = X @ np.arange(1.0, COLUMNS + 1) + rng.standard_normal(ROWS)
    rules, targets = card.rules_for(model), list[Any]()
    if rules.target == NO_TARGET:
        targets = [None]
    elif rules.target == NUMBERS:
        targets = [signal]
    else:
        targets = [np.digitize(signal, np.quantile(signal, cuts)) for cuts in ([0.5], [1 / 3, 2 / 3])]
        targets += [signal] if rules.target != CLASSES else []
    for y in targets:
        yield X, y
    if rules.sparse:
        yield sparse.csr_array(X), targets[0]


def compile_by_fitting(model: Any, X: Any, y: Any) -> None:
    """Fit and ask for answers; pass over what the estimator refuses with a sentence."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about made-up data
        try:
            model.fit(X, y)
            for name in ANSWERS:
                if hasattr(model, name):
                    getattr(model, name)(X[:ASKED])
        except (ValueError, TypeError, NotImplementedError):
            return
