"""Speed of the classifiers that learn row by row: the same number of epochs for everybody.

The last step of a random order decides the line, so objectives differ by luck; a tenth is allowed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn.linear_model as peer

import pellucid.linear_model as ours
from benchmarks.harness import OURS, Row
from benchmarks.linear_classifiers import Problem, adult, gaussian_classes

EPOCHS = {"max_iter": 20, "tol": None, "random_state": 0}
LUCK = 0.1


def three_classes() -> Problem:
    """Return 20,000 rows of three classes: three machines."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 50))
    return Problem(X, np.argmax(X[:, :3] + 0.5 * rng.standard_normal((20_000, 3)), axis=1))


def error(data: Problem, model: Any) -> float:
    """Return the share of rows on the right side, as a loss: 1 plus that on the wrong side."""
    return 1.0 + float(np.mean(model.predict(data.X) != data.y))


def contenders(name: str, **how: Any) -> dict[str, Any]:
    """Return ours and scikit-learn's of this name with these parameters."""
    return {
        OURS: lambda d: getattr(ours, name)(**EPOCHS, **how).fit(d.X, d.y),
        "scikit-learn": lambda d: getattr(peer, name)(**EPOCHS, **how).fit(d.X, d.y),
    }


def rows() -> list[Row]:
    """Return every row of the family."""
    cases = [
        ("Perceptron 50,000 x 50", lambda: gaussian_classes(50_000, 50), contenders("Perceptron")),
        ("Perceptron a9a, sparse", adult, contenders("Perceptron")),
        ("SGD hinge 50,000 x 50", lambda: gaussian_classes(50_000, 50), contenders("SGDClassifier")),
        ("SGD hinge a9a, sparse", adult, contenders("SGDClassifier")),
        (
            "SGD logistic 50,000 x 50",
            lambda: gaussian_classes(50_000, 50),
            contenders("SGDClassifier", loss="log_loss"),
        ),
        ("SGD hinge, 3 classes 20,000 x 50", three_classes, contenders("SGDClassifier")),
    ]
    return [Row(name, prepare, entrants, error, rounds=5, slack=LUCK) for name, prepare, entrants in cases]
