"""Controls: what a page asks for before a method runs, from its method card and its docstring."""

from __future__ import annotations

import inspect
import math
import re
import textwrap
from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

from pellucid.core.card_index import entries
from pellucid.core.cards import MethodCard, find_card
from pellucid.core.kinds.plain import (
    MAX_WHOLE,
    Either,
    Flag,
    Kind,
    Nothing,
    Number,
    OneOf,
    OneOfWholes,
    Only,
    Real,
    Text,
    Whole,
)


def controls_of(card: MethodCard) -> list[dict[str, Any]]:
    """Return a description of each parameter, in the order of the class: its name, kinds, default and meaning.

    A parameter has one entry in ``kinds`` for each kind of value that a person can type; one that takes only arrays or
    functions has none, and a page leaves it at its default.

    Parameters
    ----------
    card : MethodCard
        The card of the method, such as ``find_card("Lasso")``.

    Examples
    --------
    >>> from pellucid.core.cards import find_card
    >>> first = controls_of(find_card("Lasso"))[0]
    >>> first["name"], first["kinds"], first["default"], first["meaning"]
    ('alpha', [{'kind': 'number', 'low': 0}], 1.0, 'Weight of the penalty, at least 0.')
    """
    return controls_for(card.estimator, card.parameters, _meanings(card.estimator))


def controls_for(
    call: Callable[..., Any], domains: Mapping[str, Any], meanings: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return a description of each parameter of a class or a function that has a domain, in its order."""
    return [
        {
            "name": name,
            "kinds": _kinds(domains[name]),
            "default": _shown(parameter.default),
            "meaning": meanings.get(name, ""),
        }
        for name, parameter in signature(call).parameters.items()
        if name in domains
    ]


def _meanings(kind: type, asked: frozenset[type] = frozenset()) -> dict[str, str]:
    """Return the meaning of each parameter: in its own words, those of a class it is built on, or of one it names."""
    own = inspect.getdoc(kind) or ""
    built_on = [inspect.getdoc(one) or "" for one in kind.__mro__[1:] if one.__module__.startswith("pellucid.")]
    named = (find_card(name) for name in re.findall(r"\b[A-Z]\w+", own) if name in entries())
    found: dict[str, str] = {}
    for card in named:
        if card is not None and card.estimator not in asked | {kind}:
            found = _meanings(card.estimator, asked | {kind}) | found
    for text in (*reversed(built_on), own):
        found |= parameter_meanings(text)
    return found


def parameter_meanings(docstring: str) -> dict[str, str]:
    """Return the first sentence that a docstring says of each parameter, but for those that it leaves to others."""
    docstring = inspect.cleandoc(re.sub(r"\\\n\s*", "", docstring))  # a line that goes on
    section = re.search(r"^ *Parameters\n *-+\n(.*?)(?=^ *\w+\n *-+\n|\Z)", docstring, re.DOTALL | re.MULTILINE)
    found: dict[str, str] = {}
    names = ""
    body: list[str] = []
    for line in [*textwrap.dedent(section[1] if section else "").splitlines(), "end"]:
        if line.startswith(" ") or not line:
            body.append(line)
            continue
        if body:
            meaning = _first_sentence(" ".join(" ".join(body).split()))
            told = (
                {}
                if re.match("As in (?!scikit-learn)", meaning)
                else dict.fromkeys(re.split(r"[,\s*]+", names), meaning)
            )
            found, names, body = found | told, "", []
        names = f"{names} {line.partition(' : ')[0]}".strip()
    return found


def _first_sentence(text: str) -> str:
    text = re.sub(r":\w+:`~?\.?([^`]*)`", r"\1", text).replace("``", "")
    end = re.search(r"\.(?= [A-Z]|$)", text)
    return text[: end.end()] if end else text


def _kinds(domain: Any) -> list[dict[str, Any]]:
    parts = domain.kinds if isinstance(domain, Either) else (domain,)
    told = [_told(part) for part in parts]
    return [kind for kind in told if kind is not None]


def _told(kind: Kind) -> dict[str, Any] | None:
    """Return a kind of value in words of a form; None for what nobody types."""
    match kind:
        case Nothing():
            return {"kind": "none"}
        case Flag():
            return {"kind": "flag"}
        case OneOf() | OneOfWholes():
            return {"kind": "choice", "options": list(kind.options)}
        case Only():
            return {"kind": "choice", "options": [kind.value]}
        case Text():
            return {"kind": "text"}
        case Whole():
            return {"kind": "whole", **_limits(low=kind.low, high=kind.high)}
        case Number():
            return {"kind": "number", **_limits(low=kind.low, high=kind.high, above=kind.above, below=kind.below)}
        case Real():
            return {"kind": "number"}
    return None


def _limits(**limits: float) -> Mapping[str, float]:
    return {name: limit for name, limit in limits.items() if math.isfinite(limit) and abs(limit) < MAX_WHOLE}


def _shown(default: Any) -> Any:
    """Return a default that JSON can hold; others, such as a function or an estimator, in words."""
    if default is None or isinstance(default, (bool, int, str)):
        return default
    if isinstance(default, float):
        return default if math.isfinite(default) else str(default)
    return list(default) if isinstance(default, tuple) else repr(default)
