"""Whether a saved model is what these rows leave: ``python -m pellucid.proofs model.safetensors table.csv --target y``.

It needs NumPy, SciPy and safetensors, and nothing of the library that fitted the model.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import Counter
from collections.abc import Sequence

import numpy as np

from pellucid.proofs.certificate import Certificate
from pellucid.proofs.index import ROOM, Proof, find_proof, proof_files, proof_modules
from pellucid.proofs.model_file import StoredModel, UnreadableModelError, read_model
from pellucid.proofs.sampling import drawing
from pellucid.proofs.seen import MissingAttributeError, refusal
from pellucid.proofs.table_file import UnfitTableError, training_data
from pellucid.proofs.training_data import TrainingData

HOLDS, DOES_NOT_HOLD, CANNOT_TELL = 0, 1, 2
"""Exit codes."""


def main(words: Sequence[str] | None = None) -> int:
    """Print the certificate of a saved model, recomputed from the table; return the exit code."""
    given = _parser().parse_args(words)
    if given.lines:
        print(trusted_lines())
        return HOLDS
    if given.model is None or given.table is None:
        print("Name a model and a table: python -m pellucid.proofs model.safetensors table.csv --target y")
        return CANNOT_TELL
    try:
        model = read_model(given.model)
        if model.name not in proof_modules():
            print(
                f"model must be one estimator that has a proof here, got {model.name}. Preparations of tables and "
                "networks are verified by the whole library: pellucid verify."
            )
            return CANNOT_TELL
        data = training_data(given.table, given.target, given.weights, model)
        with drawing(given.seed), np.errstate(all="ignore"):  # a broken model may overflow; its claims read inf or nan
            certificate = _proved(find_proof(model.name), model, data)
    except (UnreadableModelError, UnfitTableError, FileNotFoundError, UnicodeDecodeError) as error:
        print(error)
        return CANNOT_TELL
    print(f"{model.name}, {data.n_given:,} rows: {certificate}")
    if data.fingerprint != getattr(model.attributes, "data_fingerprint_", ""):
        print("The rows as read here have not the fingerprint of the fit: other rows, weights or another order.")
    print("Taken as the file has them: the parameters of the fit.")
    return HOLDS if certificate.holds else DOES_NOT_HOLD


def _proved(prove: Proof, model: StoredModel, data: TrainingData) -> Certificate:
    """Return the certificate; numbers that fit together in no way are a refusal."""
    try:
        return prove(model.attributes, model.parameters, data)
    except MissingAttributeError as error:
        return refusal("attributes", str(error))
    except (ValueError, IndexError, TypeError, np.linalg.LinAlgError) as error:
        return refusal("attributes", f"not what a fit leaves: {error}")


def trusted_lines() -> str:
    """Return how many lines have to be right, by room, and how many of them compute something.

    Everything that a proof runs of ours stands in this folder; a test sees to it.
    """
    lines: Counter[str] = Counter()
    computing: Counter[str] = Counter()
    for path in proof_files():
        room, text = path.relative_to(ROOM).parts[0] if path.parent != ROOM else "the base", path.read_text("utf-8")
        lines[room] += len(text.splitlines())
        computing[room] += _computing(text)
    rows = [f"{n:7,} {computing[room]:7,}  {room}" for room, n in lines.most_common()]
    last = f"lines in {sum(1 for _ in proof_files())} files have to be trusted; the second column counts"
    return "\n".join([*rows, f"{lines.total():7,} {computing.total():7,}  {last} those that compute"])


def _computing(text: str) -> int:
    """Return how many lines are more than import, docstring, comment or blank."""
    idle = {
        number
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str))
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    written = enumerate(map(str.strip, text.splitlines()), start=1)
    return sum(1 for number, line in written if line and not line.startswith("#") and number not in idle)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m pellucid.proofs", description=__doc__)
    parser.add_argument("model", nargs="?", help="a file of pellucid.save")
    parser.add_argument("table", nargs="?", help="the training table: text with a row of names")
    parser.add_argument("--target", action="append", default=[], help="the column that was learned; may be repeated")
    parser.add_argument("--weights", help="the column of sample weights")
    parser.add_argument("--seed", type=int, help="draws the same samples again; without it they are new each time")
    parser.add_argument("--lines", action="store_true", help="print how many lines have to be trusted")
    return parser


if __name__ == "__main__":
    sys.exit(main())
