"""Look into the wheel and the source archive before they are published: ``python -m tools.try_distributions dist``."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

MOST_BYTES = 5_000_000
"""Of a wheel, packed, without the weights of networks."""
WEIGHTS = ".safetensors"
MOST_DATA = 130_000
"""Bytes of one table that is shipped."""
NEVER = ("tests/", "benchmarks/", "docs/", "__pycache__")


def complaints(wheel: Path, source: Path) -> Iterator[str]:
    """Yield what is wrong with the distributions."""
    if not wheel.name.endswith("-py3-none-any.whl"):
        yield f"the wheel must be pure, got {wheel.name}"
    with zipfile.ZipFile(wheel) as archive:
        files = archive.infolist()
    whole = wheel.stat().st_size
    size = sum(file.compress_size for file in files if not file.filename.endswith(WEIGHTS))
    print(f"{wheel.name}: {len(files)} files, {size / 1e6:.1f} MB without weights, {whole / 1e6:.1f} MB in all")
    if size > MOST_BYTES:
        yield f"the wheel must have at most {MOST_BYTES:,} bytes without weights, got {size:,}"
    for file in files:
        if any(part in file.filename for part in NEVER):
            yield f"the wheel must not hold {file.filename}"
        if file.filename.endswith(".csv") and file.file_size > MOST_DATA:
            yield f"the wheel must hold small tables only, got {file.filename} of {file.file_size:,} bytes"
    names = {file.filename for file in files}
    for wanted in ("pellucid/py.typed", "pellucid/catalogue.toml"):
        if wanted not in names:
            yield f"the wheel must hold {wanted}"
    with tarfile.open(source) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    for wanted in ("LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "tests/conftest.py"):
        if wanted not in held:
            yield f"the source must hold {wanted}"


def main() -> int:
    """Print what is there and what is wrong with it; return 1 if anything is."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "dist")
    wheels, sources = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    if (len(wheels), len(sources)) != (1, 1):
        sys.stderr.write(
            f"{folder} must hold one wheel and one source archive, got {len(wheels)} and {len(sources)}.\n"
        )
        return 2
    wrong = list(complaints(wheels[0], sources[0]))
    print(*(wrong or ["as they should be"]), sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
