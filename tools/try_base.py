"""Try the installed wheel as a newcomer would: every public name, then every command once.

    make test-base

It runs in an environment that has the wheel and its base dependencies, and no extra. A name must be there, or be
refused with the extra to install; a command must end as it should, within a limit.
"""

from __future__ import annotations

import pkgutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

LONGEST_IMPORT = 0.05
"""Seconds that ``import pellucid`` may take, the best of ten: what it needs later it imports later."""
LIMIT = 400.0
"""Seconds for one command: the first one compiles."""
ABSENT = ("torch", "starlette", "cvxpy", "onnx")


def refused_names() -> Iterator[str]:
    """Yield what cannot be imported and does not say which extra to install."""
    import pellucid

    for info in pkgutil.walk_packages(pellucid.__path__, "pellucid."):
        if not info.ispkg:
            continue
        package = import_module(info.name)
        for name in getattr(package, "__all__", ()):
            try:
                getattr(package, name)
            except ImportError as refusal:
                if "pip install 'pellucid[" not in str(refusal):
                    yield f"{info.name}.{name}: {refusal}"
        try:
            exec(f"from {info.name} import *", {})
        except ImportError as refusal:
            yield f"from {info.name} import *: {refusal}"


def import_seconds() -> float:
    """Return the seconds of the quickest of ten imports, each in a process of its own."""
    code = "import time; start = time.perf_counter(); import pellucid; print(time.perf_counter() - start)"
    runs = (subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(10))
    return min(float(run.stdout) for run in runs)


def commands(folder: Path) -> Iterator[tuple[str, list[str], int]]:
    """Yield a word that the command must print, the command, and its exit code."""
    data = Path(str(files("pellucid.data")))
    cancer, cars, model = data / "breast_cancer.csv", data / "cars_by_hand.csv", folder / "demo" / "model.safetensors"
    yield "(chosen)", ["demo", "--out", str(folder / "demo")], 0
    yield "(chosen)", ["demo", "--out", str(folder / "again")], 0
    yield "compiled", ["warm-up"], 0
    yield "pellucid[deep]", ["catalogue"], 0
    yield "Find the intercept", ["show-work", str(cars), "--target", "price", "--method", "lasso", "--alpha", "0.5"], 0
    yield "clusters", ["cluster", str(cancer), "--drop", "diagnosis", "--out", str(folder / "clusters")], 0
    yield "map", ["map", str(cancer), "--color", "diagnosis", "--out", str(folder / "map")], 0
    yield "things to look at", ["describe", str(cancer), "--out", str(folder / "described")], 0
    scan = folder / "scan.png"
    write_noisy_image(scan)
    yield "(chosen)", ["restore", str(scan), "--out", str(folder / "restored")], 0
    yield "prediction", ["predict", str(model), str(cancer)], 0
    yield "", ["explain", str(model), str(cancer)], 0
    yield "", ["monitor", str(model), str(cancer)], 0
    yield "holds", ["verify", str(model), str(cancer), "--target", "diagnosis"], 0
    yield "pellucid[serve]", ["serve", str(model)], 2
    yield "does not exist", ["predict", str(folder / "nothing.safetensors"), str(cancer)], 2


def write_noisy_image(path: Path) -> None:
    """Write a small picture with noise."""
    import numpy as np
    from PIL import Image

    rows, columns = np.mgrid[:96, :128]
    clean = 90.0 + 60.0 * (rows // 24 % 2) + 30.0 * np.sin(columns / 9)
    noisy = clean + np.random.default_rng(0).normal(0, 15, clean.shape)
    Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8)).save(path)


def complaint_about(said: str, word: str, code: int, wanted: int) -> str:
    """Return what is wrong with how a command ended; nothing if it is as it should be."""
    if code != wanted:
        return f"exit code {code} instead of {wanted}"
    if word.lower() not in " ".join(said.split()).lower():
        return f"does not say {word!r}"
    return ""


def main() -> int:
    """Print what was tried and how long it took; return 1 if anything is wrong."""
    there = [name for name in ABSENT if find_spec(name)]
    if there:
        sys.stderr.write(f"the environment must have no extra, but it has {', '.join(there)}. Run make test-base.\n")
        return 2
    wrong = list(refused_names())
    print(f"public names: {len(wrong)} wrong", *wrong, sep="\n  ", flush=True)
    n_tried, seconds = 2, import_seconds()
    print(f"import pellucid: {1e3 * seconds:.0f} ms", flush=True)
    if seconds > LONGEST_IMPORT:
        wrong.append(f"import takes more than {1e3 * LONGEST_IMPORT:.0f} ms")
    with tempfile.TemporaryDirectory() as folder:
        for word, command, code in commands(Path(folder)):
            n_tried += 1
            start = time.monotonic()
            done = subprocess.run(
                [sys.executable, "-m", "pellucid", *command],
                capture_output=True,
                text=True,
                timeout=LIMIT,
                check=False,
                cwd=folder,
            )
            said = done.stdout + done.stderr
            found = complaint_about(said, word, done.returncode, code)
            print(f"{time.monotonic() - start:6.1f} s  pellucid {command[0]:<10} {found or 'as it should'}", flush=True)
            if found:
                wrong.append(command[0])
                print(said)
    print(f"{n_tried} tried: {'; '.join(wrong) or 'all as they should be'}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
