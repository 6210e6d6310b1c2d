"""What a recording tells beside its pictures: trace, certificate, workings, and the numbers that may be moved."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pellucid.app.playing.stages import FitStage
from pellucid.core.cards import MethodCard
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.proofs.certificate import GRADES, Certificate

MOST_TRACE_ROWS = 2000
"""A longer trace is told at the rows of the frames."""
WIDE = 100.0
"""A column of the trace that falls by more than this factor is drawn on a log scale."""
MOST_NUMBERS = 64
"""A fitted attribute of more numbers is not moved by hand."""
NUMBERED = re.compile(r"\b(?:round|epoch|iteration|pair|segment|newton's step) (\d+)", re.IGNORECASE)
"""Headings of the steps of workings that belong to an iteration."""


def told_certificate(certificate: Certificate) -> dict[str, Any]:
    """Return a certificate as the page shows it."""
    claims = [
        {
            "name": claim.name,
            "about": claim.statement,
            "value": float(claim.value),
            "bound": float(claim.bound),
            "holds": claim.holds,
        }
        for claim in certificate.claims
    ]
    return {"grade": certificate.grade, "holds": certificate.holds, "claims": claims}


NO_CERTIFICATE: dict[str, Any] = {"grade": "none", "holds": False, "claims": []}
"""Of what has no answer that could be proved."""


def worst_claims(certificates: Sequence[Certificate]) -> dict[str, Any]:
    """Return several certificates as one: of the claims of a name that which is nearest to its bound, or beyond it."""
    worst: dict[str, Any] = {}
    for claim in (claim for certificate in certificates for claim in certificate.claims):
        kept = worst.get(claim.name)
        if kept is None or _nearness(claim) > _nearness(kept):
            worst[claim.name] = claim
    weakest = max((certificate.grade for certificate in certificates), key=list(GRADES).index)
    reason = next(one.reason for one in certificates if one.grade == weakest)
    return told_certificate(Certificate(weakest, tuple(worst.values()), reason=reason))


def _nearness(claim: Any) -> float:
    if not claim.holds:
        return float("inf")
    return float(claim.value / claim.bound) if claim.bound > 0 else 0.0


def thinned(stages: list[FitStage], most: int) -> list[FitStage]:
    """Return at most so many stages, the first and the last among them."""
    if len(stages) <= most:
        return stages
    return [stages[i] for i in np.unique(np.linspace(0, len(stages) - 1, most).round().astype(int))]


def told_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns of numbers as a trace, with the names of those on a log scale."""
    found = {name: np.asarray(values, dtype=float) for name, values in columns.items()}
    return {"columns": found, "log": [name for name, values in found.items() if is_wide(values)]}


def told_trace(trace: Trace, rows: Sequence[int | None]) -> tuple[dict[str, Any], dict[int | None, int]]:
    """Return the columns of a trace, and where its rows stand in them."""
    kept = list(range(len(trace)))
    if len(trace) > MOST_TRACE_ROWS:
        kept = sorted({row for row in rows if row is not None})
    columns = {name: trace[name][kept] for name in trace.columns} if len(trace) else {}
    return told_columns(columns), {row: place for place, row in enumerate(kept)}


def is_wide(values: Array) -> bool:
    """Return whether numbers are to be drawn on a log scale."""
    known = values[np.isfinite(values)]
    positive = known[known > 0]
    return bool((known >= 0).all()) and positive.size > 1 and bool(positive.max() > WIDE * positive.min())


def told_workings(work: Any, *given: Any, **more: Any) -> dict[str, Any] | None:
    """Return the workings in pieces of HTML and as LaTeX; None where there are none, or too much data for them."""
    from pellucid.show import show_work
    from pellucid.show.html_printer import print_blocks
    from pellucid.show.latex_printer import print_latex

    try:
        document = show_work(work, *given, **more)
    except (TypeError, ValueError):  # a method without workings, or more than a person would do by hand
        return None
    steps = [{"heading": step.heading, "html": print_blocks(step.blocks)} for step in document.steps]
    opening = print_blocks(document.introduction)
    return {"title": document.title, "opening": opening, "steps": steps, "latex": print_latex(document)}


def numbered_steps(workings: Mapping[str, Any] | None) -> dict[int | None, int]:
    """Return the place of the step that shows each iteration, by the number in its heading."""
    found: dict[int | None, int] = {}
    for place, step in enumerate(workings["steps"] if workings else ()):
        number = NUMBERED.search(step["heading"])
        if number:
            found.setdefault(int(number[1]), place)
    return found


def fitted_numbers(model: Any, card: MethodCard, names: Sequence[str]) -> tuple[dict[str, Any], ...]:
    """Return the fitted attributes of few numbers that ``verify`` looks at."""
    found = ((name, getattr(model, name, None)) for name in card.attributes if name not in card.unproved)
    return tuple(
        {"name": name, "shape": value.shape, "values": value.ravel(), "labels": _labels(value.shape, names)}
        for name, value in ((name, np.asarray(value)) for name, value in found if _is_number(value))
        if 0 < value.size <= MOST_NUMBERS
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) or (isinstance(value, np.ndarray) and value.dtype.kind == "f")


def _labels(shape: tuple[int, ...], names: Sequence[str]) -> list[str] | None:
    """Return the names of numbers that stand for columns of the data; None where they stand for something else."""
    if not shape or shape[-1] != len(names):
        return None
    if len(shape) == 1:
        return list(names)
    return [f"{k + 1}: {name}" for k in range(int(np.prod(shape[:-1]))) for name in names]


def written(value: Any) -> str:
    """Return a parameter as code."""
    return repr(value.item() if isinstance(value, np.generic) else value)
