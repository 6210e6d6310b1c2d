"""Try the trusted base where nothing else is: every saved model is proved by NumPy, SciPy and safetensors alone.

    make test-proofs

The interpreter that runs this has the library: it fits every method to a small table and saves the model and the table.
The one that is named has no more than the trusted base needs: it must come to the same verdict about each of them, and
must object to a model that was changed.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier

import pellucid
from pellucid.core.cards import MethodCard, all_cards
from pellucid.core.input_rules import CLASSES, NO_TARGET

COLUMNS = [f"count {place}" for place in range(6)]


def tables(n: int = 90) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows of small whole numbers, which every method takes, a label for each, and a number for each."""
    random = np.random.default_rng(7)
    codes = np.arange(n) % 3
    X = random.poisson(np.array([[1, 4, 2, 3, 2, 5], [4, 1, 3, 2, 5, 2], [2, 3, 6, 1, 3, 3]])[codes])
    labels = np.array(["left", "middle", "right"])[codes]
    return X.astype(float), labels, X @ [1.0, -2.0, 0.5, 0.0, 1.5, 0.25] + random.standard_normal(n)


def fitted(card: MethodCard, X: Any, labels: Any, numbers: Any) -> tuple[Any, Any]:
    """Return the method of a card, fitted to the target that it takes, and that target."""
    model = card.estimator()
    target = card.rules_for(model).target
    y = None if target == NO_TARGET else labels if target == CLASSES or is_classifier(model) else numbers
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (model.fit(X) if y is None else model.fit(X, y)), y


def write_table(path: Path, X: Any, y: Any) -> None:
    """Write rows and target as text that brings back the same numbers."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*COLUMNS, *([] if y is None else ["y"])])
        for place, row in enumerate(X):
            writer.writerow([*map(repr, row.tolist()), *([] if y is None else [y[place]])])


def verdict(python: str, model: Path, table: Path, y: Any) -> subprocess.CompletedProcess[str]:
    """Return how the stand-alone command ends."""
    command = [python, "-m", "pellucid.proofs", str(model), str(table), *([] if y is None else ["--target", "y"])]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=table.parent)


def main(python: str) -> int:
    """Print what does not come to the same verdict alone; return 1 if anything does not."""
    absent = subprocess.run([python, "-c", "import sklearn"], capture_output=True, check=False).returncode
    if not absent:
        sys.stderr.write(f"{python} must have NumPy, SciPy and safetensors only, but it has scikit-learn.\n")
        return 2
    python = str(Path(python).absolute())
    X, labels, numbers = tables()
    n_right, wrong, skipped = 0, [], []
    with tempfile.TemporaryDirectory() as folder:
        model_file, table = Path(folder) / "model.safetensors", Path(folder) / "table.csv"
        for card in all_cards():
            if card.extra or card.trial.needs_library:
                skipped.append(card.name)
                continue
            try:
                model, y = fitted(card, X, labels, numbers)
            except (TypeError, ValueError) as error:
                skipped.append(f"{card.name} ({str(error)[:60]})")
                continue
            pellucid.save(model, model_file)
            write_table(table, X, y)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                holds = pellucid.verify(model, X, y).holds
            done = verdict(python, model_file, table, y)
            if done.returncode == int(not holds):
                n_right += 1
            else:
                wrong.append(card.name)
                print(f"{card.name}: exit code {done.returncode}, but it {'holds' if holds else 'does not hold'}")
                print(done.stdout[-800:] + done.stderr[-1500:], flush=True)
        wrong += _changed(python, model_file, table, X, labels)
    print(f"{n_right} methods proved alone; left to the whole library: {', '.join(skipped) or 'none'}")
    print(f"wrong: {', '.join(wrong) or 'nothing'}")
    return int(bool(wrong))


def _changed(python: str, model_file: Path, table: Path, X: Any, labels: Any) -> list[str]:
    """Return a complaint unless a changed coefficient is noticed."""
    from pellucid.linear_model import LogisticRegression

    model = LogisticRegression().fit(X, labels)
    model.coef_ *= 1.01
    pellucid.save(model, model_file)
    write_table(table, X, labels)
    done = verdict(python, model_file, table, labels)
    return [] if done.returncode == 1 and "duality gap" in done.stdout else [f"a changed model: {done.stdout}"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
