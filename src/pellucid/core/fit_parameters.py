"""What the parameters were when a model was fitted, so that ``verify`` notices one that was changed since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import numpy as np

from pellucid.core.checks import is_number
from pellucid.proofs.training_data import fingerprint

BOOKKEEPING = frozenset({"copy_X", "n_jobs", "precompute", "verbose", "warm_start"})
"""Parameters that say how to work, not what the answer is: they may change after the fit."""

DEEPEST = 12
"""Levels of a parameter that are told: lists in dicts in estimators in estimators."""


def parameter_texts(estimator: Any, names: Iterable[str]) -> dict[str, str]:
    """Return every parameter that the answer depends on, in words that a file can hold."""
    return {name: _in_words(getattr(estimator, name)) for name in names if name not in BOOKKEEPING}


def changed_parameters(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return a phrase for each parameter that is not what it was at the fit."""
    return [f"{name} was {then.get(name)} and is {text}" for name, text in now.items() if text != then.get(name)]


def _in_words(value: Any, depth: int = DEEPEST) -> str:
    """Return the same text for equal values, whether a list or an array, 1 or 1.0, fresh or read from a file."""
    if value is None or isinstance(value, (str, bool, np.bool_)):
        return repr(value.item() if isinstance(value, np.bool_) else value)
    if type(value) in (int, float) or is_number(value):  # the first is quicker
        return f"{float(value):.17g}"
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return f"numbers {fingerprint(value)}"
    if depth == 0:  # something that holds itself, perhaps
        return type(value).__qualname__
    within = partial(_in_words, depth=depth - 1)
    if isinstance(value, Mapping):
        return "{" + ", ".join(sorted(f"{within(key)}: {within(item)}" for key, item in value.items())) + "}"
    if isinstance(value, (list, tuple, np.ndarray)):
        if len(value) and all(map(is_number, value)):
            return within(np.asarray(value, dtype=np.float64))
        return f"[{', '.join(map(within, value))}]"
    if hasattr(value, "get_params"):
        return f"{type(value).__name__}({within(value.get_params(deep=False))})"
    if is_dataclass(value) and not isinstance(value, type):
        return f"{type(value).__name__}({within({field.name: getattr(value, field.name) for field in fields(value)})})"
    return str(getattr(value, "__qualname__", type(value).__qualname__))  # a function, a generator: no more can be told
