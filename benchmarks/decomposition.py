"""Speed of decompositions: the same components, as much of the spread captured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import KernelPCA as PeerKernelPCA

from benchmarks.harness import OURS, Row
from pellucid.decomposition import KernelPCA


class Problem(NamedTuple):
    """Rows, the components wanted, and the width of the kernel."""

    X: np.ndarray
    k: int
    gamma: float


def cloud(n: int, p: int, k: int, groups: int) -> Problem:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)) + 3.0 * rng.standard_normal((groups, p))[rng.integers(groups, size=n)]
    return Problem(X, k, 1.0 / p)


def by(kind: Any, solver: str) -> Callable[[Problem], Any]:
    def fit(data: Problem) -> Any:
        return kind(data.k, kernel="rbf", gamma=data.gamma, eigen_solver=solver, random_state=0).fit(data.X)

    return fit


def captured(_data: Problem, model: Any) -> float:
    """Return minus the sum of the eigenvalues found."""
    return -float(model.eigenvalues_.sum())


def rows() -> list[Row]:
    """Return the rows of the table; scikit-learn's 'auto' is 'dense' for 20 components, and takes the longest."""
    solvers = {f"sklearn {solver}": by(PeerKernelPCA, solver) for solver in ("arpack", "randomized")}
    shapes = ((4_000, 20, 20, 1), (4_000, 20, 20, 10), (1_000, 10, 20, 1))
    found = [
        Row(
            f"KernelPCA rbf {n:,} x {p}, {k} components, {groups} group{'s' if groups > 1 else ''}",
            lambda n=n, p=p, k=k, groups=groups: cloud(n, p, k, groups),
            {OURS: by(KernelPCA, "auto"), **solvers},
            captured,
        )
        for n, p, k, groups in shapes
    ]
    small = {OURS: by(KernelPCA, "auto"), "sklearn": by(PeerKernelPCA, "auto")}
    return [*found, Row("KernelPCA rbf 300 x 10, 5 components", lambda: cloud(300, 10, 5, 1), small, captured)]
