r"""Nonnegative factors by coordinate descent: half of the objective at a time, from products that are kept.

Given ``H``, the objective is :math:`\tfrac12 w A w' - w b` for every row of ``W`` with :math:`A = HH'` and
:math:`b = Hx'`. Reading the data costs most, so that each pair of ``A`` and ``b`` serves several sweeps over the
entries, as long as they gain (Gillis and Glineur). Both factors are held with one row for each component.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from pellucid.core.array_api import array_namespace
from pellucid.core.fit import Effort, Fit
from pellucid.core.threads import WORTH_SHARING, run_blocks, thread_count
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.decomposition.momentum import FactorMomentum
from pellucid.decomposition.nmf.nmf_problem import (
    DataProducts,
    DenseProducts,
    NmfProblem,
    Penalties,
    coordinate_gains,
    dot,
    filled,
)
from pellucid.proofs.rounding import TINY

WIDTH = 128
"""Columns of a factor that are swept together: a block of 50 components stays in the second-level cache."""

ENOUGH = 0.03
"""Part of the gain of the first sweep below which the next is not worth it."""

SAFETY = 0.9
"""The residual is asked to be this part of ``tol``: factors are rounded when they are stored."""

SWEEPS_TO_POLISH = 20
"""Sweeps that find, for nearly every row, which entries are above 0; equations find their values."""

FILLS_TO_POLISH = 200
"""Most times that missing entries take what the model says while ``W`` alone moves."""

NO_GAIN = 1e-20
"""Gain, in parts of half the squared norm of the data, at which they no longer move."""

DUST = 0.01
"""Parts of ``tol``: entries of a component that are less beside its largest are on their way to 0."""

APART = 40
"""Powers of two between the sizes of a part in the two factors that are evened out."""

LOOK, LOOK_EVERY = 4.0, 25
"""The residual is computed when a round gains at most so many times what the goal allows, and every so many rounds."""

Products = tuple[Array, Array]
Factors = tuple[Array, Array]


class FactorDescent:
    """Both factors on their way, ``W`` transposed, with the products of each that are still right."""

    def __init__(self, problem: NmfProblem, W: Array, H: Array, order: Callable[[], Array]) -> None:
        self.problem, self.order = problem, order
        self.W, self.H = problem.held(W.T), problem.held(H)
        self._complete = problem.products()
        self._for_weights: Products | None = None
        self._for_components: Products | None = None
        self._sweeps = problem.sweeps_worth(len(H))
        self.scale = max(0.5 * problem.size, TINY)
        self.noise = 8.0 * problem.precision * self.scale  # what products of the data round

    def factors(self) -> Factors:
        """Return copies of both factors."""
        return self.problem.held(self.W), self.problem.held(self.H)

    def sweep(self, factor: Array, products: Products, penalties: Penalties, most: int, enough: float) -> None:
        """Improve one of the factors in place."""
        sweep(factor, products, penalties, self.order(), most, enough)

    def finish(self, factor: Array, products: Products, penalties: Penalties) -> None:
        """Make the best of one of the factors in place."""
        finish(factor, products, penalties)

    def round_from(self, factors: Factors) -> float:
        """Improve one factor after the other, from here on; return the objective."""
        self.W[...], self.H[...] = factors
        self._for_weights = self._for_components = None
        self.improve_weights()
        self.improve_components()
        return self.objective()

    def improve_weights(self, most: int | None = None, enough: float = ENOUGH) -> None:
        """Sweep over the entries of ``W``."""
        self.sweep(self.W, self.products_for_weights(), self.problem.on_weights, most or self._sweeps, enough)
        self._for_components = None
        if self.problem.has_missing:
            self._for_weights = None

    def improve_components(self) -> None:
        """Sweep over the entries of ``H``."""
        self.sweep(self.H, self.products_for_components(), self.problem.on_components, self._sweeps, ENOUGH)
        self._for_weights = None
        if self.problem.has_missing:
            self._for_components = None

    def polish_weights(self) -> None:
        """Make ``W`` the best for ``H``, so that it is what ``transform`` says of the same rows."""
        for _ in range(FILLS_TO_POLISH if self.problem.has_missing else 1):
            products = self.products_for_weights()
            if (
                self.problem.has_missing
                and coordinate_gains(self.W, *products, self.problem.on_weights) <= NO_GAIN * self.scale
            ):
                break
            self.improve_weights(SWEEPS_TO_POLISH, 0.0)
            self.finish(self.W, products, self.problem.on_weights)

    def drop_dust(self, part: float) -> None:
        """Set entries of ``H`` to 0 that are below this part of the largest of their component."""
        self.H[part * array_namespace(self.H).max(self.H, axis=1, keepdims=True) > self.H] = 0.0
        self._for_weights = None

    def even_out(self) -> None:
        """Give parts that are huge in one factor and tiny in the other one size in both, which single precision holds.

        Powers of two change no other digit. Where there are penalties, these say how large each is.
        """
        if any((each.l1, each.l2) != (0.0, 0.0) for each in (self.problem.on_weights, self.problem.on_components)):
            return
        xp = array_namespace(self.H)
        W, H = (xp.max(factor, axis=1, keepdims=True) for factor in (self.W, self.H))
        is_there = (W > 0.0) & (H > 0.0)
        apart = xp.where(is_there, xp.log2(xp.where(is_there, H, 1.0)) - xp.log2(xp.where(is_there, W, 1.0)), 0.0)
        factor = xp.where(xp.abs(apart) > APART, 2.0 ** xp.round(0.5 * apart), 1.0)
        self.W *= factor
        self.H /= factor

    def products_for_weights(self) -> Products:
        """Return ``HH'`` and ``HX'``."""
        if self._for_weights is None:
            self._for_weights = self.H @ self.H.T, self._data().with_rows(self.H)
        return self._for_weights

    def products_for_components(self) -> Products:
        """Return ``W'W`` and ``W'X``."""
        if self._for_components is None:
            self._for_components = self.W @ self.W.T, self._data().with_columns(self.W)
        return self._for_components

    def residual(self) -> float:
        """Return the square root of what single entries could gain, in parts of half the squared norm of the data."""
        gains = coordinate_gains(self.W, *self.products_for_weights(), self.problem.on_weights)
        gains += coordinate_gains(self.H, *self.products_for_components(), self.problem.on_components)
        return float(np.sqrt(max(gains, 0.0) / self.scale))

    def objective(self) -> float:
        """Return the objective; where it is nearly 0 it may be the rounding of larger numbers."""
        problem = self.problem
        if problem.has_missing:
            return problem.objective(self.W.T, self.H)
        gram, right = self.products_for_components()
        fit = 0.5 * problem.size - dot(self.H, right) + 0.5 * dot(gram @ self.H, self.H)
        return max(fit, 0.0) + problem.on_weights.value(self.W) + problem.on_components.value(self.H)

    def _data(self) -> DataProducts:
        if not self.problem.has_missing:
            return self._complete
        return DenseProducts(filled(self.problem.X, self.W.T @ self.H))


def coordinate_factors(descent: FactorDescent, effort: Effort) -> Fit:
    """Return factors at which single entries cannot gain more than the goal allows, from a start.

    A round begins beyond the last factors, in the direction in which they moved; one that raises the objective is taken
    back. What entries can gain needs one more product, and is asked when rounds gain little.
    """
    trace, stopped = Trace(), "max_iter"
    goal, momentum = SAFETY * effort.goal, FactorMomentum()
    before, last, objective = None, descent.factors(), np.inf
    for n_iter in range(1, effort.max_iter + 1):
        reached = descent.round_from(last if before is None else beyond(before, last, momentum.part))
        if before is not None and not reached <= objective + descent.noise:
            momentum.slow_down()
            reached = descent.round_from(last)
        else:
            momentum.speed_up()
        gain, objective = objective - reached, reached
        residual, is_last = np.nan, n_iter == effort.max_iter
        if is_last or gain <= LOOK * goal**2 * descent.scale or n_iter % LOOK_EVERY == 0:
            residual = descent.residual()
            if is_last or residual <= goal:
                descent.drop_dust(DUST * goal)
                descent.polish_weights()
                residual, objective = descent.residual(), descent.objective()
        before, last = last, descent.factors()
        trace.add(iteration=n_iter, objective=objective, residual=residual)
        trace.keep(W=descent.W.T, H=descent.H)
        if effort.watch(descent.H) or residual <= goal:
            stopped = "no entry gains more than tol" if residual <= goal else "a callback"
            break
    descent.even_out()
    attributes = {"weights_": descent.W.T, "components_": descent.H, "n_iter_": n_iter}
    return Fit(attributes, trace, stopped, reached=bool(residual <= goal))


def beyond(before: Factors, last: Factors, part: float) -> Factors:
    """Return the factors that follow the last two in the same direction, this part as far, of at least 0."""
    W, H = ((new + part * (new - old)).clip(0.0) for old, new in zip(before, last, strict=True))
    return W, H


def best_weights(problem: NmfProblem, H: Array) -> Array:
    """Return the ``W`` of the least squared error for a given ``H``."""
    q = len(H)
    descent = FactorDescent(problem, np.zeros((problem.X.shape[0], q)), H, lambda: np.arange(q))
    descent.polish_weights()
    return descent.W.T


def sweep(factor: Array, products: Products, penalties: Penalties, order: Array, most: int, enough: float) -> None:
    """Improve a factor of shape (q, m) in place, each of its columns by itself."""
    from pellucid.decomposition.nmf.nmf_kernels import descend

    q = len(factor)

    def work(part: Array, gram: Array, right: Array) -> None:
        descend(part, gram, right, order, most, enough, np.empty((q, WIDTH)), np.empty(WIDTH))

    _in_parts(work, factor, products, penalties)


def finish(factor: Array, products: Products, penalties: Penalties) -> None:
    """Make the best of a factor that is nearly so, in place."""
    from pellucid.decomposition.nmf.nmf_kernels import finish_columns

    _in_parts(finish_columns, factor, products, penalties)


def _in_parts(work: Callable[..., None], factor: Array, products: Products, penalties: Penalties) -> None:
    """Let each thread work on some of the columns, whole blocks of them: all bits are the same on any number."""
    q, m = factor.shape
    gram, right = products[0] + penalties.l2 * np.eye(q), products[1]

    def on_columns(columns: slice) -> None:
        part = np.ascontiguousarray(factor[:, columns])
        work(part, gram, np.ascontiguousarray(right[:, columns] - penalties.l1))
        factor[:, columns] = part

    n_blocks = -(-m // WIDTH)
    n_parts = min(thread_count(), n_blocks) if m * q * q > WORTH_SHARING else 1
    edges = [WIDTH * (n_blocks * k // n_parts) for k in range(n_parts)] + [m]
    run_blocks(on_columns, [slice(a, b) for a, b in pairwise(edges)])
