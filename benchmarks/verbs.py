"""Prints what each verb of the command takes, second run, on a model it makes, and what it imports.

``python -m benchmarks verbs``; processor seconds do not hang on who else uses the machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

import pellucid

ROUNDS = 3
COUNTED = "import atexit, sys; atexit.register(lambda: sys.stderr.write(f'\\n{len(sys.modules)}')); "
COMMAND = f"{COUNTED}from pellucid.app.cli import main; main(sys.argv[1:])"


def measured(code: str, *arguments: str) -> tuple[float, float, str]:
    """Return wall and processor seconds of a process, the least of some rounds, and how many modules it imported."""
    found: list[tuple[float, float]] = []
    modules = ""
    for _ in range(ROUNDS + 1):
        begun, before = time.perf_counter(), os.times()
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
        after = os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        found.append((time.perf_counter() - begun, used))
        modules = done.stderr.rpartition("\n")[2]
    return min(wall for wall, _ in found[1:]), min(used for _, used in found[1:]), modules


def report(console: Console, only: str) -> None:
    """Print a row for the package, and one for each verb whose name has a text in it."""
    table = Table("verb", "wall s", "processor s", "modules", title=f"second run, least of {ROUNDS}")
    rows = str(Path(pellucid.__file__).parent / "data" / "breast_cancer.csv")
    with TemporaryDirectory() as folder:
        model, page = f"{folder}/model.safetensors", ["--out", folder]
        options = ["fit", rows, "--target", "diagnosis", "--only", "logistic regression", *page]
        subprocess.run([sys.executable, "-m", "pellucid", *options], capture_output=True, check=True)
        verbs = {
            "--help": [],
            "catalogue": [],
            "predict": [model, rows],
            "verify": [model, rows, "--target", "diagnosis"],
            "explain": [model, rows],
            "exercise": ["nb"],
            "show-work": ["[3,1,2]", "[3,2,1]", "--method", "convolution"],
            "monitor": [model, rows],
            "compare": [model, model, rows],
            "describe": [rows, *page],
        }
        runs = {"import pellucid": (f"{COUNTED}import pellucid",)}
        runs |= {verb: (COMMAND, verb, *arguments) for verb, arguments in verbs.items()}
        for name, run in runs.items():
            if only in name:
                wall, used, modules = measured(*run)
                table.add_row(name, f"{wall:.2f}", f"{used:.2f}", modules)
    console.print(table)
