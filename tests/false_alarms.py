"""Look for false alarms: every estimator, in every variant of its card, on ordinary data in seven preparations.

    python -m tests.false_alarms                 every estimator on every set
    python -m tests.false_alarms --quick         iris and diabetes, default parameters
    python -m tests.false_alarms Ridge RidgeCV   only these
    python -m tests.false_alarms --device cpu    what has a form for devices, fitted there (or on cuda)

A right answer must be silent: no ``UncertifiedWarning`` from ``fit``, and ``verify`` holds. Each fit runs in a process
that is ended when it takes too long, so that a slow one is named and stops nothing.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection
from threading import local
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn import datasets
from sklearn.base import is_classifier
from sklearn.utils.validation import has_fit_parameter

import pellucid
from pellucid.core.cards import MethodCard, all_cards, find_card
from pellucid.core.input_rules import NO_TARGET
from pellucid.proofs.certificate import Claim

MOST_ROWS = 400
"""Rows taken of a set, spread evenly over it."""

LIMIT = 20.0
"""Seconds that a fit with its proof may take."""

LOADERS: dict[str, Callable[..., Any]] = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "breast cancer": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
    "diabetes": datasets.load_diabetes,
}
QUICK = ("iris", "diabetes")


def standardized(X: Any) -> Any:
    """Return the columns with mean 0 and deviation 1; constant ones become 0."""
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


PREPARATIONS: dict[str, Callable[[Any], Any]] = {
    "raw": lambda X: X,
    "standardized": standardized,
    "float32": lambda X: X.astype(np.float32),
    "sparse": sparse.csr_array,
    "weighted": lambda X: X,
    "offset": lambda X: X + 1e6,
    "scaled": lambda X: X * 1e6,
}

ONE_PER_CATEGORY = ("offset", "scaled")
"""Preparations that have no meaning where each number names a category."""


class Case(NamedTuple):
    """One fit, by names alone, so that it can travel to another process."""

    estimator: str
    variant: int
    """0 for the defaults, k for the k-th variant of the card."""
    set: str
    preparation: str
    device: str | None = None
    """Where it is fitted; None is in memory."""

    def __str__(self) -> str:
        variant = f" variant {self.variant}" if self.variant else ""
        place = f", on {self.device}" if self.device else ""
        return f"{self.estimator}{variant}, {self.set}, {self.preparation}{place}"


HELD, UNCLAIMED, REFUSED, STOPPED = "held", "claims nothing", "refused", "out of iterations"
WARNED, REJECTED, BROKE, SLOW = "fit warned", "verify rejected", "broke", "slow"
COUNTED = (pellucid.UncertifiedWarning, RuntimeWarning)
"""Warnings that are alarms; others, such as that columns are collinear, say something of the data."""

ALARMS = (WARNED, REJECTED, BROKE, SLOW)


@dataclass(frozen=True)
class Verdict:
    """What came of a case, with the claims or the message that say why."""

    kind: str
    details: tuple[str, ...] = ()
    seconds: float = 0.0


def cases(names: tuple[str, ...] = (), *, quick: bool = False, device: str | None = None) -> Iterator[Case]:
    """Yield the cases of the named estimators, or of all; on a device, of those that have a form there."""
    for card in all_cards():
        if (names and card.name not in names) or (device and not card.device):
            continue
        for variant in range(1 if quick else 1 + len(card.variants)):
            for name in QUICK if quick else LOADERS:
                for preparation in PREPARATIONS:
                    if suits(card, preparation) and not (device and preparation == "sparse"):
                        yield Case(card.name, variant, name, preparation, device)


def suits(card: MethodCard, preparation: str) -> bool:
    """Return whether the method takes data so prepared."""
    rules = card.rules_for(card.estimator())
    if preparation in ONE_PER_CATEGORY and rules.dtypes is np.int64:
        return False
    if preparation == "weighted":
        return bool(rules.weights and has_fit_parameter(card.estimator, "sample_weight"))
    return preparation != "sparse" or bool(rules.sparse)


@cache
def load(name: str) -> tuple[Any, Any]:
    """Return rows and target, at most so many."""
    X, y = LOADERS[name](return_X_y=True)
    rows = np.linspace(0, len(X) - 1, min(len(X), MOST_ROWS)).astype(int)
    return X[rows], y[rows]


def problem(card: MethodCard, estimator: Any, case: Case) -> tuple[Any, Any, dict[str, Any]]:
    """Return rows, target and the weights, if any. Labels are numbers to a regression; numbers are cut into thirds."""
    X, y = load(case.set)
    if is_classifier(estimator) and case.set == "diabetes":
        y = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    elif not is_classifier(estimator):
        y = y.astype(np.float64)
    X = PREPARATIONS[case.preparation](X)
    options = {}
    if case.preparation == "weighted":
        options["sample_weight"] = np.random.default_rng(0).uniform(0.1, 3.0, X.shape[0])
    return X, None if card.rules_for(estimator).target == NO_TARGET else y, options


def judge(case: Case) -> Verdict:
    """Fit and verify; say what happened."""
    card = find_card(case.estimator)
    assert card is not None
    estimator = card.estimator(**({}, *card.variants)[case.variant])
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    X, y, options = problem(card, estimator, case)
    begin = time.perf_counter()
    with pellucid.on_device(case.device) if case.device else nullcontext():
        kind, details = _judged(estimator, X, y, options)
    return Verdict(kind, details, time.perf_counter() - begin)


def _judged(estimator: Any, X: Any, y: Any, options: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            estimator.fit(X, y, **options)
        except (ValueError, TypeError, NotImplementedError) as refusal:  # counts below 0, other priors, sparse rows
            return REFUSED, (str(refusal).splitlines()[0],)
        except Exception as accident:
            return BROKE, (f"fit: {accident!r}",)
        said = [warning for warning in caught if issubclass(warning.category, COUNTED)]
        try:
            proof = pellucid.verify(estimator, X, y, **options)
        except Exception as accident:
            return BROKE, (f"verify: {accident!r}",)
    if said and proof.failed == estimator.certificate_.failed == ():  # nothing is wrong with what is claimed
        return STOPPED, (str(said[0].message),)
    if said and _ran_out(estimator, proof.failed + estimator.certificate_.failed):
        return STOPPED, tuple(f"{claim}" for claim in proof.failed)
    if said:
        return WARNED, tuple(f"{claim}" for claim in estimator.certificate_.failed) or (str(said[0].message),)
    if proof.failed:
        return REJECTED, tuple(f"{claim}" for claim in proof.failed)
    return UNCLAIMED if proof.grade == "none" else HELD, ()


def _ran_out(estimator: Any, failed: tuple[Claim, ...]) -> bool:
    """Return whether a fit did as many steps as it was allowed, and all that fails says that more would help."""
    steps, most = getattr(estimator, "n_iter_", None), estimator.get_params().get("max_iter")
    is_at_the_end = isinstance(most, int) and steps is not None and int(np.max(steps)) >= most
    return is_at_the_end and all("iter" in claim.remedy for claim in failed)


class Judge:
    """A process that judges one case after the other; it is ended when a case takes too long, and begun anew."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._begin()

    def _begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()
        self._connection.recv()  # it has imported everything: the clock starts after that

    def __call__(self, case: Case) -> Verdict:
        """Return the verdict."""
        self._connection.send(case)
        if self._connection.poll(self._limit):
            try:
                return self._connection.recv()
            except EOFError:
                return self._ended(Verdict(BROKE, ("the process died",)))
        return self._ended(Verdict(SLOW, (f"more than {self._limit:g} s",), self._limit))

    def _ended(self, verdict: Verdict) -> Verdict:
        self._process.kill()
        self._process.join()
        self._begin()
        return verdict


def _serve(connection: Connection) -> None:
    list(all_cards())
    connection.send("ready")
    while True:
        try:
            case = connection.recv()
        except EOFError:
            return
        connection.send(judge(case))


def judged(wanted: list[Case], *, limit: float = LIMIT, processes: int = 1) -> Iterator[tuple[Case, Verdict]]:
    """Yield every case with its verdict, in order."""
    own = local()

    def work(case: Case) -> Verdict:
        if not hasattr(own, "judge"):
            own.judge = Judge(limit)
        return own.judge(case)

    with ThreadPoolExecutor(processes) as pool:
        yield from zip(wanted, pool.map(work, wanted), strict=True)


def main() -> int:
    """Print each alarm, then a tally; return 1 if there was an alarm."""
    parser = argparse.ArgumentParser(description="Look for false alarms on ordinary data.")
    parser.add_argument("estimators", nargs="*", help="names of classes; all if none is given")
    parser.add_argument("--quick", action="store_true", help="two sets, default parameters")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for each fit with its proof")
    parser.add_argument("--device", help="where to fit: cpu or cuda, through torch")
    parser.add_argument("-n", type=int, default=1, help="processes at a time")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.estimators if find_card(name) is None]
    if unknown:
        parser.error(f"estimators must be names of classes of pellucid, got {', '.join(unknown)}.")
    wanted = list(cases(tuple(arguments.estimators), quick=arguments.quick, device=arguments.device))
    tally: Counter[str] = Counter()
    for done, (case, verdict) in enumerate(judged(wanted, limit=arguments.limit, processes=arguments.n), 1):
        tally[verdict.kind] += 1
        if verdict.kind in ALARMS:
            print(f"{verdict.kind}: {case}", *verdict.details, sep="\n    ", flush=True)
        if sys.stderr.isatty():
            print(f"\r\033[K{done} of {len(wanted)}", end="", file=sys.stderr, flush=True)
    print(f"{len(wanted)} fits:", ", ".join(f"{count} {kind}" for kind, count in sorted(tally.items())))
    return int(any(tally[kind] for kind in ALARMS))


if __name__ == "__main__":
    sys.exit(main())
