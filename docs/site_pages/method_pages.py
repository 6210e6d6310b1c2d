"""One page for each method card: what it solves, what its certificate proves, a case worked by hand, a picture.

Nothing is written twice: the words are those of the class, of its card, of the README of its room, of docs/speed.md and
of its proof; certificate, trace, workings and picture are made by fitting it.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np
from tests.public_estimators import problem_for, seeded

import pellucid
import site_pages
from pellucid.app.playing.given.given_data import read_data
from pellucid.app.playing.plays import play_names
from pellucid.app.playing.thumbnail import thumbnail
from pellucid.catalogue import read_catalogue
from pellucid.core.card_index import entries
from pellucid.core.cards import MethodCard, all_cards
from pellucid.core.trace import Trace
from pellucid.exercises import exercise, exercise_names
from pellucid.proofs.certificate import GRADES, Certificate
from pellucid.show.html_printer import print_fragment
from site_pages.proof_pages import label_of

ROOT = Path(pellucid.__file__).parents[2]
ROOMS = Path(pellucid.__file__).parent
ROW = re.compile(r"^\|(.+)\|$", re.MULTILINE)
NO_TRACE = "A direct method: it has no steps to show."


def write(folder: Path) -> None:
    """Write the pages and their index."""
    cards = sorted(all_cards(), key=lambda card: card.name)
    for card in cards:
        site_pages.write_if_new(folder / "methods" / f"{card.name}.rst", method_page(card))
    by_family: dict[str, list[MethodCard]] = {}
    for card in cards:
        by_family.setdefault(entries()[card.name].family, []).append(card)
    site_pages.write_if_new(folder / "methods" / "index.rst", "\n".join(_index(by_family)))


def _index(by_family: dict[str, list[MethodCard]]) -> Iterator[str]:
    yield from _title("Methods", "=")
    yield "Every page is written from the card of its method: :doc:`how to add one <../../guides/adding_a_method>`.\n"
    for family, cards in sorted(by_family.items()):
        yield from _title(family, "-")
        yield ".. list-table::\n   :widths: 30 70\n"
        for card in cards:
            yield f"   * - :doc:`{card.name}`"
            yield f"     - {site_pages.first_line(card.estimator)}"
        yield f"\n.. toctree::\n   :hidden:\n   :caption: {family}\n"
        yield from (f"   {card.name}" for card in cards)
        yield ""


def method_page(card: MethodCard) -> str:
    """Return the page of a method."""
    home = _public_home(card)
    parts = [
        *_title(card.name, "="),
        f".. currentmodule:: {home}\n",
        "\n".join(opening_of(inspect.getdoc(card.estimator) or "")) + "\n",
        f"**Take it for** {card.take_for}.\n",
        *_at_a_glance(card, home),
        *_picture(card),
        *_certificate(card),
        *_worked(card),
        *_differences(card),
        *_speed(card),
        *_title("Parameters and attributes", "-"),
        f".. autoclass:: {home}.{card.name}\n   :members:\n   :inherited-members: object\n"
        "   :exclude-members: set_fit_request, set_score_request, set_partial_fit_request, set_predict_request, "
        "set_transform_request, get_metadata_routing, set_inverse_transform_request, set_predict_proba_request\n",
        *_proof(card),
        *_references(card),
    ]
    return "\n".join(parts)


def opening_of(docstring: str) -> list[str]:
    """Return the lines of a docstring before its first section: what the method solves."""
    lines = docstring.splitlines()
    ends = (k - 1 for k, line in enumerate(lines) if k and line.strip() and not line.strip("-"))
    return lines[: next(ends, len(lines))]


def setup(app: Any) -> None:
    """Leave out of the description of a class what stands at the top of its page."""
    app.connect("autodoc-process-docstring", _without_opening, priority=400)  # before numpydoc, at 500


def _without_opening(_app: Any, what: str, name: str, _thing: Any, _options: Any, lines: list[str]) -> None:
    if what == "class" and name.rpartition(".")[2] in entries():
        del lines[: len(opening_of("\n".join(lines)))]


def _title(text: str, line: str) -> list[str]:
    return [text, line * len(text), ""]


def _public_home(card: MethodCard) -> str:
    """Return the package that users import the method from."""
    parts = card.estimator.__module__.split(".")
    for end in range(2, len(parts) + 1):
        package = __import__(".".join(parts[:end]), fromlist=["_"])
        if card.name in getattr(package, "__all__", ()):
            return ".".join(parts[:end])
    return card.estimator.__module__


def _at_a_glance(card: MethodCard, home: str) -> Iterator[str]:
    """Yield a table: the row of the room's README, the topics, and where the method runs."""
    topics = {topic.id: topic.title for topic in read_catalogue()}
    rows = {"import": f"``from {home} import {card.name}``"}
    rows |= {heading: _in_rst(cell) for heading, cell in _readme_row(card).items() if heading != "estimator"}
    rows["syllabus"] = "; ".join(f"{name} {topics[name]}" for name in card.topics)
    rows["rows on Dask"] = "yes" if card.rules_for(card.estimator(**_needed(card))).blocks else "no"
    rows["arrays on a device"] = "yes" if card.device else "no"
    rows["ONNX graph"] = "yes" if ":" in card.onnx else "no"
    if card.extra:
        rows["needs"] = f"``pip install pellucid[{card.extra}]``"
    yield ".. list-table::\n   :widths: 25 75\n   :class: glance\n"
    for heading, cell in rows.items():
        yield f"   * - {heading}\n     - {cell or chr(8212)}"
    yield ""


def _needed(card: MethodCard) -> dict[str, Any]:
    return dict(card.trial.settings)


@cache
def _readmes() -> dict[Path, str]:
    return {path.parent: path.read_text(encoding="utf-8") for path in sorted(ROOMS.rglob("README.md"))}


def _rooms_of(card: MethodCard) -> Iterator[str]:
    """Yield the READMEs of the method's own room, and of those above."""
    folder = Path(inspect.getfile(card.estimator)).parent
    while folder != ROOMS.parent:
        if folder in _readmes():
            yield _readmes()[folder]
        folder = folder.parent


def _readme_row(card: MethodCard) -> dict[str, str]:
    """Return the row of the method, by the headings of its table."""
    for text in [*_rooms_of(card), *_readmes().values()]:
        heading: list[str] = []
        for line in text.splitlines():
            cells = cells_of(line) if line.startswith("|") else []
            if not cells:
                heading = []
            elif not heading:
                heading = cells
            elif re.search(rf"\b{card.name}\b", cells[0]):
                return dict(zip(heading[1:], cells[1:], strict=False))
    return {}


def cells_of(row: str) -> list[str]:
    """Return the cells of a row of a table in Markdown, where a bar within a cell is written with a stroke."""
    return [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip("|"))]


def _in_rst(markdown: str) -> str:
    """Return a line of Markdown as reStructuredText: code, emphasis, and links by their words."""
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", markdown)
    text = re.sub(r"`+([^`]+)`+", r"``\1``", text)
    pieces = re.split(r"(``[^`]+``|\*\*[^*]+\*\*)", text)
    return "".join(
        piece if piece.startswith(("``", "**")) else re.sub(r"([*|_\\])", r"\\\1", piece) for piece in pieces
    )


def _picture(card: MethodCard) -> Iterator[str]:
    play = next((one for one in play_names() if one.name == card.name), None)
    if play is None:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recording = play.record(read_data(play.first), {})
    yield from _title("What it looks like", "-")
    yield ".. raw:: html\n"
    yield indent(f'<div class="method-picture">{thumbnail(recording)}</div>', "   ") + "\n"
    yield f"``pellucid play --method {card.name}`` plays it step by step in the browser.\n"


def _certificate(card: MethodCard) -> Iterator[str]:
    yield from _title("Its certificate", "-")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model = seeded(card.estimator(**_needed(card)))
        model.fit(*problem_for(model))
    found: Certificate = model.certificate_
    yield f"**{found.grade}**: {_in_rst(GRADES[found.grade])}.\n"
    if card.meaning:
        yield f"If it holds, {_in_rst(card.meaning)}.\n"
    yield "Fitted to 40 rows it says:\n\n.. code-block:: text\n   :class: certificate\n"
    yield indent(str(found), "   ") + "\n"
    for name, why in card.unproved.items():
        yield f"- ``{name}`` is not proved: {_in_rst(why)}."
    for words in card.free.values():
        yield f"- Left open by the problem: {_in_rst(words)}."
    yield ""
    trace: Trace | None = getattr(model, "trace_", None)
    columns = list(trace.columns) if trace is not None and len(trace) else []
    yield f"Columns of ``trace_``: {', '.join(f'``{name}``' for name in columns)}.\n" if columns else NO_TRACE + "\n"


def _worked(card: MethodCard) -> Iterator[str]:
    name = entries()[card.name].command_name
    if not card.workings or name not in exercise_names():
        return
    found = exercise(name, seed=1)
    yield from _title("Worked by hand", "-")
    yield f"``pellucid.exercise({name!r}, seed=1).solution``: rows of another seed are other small numbers.\n"
    yield ".. dropdown:: All steps\n   :open:\n\n   .. raw:: html\n"
    yield indent(print_fragment(found.solution), "      ") + "\n"


def _differences(card: MethodCard) -> Iterator[str]:
    """Yield what the READMEs of its rooms say of differences from scikit-learn, where they name the method."""
    found = []
    for text in _rooms_of(card):
        section = re.search(r"^Known differences.*?\n\n(.*?)(?=\n\n|\Z)", text, re.DOTALL | re.MULTILINE)
        if section:
            found += re.split(r"^- ", section[1], flags=re.MULTILINE)[1:]
    own = [" ".join(line.split()) for line in found if re.search(rf"`{card.name}\b", line) or "`copy_X" in line]
    if own:
        yield from _title("Differences from scikit-learn", "-")
        yield from (f"- {_in_rst(line)}" for line in own)
        yield ""


def _speed(card: MethodCard) -> Iterator[str]:
    """Yield the rows of docs/speed.md that begin with the method."""
    text = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
    rows = [cells_of(line) for line in ROW.findall(text)]
    own = [row for row in rows if len(row) >= 2 and re.match(rf"{card.name}\b", row[0])]
    if not own:
        return
    yield from _title("Speed", "-")
    yield "Time of the best peer over ours (:doc:`../../speed` says how it was measured).\n"
    yield ".. list-table::\n   :widths: 50 20 30\n"
    for row in own:
        cells = [*row, "", ""][:3]
        yield f"   * - {_in_rst(cells[0])}"
        yield from (f"     - {_in_rst(cell) or chr(8212)}" for cell in cells[1:])
    yield ""


def _proof(card: MethodCard) -> Iterator[str]:
    yield from _title("Its proof", "-")
    module = card.prove.__module__
    yield f"``pellucid.verify(model, X, y)`` recomputes every claim from the data, by this code (``{module}``), which"
    yield "shares nothing with the fit.\n"
    if not card.proof:
        yield f"What it rests on: :ref:`the mathematics <{label_of(module)}>`.\n"
    yield ".. dropdown:: The text of the proof\n\n   .. code-block:: python\n"
    yield indent(inspect.getsource(inspect.unwrap(card.prove)), "      ") + "\n"


def _references(card: MethodCard) -> Iterator[str]:
    yield from _title("References", "-")
    yield from (f"- {_in_rst(reference)}" for reference in card.references)
    yield ""
