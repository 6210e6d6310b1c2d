"""Lays the files of a new method: ``make method NAME=cluster/mean_shift CLASS=MeanShift``. See CONTRIBUTING.md."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path
from string import Template

ROOT = Path(__file__).parents[1]
SKELETON = Path(__file__).parent / "method_skeleton"
FILES = {
    "estimator": "src/pellucid/$family/$module.py",
    "solvers": "src/pellucid/$family/${module}_solvers.py",
    "proof": "src/pellucid/proofs/$family/$module.py",
    "workings": "src/pellucid/$family/${module}_workings.py",
    "card": "src/pellucid/$family/${module}_card.py",
    "test": "tests/$family/test_$module.py",
}


def lay(name: str, class_name: str = "", root: Path = ROOT) -> list[Path]:
    """Write the files of a method ``family/module``; refuse to touch files that are there. Return the new ones."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*/[a-z][a-z0-9_]*", name):
        raise SystemExit(f"NAME must be family/method in small letters, got {name!r}. Try NAME=cluster/mean_shift.")
    family, module = name.split("/")
    names = {"family": family, "module": module, "Class": class_name or "".join(map(str.title, module.split("_")))}
    paths = {root / Template(path).substitute(names): part for part, path in FILES.items()}
    existing = [path for path in paths if path.exists()]
    if existing:
        raise SystemExit(f"NAME must be new, but {existing[0].relative_to(root)} is there. Choose another name.")
    for path, part in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(Template((SKELETON / f"{part}.txt").read_text(encoding="utf-8")).substitute(names))
    init, proofs = root / "src/pellucid" / family / "__init__.py", root / "src/pellucid/proofs" / family / "__init__.py"
    _export(init, names)
    if not proofs.exists():
        proofs.write_text(f'"""Proofs of {family.replace("_", " ")}."""\n')
    (root / "tests" / family / "__init__.py").touch()
    _tidy([init, *paths])
    return list(paths)


def _tidy(paths: list[Path]) -> None:
    """Sort imports and names and break long lines, as names of different lengths ask for."""
    for work in (("check", "--quiet", "--fix"), ("format", "--quiet")):
        subprocess.run(
            [sys.executable, "-m", "ruff", *work, "--config", str(ROOT / "pyproject.toml"), *paths], check=False
        )


def _export(init: Path, names: dict[str, str]) -> None:
    """Add the class to the public names of its family."""
    line = Template("    from pellucid.$family.$module import $Class\n").substitute(names)
    if not init.exists():
        init.parent.mkdir(parents=True, exist_ok=True)
        init.write_text((SKELETON / "init.txt").read_text(encoding="utf-8"))
    text = init.read_text(encoding="utf-8")
    block = re.search(r"^if TYPE_CHECKING:.*\n", text, flags=re.MULTILINE)
    if block is None:  # a family that imports all its names at once
        start, line = text.index("from pellucid."), line.strip() + "\n"
    else:
        start = block.end()
    text = text[:start] + line + text[start:]
    init.write_text(text.replace("__all__ = [", f'__all__ = ["{names["Class"]}", ', 1).replace(", ]", "]"))


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="make method", description=__doc__)
    parser.add_argument("name", help="family/method, such as cluster/mean_shift")
    parser.add_argument("class_name", nargs="?", default="", help="its class, if not the name in title case")
    options = parser.parse_args()
    for path in lay(options.name, options.class_name):
        print(path.relative_to(ROOT))
    print("Fill them in; `pytest tests/test_every_estimator.py -k NAME` is red until you have.")


if __name__ == "__main__":
    main()
