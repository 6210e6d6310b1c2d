"""Which proof belongs to an estimator: each file of proofs says it in a dictionary ``PROVES``.

``PROVES_BLOCKS`` names those that make passes over rows in blocks. Where a proof does not see a table as it is read,
the dictionary ``SEES`` of its file has the function that changes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pellucid.proofs
from pellucid.proofs.seen import Seen

if TYPE_CHECKING:  # the catalogue reads this index, and is quick without NumPy
    from pellucid.proofs.certificate import Certificate
    from pellucid.proofs.training_data import TrainingData

Proof = Callable[[Any, Any, "TrainingData"], "Certificate"]
"""``(attributes, parameters, data)``, the first two as namespaces; it sees neither the model nor its certificate."""

ROOM = Path(__file__).parent


def proof_files(room: Path = ROOM) -> Iterator[Path]:
    """Yield every file of the trusted base."""
    yield from sorted(room.rglob("*.py"))


BlockProof = Callable[[Any, Any, Any], "Certificate"]
"""The same of rows in blocks: the last is what passes go over, by ``reduce(work, join, *given)``."""


@cache
def proof_modules(said_by: str = "PROVES") -> Mapping[str, str]:
    """Return the module with the proof of each estimator, as the files say it: none is imported."""
    modules = {}
    for room in map(Path, pellucid.proofs.__path__):
        for path in proof_files(room):
            said = path.read_text(encoding="utf-8").partition(f"\n{said_by} = {{")[2].partition("}")[0]
            module = ".".join(("pellucid.proofs", *path.relative_to(room).with_suffix("").parts))
            modules.update(dict.fromkeys(re.findall(r'"(\w+)":', said), module))
    return modules


def find_proof(name: str) -> Proof:
    """Return the proof of the estimator of this name; no other file of proofs is imported."""
    if name not in proof_modules():
        raise LookupError(f"model must be an estimator that a file of proofs names, got {name}.")
    return cast("Proof", import_module(proof_modules()[name]).PROVES[name])


def find_block_proof(name: str) -> BlockProof:
    """Return the proof of the estimator of this name that makes passes over rows in blocks."""
    modules = proof_modules("PROVES_BLOCKS")
    if name not in modules:
        raise LookupError(f"model must be an estimator whose proof takes rows in blocks, got {name}.")
    return cast("BlockProof", import_module(modules[name]).PROVES_BLOCKS[name])


def as_seen(name: str, parameters: Seen, data: TrainingData) -> TrainingData:
    """Return a table as the proof of this estimator sees it."""
    change = getattr(import_module(proof_modules()[name]), "SEES", {}).get(name)
    return data if change is None else cast("TrainingData", change(parameters, data))
