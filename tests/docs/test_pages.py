"""The pages: what they run, what they say of every name, what the plan of a course points to."""

from __future__ import annotations

import ast
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

from pellucid.catalogue import read_catalogue
from pellucid.core.card_index import entries
from pellucid.core.cards import all_cards
from pellucid.exercises import exercise_names

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))

from site_pages.api_pages import is_ours, pages, public_packages, write  # noqa: E402
from site_pages.executed_code import run_blocks  # noqa: E402
from site_pages.formulas import mathml  # noqa: E402
from site_pages.method_pages import cells_of, method_page, opening_of  # noqa: E402
from sphinx.errors import ExtensionError  # noqa: E402

WITH_CODE = [path for path in sorted(DOCS.rglob("*.md")) if "```python" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize(
    "path",
    [path for path in WITH_CODE if "generated" not in path.parts],
    ids=lambda path: path.relative_to(DOCS).as_posix(),
)
@pytest.mark.filterwarnings("default")
def test_the_code_of_a_page_prints_what_stands_behind_it(path, capsys):
    assert run_blocks(path.read_text(encoding="utf-8")) > 0


def test_a_page_whose_code_prints_something_else_is_refused():
    right = "```python\nprint(1 + 1, 1e-13)\n```\n\n```text\n2 3e-15\n```\n"  # what rounding leaves is not compared
    assert run_blocks(right) == 1
    with pytest.raises(AssertionError, match="but the page says\n3"):
        run_blocks(right.replace("2 3e-15", "3 3e-15"))
    with pytest.raises(ZeroDivisionError):
        run_blocks("```python\n1 / 0\n```\n")


def test_every_method_says_what_to_take_it_for_and_where_it_comes_from():
    for card in all_cards():
        assert card.take_for, card.name
        assert not card.take_for.endswith("."), card.name
        assert card.references, card.name
        assert all(re.search(r"(19|20)\d\d\)?$|:\d{4}\.\d{4,5}$", line) for line in card.references), card.name


def test_every_public_name_has_one_page(tmp_path):
    write(tmp_path)
    written = {path.stem for path in (tmp_path / "api").glob("*.rst")} - {"index"}
    assert written == {f"{home}.{name}" for home, names in pages().items() for name in names}
    described = [getattr(import_module(home), name) for home, names in pages().items() for name in names]
    assert len({id(thing) for thing in described}) == len(described)
    for package in public_packages():
        for name in import_module(package).__all__:
            thing = getattr(import_module(package), name)
            assert name in entries() or not is_ours(thing) or any(thing is one for one in described), name


def test_no_package_with_public_names_is_overlooked():
    found = set()
    for path in sorted((ROOT / "src/pellucid").glob("*/__init__.py")):
        lists = [line for line in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(line, ast.Assign)]
        if any(getattr(target, "id", "") == "__all__" for line in lists for target in line.targets):
            found.add(f"pellucid.{path.parent.name}")
    assert found - {"pellucid.core"} <= set(public_packages())


def test_a_method_page_has_all_its_parts():
    page = method_page(next(card for card in all_cards() if card.name == "Lasso"))
    for heading in ("Its certificate", "Worked by hand", "Parameters and attributes", "Its proof", "References"):
        assert f"\n{heading}\n" in page
    assert page.index("**Take it for** many columns") < page.index("What it looks like")
    assert r"\alpha\|w\|_1" in page.partition("**Take it for**")[0]


def test_the_opening_of_a_docstring_ends_before_its_first_section():
    assert opening_of("One.\n\nTwo.\n\nParameters\n----------\na : int") == ["One.", "", "Two.", ""]
    assert opening_of("One.\n\nTwo.") == ["One.", "", "Two."]


def test_a_bar_within_a_cell_does_not_end_it():
    assert cells_of(r"| `KMeans` | k-means\|\| starts | |") == ["`KMeans`", "k-means|| starts", ""]


def test_a_formula_is_mathml_or_ends_the_build():
    assert mathml("a_1", as_block=False).startswith("<math")
    assert "<mtable" in mathml(r"a &= b \\ c &= d", as_block=True)
    with pytest.raises(ExtensionError, match="cannot be written as MathML"):
        mathml(r"\unknown{a}", as_block=False)


def weeks():
    """Return what the two tables of the plan of a course say of each week, by their headings."""
    lines = (DOCS / "guides/teaching.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        if row[0] == "week":
            heading = row
        else:
            found.setdefault(row[0], {}).update(zip(heading, row, strict=True))
    return list(found.values())


def test_every_topic_of_the_syllabus_stands_in_one_of_fourteen_weeks():
    topics = [topic for week in weeks() for topic in week["syllabus"].split()]
    assert len(weeks()) == 14
    assert sorted(topics) == sorted(topic.id for topic in read_catalogue())


def test_what_the_plan_of_a_course_points_to_is_there():
    notebooks = {path.name[:2] for path in (ROOT / "notebooks").glob("*.ipynb")}
    figures = set(re.findall(r"`(\w+)`", (DOCS / "figures.md").read_text(encoding="utf-8")))
    gallery = set(re.findall(r"^\| `(\w+)` \|", (DOCS / "gallery.md").read_text(encoding="utf-8"), re.MULTILINE))
    for week in weeks():
        assert set(week["notebooks"].split()) <= notebooks
        assert set(re.findall(r"`(\w+)`", week["figures"])) <= figures
        assert set(week["sheet"].strip("`").split(",")) <= set(exercise_names())
        assert set(re.findall(r"`(\w+)`", week["page"])) <= gallery
    assert {number for week in weeks() for number in week["notebooks"].split()} == notebooks
