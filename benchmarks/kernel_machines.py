"""Speed of SVC and SVR against LIBSVM, how both grow, and what memory a large fit takes.

``python -m benchmarks.kernel_machines`` prints growth and memory; the rows are those of ``python -m benchmarks``.
a9a and MNIST come from the folder that PELLUCID_DATA names; a9a is made up and MNIST left out without it.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import sklearn.svm as peer
from rich.console import Console
from rich.table import Table
from sklearn.datasets import make_classification

import pellucid.svm as ours
from benchmarks.harness import OURS, Row
from benchmarks.linear_classifiers import mnist
from benchmarks.svm import Labeled, adult


def clouds(n: int, p: int) -> Labeled:
    """Return two classes of several clouds each, one row in twenty mislabeled."""
    X, y = make_classification(
        n, p, n_informative=p // 2, n_redundant=p // 5, flip_y=0.05, class_sep=1.0, random_state=0
    )
    return Labeled(X, y)


def waves(n: int = 8_000, p: int = 20) -> Labeled:
    """Return a smooth function of three columns, with noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    return Labeled(X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(n))


def ten_thousand_digits() -> Labeled:
    X, y = mnist()
    return Labeled(X[:10_000] / 255.0, y[:10_000])


def dual(data: Labeled, model: Any) -> float:
    r"""Return :math:`\tfrac12\beta'K\beta - t'\beta + \varepsilon|\beta|` of all machines, as LIBSVM does."""
    coef = model.dual_coef_.toarray() if hasattr(model.dual_coef_, "toarray") else model.dual_coef_
    rows, y = data.X[model.support_], data.y[model.support_]
    if not hasattr(model, "classes_"):
        inner = model.predict(rows) - model.intercept_[0]
        return float(coef[0] @ (0.5 * inner - y) + model.epsilon * np.abs(coef[0]).sum())
    if len(model.classes_) == 2:
        inner = model.decision_function(rows) - model.intercept_[0]
        return float(coef[0] @ (0.5 * inner - np.where(y == model.classes_[1], 1.0, -1.0)))
    scores = type(model).decision_function(model.set_params(decision_function_shape="ovo"), rows) - model.intercept_
    total = 0.0
    for k, (i, j) in enumerate(combinations(range(len(model.classes_)), 2)):
        first, second = y == model.classes_[i], y == model.classes_[j]
        beta = np.where(first, coef[j - 1], np.where(second, coef[i], 0.0))
        total += float(beta @ (0.5 * scores[:, k]) - np.abs(beta).sum())
    return total


def fit_row(name: str, prepare: Callable[[], Labeled], kind: str = "SVC", **options: Any) -> Row:
    return Row(
        f"{kind} {name}",
        prepare,
        {
            OURS: lambda data: getattr(ours, kind)(**options).fit(*data),
            "LIBSVM": lambda data: getattr(peer, kind)(**options).fit(*data),
        },
        dual,
        rounds=5,
        slack=1e-5,
    )


def predict_row() -> Row:
    """Return the row of 10,000 predictions; the two models are fitted beforehand."""

    def prepare() -> Any:
        data = clouds(20_000, 50)
        train = data.X[:10_000], data.y[:10_000]
        return ours.SVC().fit(*train), peer.SVC().fit(*train), data.X[10_000:], data.y[10_000:]

    return Row(
        "SVC predict 10,000 rows",
        prepare,
        {OURS: lambda data: data[0].predict(data[2]), "LIBSVM": lambda data: data[1].predict(data[2])},
        lambda data, found: float(np.mean(found != data[3])),
        slack=1e-2,
    )


def rows() -> list[Row]:
    """Return the rows of the table."""
    found = [
        fit_row("rbf 10,000 x 50, C=1", lambda: clouds(10_000, 50)),
        fit_row("rbf 10,000 x 50, C=100", lambda: clouds(10_000, 50), C=100.0),
        fit_row("rbf a9a", adult),
        fit_row("linear 10,000 x 100", lambda: clouds(10_000, 100), kernel="linear"),
        fit_row("poly 3 10,000 x 50", lambda: clouds(10_000, 50), kernel="poly"),
        fit_row("rbf 8,000 x 20", waves, kind="SVR"),
        predict_row(),
    ]
    try:
        mnist()
    except (FileNotFoundError, OSError):
        return found
    return [*found, fit_row("rbf 10,000 MNIST digits", ten_thousand_digits)]


def growth() -> Table:
    """Return seconds of both at growing n and fixed C, and the exponents between neighbors."""
    table = Table(title="SVC rbf, 20 columns, C=1: seconds, and the power of n they grow with")
    for heading in ("n", "pellucid", "power", "LIBSVM", "power"):
        table.add_column(heading, justify="right")
    ours.SVC().fit(*clouds(500, 20))  # compile
    before: list[float] = []
    for n in (2_500, 5_000, 10_000, 20_000, 40_000):
        data, seconds = clouds(n, 20), []
        for kind in (ours.SVC, peer.SVC):
            start = time.perf_counter()
            kind().fit(*data)
            seconds.append(time.perf_counter() - start)
        powers = [f"{np.log2(now / then):.2f}" for now, then in zip(seconds, before, strict=False)] or ["", ""]
        table.add_row(f"{n:,}", f"{seconds[0]:.2f}", powers[0], f"{seconds[1]:.2f}", powers[1])
        before = seconds
    return table


def memory() -> str:
    """Return what a fit of 50,000 x 20 takes beyond the data, in a process of its own."""
    script = (
        "import resource; from benchmarks.kernel_machines import clouds, ours; ours.SVC().fit(*clouds(500, 20));"
        "data = clouds(50_000, 20); before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        "model = ours.SVC().fit(*data); after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        "print(f'{(after - before) / 1024:.0f} MB beyond the data, cache_size 200; certificate holds:',"
        " model.certificate_.holds)"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return f"SVC rbf 50,000 x 20: {found.stdout.strip()}"


if __name__ == "__main__":
    console = Console()
    console.print(growth())
    console.print(memory())
