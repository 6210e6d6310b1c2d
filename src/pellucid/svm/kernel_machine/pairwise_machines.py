"""The machines of all pairs of classes, solved: several at a time, or in turn if somebody watches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.arrays import is_foreign, on_host
from pellucid.core.threads import WORTH_SHARING, run_blocks, thread_count
from pellucid.core.types import Array, SparseOrDense
from pellucid.core.watching import Watch, ignore
from pellucid.kernels.formulas import Linear
from pellucid.kernels.functions import GivenKernel
from pellucid.kernels.kernel import Kernel
from pellucid.svm.kernel_machine.kernel_sums import kernel_matrix
from pellucid.svm.kernel_machine.machine_kernels import pick
from pellucid.svm.kernel_machine.machine_problem import MachineFit, MachineProblem
from pellucid.svm.kernel_machine.machine_rows import PairRows
from pellucid.svm.kernel_machine.machine_solver import solve_machine

FEW_ROWS = 512
"""Rows up to which all products of a machine are computed at once: 2 MB."""

FEW_ENTRIES = 1 << 20
"""Entries up to which so few sparse rows are spread out."""


def fit_pairs(
    X: SparseOrDense, pairs: list[PairRows], kernel: Kernel, parameters: Any, watch: Watch = ignore
) -> list[MachineFit]:
    """Return one machine per pair; the threads share ``cache_size``. ``watch`` sees all after each iteration."""
    in_turn = watch is not ignore or kernel.has_function or sum(len(pair.rows) ** 2 for pair in pairs) < WORTH_SHARING
    together = 1 if in_turn else min(thread_count(), len(pairs))
    if len(pairs) > 1:  # each class is in several of them
        X, kernel = few_products(X, kernel)
    so_far = [(np.zeros(len(pair.rows)), 0.0) for pair in pairs]

    def fit(k: int) -> MachineFit:
        def seen(coef: Array, intercept: float) -> bool:
            so_far[k] = coef, intercept
            return watch([machine[0] for machine in so_far], [machine[1] for machine in so_far])

        found = solve_machine(
            pair_problem(X, pairs[k], kernel),
            tol=parameters.tol,
            max_iter=parameters.max_iter,
            cache_size=parameters.cache_size / together,
            shrinking=parameters.shrinking,
            watch=ignore if watch is ignore else seen,
        )
        so_far[k] = found.coef, found.intercept
        return found

    each = list(range(len(pairs)))
    return run_blocks(fit, each) if together > 1 else [fit(k) for k in each]


def pair_problem(X: SparseOrDense, pair: PairRows, kernel: Kernel) -> MachineProblem:
    """Return the problem of one machine; products are cut to its rows and columns."""
    rows = pair.rows
    if kernel.is_given and isinstance(X, np.ndarray) and X.dtype == np.float64 and len(rows) <= FEW_ROWS:
        own = np.empty((len(rows), len(rows)))
        pick(X, rows, rows, own, 0, len(rows))  # a third of the time that NumPy takes
    else:
        own = X[np.ix_(rows, rows)] if kernel.is_given else X[rows]
    return small_problem(MachineProblem(kernel, own, pair.target, pair.lower, pair.upper))


def small_problem(problem: MachineProblem) -> MachineProblem:
    """Return the problem of few rows in a form that leads to the same steps whether they are sparse or not."""
    rows, kernel = few_products(problem.rows, problem.kernel)
    return problem if rows is problem.rows else replace(problem, rows=rows, kernel=kernel)


def few_products(X: SparseOrDense, kernel: Kernel) -> tuple[Any, Kernel]:
    """Return all products of few rows; a linear kernel keeps them, as few columns solve it more precisely."""
    if kernel.is_given or X.shape[0] > FEW_ROWS:
        return X, kernel
    X = on_host(X) if is_foreign(X) else X
    if not isinstance(kernel, Linear):
        return kernel_matrix(kernel, X), GivenKernel()
    is_small = sparse.issparse(X) and X.shape[0] * X.shape[1] <= FEW_ENTRIES
    return (X.toarray() if is_small else X), kernel
