"""Seconds of the first fit of every estimator in a fresh process: nothing compiled, then all that it needs on disk.

Settings are the defaults and the rows those of ``pellucid warm-up``, so few that nothing but compiling takes time.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings

from rich.console import Console
from rich.table import Table

from pellucid.app.cli.warm_up import data_for, variants_of
from pellucid.core.card_index import entries
from pellucid.core.public_names import is_installed

GOALS = (3.0, 0.3)
"""Seconds that are wanted: with nothing compiled, and with what the fit needs on disk."""


def fit_once(name: str) -> dict[str, float]:
    """Return what the import and the first fit took in this process, by the clock and of the processor."""
    from pellucid.core.cards import find_card

    imported = time.perf_counter(), time.process_time()
    card = find_card(name)
    model = next(variants_of(card))
    X, y = next(data_for(card, model))
    begun = time.perf_counter(), time.process_time()
    warnings.simplefilter("ignore")
    with contextlib.suppress(ValueError, TypeError, NotImplementedError):  # rows that the defaults refuse
        model.fit(X, y)
    return {
        "import": begun[1] - imported[1],
        "fit": time.perf_counter() - begun[0],
        "processor": time.process_time() - begun[1],
    }


def measured(name: str, cache: str) -> dict[str, float]:
    command = (sys.executable, "-m", __name__, name)
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    begun = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return {**json.loads(done.stdout.splitlines()[-1]), "all": time.perf_counter() - begun}


def report(console: Console, only: str) -> None:
    """Print the table, the slowest first fit first."""
    names = [entry.name for entry in entries().values() if is_installed(entry.extra) and only in entry.name]
    found = {}
    for name in names:
        with tempfile.TemporaryDirectory() as cache:
            found[name] = measured(name, cache), measured(name, cache)
    table = Table(title="seconds of a first fit in a fresh process: by the clock (of the processor)")
    for heading in ("estimator", "nothing compiled", "compiled before", "its import", "whole process"):
        table.add_column(heading, justify="left" if heading == "estimator" else "right")
    for name, (empty, filled) in sorted(found.items(), key=lambda pair: -pair[1][0]["processor"]):
        fits = [f"{one['fit']:.2f} ({one['processor']:.2f})" for one in (empty, filled)]
        table.add_row(name, *fits, f"{filled['import']:.2f}", f"{empty['all']:.1f}, then {filled['all']:.1f}")
    console.print(table)
    for goal, place in zip(GOALS, (0, 1), strict=True):
        over = sum(both[place]["fit"] > goal for both in found.values())
        console.print(f"{over} of {len(found)} first fits take more than {goal} s", highlight=False)


if __name__ == "__main__":
    print(json.dumps(fit_once(sys.argv[1])))
