"""A play: what it is called, which data and parameters it takes, and what it does with them."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pellucid.app.playing.controls import controls_for, parameter_meanings
from pellucid.app.playing.given.given_data import GivenData, checked_for
from pellucid.app.playing.performance import Performance
from pellucid.app.playing.recording import Recording
from pellucid.app.playing.stages import Report
from pellucid.core.checks import find_name


@dataclass(frozen=True)
class Play:
    """Something that can be played: what it is called, which data it takes, and what it does with them."""

    name: str
    """What ``find_play`` knows it by."""
    title: str
    """Its name in words, as a page shows it."""
    group: str
    """The heading that a page lists it under: Regression, Classification, Clusters, Maps, Optimization or Ideas."""
    data: tuple[str, ...]
    """Kinds of data that it takes: rows, formula, image."""
    wants: str | None
    """Its target: classes, numbers or none."""
    first: Mapping[str, Any]
    """The data to begin with."""
    domains: Mapping[str, Any]
    """What each parameter may be."""
    describe: Callable[[], list[dict[str, Any]]]
    """Returns what ``controls`` returns."""
    run: Callable[[GivenData, dict[str, Any], Report | None], Performance]
    """From data, parameters and whom to tell of each iteration to a performance; ``perform`` checks first."""

    def controls(self) -> list[dict[str, Any]]:
        """Return a description of each parameter, as a page asks for it."""
        return self.describe()

    def perform(
        self, data: GivenData, parameters: Mapping[str, Any] | None = None, report: Report | None = None
    ) -> Performance:
        """Play it on data, with parameters by name; those that are not given have their defaults."""
        given = dict(parameters or {})
        if given and not self.domains:
            raise ValueError(f"{self.name} must have no parameters, got {', '.join(given)}.")
        for name, value in given.items():
            domain = self.domains[find_name(name, self.domains, what="parameter")]
            if not domain.fits(value):
                raise domain.complaint(name, value)
        return self.run(checked_for(data, self.data, self.wants), given, report)

    def record(self, data: GivenData, parameters: Mapping[str, Any] | None = None) -> Recording:
        """Return the recording alone."""
        return self.perform(data, parameters).recording


def idea(
    name: str,
    title: str,
    perform: Callable[..., Performance],
    domains: Mapping[str, Any],
    *,
    first: Mapping[str, Any],
    data: str = "rows",
    wants: str | None = None,
    group: str = "Ideas",
) -> Play:
    """Return the play of a function of data and named parameters; its form is made from signature and docstring."""
    return Play(
        name=name,
        title=title,
        group=group,
        data=(data,),
        wants=wants,
        first=first,
        domains=domains,
        describe=lambda: controls_for(perform, domains, parameter_meanings(inspect.getdoc(perform) or "")),
        run=lambda given, parameters, report: perform(given, _on_a_clock(report), **parameters),
    )


def _on_a_clock(report: Report | None) -> Report | None:
    """Return a report that tells the seconds since now, whatever it is told."""
    if report is None:
        return None
    start = time.perf_counter()
    return lambda done, label, _seconds: report(done, label, time.perf_counter() - start)
