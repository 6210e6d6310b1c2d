"""``pellucid warm-up``: compile every loop once, so that no later fit has to wait for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

ASKED = 20
"""Rows that answers are asked for: some methods take long for each, and the loops are the same for few."""
ROWS, COLUMNS = 240, 6
"""Small enough that nothing but compiling takes time."""
MANY_ROWS = 2100

MOST_ITERATIONS, FEWEST_ITERATIONS = 10, {"TSNE": 250}
"""What an iteration needs is compiled by then; a method may refuse so few."""

TREES, BOOSTING = "tree", "boosting"
SHARES_LOOPS = {"ensemble": TREES}
"""Families whose loops are those of another: one process compiles for both."""
BOOSTS = ("GradientBoosting", "Blend")
"""In the names of methods that need the loops of boosting: another process compiles for these."""
TASKS = (2, 3, 0)
"""Classes of the targets that ``pellucid fit`` compares methods for; 0 stands for numbers."""
ANSWERS = ("predict", "transform", "kneighbors")


def warm_up() -> None:
    """Fit every method once on made-up data: what it compiles is kept on disk, and later first fits do not wait."""
    import sys
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context
    from time import monotonic

    from pellucid.app.bake_off.compiling_ahead import is_compiled
    from pellucid.app.cli.errors import CommandError
    from pellucid.core.card_index import entries
    from pellucid.core.public_names import is_installed
    from pellucid.core.threads import thread_count
    from pellucid.core.watching import terminal_bar

    start, n_done = monotonic(), 0
    families = _families(entry for entry in entries().values() if is_installed(entry.extra))
    n_methods = sum(map(len, families.values()))
    # methods of a family share loops, so that one process compiles them; the compiler uses one core
    pool = ProcessPoolExecutor(min(thread_count(), len(families)), mp_context=get_context("spawn"))
    with pool, terminal_bar() as show:
        show("compiling", 0, n_methods)
        waiting = {pool.submit(compile_images): "images"}
        waiting |= {pool.submit(_compile_methods, names): family for family, names in families.items()}
        if TREES in families:  # last, as most is compiled by then: what 'pellucid fit' compares
            waiting |= {pool.submit(compile_tables, n_classes): "tables" for n_classes in TASKS}
        for done in as_completed(waiting):
            done.result()
            n_done += len(families.get(waiting[done], ()))
            show(f"compiling {waiting[done]}", n_done, n_methods, f"{monotonic() - start:.0f} s")
    if BOOSTING in families and not is_compiled():
        raise CommandError("loops must be kept in a folder, and none can be written. Set NUMBA_CACHE_DIR to one.")
    taken = f"{monotonic() - start:.0f} s"
    sys.stdout.write(
        f"{n_methods} methods are compiled, after {taken}: their first fits do not wait for it any more.\n"
    )


def _families(methods: Iterable[Any]) -> dict[str, list[str]]:
    """Return the names of the methods by family: trees first, which take longest, then those with most methods."""
    found: dict[str, list[str]] = {}
    for method in methods:
        boosts = any(part in method.name for part in BOOSTS)
        family = BOOSTING if boosts else SHARES_LOOPS.get(method.family, method.family)
        found.setdefault(family, []).append(method.name)
    return dict(sorted(found.items(), key=lambda pair: (pair[0] not in (TREES, BOOSTING), -len(pair[1]))))


def _compile_methods(names: Sequence[str]) -> None:
    """Fit the methods of these names."""
    from pellucid.app.bake_off.compiling_ahead import compile_by_fitting
    from pellucid.core.cards import find_card

    for name in names:
        card = find_card(name)
        for model in variants_of(card):
            for data in data_for(card, model):
                compile_by_fitting(model, *data, answers=ANSWERS, n_asked=ASKED)


def compile_tables(n_classes: int) -> None:
    """Fit what ``pellucid fit`` compares to tables with words: some loops are for these only."""
    from pellucid.app.bake_off.compiling_ahead import compile_for
    from pellucid.app.bake_off.contestants import contestants_for

    compile_for(contestants_for(is_classification=n_classes > 0), n_classes, words=True)


def compile_images() -> None:
    """Restore a small image by every method that can be had without an extra."""
    import numpy as np

    from pellucid.vision import restoration

    y = np.random.default_rng(0).normal(100.0, 20.0, (40, 44))
    seen = restoration.Mask(y < 110.0)
    blur = restoration.Blur(np.full((1, 3), 1 / 3))
    for name in ("BM3D", "NonLocalMeans", "TotalVariation", "DCTThresholding", "WaveletThresholding"):
        restoration.denoise(y, 20.0, getattr(restoration, name)(), peak=255.0)
    for operator in (seen, blur):
        restoration.restore(operator.apply(y), operator, 20.0, restoration.TotalVariation(), peak=255.0)
    for coding, happened in (("omp", restoration.Identity()), ("lasso", restoration.Identity()), ("omp", seen)):
        method = restoration.DictionaryDenoising(coding=coding, n_iter=1)
        restoration.restore(happened.apply(y), happened, 20.0, method, peak=255.0, estimate_psnr=False)


def variants_of(card: Any) -> Iterator[Any]:
    """Yield the estimator with its default settings, then with the others on its card, for a few iterations each."""
    for settings in ({}, *card.variants):
        model = card.estimator(**settings)
        if isinstance(getattr(model, "max_iter", None), int):
            model.max_iter = min(model.max_iter, FEWEST_ITERATIONS.get(card.name, MOST_ITERATIONS))
        yield model


def data_for(card: Any, model: Any) -> Iterator[tuple[Any, Any]]:
    """Yield rows and targets that suit the estimator: dense, of three classes, and sparse where it takes that."""
    import numpy as np
    from scipy import sparse

    from pellucid.core.input_rules import CLASSES, NO_TARGET, NUMBERS

    rng = np.random.default_rng(0)
    n = MANY_ROWS if card.trial.many_rows else ROWS
    X = rng.integers(0, 6, (n, COLUMNS)).astype(np.float64)  # counts and categories too, for who takes nothing else
    signal = X @ np.arange(1.0, COLUMNS + 1) + rng.standard_normal(n)
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
