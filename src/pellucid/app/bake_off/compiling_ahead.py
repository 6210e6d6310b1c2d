"""The loops of trees, compiled in a second process while this one runs the methods that need none of them.

They take longer to compile than all fits to a small table take together. What is compiled is kept on disk: it is paid
once, and the process that waits for it reads it from there. If it takes longer than there is time, there are no trees.
"""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import pandas as pd

from pellucid.app.bake_off.contestants import Contestant, contestants_for
from pellucid.app.tables.column_reader import ColumnReader
from pellucid.app.tables.understanding import WORD_KINDS, Columns, understand
from pellucid.core.types import Array, Data

ROWS = 300
"""Of a made-up table: the loops are the same for many, and nothing but compiling takes time."""
ROUNDS = 3


class CompilingAhead:
    """A second process that compiles for some methods, or none where nothing is left to compile."""

    def __init__(self, command: Sequence[str] = ()) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        if command:
            one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
            silent: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            self._process = subprocess.Popen(command, env=one_thread, stdin=subprocess.DEVNULL, **silent)

    def covers(self, contestant: Contestant) -> bool:
        """Return whether the loops of a method are being compiled."""
        return contestant.takes_categories and self._process is not None and self._process.poll() is None

    def wait(self, seconds: float | None = None) -> None:
        """Wait for the end, or so long. If the process has failed, the loops are compiled when they are needed."""
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)

    def stop(self) -> None:
        """End the process if it still runs: a loop that it was at is compiled another time."""
        if self._process is not None:
            self._process.terminate()
            self.wait()


@contextmanager
def compiling_ahead(contestants: Sequence[Contestant], columns: Columns, y: Array | None) -> Iterator[CompilingAhead]:
    """Compile what trees need for a target like this (None: numbers) while the block runs, unless it is compiled."""
    needed = any(contestant.takes_categories for contestant in contestants) and not is_compiled()
    n_classes = 0 if y is None else len(np.unique(y))
    kinds = (str(min(n_classes, 3)), str(int(bool(columns.of(*WORD_KINDS)))))
    ahead = CompilingAhead((sys.executable, "-m", __name__, *kinds) if needed else ())
    try:
        yield ahead
    finally:
        ahead.stop()


def is_compiled() -> bool:
    """Return whether a boosted tree has been grown on this machine before."""
    from pellucid.ensemble.hist_gradient_boosting.growing_kernels import grow_tree
    from pellucid.solvers.compiling_kernels import is_kept

    return is_kept(grow_tree)


def compile_for(contestants: Sequence[Contestant], n_classes: int, *, words: bool) -> None:
    """Fit methods to a made-up table of numbers, gaps and, if asked for, words, with that many classes (0: numbers)."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((ROWS, 3)), columns=["a", "b", "c"])
    table["gaps"] = table["a"].where(rng.random(ROWS) < 0.8)
    if words:
        table["words"] = rng.choice(list("uvwxyz"), ROWS)
    signal = table["a"].to_numpy() + rng.standard_normal(ROWS) / 4
    y = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes)) if n_classes else signal
    columns = understand(table.assign(target=0), "target")
    read = ColumnReader(dict(columns.kinds)).fit_transform(table)
    for contestant in contestants:
        if not contestant.unsuited(columns, read, y):
            compile_by_fitting(contestant.with_rounds(ROUNDS).pipeline(columns, read, y), read, y)


def compile_by_fitting(model: Any, X: Data, y: Any, answers: Sequence[str] = ("predict",), n_asked: int = ROWS) -> None:
    """Fit and ask for answers; pass over what the estimator refuses with a sentence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about made-up data
        try:
            model.fit(X, y)
            for name in answers:
                if hasattr(model, name):
                    getattr(model, name)(X[:n_asked])
        except (ValueError, TypeError, NotImplementedError):
            return


def main() -> None:
    """Compile in this process: given are the number of classes and whether there are words."""
    n_classes, words = (int(number) for number in sys.argv[1:])
    trees = [one for one in contestants_for(is_classification=n_classes > 0) if one.takes_categories]
    for with_words in sorted({False, bool(words)}, reverse=True):
        compile_for(trees, n_classes, words=with_words)


if __name__ == "__main__":
    main()
