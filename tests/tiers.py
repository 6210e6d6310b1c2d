"""Two tiers of tests: the first is what everybody runs, in minutes; the second is the rest.

    python -m tests.tiers first     lint, types and the first tier
    python -m tests.tiers second    the second tier
    python -m tests.tiers times     every test, and write to tests/times.csv what each took

A test is in the first tier if it took at most ``CHEAP`` processor seconds when times were recorded, or was not there
yet. A test that is marked as a promise, or as one of the four kinds that each method has (``KINDS``), is in the first
tier up to ``CHEAP_IF_MARKED``. So a test that has become dear falls to the second tier when times are recorded again.
What is recorded is time of the processor: a busy machine changes it little.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
TIMES = HERE / "times.csv"
FIRST, SECOND = "first", "second"

CHEAP = 0.05
CHEAP_IF_MARKED = 2.0
KINDS = ("by_hand", "property", "peer", "bad_input")
PROMISE = "promise"

SOME_CHECKS = re.compile(
    "::test_passes_the_checks_of_scikit_learn.*check_(classifiers_train|regressors_train|transformer_general|"
    "fit_score_takes_y|estimators_dtypes|estimators_nan_inf|estimators_overwrite_params|fit_idempotent|fit2d_1sample|"
    "methods_sample_order_invariance|sample_weight_equivalence_on_dense_data|dict_unchanged|n_features_in_after_fitting|"
    "estimators_pickle)"
)
"""A dozen of the fifty checks of scikit-learn for each estimator: the others are as cheap, but thousands."""

USUAL = 0.02
"""Seconds taken for a test that has no record: half of the tests take less."""

SHARED = 60.0
"""Seconds of a file from which its tests are no longer kept together on one worker."""

WAITING = 4.0
"""Wall over processor seconds from which a test mostly waits, so that its wall time is what it costs."""

OF_WORKERS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""The environment of workers: threads of BLAS spin while they wait, and would take the cores from the other workers."""
OF_WORKERS["PYTHONDONTWRITEBYTECODE"] = ""  # or every worker would read and rewrite all files of tests each time


@cache
def recorded() -> Mapping[str, float]:
    """Return the seconds of every test that was dear when times were recorded."""
    if not TIMES.exists():
        return {}
    with TIMES.open(encoding="utf-8", newline="") as file:
        return {test: float(seconds) for seconds, test in csv.reader(file)}


def tier_of(test: str, marks: set[str]) -> str:
    """Return the tier of a test with these marks."""
    if "::test_passes_the_checks_of_scikit_learn[" in test and not SOME_CHECKS.search(test):
        return SECOND
    limit = CHEAP_IF_MARKED if marks & {PROMISE, *KINDS} else CHEAP
    return FIRST if recorded().get(test, 0.0) <= limit else SECOND


class Tiers:
    """The plugin: chooses a tier, keeps on one worker what shares a fit or a file, and says what was dear."""

    def __init__(self, tier: str, times: str) -> None:
        self.tier, self.times = tier, times
        self.begin = time.perf_counter()
        self.seconds: dict[str, float] = {}
        self.marked = set[str]()
        self.shared: dict[Any, float] = {}
        self.shared_now = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out the other tier; the groups of tests that take longest come first."""
        if self.tier:
            tiers = defaultdict[str, list[pytest.Item]](list)
            for item in items:
                tiers[tier_of(item.nodeid, marks_of(item))].append(item)
            items[:] = tiers.pop(self.tier, [])
            config.hook.pytest_deselected(items=[item for other in tiers.values() for item in other])
        groups = grouped(items)
        costs = {name: sum(recorded().get(item.nodeid, USUAL) for item in group) for name, group in groups.items()}
        for name, group in groups.items():
            for item in group:
                item.add_marker(pytest.mark.xdist_group(name))
        items[:] = [item for name in sorted(groups, key=lambda name: -costs[name]) for item in groups[name]]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Measure a test with what it sets up and takes down."""
        item.stash[BEGIN], self.shared_now = clocks(), 0.0
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[Any]:
        """Measure what a fixture of several tests takes: each of them needs it, whichever comes first."""
        begin, made = clocks(), (yield)
        if fixturedef.scope != "function":
            self.shared[fixturedef] = seconds_since(begin)
            self.shared_now += self.shared[fixturedef]
        return made

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo) -> Iterator[pytest.TestReport]:
        """Send what was measured to who collects it."""
        report = yield
        if call.when == "teardown":
            test, marks = item.nodeid.rsplit("@", 1)[0], marks_of(item) & {PROMISE, *KINDS}
            report.user_properties.append((TOOK, (test, self.cost(item, bool(marks)), bool(marks))))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect what the workers send."""
        for name, value in report.user_properties if report.when == "teardown" else ():
            if name == TOOK:
                test, seconds, is_marked = value
                self.seconds[test] = max(seconds, self.seconds.get(test, 0.0))
                self.marked |= {test} if is_marked else set()

    def cost(self, item: pytest.Item, is_marked: bool) -> float:
        """Return the seconds of a test; one that is no promise pays for what it shares as if it came first."""
        own = seconds_since(item.stash[BEGIN]) - self.shared_now
        fixtures = item._fixtureinfo.name2fixturedefs.values() if isinstance(item, pytest.Function) else ()
        return own if is_marked else own + sum(self.shared.get(one, 0.0) for used in fixtures for one in used)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what took longest, and which tests of the first tier have become dear."""
        if not self.seconds or hasattr(terminalreporter.config, "workerinput"):
            return
        dearest = sorted(self.seconds, key=lambda test: -self.seconds[test])
        terminalreporter.section("ten dearest tests, processor seconds")
        for test in dearest[:10]:
            terminalreporter.line(f"{self.seconds[test]:7.2f}  {test}")
        if self.tier == FIRST:
            fallen = [test for test in dearest if self.seconds[test] > 3 * self.limit_of(test)]
            if fallen:
                terminalreporter.section("too dear for the first tier: make test-times, or make them cheaper")
                for test in fallen:
                    terminalreporter.line(f"{self.seconds[test]:7.2f}  {test}")
        n, total = len(self.seconds), sum(self.seconds.values())
        wall = time.perf_counter() - self.begin
        terminalreporter.line(f"{n:,} tests took {total:.0f} processor seconds, {wall:.0f} s in all")
        if self.times:
            self.write_times(terminalreporter)

    def limit_of(self, test: str) -> float:
        """Return up to how many seconds the test is in the first tier."""
        return CHEAP_IF_MARKED if test in self.marked else CHEAP

    def write_times(self, terminalreporter: Any) -> None:
        """Write the times of the dear tests, in the order of their names, and list those that change their tier."""
        dear = {test: seconds for test, seconds in self.seconds.items() if seconds > CHEAP}
        before = recorded()
        fallen = [t for t, s in dear.items() if s > self.limit_of(t) >= before.get(t, 0.0)]
        with Path(self.times).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([f"{dear[t]:.2g}", t] for t in sorted(dear))
        terminalreporter.section(f"{len(fallen)} tests fall to the second tier")
        for test in sorted(fallen):
            terminalreporter.line(f"{dear[test]:7.2f}  {test}")


BEGIN = pytest.StashKey[tuple[float, float]]()
TOOK = "pellucid_took"


def clocks() -> tuple[float, float]:
    """Return the processor seconds of this process and of its children that have ended, and the time of the wall."""
    return sum(os.times()[:4]), time.perf_counter()


def seconds_since(begin: tuple[float, float]) -> float:
    """Return the seconds of the processor since then, or those of the wall if most of them were waiting."""
    busy, wall = (now - then for now, then in zip(clocks(), begin, strict=True))
    return wall if wall > WAITING * busy + 1.0 else busy


def marks_of(item: pytest.Item) -> set[str]:
    """Return the names of the marks of a test."""
    return {mark.name for mark in item.iter_markers()}


def grouped(items: list[pytest.Item]) -> dict[str, list[pytest.Item]]:
    """Return the tests by what they share: the fits of an estimator, else a file, else, if that is long, a function."""
    files = defaultdict[str, float](float)
    for item in items:
        files[item.nodeid.split("::")[0]] += recorded().get(item.nodeid, USUAL)
    groups = defaultdict[str, list[pytest.Item]](list)
    for item in items:
        file = item.nodeid.split("::")[0]
        given = item.callspec.params if hasattr(item, "callspec") else {}
        if "estimator" in given and files[file] > SHARED:
            groups[type(given["estimator"]).__name__].append(item)
        else:
            groups[item.nodeid.split("[")[0] if files[file] > SHARED else file].append(item)
    return groups


@contextmanager
def beside(*command: str) -> Iterator[None]:
    """Run a command of the environment while the block runs; its output is shown at the end, and if it failed exit."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        yield
        said = process.communicate()[0]
    sys.stdout.write(said)
    if process.returncode:
        raise SystemExit(process.returncode)


def run(*command: str, **environment: str) -> None:
    """Run a command of the environment; if it fails exit with its code."""
    code = subprocess.run(command, env={**os.environ, **environment}, check=False).returncode
    if code:
        raise SystemExit(code)


def tool(name: str) -> str:
    """Return the path of a command of this environment."""
    return str(Path(sys.executable).parent / name)


def main(tier: str) -> None:
    """Run lint, types and the first tier, or the second, or all and record what each test takes."""
    begin = time.perf_counter()
    workers = ("-n", "auto", "--dist", "loadgroup", "--no-loadscope-reorder")
    tests = [sys.executable, "-m", "pytest", *workers]
    if tier == FIRST:
        run(tool("ruff"), "check", ".")
        run(tool("ruff"), "format", "--check", ".")
        with beside(tool("mypy")):
            run(tool("pellucid"), "warm-up")
        run(*tests, "--tier", FIRST, "tests", **OF_WORKERS)
    elif tier == SECOND:
        run(*tests, "--tier", SECOND, **OF_WORKERS)
    else:
        run(tool("pellucid"), "warm-up")
        run(*tests, "--times", str(TIMES), **OF_WORKERS)
    print(f"{time.perf_counter() - begin:.0f} s in all")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tier", choices=(FIRST, SECOND, "times"))
    main(parser.parse_args().tier)
