"""Methods of :mod:`pellucid.optimize` as plays: what their settings may be, and formulas to begin with."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from pellucid.app.playing.controls import controls_for, parameter_meanings
from pellucid.app.playing.given.given_data import GivenData
from pellucid.app.playing.performance import Performance
from pellucid.app.playing.recorded_descent import perform_descent
from pellucid.app.playing.stages import Report
from pellucid.core.kinds.plain import Kind, Nothing, Number, OneOf, Whole

FORMULAS: dict[str, tuple[str, tuple[float, float]]] = {
    "valley": ("x**2 + 10*y**2", (3.0, 1.0)),
    "bowl": ("x**2 + y**2 + x*y", (2.0, 1.5)),
    "Rosenbrock": ("(1 - x)**2 + 100*(y - x**2)**2", (-1.2, 1.0)),
    "Himmelblau": ("(x**2 + y - 11)**2 + (x + y**2 - 7)**2", (0.0, 0.0)),
    "saddle": ("x**4/4 - x**2/2 + y**2", (0.05, 1.5)),
    "waves": ("x**2/10 + y**2/10 + sin(x)*cos(y)", (3.0, 2.0)),
}
"""Name -> formula and where to begin."""
LONGEST = 1000
"""Iterations, where nothing else is said."""
LINE_SEARCHES = ("backtracking", "strong wolfe", "exact")
SHARE = Number(low=0, below=1)
"""What is kept of a moving mean."""


def descent_domains(kind: type) -> dict[str, Kind]:
    """Return what each setting of a method may be, and how many iterations it may take."""
    found = {field.name: domain for field in fields(kind) if (domain := _domain(field)) is not None}
    return {**found, "max_iter": Whole(low=1, high=100_000)}


def _domain(field: Any) -> Kind | None:
    options = _options(field.name)
    if options:
        return OneOf(options)
    if field.name in ("momentum", "decay", "decay1", "decay2"):
        return SHARE
    if "LineSearch" in field.type:
        searches = OneOf(LINE_SEARCHES)
        return Number(above=0) | searches if "float" in field.type else searches
    if "float" in field.type:
        return Number(above=0) | Nothing() if "None" in field.type else Number(above=0)
    return Whole(low=1) if field.type == "int" else None


def _options(setting: str) -> tuple[str, ...]:
    """Return the texts that a setting may be, which its method has in a dict or a tuple."""
    from pellucid.optimize.methods import conjugate_gradient, coordinate_descent, newton

    known: dict[str, Any] = {
        "repair": newton.REPAIRS,
        "formula": conjugate_gradient.FORMULAS,
        "order": coordinate_descent.ORDERS,
    }
    return tuple(known[setting]) if setting in known else ()


def descent_controls(kind: type, domains: Mapping[str, Kind]) -> list[dict[str, Any]]:
    """Return a description of each setting, as a page asks for it."""
    meanings = {name: MEANINGS[name] for name in domains if name in MEANINGS}
    meanings |= {name: said for name, said in parameter_meanings(inspect.getdoc(kind) or "").items() if said}
    found = controls_for(kind, domains, meanings)
    limit = {"name": "max_iter", "kinds": [{"kind": "whole", "low": 1, "high": 100_000}], "default": LONGEST}
    return [*found, {**limit, "meaning": "Most iterations."}]


MEANINGS = {
    "step_size": "How far a step goes along the gradient.",
    "line_search": "How far a step goes.",
    "formula": "How much of the last direction is kept.",
}
"""Of settings that some docstrings leave without a word."""


def perform_on_formula(
    kind: type, data: GivenData, parameters: Mapping[str, Any], report: Report | None
) -> Performance:
    """Minimize a formula by a method with these settings."""
    from pellucid.optimize.stopping import Stopping

    given = dict(parameters)
    stopping = Stopping(max_iter=given.pop("max_iter", LONGEST))
    rule = kind(**{name: _line_search(value) for name, value in given.items()})
    start = (1.0, 1.0) if data.start is None else data.start
    return perform_descent(str(data.formula), start, rule, stopping=stopping, report=report)


def _line_search(value: Any) -> Any:
    """Return the line search of a name; other settings as they are."""
    from pellucid.optimize.line_searches import Backtracking, ExactStep, StrongWolfe

    known = dict(zip(LINE_SEARCHES, (Backtracking, StrongWolfe, ExactStep), strict=True))
    return known[value]() if value in LINE_SEARCHES else value
