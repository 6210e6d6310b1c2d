r"""Nonnegative factors of rows on a device: the rounds of coordinate descent in memory, their work done there.

All is in float64. A sweep takes the parts one by one, each for many columns at once, and columns side by side are swept
until they move little beside the first time. The last weights are the best for the components: the entries above 0 of
many rows are solved for at a time, and those of the wrong sign change sides until none is left (Kim and Park).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pellucid.core.arrays import is_foreign, on_host
from pellucid.core.cards import card_of
from pellucid.core.device.device_rows import has_room
from pellucid.core.device.replaying import Replayed
from pellucid.core.fit import Effort, Fit
from pellucid.core.types import Array
from pellucid.decomposition.nmf.nmf_fits import (
    RESIDUAL,
    check_nonnegative,
    orders_of,
    parts_of,
    start_factors,
)
from pellucid.decomposition.nmf.nmf_kernels import FAINT
from pellucid.decomposition.nmf.nmf_problem import NmfProblem, Penalties, dot, penalties_of, unit_of_size
from pellucid.decomposition.nmf.nmf_solvers import FactorDescent, Products, coordinate_factors
from pellucid.decomposition.nmf.sweeps_triton import WIDTH, sweep_on_card
from pellucid.proofs.rounding import EPSILON, rounding_unit
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

NUMBERS_AT_ONCE = 1 << 24
SHARES, ROWS_OF_SHARE = 32, 512
"""Most shares of rows that are summed over, and the least of one: a card multiplies on few processors otherwise."""
FEASIBLE, INDEPENDENT = 1e-12, 1e-13
"""As in memory: parts of its terms below which a gradient is 0, and of a diagonal entry below which a pivot is."""


@dataclass(frozen=True)
class ProblemThere(NmfProblem):
    """The squared error of dense rows on a device."""

    @classmethod
    def of(cls, X: Any, parameters: Any) -> ProblemThere:
        """Return the problem that an estimator's parameters ask for."""
        check_nonnegative(X)
        root = unit_of_size(float(X.max()))
        X = X if root == 1.0 else X / root / root
        return cls(X, 2.0, *penalties_of(parameters, tuple(X.shape), root, 2.0), root)

    @cached_property
    def has_missing(self) -> bool:
        """None is, or the rows would have been refused."""
        return False

    @cached_property
    def size(self) -> float:
        """The squared norm."""
        return sum(dot(block, block) for _, block in self.blocks())

    @property
    def precision(self) -> float:
        """What products are rounded by: they are made in float64."""
        return EPSILON

    def held(self, factor: Any) -> Any:
        """Return a copy of a factor in float64, where the data are."""
        import torch

        given = factor if is_foreign(factor) else torch.from_numpy(np.ascontiguousarray(factor))
        return given.to(self.X.device, torch.float64, copy=True).contiguous()

    def products(self) -> ProductsThere:
        """Return the products of the data with either factor."""
        return ProductsThere(self)

    @cached_property
    def in_double(self) -> Any:
        """The rows in float64, read in every round; as they are where there is no room for them beside the work."""
        return self.X.double() if has_room(8 * self.X.numel(), self.X.device) else self.X

    def blocks(self) -> Any:
        """Yield the rows in blocks of float64."""
        height = max(1, NUMBERS_AT_ONCE // self.X.shape[1])
        for start in range(0, len(self.X), height):
            rows = slice(start, start + height)
            yield rows, self.in_double[rows].double()

    def divergence(self, W: Any, H: Any) -> float:
        """Return half the squared error, entry by entry."""
        import torch

        errors = (torch.addmm(block, W[rows], H, alpha=-1.0) for rows, block in self.blocks())
        return 0.5 * sum(dot(error, error) for error in errors)


class ProductsThere:
    """Products with the data in float64: at once, or in blocks where the data are kept in less."""

    def __init__(self, problem: ProblemThere) -> None:
        self.problem = problem

    def with_rows(self, H: Any) -> Any:
        """Return ``H X'``."""
        import torch

        X = self.problem.in_double
        if X.dtype == H.dtype:
            return H @ X.T
        return torch.cat([H @ block.T for _, block in self.problem.blocks()], dim=1)

    def with_columns(self, W: Any) -> Any:
        """Return ``W X``."""
        X = self.problem.in_double
        if X.dtype == W.dtype:
            return product_over_rows(W, X)
        return sum(product_over_rows(W[:, rows], block) for rows, block in self.problem.blocks())


def product_over_rows(left: Any, right: Any) -> Any:
    """Return ``left`` (q, n) times ``right`` (n, p) for large n, as a sum over shares of the rows."""
    import torch

    count = min(SHARES, left.shape[1] // ROWS_OF_SHARE)
    if count < 2:
        return left @ right
    cut = count, left.shape[1] // count
    n = count * cut[1]
    shares = torch.bmm(left[:, :n].unflatten(1, cut).movedim(1, 0), right[:n].unflatten(0, cut))
    return torch.addmm(shares.sum(0), left[:, n:], right[n:])


def fit_on_device(estimator: Any, data: Any, watch: Any) -> Fit:
    """Return the fit of both factors, in the units and the precision of the data."""
    for wrong, said in (
        (estimator.solver != "cd", f"solver must be 'cd', got {estimator.solver!r}"),
        (estimator.init == "custom", "init must not be 'custom', got it"),
    ):
        if wrong:
            raise ValueError(f"{said}: NMF has no other form for arrays on a device. Copy the data to the host.")
    X, dtype = _in_floats(data.X), data.rows.stored_in
    problem = ProblemThere.of(X, estimator)
    W, H = start_factors(problem.X, parts_of(estimator, X.shape[1]), estimator.init, estimator.random_state)
    stored = rounding_unit(dtype) if dtype != np.float64 else 0.0
    effort = Effort(
        max(float(estimator.tol), RESIDUAL, stored), estimator.max_iter, lambda H: watch(estimator._iterate(H))
    )
    found = coordinate_factors(FactorsThere(problem, W, H, orders_of(estimator, len(H))), effort)
    W, H = ((found.attributes[name] * problem.root).to(X.dtype) for name in ("weights_", "components_"))
    error = float(np.sqrt(2.0 * problem.divergence(W.double() / problem.root, H.double() / problem.root)))
    attributes = {
        "components_": on_host(H),
        "weights_": W.contiguous(),
        "n_components_": len(H),
        "reconstruction_err_": error * problem.unit_of_error,
        "n_iter_": found.attributes["n_iter_"],
    }
    proof = card_of(type(estimator)).prove(Seen(**attributes), estimator, TrainingData(data.X, stored_in=dtype))
    return Fit(attributes, found.trace, found.stopped, proof)


fit_on_device.way = "products, sweeps and sums of the proof in float64 there"  # type: ignore[attr-defined]


def transform(model: Any, X: Any) -> Any:
    """Return the best weights of rows for the components."""
    problem = ProblemThere.of(_in_floats(X), model)
    q = len(model.components_)
    found = FactorsThere(problem, X.new_zeros((len(X), q)), model.components_ / problem.root, lambda: np.arange(q))
    found.polish_weights()
    return (found.W.T * problem.root).to(model.components_.dtype)


def inverse_transform(model: Any, X: Any) -> Any:
    """Return the sums of components with these weights."""
    return X.to(model.components_.dtype) @ model.components_


class FactorsThere(FactorDescent):
    """Both factors on their way, on a device."""

    def __init__(self, problem: ProblemThere, W: Any, H: Any, order: Callable[[], Array]) -> None:
        super().__init__(problem, W, H, order)
        self._sweepers = {id(factor): Sweeper(factor) for factor in (self.W, self.H)}

    def products_for_components(self) -> Products:
        """Return ``W'W`` and ``W'X``."""
        if self._for_components is None:
            self._for_components = product_over_rows(self.W, self.W.T), self._complete.with_columns(self.W)
        return self._for_components

    def sweep(self, factor: Any, products: Any, penalties: Penalties, most: int, enough: float) -> None:
        """Improve one of the factors in place."""
        self._sweepers[id(factor)].sweep(products, penalties, self.order().tolist(), most, enough)

    def finish(self, factor: Any, products: Any, penalties: Penalties) -> None:
        """Make each column that is nearly so the best, in place; dependent components stay."""
        gram, right = products[0].clone(), products[1] - penalties.l1
        gram.diagonal().add_(penalties.l2)
        width = max(1, NUMBERS_AT_ONCE // len(gram) ** 2)
        for start in range(0, factor.shape[1], width):
            columns = slice(start, start + width)
            factor[:, columns] = finished_rows(factor[:, columns].T, gram, right[:, columns].T).T


class Sweeper:
    """One of the factors (q, m), with room for its products: a sweep is recorded once, and replayed."""

    def __init__(self, factor: Any) -> None:
        import torch

        self.factor, self.right = factor, factor.new_empty(factor.shape)
        self.gram, self.inverse = factor.new_empty((len(factor), len(factor))), factor.new_empty(len(factor))
        self.is_going = factor.new_empty(factor.shape[1], dtype=torch.bool)
        self._again = Replayed(lambda: self.once(range(len(factor))), factor.device)

    def sweep(self, products: Any, penalties: Penalties, order: list[int], most: int, enough: float) -> None:
        """Sweep over the entries, some columns at a time, as ``nmf_solvers.sweep`` does."""
        import torch

        self.gram.copy_(products[0]).diagonal().add_(penalties.l2)
        torch.sub(products[1], penalties.l1, out=self.right)
        diagonal = self.gram.diagonal()
        is_flat = diagonal <= 0.0  # nothing to multiply with: only an l1 penalty counts
        self.inverse.copy_(1.0 / diagonal).masked_fill_(diagonal <= FAINT, 0.0)
        if penalties.l1:
            self.factor.masked_fill_(is_flat[:, None] & (self.right < 0.0), 0.0)
        if sweep_on_card(self.factor, self.gram, self.inverse, self.right, order, most, enough):
            return
        is_usual, first = order == list(range(len(order))), None
        self.is_going.fill_(True)
        for _ in range(most):
            moved = self._again() if is_usual else self.once(order)
            first = moved.clone() if first is None else first
            self.is_going &= (moved > enough * first).repeat_interleave(WIDTH)[: len(self.is_going)]
            if not bool(self.is_going.any()):
                break

    def once(self, order: Iterable[int]) -> Any:
        """Move each part to its best values given the others, in columns that are going on.

        Return how far all parts moved in each ``WIDTH`` columns, in units of what is gained.
        """
        import torch

        before = self.factor.clone()
        for t in order:
            gradient = torch.addmv(self.right[t], self.factor.T, self.gram[t], beta=-1.0)
            self.factor[t].addcmul_(gradient, self.inverse[t], value=-1.0).clamp_(min=0.0)
        self.factor.copy_(torch.where(self.is_going, self.factor, before))
        moved = self.gram.diagonal() @ (self.factor - before).square_()
        return torch.nn.functional.pad(moved, (0, -len(moved) % WIDTH)).view(-1, WIDTH).sum(1)


def finished_rows(rows: Any, gram: Any, right: Any) -> Any:
    """Return rows of at least 0 (m, q) that are the best, wherever equations say so, from rows that are nearly so."""
    import torch

    best, left = rows.clone(), torch.arange(len(rows), device=rows.device)
    is_free, one = rows > 0.0, torch.eye(len(gram), dtype=gram.dtype, device=gram.device)
    for _ in range(3 * len(gram) + 10):  # few rows need more than five
        own = right[left]
        lower, failed = torch.linalg.cholesky_ex(torch.where(is_free[:, :, None] & is_free[:, None], gram, one))
        found = torch.cholesky_solve(own[:, :, None], lower)[:, :, 0] * is_free
        pivots = lower.diagonal(dim1=1, dim2=2).square()
        is_solved = (failed == 0) & ~(is_free & (pivots <= INDEPENDENT * gram.diagonal())).any(1)
        slope, terms = found @ gram - own, found.abs() @ gram.abs() + own.abs()
        is_wrong = torch.where(is_free, found <= 0.0, slope < -FEASIBLE * terms)
        is_right = ~is_wrong.any(1)
        best[left[is_solved & is_right]] = found[is_solved & is_right]
        again = is_solved & ~is_right
        left, is_free = left[again], (is_free ^ is_wrong)[again]
        if not len(left):
            break
    return best


def _in_floats(X: Any) -> Any:
    return X if X.is_floating_point() else X.double()
