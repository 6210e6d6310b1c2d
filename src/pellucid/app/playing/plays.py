"""Plays: everything that a page can play, by name. Methods with cards are plays by themselves, ideas have their own."""

from __future__ import annotations

import re
from functools import cache
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, ClusterMixin, RegressorMixin, TransformerMixin

from pellucid.app.playing.controls import controls_of
from pellucid.app.playing.descents import FORMULAS, descent_controls, descent_domains, perform_on_formula
from pellucid.app.playing.given.given_data import GivenData
from pellucid.app.playing.performance import Performance
from pellucid.app.playing.play import Play
from pellucid.app.playing.recorded_fit import perform_fit
from pellucid.app.playing.stages import Report
from pellucid.core.cards import MethodCard, all_cards
from pellucid.core.checks import find_name

DRAWN = {"labels_", "means_", "densities_", "embedding_", "components_", "eigenvectors_"}
"""Fitted attributes by which a method without a target can be drawn: clusters, or places of the rows."""


@cache
def play_names() -> tuple[Play, ...]:
    """Return all plays, one group after the other."""
    from pellucid.app.playing.ideas import IDEAS

    found = [*(_play_of(card) for card in all_cards() if _can_be_drawn(card)), *_descents(), *IDEAS]
    order = ("Regression", "Classification", "Clusters", "Maps", "Optimization", "Ideas")
    return tuple(sorted(found, key=lambda play: order.index(play.group)))


def find_play(name: str) -> Play:
    """Return the play of a name, or say which names are near.

    Parameters
    ----------
    name : str
        A class such as ``KMeans``, a method such as ``gradient-descent``, or an idea; case and hyphens do not matter.

    Examples
    --------
    >>> find_play("KMeans").group
    'Clusters'
    """
    plays = {play.name: play for play in play_names()}
    return plays[find_name(name, plays, what="play")]


def _can_be_drawn(card: MethodCard) -> bool:
    """Return whether what the card says suffices to draw a fit on rows of numbers with at most one target."""
    kind = card.estimator
    if any(one.default is one.empty for one in signature(kind).parameters.values()):
        return False  # it is built on something that a form cannot give
    rules = card.rules_for(kind())
    takes_numbers = rules.dtypes is None or isinstance(rules.dtypes, tuple) or rules.dtypes is np.float64
    if not takes_numbers:
        return False  # counts and codes are no places in a plane
    if issubclass(kind, (ClassifierMixin, RegressorMixin)):
        return not issubclass(kind, TransformerMixin) or rules.target == "classes"  # a regressor of tables has no curve
    return rules.target == "none" and bool(DRAWN & card.attributes.keys())


def _play_of(card: MethodCard) -> Play:
    group, wants, first = _place_of(card)

    def run(data: GivenData, parameters: dict[str, Any], report: Report | None) -> Performance:
        return perform_fit(card.estimator(**parameters), data, report=report)

    return Play(
        name=card.name,
        title=_title(card.name),
        group=group,
        data=("rows",),
        wants=wants,
        first=first,
        domains=card.parameters,
        describe=lambda: controls_of(card),
        run=run,
    )


def _title(name: str) -> str:
    """Return the name of a class in words: ``KernelPCA`` is "Kernel PCA"."""
    first, *others = re.findall("[A-Z0-9]+(?![a-z])|[A-Z][a-z]*", name)
    return " ".join([first, *(word if word.isupper() else word.lower() for word in others)])


def _place_of(card: MethodCard) -> tuple[str, str | None, dict[str, Any]]:
    """Return the group of a method, its target, and the data to begin with."""
    kind, attributes = card.estimator, card.attributes.keys()
    if issubclass(kind, ClassifierMixin):
        return "Classification", "classes", {"set": "moons"}
    if issubclass(kind, RegressorMixin):
        return "Regression", "numbers", {"set": "wave" if "coef_" not in attributes else "line"}
    if issubclass(kind, ClusterMixin) or attributes & {"means_", "densities_"}:
        return "Clusters", None, {"set": "blobs", "rows": 36} if "children_" in attributes else {"set": "blobs"}
    if "embedding_" in attributes:
        return "Maps", None, {"set": "swiss_roll", "rows": 300}
    return "Maps", None, {"set": "iris"}


def _descents() -> list[Play]:
    from pellucid.optimize.methods import METHODS

    return [_descent(name, kind) for name, kind in METHODS.items()]


def _descent(name: str, kind: type) -> Play:
    domains = descent_domains(kind)
    return Play(
        name=name.replace(" ", "-"),
        title=name.capitalize() if " " in name else kind.__name__,
        group="Optimization",
        data=("formula",),
        wants=None,
        first={"formula": FORMULAS["valley"][0], "start": list(FORMULAS["valley"][1])},
        domains=domains,
        describe=lambda: descent_controls(kind, domains),
        run=lambda data, parameters, report: perform_on_formula(kind, data, parameters, report),
    )
