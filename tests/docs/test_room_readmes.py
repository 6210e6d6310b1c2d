"""READMEs of rooms and pages of the house name files that there are; a table of files has all of its room."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

import pytest
from tools.new_method import FILES

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/pellucid"
HOUSE = ("src", "tests", "benchmarks", "tools", "docs", "examples", "notebooks")
ROOMS = sorted(path.parent for path in PACKAGE.rglob("README.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES += sorted((ROOT / "docs/guides").glob("*.md"))
LAID = [Template(path).substitute(family="cluster", module="mean_shift") for path in FILES.values()]
LAID.append("src/pellucid/cluster/mean_shift_kernels.py")  # laid by hand, where a method has compiled loops
"""What ``make method NAME=cluster/mean_shift`` lays, as CONTRIBUTING.md tells it: these are files yet to be written."""
FILE = r"`[\w/]+(?:\.(?:py|html|css|js)|/)`"
NAMES = re.compile(f"{FILE}(?:, {FILE})*")
"""The content of a cell that has nothing but names of files and folders in it."""

rooms = pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.relative_to(PACKAGE).as_posix())
pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


def prose_of(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def file_cells(text):
    """Return the cells of tables that name Python files, or any, and nothing else."""
    rows = [line.strip("|").split(" | ") for line in prose_of(text).splitlines() if line.startswith("| ")]
    return [cell.strip() for row in rows for cell in row if NAMES.fullmatch(cell.strip())]


def stale_names(text, room):
    """Return the names of Python files, and of whatever stands in a table of files, that the README should not have.

    A name stands for a file of the room, however deep, of the package or of the repository; one that begins with an
    underscore is what the names of many files end in.
    """
    names = {name for name in re.findall(r"`(\w[\w/]*(?:\.py|/))`", prose_of(text)) if not name.startswith("_")}
    names |= {name for cell in file_cells(text) for name in re.findall(r"`([^`]+)`", cell)}
    return {
        name
        for name in names
        if not (any(room.rglob(name.rstrip("/"))) or (PACKAGE / name).exists() or (ROOT / name).exists())
    }


def left_out(text, room):
    """Return the chapters of the room, and its folders, that a README with a table of files does not name."""
    if not any(".py`" in cell for cell in file_cells(text)):
        return set()
    folders = [room, *(room / name for name in re.findall(r"^\| file of `([\w/]+)/` \|", text, re.MULTILINE))]
    chapters = {
        path.name
        for folder in folders
        for path in folder.glob("*.py")
        if path.name != "__init__.py" and not path.name.endswith("_card.py")
    }
    inner = {path.parent.name for path in room.glob("*/__init__.py")}
    return {name for name in chapters if f"`{name}`" not in text} | {f"{n}/" for n in inner if f"`{n}/" not in text}


def is_there(name, folders):
    """Return whether a path is in one of the folders; ``room/file.function`` is if the file has the function."""
    module, _, function = name.rpartition(".")
    files = [folder / f"{module}.py" for folder in folders if module and (folder / f"{module}.py").exists()]
    return any((folder / name).exists() for folder in folders) or any(
        re.search(rf"^(?:def|class) {function}\b", path.read_text(encoding="utf-8"), re.MULTILINE) for path in files
    )


def stale_paths(text, page):
    """Return the names of Python files, and paths that begin as one of the house or package does, that lead nowhere."""
    tops = {*HOUSE, *(path.name for path in PACKAGE.iterdir() if path.is_dir())}
    paths = {name for name in re.findall(r"`([\w./-]+/[\w./-]*)`", prose_of(text)) if name.split("/")[0] in tops}
    files = set(re.findall(r"`(\w+\.py)`", prose_of(text)))
    laid = {*LAID, *(path.removeprefix("src/pellucid/") for path in LAID), *(Path(path).name for path in LAID)}
    return {name for name in paths - laid if not is_there(name, (page.parent, ROOT, PACKAGE))} | {
        name for name in files - laid if not any(PACKAGE.rglob(name)) and not is_there(name, (page.parent, ROOT))
    }


def dead_links(text, folder):
    """Return the links to files that are not there; pages that the build of the site writes are not looked for."""
    links = re.findall(r"\]\(([^)#\s:]+)(?:#[^)\s]*)?\)", prose_of(text))
    return {link for link in links if "generated" not in Path(link).parts and not (folder / link).exists()}


def stale_modules(text):
    """Return what ``python -m`` is told to run of this repository and cannot."""
    names = set(re.findall(r"python -m ((?:pellucid|tests|benchmarks|tools)\b[\w.]*)", text))
    places = {name: name.replace(".", "/") for name in names if not name.endswith(".")}  # `a.b.`... is any of a.b
    found = {
        name
        for name, place in places.items()
        for base in (ROOT, ROOT / "src")
        if (base / f"{place}.py").exists() or (base / place / "__main__.py").exists()
    }
    return set(places) - found


@rooms
def test_a_room_names_files_that_are_there(room):
    assert stale_names((room / "README.md").read_text(encoding="utf-8"), room) == set()


@rooms
def test_a_table_of_files_has_all_of_the_room(room):
    assert left_out((room / "README.md").read_text(encoding="utf-8"), room) == set()


@pages
def test_a_page_names_paths_that_are_there(page):
    assert stale_paths(page.read_text(encoding="utf-8"), page) == set()


@pytest.mark.parametrize(
    "page", [*PAGES, *(room / "README.md" for room in ROOMS)], ids=lambda p: str(p.relative_to(ROOT))
)
def test_links_lead_to_files_and_commands_run_modules(page):
    text = page.read_text(encoding="utf-8")
    assert dead_links(text, page.parent) == set()
    assert stale_modules(text) == set()


def test_a_renamed_file_a_missing_row_and_a_dead_link_are_found():
    room = PACKAGE / "app/tables"
    text = (room / "README.md").read_text(encoding="utf-8")
    assert stale_names(text.replace("`dates.py`", "`days.py`"), room) == {"days.py"}
    without = "\n".join(line for line in text.splitlines() if "`dates.py`" not in line)
    assert left_out(without, room) == {"dates.py"}
    assert left_out("Words alone: `dates.py`.", room) == set()
    assert "server/" in left_out("| `play.py` | one idea |", PACKAGE / "app/playing")
    assert "jobs.py" in left_out("| file of `server/` | one idea |\n| `runs.py` | runs |", PACKAGE / "app/playing")
    assert stale_names("| `page.html`, `parts/` | a page |", PACKAGE / "app/report") == {"page.html"}
    assert stale_paths("`tests/cluster/test_nothing.py`, `core/nothing`, `nobody.py`", ROOT / "README.md") == {
        "tests/cluster/test_nothing.py",
        "core/nothing",
        "nobody.py",
    }
    assert stale_paths("`core/checks.check_nothing`, `core/checks.py`", ROOT / "README.md") == {
        "core/checks.check_nothing"
    }
    assert dead_links("[a](nothing.md) [b](reading.py#x) [c](https://example.org/d)", room) == {"nothing.md"}
    assert stale_modules("`python -m tests.files.fuzz --count 2`, `python -m benchmarks trees`") == {"tests.files.fuzz"}
