"""Attack the proofs: change what a fitted model holds, and count what ``verify`` does not notice.

    python -m tests.attack                    every method card, every variant, every preparation of the data
    python -m tests.attack Ridge LinearSVC    these methods only
    python -m tests.attack --quick            the data as they are, without other preparations
    python -m tests.attack --device cpu       what has a form for devices, fitted and verified there (or on cuda)

A change is *silent* when the model then answers differently and ``verify`` still holds. Parameters are changed after
the fit, and the data when the model is verified: silent is a change after which a new fit would answer differently.
Whole models are forged by kinds (``tests.forging``), of which a card may call some free.
"""

from __future__ import annotations

import argparse
import copy
import random
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

import pellucid
from pellucid.core.cards import MethodCard
from tests.forging import forgeries
from tests.public_estimators import carded, problem_for
from tests.tampering import answers, changes, objects, other_values, same_answers
from tests.tree_forging import forged_trees

SHARED = {
    *("trace_", "certificate_", "data_fingerprint_", "fit_parameters_", "n_features_in_", "feature_names_in_"),
    "backend_",
}

OTHER_UNITS = ("offset", "scaled")

SLOW = 20.0
"""Seconds after which an attack on one model is named."""

Problem = tuple[Any, Any, dict[str, Any]]

PREPARATIONS: dict[str, Callable[[Any, Any], Problem]] = {
    "plain": lambda X, y: (X, y, {}),
    "float32": lambda X, y: (X.astype(np.float32), y, {}),
    "sparse": lambda X, y: (sparse.csr_array(X), y, {}),
    "weighted": lambda X, y: (X, y, {"sample_weight": np.random.default_rng(1).uniform(0.5, 2.0, len(X))}),
    "offset": lambda X, y: (X + 1e6, y, {}),
    "scaled": lambda X, y: (X * 1e6, y, {}),
}


FORGERIES: tuple[Callable[[MethodCard, Any, Any], Iterator[tuple[str, str, Any]]], ...] = (
    forgeries,
    lambda _card, model, X: forged_trees(model, X, np.random.default_rng(0)),
)
"""Each yields the kind of a change, words for it, and a model so changed; kinds that a card calls free may pass."""


@dataclass
class Tally:
    """What was tried, and what passed that should not."""

    tried: Counter[str] = field(default_factory=Counter)
    silent: list[str] = field(default_factory=list)
    silent_kinds: Counter[str] = field(default_factory=Counter)
    """Of forged models, by kind."""
    undeclared: list[str] = field(default_factory=list)
    """Changes that pass without changing an answer, of attributes that their card calls proved."""
    alarms: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [*self.silent, *self.undeclared, *self.alarms]
        silent = {kind: f" ({count:,} silent)" for kind, count in self.silent_kinds.items()}
        tried = ", ".join(f"{count:,} {kind}{silent.get(kind, '')}" for kind, count in self.tried.items())
        lines.append(
            f"{tried} tried; silent {len(self.silent)}, undeclared {len(self.undeclared)}, alarms {len(self.alarms)}"
        )
        return "\n".join(lines)


def attack(card: MethodCard, estimator: Any, preparation: str, tally: Tally, seed: int | None = None) -> None:
    """Fit, then change every attribute, parameter and data set in turn and forge models; with a seed, one of each."""
    draw = random.Random(seed) if seed is not None else None
    where = f"{card.name}{_settings(estimator)} {preparation}"
    if preparation in OTHER_UNITS and estimator.__sklearn_tags__().input_tags.positive_only:
        return  # counts and categories have no other units
    X, y, weights = PREPARATIONS[preparation](*problem_for(estimator))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = clone(estimator).fit(X, y, **weights)
        except (ValueError, TypeError, NotImplementedError):  # a method without sparse data, without weights
            return
    tally.tried["fits"] += 1
    if objects(model, X, y, **weights):
        tally.alarms.append(f"alarm       {where}")
        return
    said = answers(model, X)
    for name, word, broken in _drawn(_broken_models(card, model), draw):
        tally.tried["attributes"] += 1
        if objects(broken, X, y, **weights):
            continue
        if not same_answers(said, answers(broken, X)):
            tally.silent.append(f"silent      {where}: {name} {word}")
        elif name not in card.unproved:
            tally.undeclared.append(f"undeclared  {where}: {name} {word}")
    everywhere = asked_points(X)
    said_everywhere, shown = answers(model, everywhere), _shown(model)
    for kind, words, forged in _forged(card, model, X) if draw is None else ():
        tally.tried[kind] += 1
        if kind in card.free or objects(forged, X, y, **weights):
            continue
        if not (same_answers(said_everywhere, answers(forged, everywhere)) and same_answers(shown, _shown(forged))):
            tally.silent_kinds[kind] += 1
            tally.silent.append(f"silent      {where}: {kind}: {words}")
    for name, value in _drawn(_other_parameters(card, model), draw):
        tally.tried["parameters"] += 1
        changed = copy.copy(model).set_params(**{name: value})
        if not objects(changed, X, y, **weights) and _refit_differs(changed, said, X, y, weights):
            tally.silent.append(f"silent      {where}: parameter {name}={value!r}")
    for word, Z, labels in _drawn(_other_data(X, y), draw):
        tally.tried["data sets"] += 1
        if not objects(model, Z, labels, **_as_many(weights, len(labels))) and _refit_differs(
            model, said, Z, labels, _as_many(weights, len(labels)), asked=X
        ):
            tally.silent.append(f"silent      {where}: {word}")


def _drawn(found: Iterator[Any], draw: random.Random | None) -> Iterable[Any]:
    """Return everything, or one that is drawn."""
    return found if draw is None else draw.sample(every := list(found), min(1, len(every)))


def _forged(card: MethodCard, model: Any, X: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield whole models that were forged."""
    for forge in FORGERIES:
        yield from forge(card, model, X)


def asked_points(X: Any) -> Any:
    """Return the rows and, where these are numbers, points between them: a change may show only there."""
    if sparse.issparse(X):
        return X
    rng = np.random.default_rng(0)
    between = [X + rng.uniform(size=(len(X), 1)) * (X[rng.permutation(len(X))] - X) for _ in range(10)]
    return np.concatenate([X, *between]).astype(X.dtype)


def _shown(model: Any) -> dict[str, Any]:
    """Return what a model says of the training rows themselves."""
    return {name: getattr(model, name) for name in ("labels_", "embedding_") if hasattr(model, name)}


def _other_data(X: Any, y: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield data that the model was not fitted to: a row moved, targets exchanged, a part of the rows."""
    moved = X.copy()
    moved[[0]] = X[[-1]]
    yield "first row replaced", moved, y
    if y is not None:
        yield "targets reversed", X, y[::-1]
        other = y.copy()
        other[0], other[-1] = y[-1], y[0]
        yield "two targets exchanged", X, other
    yield "half of the rows", X[: X.shape[0] // 2], y[: len(y) // 2]


def _as_many(weights: dict[str, Any], n: int) -> dict[str, Any]:
    return {name: weight[:n] for name, weight in weights.items()}


def _broken_models(card: MethodCard, model: Any) -> Iterator[tuple[str, str, Any]]:
    names = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    for name in sorted((names | set(card.attributes)) - SHARED):
        for word, wrong in changes(getattr(model, name, None)):
            broken = copy.copy(model)
            setattr(broken, name, wrong)
            yield name, word, broken


def _other_parameters(card: MethodCard, model: Any) -> Iterator[tuple[str, Any]]:
    for name, domain in card.parameters.items():
        for value in other_values(domain, getattr(model, name)):
            yield name, value


def _refit_differs(
    model: Any, said: dict[str, Any], X: Any, y: Any, weights: dict[str, Any], asked: Any = None
) -> bool:
    """Return whether parameters and data ask for another model; a combination that no fit takes asks for none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            again = clone(model).fit(X, y, **weights)
        except (ValueError, TypeError, NotImplementedError):
            return True
    return not same_answers(said, answers(again, X if asked is None else asked), tolerance=1e-4)


def _settings(estimator: Any) -> str:
    changed = {k: v for k, v in estimator.get_params().items() if v != type(estimator)().get_params()[k]}
    changed.pop("random_state", None)
    return f"({', '.join(f'{name}={value!r}' for name, value in changed.items())})"


def main() -> None:
    """Run the attack and print what passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="estimators; all without one")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--device", help="where to fit: cpu or cuda, through torch")
    given = parser.parse_args()
    with pellucid.on_device(given.device) if given.device else nullcontext():
        _attack_all(given)


def _attack_all(given: argparse.Namespace) -> None:
    tally, start = Tally(), time.monotonic()
    for card, estimator in carded():
        if (not given.names or card.name in given.names) and (card.device or not given.device):
            for preparation in ["plain"] if given.quick else PREPARATIONS:
                sys.stderr.write(
                    f"{time.monotonic() - start:6.0f} s  {card.name}{_settings(estimator)} {preparation}\n"
                )
                begun = time.monotonic()
                attack(card, estimator, preparation, tally)
                if (took := time.monotonic() - begun) > SLOW:
                    print(f"slow        {card.name}{_settings(estimator)} {preparation}: {took:.0f} s", flush=True)
    print(tally)
    print(f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
