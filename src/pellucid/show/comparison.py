"""The last step of workings: the numbers of the program next to the exact ones, and why they differ where they do."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from pellucid.core.types import Array, Data
from pellucid.show.document import Block, Document, remark, sentence, step, table
from pellucid.show.notation import ExactNumber

COMPARISON = "Compare with the program"
"""Heading of the last step, which is no part of the work by hand."""
CLOSE = 1e-6
"""A program's number further than this from the exact one, relative to its size, is pointed out."""

TIGHT = 1e-12
"""The tolerance at which a program that stops early is asked again."""

ENOUGH_ROUNDS = 20_000

PER_CLUSTER = ("cluster_centers_", "medoid_indices_", "means_", "weights_", "covariances_")
"""Attributes with an entry for each cluster, in the order of the labels."""

CUT_REMARK = remark(
    "Fractions too long to read are written as decimals that end in dots: the first digits, not rounded. "
    "The arithmetic behind them is exact, unless it is said otherwise."
)

APART = "That is more than rounding. The model was fitted on other data, "
STOPPED = "it stopped before it was done, ties let it choose another answer, or the data were rounded above."
DRAWN = "or chance decided otherwise: its random_state is None, so nobody can repeat what it drew. Pass a whole number."


def compared(document: Document, model: Any, X: Data = None, y: Data = None, new: Data = None) -> Document:
    """Return the workings with a last step that puts the numbers of the program next to the exact ones."""
    introduction = (*document.introduction, *([CUT_REMARK] if has_cut_numbers(document) else []))
    blocks = [*_comparison(document, model, X, y), *_decision_comparison(document, model, X, new)]
    last = [step(COMPARISON, *blocks)] if blocks else []
    return replace(document, introduction=introduction, steps=(*document.steps, *last))


def has_cut_numbers(node: Any) -> bool:
    """Return whether a document, or a part of it, holds a number of which only the first digits are written."""
    if isinstance(node, ExactNumber):
        return node.is_cut
    if isinstance(node, tuple):
        return any(map(has_cut_numbers, node))
    return is_dataclass(node) and any(has_cut_numbers(getattr(node, field.name)) for field in fields(node))


def _named_like(X: Data, new: Data) -> Data:
    """Return rows under the names of the columns of the training data, if these have any."""
    return type(X)(np.asarray(new), columns=X.columns) if hasattr(X, "columns") else new


def _decision_comparison(document: Document, model: Any, X: Data, new: Data) -> list[Block]:
    """Return what the program says of the new rows."""
    if new is None or "predicted" not in document.answer:
        return []
    program = model.predict(_named_like(X, new))
    said = ", ".join(f"{value:.6g}" if isinstance(value, float) else str(value) for value in program.tolist())
    by_hand = document.answer["predicted"]
    same = (
        [str(value) for value in by_hand] == [str(value) for value in program.tolist()]
        if program.dtype.kind not in "f"
        else _distance(by_hand, program) <= CLOSE * max(1.0, float(np.max(np.abs(_flat(by_hand)), initial=0.0)))
    )
    blocks: list[Block] = [sentence(f"Of the new {'row' if len(program) == 1 else 'rows'} it says: {said}.")]
    return blocks if same else [*blocks, remark("That is not what was found above: the model is not that of the data.")]


def _comparison(document: Document, model: Any, X: Data, y: Data) -> list[Block]:
    """Return the fitted attributes next to the exact answer."""
    answer, renumbered = _matched(document.answer, model)
    distances = {name: _distance(exact, getattr(model, name)) for name, exact in answer.items() if hasattr(model, name)}
    if not distances:
        return []
    rows = [(name, f"{distance:.1e}" if distance else "0") for name, distance in distances.items()]
    blocks: list[Block] = [
        sentence(f"The same numbers as {type(model).__name__} found them in floating point:"),
        table(("fitted attribute", "largest distance from the exact value"), rows),
    ]
    if renumbered:
        blocks.append(sentence("The program numbers the clusters in another order; each is compared with its own."))
    if _farthest(answer, model) > CLOSE:
        blocks.append(_reason(document.answer, model, X, y))
    return blocks


def _reason(answer: Mapping[str, Any], model: Any, X: Data, y: Data) -> Block:
    """Return why a program is further from the exact numbers than rounding takes it: its own tolerance, or a doubt."""
    settings = model.get_params(deep=False) if hasattr(model, "get_params") and X is not None else {}
    doubt = remark(APART + (STOPPED if settings.get("random_state", 0) is not None else DRAWN))
    if not settings or _farthest(_attributes(_again(model, X, y), answer), model) > CLOSE:
        return doubt
    tries: list[tuple[str, dict[str, Any]]] = [("Fitted to the numbers as they are rounded above,", {})]
    if isinstance(settings.get("tol"), float) and settings["tol"] > TIGHT:
        strict = {"tol": TIGHT} | ({"max_iter": ENOUGH_ROUNDS} if isinstance(settings.get("max_iter"), int) else {})
        tries.append((f"It stops once it is within its tol = {settings['tol']:g}. With tol = {TIGHT:g}", strict))
    for words, changes in tries:
        other = _again(model, _as_worked(X), _as_worked(y), **changes)
        distance = _farthest(_matched(answer, other)[0], other)
        if distance <= CLOSE:
            return sentence(f"{words} its numbers are at most {distance:.1e} away, relative to their size.")
    return doubt


def _again(model: Any, X: Data, y: Data, **settings: Any) -> Any:
    """Return the model fitted anew."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to say of the fit has been said
        return clone(model).set_params(**settings).fit(X, y)


def _as_worked(values: Data) -> Data:
    """Return data with every float rounded as the workings round it."""
    from pellucid.show.exact_data import exact_number

    if values is None or hasattr(values, "toarray") or np.asarray(values).dtype.kind != "f":
        return values
    rounded = np.vectorize(lambda value: float(exact_number(value, "X")[0]))(np.asarray(values))
    return type(values)(rounded, index=values.index, columns=values.columns) if hasattr(values, "columns") else rounded


def _attributes(model: Any, answer: Mapping[str, Any]) -> dict[str, Any]:
    return {name: getattr(model, name) for name in answer if hasattr(model, name)}


def _matched(answer: Mapping[str, Any], model: Any) -> tuple[Mapping[str, Any], bool]:
    """Return the answer with its clusters numbered as those of the model, if they are the same rows, and whether."""
    if "labels_" not in answer or not hasattr(model, "labels_"):
        return answer, False
    ours, theirs = [int(label) for label in answer["labels_"]], [int(label) for label in model.labels_]
    pairs = dict(zip(ours, theirs, strict=False))
    same_rows = len(ours) == len(theirs) and [pairs[label] for label in ours] == theirs
    if not same_rows or len(set(pairs.values())) < len(pairs) or all(a == b for a, b in pairs.items()):
        return answer, False
    place = {theirs: ours for ours, theirs in pairs.items()}
    moved = {
        name: [values[place.get(k, k)] for k in range(len(values))] if name in PER_CLUSTER else values
        for name, values in answer.items()
    }
    return {**moved, "labels_": theirs}, True


def _farthest(answer: Mapping[str, Any], model: Any) -> float:
    """Return the largest distance of an attribute from the exact one, relative to its size."""
    apart = [
        _distance(exact, getattr(model, name)) / max(1.0, float(np.max(np.abs(_flat(exact)), initial=0.0)))
        for name, exact in answer.items()
        if hasattr(model, name)
    ]
    return max(apart, default=0.0)


def _distance(exact: Any, program: Any) -> float:
    right, found = _flat(exact), _flat(program)
    return float(np.max(np.abs(right - found), initial=0.0)) if right.size == found.size else np.inf


def _flat(values: Any) -> Array:
    """Return all numbers of an array or of nested lists, which may be of unequal lengths, one after the other."""
    if isinstance(values, list | tuple):
        return np.concatenate([_flat(part) for part in values]) if len(values) else np.zeros(0)
    return np.asarray(values, dtype=float).ravel()
