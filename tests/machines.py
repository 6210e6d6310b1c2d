"""Run the numerical tests as other machines would: other kernels of BLAS, other threads, fewer vector instructions.

    python -m tests.machines            every machine that this processor can imitate
    python -m tests.machines --quick    the tests that rounding upsets most, on one of them

Another processor is another rounding. OpenBLAS chooses its kernels by ``OPENBLAS_CORETYPE``, NumPy leaves out what
``NPY_DISABLE_CPU_FEATURES`` lists, numba compiles for ``NUMBA_CPU_NAME`` (its cache keeps processors apart). And data
whose last bits differ imitate machines that are not at hand.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

HERE = Path(__file__).parent

KERNELS = {
    "x86_64": ("Nehalem", "Haswell", "SkylakeX", "Zen", "Sandybridge", "Prescott"),
    "aarch64": ("THUNDERX2T99", "ARMV8", "CORTEXA53", "NEOVERSEN1", "TSV110", "CORTEXA57", "NEOVERSEV1"),
}
"""Kernels of OpenBLAS by architecture, those first that differ most from what new machines choose."""

SAME_ARCHITECTURE = {"amd64": "x86_64", "arm64": "aarch64"}

ULPS = (1, 2)
"""Ways to change the last bits of random test data: see tests/ulps.py."""

NOT_NUMERICAL = {
    *("app", "data", "plots", "show"),
    *("test_catalogue.py", "test_examples.py", "test_imports.py", "test_machines.py", "test_readme.py"),
}

QUICK = (
    "linear_model/test_linear_regression.py",
    "linear_model/test_regression_discriminant.py",
    "linear_model/test_ridge_cv.py",
    "solvers/test_smoothed_newton.py",
    "ranking",
    "svm/test_crammer_singer.py",
    "svm/test_margin_solvers.py",
)

PROBE = """
import numpy as np, scipy.linalg, threadpoolctl
A = np.random.default_rng(0).standard_normal((70, 40))
for B in (A, A.astype(np.float32)):
    scipy.linalg.svd(B), np.linalg.qr(B), scipy.linalg.cholesky(B.T @ B), scipy.linalg.eigh(B.T @ B), B @ B[0]
print(*(library["architecture"].lower() for library in threadpoolctl.threadpool_info() if "architecture" in library))
"""
"""What says which kernels are used, and dies where the processor lacks their instructions."""


@dataclass(frozen=True)
class Machine:
    """A name, and the environment that imitates the machine."""

    name: str
    environment: dict[str, str]
    left_out: str = ""
    """Part of the names of tests that are not run."""


@dataclass
class Outcome:
    """What the tests said."""

    passed: int = 0
    seconds: float = 0.0
    failed: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.passed:>7}{len(self.failed):>8}{self.seconds:>9.0f}"


def machines() -> Iterator[Machine]:
    """Yield the machines that this processor can imitate, without itself."""
    seen, count = {None, kernels_in_use()}, 2
    for name in kernels_of_architecture():
        if (kernels := kernels_in_use(name)) not in seen:
            seen.add(kernels)
            yield Machine(f"{name}, {threads(count)}", {"OPENBLAS_CORETYPE": name, **thread_limits(count)})
            count = 3 - count
    yield Machine(f"own kernels, {threads(2)}", thread_limits(2))  # tests are otherwise run on one
    for key in ULPS:
        # scikit-learn's checks want a perceptron to be good in one order of rows, and ours follows from their bits
        yield Machine(f"last bits of the data changed ({key})", {"PELLUCID_ULPS": str(key)}, "checks_of_scikit_learn")
    yield Machine("generic instructions in numba", {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""})
    features = " ".join(np.show_config(mode="dicts")["SIMD Extensions"].get("found", []))
    if features:
        yield Machine(f"NumPy without {features}", {"NPY_DISABLE_CPU_FEATURES": features})


def kernels_of_architecture() -> tuple[str, ...]:
    """Return the names of kernels for this kind of processor, whether it can run them or not."""
    architecture = platform.machine().lower()
    return KERNELS.get(SAME_ARCHITECTURE.get(architecture, architecture), ())


def kernels_in_use(name: str = "") -> str | None:
    """Return the kernels that OpenBLAS takes when told so, or None if they do not run here."""
    probe = subprocess.run(
        [sys.executable, "-c", PROBE], env=environment({"OPENBLAS_CORETYPE": name}), capture_output=True, text=True
    )
    return probe.stdout.strip() if probe.returncode == 0 else None


def threads(count: int) -> str:
    """Return the number of threads in words."""
    return f"{count} thread" + "s" * (count > 1)


def thread_limits(count: int) -> dict[str, str]:
    """Return the environment with so many threads."""
    return {"OMP_NUM_THREADS": str(count), "OPENBLAS_NUM_THREADS": str(count)}


def environment(changes: dict[str, str]) -> dict[str, str]:
    """Return our environment with the changes; an empty OPENBLAS_CORETYPE means our own kernels."""
    changed = {**os.environ, **changes}
    if not changed.get("OPENBLAS_CORETYPE"):
        changed.pop("OPENBLAS_CORETYPE", None)
    return changed


def run_tests(machine: Machine, paths: list[str], workers: str = "auto") -> Outcome:
    """Run the tests on the machine, with their progress on a line of its own."""
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-n", workers, "-p", "no:cacheprovider", f"--junitxml={report}"]
        with subprocess.Popen(
            [*command, *(["-k", f"not {machine.left_out}"] if machine.left_out else []), *paths],
            env=environment(machine.environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            assert process.stdout is not None
            lines = []
            for line in process.stdout:
                lines.append(line)
                if share := re.search(r"\[ *(\d+%)\]", line):
                    show_progress(f"{machine.name}: {share[1]}")
        show_progress("")
        outcome = read_report(report) if report.exists() else Outcome(failed=["".join(lines[-20:])])
    if process.returncode != 0 and not outcome.failed:
        outcome.failed.append(f"pytest ended with {process.returncode}: {''.join(lines[-5:])}")
    outcome.seconds = time.perf_counter() - begin
    return outcome


def show_progress(text: str) -> None:
    """Write over the last line of a terminal; elsewhere nothing."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def read_report(path: Path) -> Outcome:
    """Return what a JUnit report says."""
    outcome = Outcome()
    for case in ElementTree.parse(path).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            outcome.failed.append(f"{case.get('classname')}::{case.get('name')}")
        elif case.find("skipped") is None:
            outcome.passed += 1
    return outcome


def numerical_tests() -> list[str]:
    """Return all tests whose answers are rounded: a new family needs no mention."""
    found = [path for path in HERE.iterdir() if path.name.startswith("test_") or (path / "__init__.py").exists()]
    return sorted(str(path) for path in found if path.name not in NOT_NUMERICAL)


def main() -> int:
    """Print a row for each machine; return 1 if a test failed on any."""
    parser = argparse.ArgumentParser(description="Run the numerical tests as other machines would.")
    parser.add_argument("--quick", action="store_true", help="few tests, on one machine with two threads")
    parser.add_argument("-n", default="auto", help="processes at a time")
    arguments = parser.parse_args()
    imitated = [next(machines())] if arguments.quick else list(machines())
    paths = [str(HERE / path) for path in QUICK] if arguments.quick else numerical_tests()
    width = max(len(machine.name) for machine in imitated)
    print(f"{'machine':<{width}}{'passed':>7}{'failed':>8}{'seconds':>9}", flush=True)
    any_failed = False
    for machine in imitated:
        outcome = run_tests(machine, paths, arguments.n)
        print(f"{machine.name:<{width}}{outcome}", *outcome.failed, sep="\n    ", flush=True)
        any_failed |= bool(outcome.failed)
    return int(any_failed)


if __name__ == "__main__":
    sys.exit(main())
