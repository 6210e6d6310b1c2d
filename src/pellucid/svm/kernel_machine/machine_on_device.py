"""Kernel machines of rows on a device: products, gradients and scores there, working sets on the host."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from pellucid.core.arrays import on_host
from pellucid.core.device.device_rows import refuse_device
from pellucid.core.fit import Fit
from pellucid.core.types import Array
from pellucid.core.watching import ignore
from pellucid.kernels.formulas import Linear
from pellucid.kernels.kernel import Kernel
from pellucid.kernels.products_on_device import check_kernel_there, products_there
from pellucid.proofs.training_data import TrainingData
from pellucid.svm.kernel_machine.machine_rows import class_blocks, join_pairs
from pellucid.svm.kernel_machine.support_vector_model import has_products, machine_kernel


class ProductsOnDevice:
    """What a solver asks of products, answered from all of them, which stand on the device; see ``ProductRows``."""

    def __init__(self, kernel: Kernel, rows: Any, dtype: np.dtype) -> None:
        import torch

        n = len(rows)
        stored = torch.float64 if dtype == np.float64 else torch.float32
        try:
            self._all = torch.empty((n, n), dtype=stored, device=rows.device)
        except torch.cuda.OutOfMemoryError:
            raise ValueError(
                f"X must have fewer rows in two classes for a machine on a device, got {n:,}: there is no room for "
                "their products. Fit it on the host, which keeps some of them at a time."
            ) from None
        for part, products in products_there(kernel, rows, rows):
            self._all[part] = products
        self.restore()

    def restore(self) -> None:
        """Make all rows active."""
        self.active = np.arange(len(self._all))

    def narrow(self, keep: Array) -> None:
        """Leave only the active rows where ``keep`` is true."""
        self.active = self.active[keep]

    def take(self, places: Array) -> Array:
        """Return what names the rows at these places."""
        return self.active[places]

    def among(self, slots: Array, places: Array, size: int) -> Array:
        """Return the products of the rows of these names with those at these places, and zeros up to a size."""
        found = self._all[self._there(slots)][:, self._there(self.active[places])]
        block = np.zeros((size, size), dtype=np.float64 if found.element_size() == 8 else np.float32)
        block[: len(slots), : len(places)] = on_host(found)
        return block

    def add_to(self, gradient: Array, slots: Array, change: Array) -> None:
        """Add the products of these rows, times the change of their coefficients, to the gradient."""
        rows = self._all[self._there(slots)]
        if len(self.active) < len(self._all):
            rows = rows[:, self._there(self.active)]
        gradient += on_host(self._there(change) @ rows.double())

    def _there(self, values: Array) -> Any:
        import torch

        return torch.as_tensor(np.ascontiguousarray(values), device=self._all.device)


def sums_there(kernel: Kernel, rows: Any, used: Array, coef: Array) -> Array:
    """Return the products of all rows with some of them, times coefficients, in float64."""
    import torch

    vectors, there = rows[torch.as_tensor(used, device=rows.device)], torch.as_tensor(coef, device=rows.device)
    return on_host(torch.cat([products @ there for _, products in products_there(kernel, rows, vectors)]))


def fit_svc(estimator: Any, data: Any, watch: Any) -> Fit:
    """Return the machines of all pairs of classes."""
    from pellucid.svm.svc.svc_solvers import PairSolver

    if estimator.probability is True:
        refuse_device(f"{type(estimator).__name__}(probability=True)")
    here = _in_double(data).without_absent_classes()
    estimator._check_classes(here.classes)
    return _fitted(PairSolver(here, estimator, _mover(estimator, data, here.X)), watch)


def fit_svr(estimator: Any, data: Any, watch: Any) -> Fit:
    """Return the machine."""
    from pellucid.svm.svc.svr_solvers import TubeSolver

    here = _in_double(data)
    return _fitted(TubeSolver(here, estimator, _mover(estimator, data, here.X)), watch)


fit_svc.way = fit_svr.way = "products and gradients there, working sets on the host"  # type: ignore[attr-defined]


def _mover(estimator: Any, data: Any, here: Array) -> Any:
    """Return what takes rows to the device, where those of ``here`` are; refuse a kernel that has no form there."""
    import torch

    name = type(estimator).__name__
    if has_products(estimator.kernel):
        refuse_device(f"{name} with products in place of rows")
    kernel = machine_kernel(estimator, 1.0)
    check_kernel_there(kernel)
    if isinstance(kernel, Linear):
        raise ValueError(
            f"kernel must not be linear for {name} on a device, got 'linear'. Take a linear model, or copy the data to "
            "the host."
        )
    return lambda rows: data.X.double() if rows is here else torch.as_tensor(rows, device=data.X.device)


def _in_double(data: Any) -> TrainingData:
    """Return the rows as machines in memory take them, which the book of support vectors is kept of."""
    here = data.here
    return replace(here, X=here.X.astype(np.float64, copy=False))


def _fitted(solver: Any, watch: Any) -> Fit:
    found: Fit = solver.fit(ignore if watch is ignore else lambda *iterate: watch(solver.watched(*iterate)))
    return found


# what a model answers


def _pair_scores(model: Any, X: Any) -> Any:
    """Return the score of each row in each machine."""
    import torch

    kernel, blocks = machine_kernel(model, float(model.gamma_)), class_blocks(on_host(model.n_support_))
    dual, found = model.dual_coef_.to(torch.float64), []
    for _, products in products_there(kernel, X, model.support_vectors_):
        parts = [products[:, block] @ dual[:, block].T for block in blocks]
        found.append(torch.stack(join_pairs(parts), dim=1) if is_classifier(model) else parts[0])
    return torch.cat(found) + model.intercept_


def decision_function(model: Any, X: Any) -> Any:
    """Return the scores, in the shape that was asked for."""
    import torch

    return torch.as_tensor(model._shaped(on_host(_pair_scores(model, X))), device=X.device)


def predict(model: Any, X: Any) -> Any:
    """Return the label with most votes of the machines, or the value of the function."""
    import torch

    scores = _pair_scores(model, X)
    if not is_classifier(model):
        return scores[:, 0]
    model._check_tie_rule()
    codes = model._winners(on_host(scores))
    return model.classes_[codes if isinstance(model.classes_, np.ndarray) else torch.as_tensor(codes, device=X.device)]
