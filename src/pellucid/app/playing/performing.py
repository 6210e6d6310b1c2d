"""From a request, as the page sends it and its address holds it, to a performance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pellucid.app.playing.given.given_data import read_data
from pellucid.app.playing.given.play_table import PlayTable
from pellucid.app.playing.performance import Performance
from pellucid.app.playing.plays import find_play
from pellucid.app.playing.stages import Report
from pellucid.optimize.typed_formula import check_typed_formula


def perform_request(
    asked: Mapping[str, Any], table: PlayTable | None = None, report: Report | None = None
) -> Performance:
    """Perform ``{"play": name, "parameters": {...}, "data": {...}}``, or say in a sentence what is wrong with it.

    Parameters
    ----------
    asked : mapping
        The request. A formula is read by its grammar before anything evaluates it: it may be anybody's.
    table : PlayTable, default=None
        The table that the data name, if they name one.
    report : function, default=None
        Told after each iteration how many there were, what the last is called, and the seconds of the fit.

    Examples
    --------
    >>> found = perform_request({"play": "KMeans", "parameters": {"n_clusters": 2}, "data": {"set": "moons"}})
    >>> found.recording.title
    'KMeans on moons'
    """
    data, parameters = asked["data"], asked.get("parameters", {})
    if not isinstance(parameters, Mapping):
        raise ValueError(f'parameters must be an object like {{"n_clusters": 3}}, got {parameters!r}.')
    if isinstance(data, Mapping) and "formula" in data:
        data = {**data, "formula": check_typed_formula(data["formula"])}
    tables = {}
    if table is not None:
        data, tables = {**data, "table": table.name}, {table.name: table.frame}
    return find_play(str(asked["play"])).perform(read_data(data, tables=tables), parameters, report)
