"""KernelPerceptron: the perceptron in the space of a kernel, by counting mistakes."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Fit
from pellucid.core.linear_classifier import machine_signs, winners
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data, RandomState, SparseOrDense
from pellucid.core.watching import Watch, ignore
from pellucid.kernels.choice import gamma_from, is_given, kernel_from
from pellucid.kernels.functions import check_products
from pellucid.kernels.kernel import Kernel
from pellucid.linear_model.sgd.sgd_solvers import shuffled
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.presented_rows import Presentation, present_as_given, present_by_content


class KernelPerceptron(ClassifierMixin, CertifiedEstimator):
    r"""Perceptron in the space of a kernel: the weights are never written down, only how often each row was wrong.

    .. math:: f(x) = \sum_i m_i c_i t_i\,k(x_i, x) + b,\qquad t_i f(x_i) \le 0:\quad m_i \leftarrow m_i + 1

    If the rows can be separated with margin :math:`\gamma` in that space, there are at most :math:`(R/\gamma)^2`
    mistakes, :math:`R^2 = \max k(x, x)`. Rows are shown as to :class:`Perceptron`, whose mistakes it makes with
    ``kernel='linear'``; given products ('precomputed') are shown as they stand, without looking for equal rows.

    Parameters
    ----------
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'laplacian', 'precomputed'}, Kernel or callable, default='rbf'
        :math:`k`; an object of :mod:`pellucid.kernels` has its own parameters, a callable takes two rows and returns
        a number.
    gamma : {'scale', 'auto'} or float, default='scale'
        Factor of the named kernels that have one, at least 0; 'scale' is one over the number of columns times the
        variance of all entries, 'auto' one over the number of columns.
    degree : float, default=3
        Power of 'poly'.
    coef0 : float, default=0.0
        Constant of 'poly' and 'sigmoid'.
    fit_intercept : bool, default=True
        Whether to learn :math:`b`, which adds 1 to the kernel.
    max_iter : int, default=100
        Most epochs; an epoch without mistakes ends the fit.
    shuffle : bool, default=True
        Whether each epoch has an order of its own.
    random_state : int, RandomState instance or None, default=0
        Seed of the orders.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; two classes need one machine.
    support_ : ndarray of shape (n_support,)
        Positions of the rows that were wrong at least once in some machine; of equal rows, one.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        Those rows; not for given products.
    dual_coef_ : ndarray of shape (1 or n_classes, n_support)
        Their mistakes :math:`m_i c_i t_i`.
    intercept_ : ndarray of shape (1 or n_classes,)
        :math:`b`, the sum of the mistakes.
    gamma_ : float
        The factor used.
    n_mistakes_, n_iter_ : int
        Updates made, over all machines, and epochs.
    certificate_, trace_ : Certificate, Trace
        The mistakes against their bound; mean loss of the rows as they were shown, and mistakes so far.

    Examples
    --------
    No line separates the corners of a square by diagonals; the products :math:`(1 + x'z)^2` do.

    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> model = KernelPerceptron("poly", gamma=1.0, degree=2, coef0=1.0).fit(X, y)
    >>> model.predict(X), model.certificate_.grade
    (array([0, 1, 1, 0]), 'bounded')
    """

    classes_: Array
    support_: Array
    support_vectors_: Any
    dual_coef_: Array
    intercept_: Array
    gamma_: float
    n_mistakes_: int
    n_iter_: int

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        fit_intercept: bool = True,
        max_iter: int = 100,
        shuffle: bool = True,
        random_state: RandomState = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features), or given products (n_samples, n_samples), and labels ``y``."""
        data = self._check(X, y, sample_weight)
        if len(data.classes) < 2:
            raise ValueError(f"y must hold at least 2 classes, got one class: {data.classes.tolist()[0]!r}.")
        given = is_given(self.kernel)
        shown = (
            present_by_content(data.X, data.y, data.weights)
            if self.shuffle and not given
            else present_as_given(data.weights)
        )
        of_shown = replace(data, X=data.X[shown.order], weight=shown.weight[shown.order])  # in whatever order they came
        machines = self._machines(data, shown)
        gamma = 1.0 / data.X.shape[1] if given else gamma_from(self.gamma, of_shown.X, of_shown.weights)
        X = data.X[:, data.kept] if given and data.kept is not None else data.X  # columns of rows of weight 0 are there
        rows = ShownProducts(self._kernel(gamma) + float(self.fit_intercept), X, shown.order, is_given=given)
        more = {"classes_": data.classes, "gamma_": gamma}
        watch = self._watch(
            data.X,
            data.given[1],
            attributes=lambda found: {**more, **self._lines(found, data, shown)},
            max_iter=self.max_iter,
        )
        trace = count_mistakes(machines, rows, max_iter=self.max_iter, shuffle=self.shuffle, watch=watch)
        for state in trace.states:
            state["order"] = data.given_rows(shown.order[state["order"]])
        attributes = {
            **more,
            **self._lines(machines, data, shown),
            "n_mistakes_": int(sum(machine.counts.sum() for machine in machines)),
            "n_iter_": max(machine.n_iter for machine in machines),
        }
        return self._adopt(Fit(attributes, trace), data)

    def decision_function(self, X: Data) -> Array:
        """Return :math:`f(x)`, of shape (n_samples,) for two classes and (n_samples, n_classes) otherwise.

        Given products are those of the rows with all training rows, of shape (n_samples, n_samples of the fit).
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        rows = self.support_ if is_given(self.kernel) else self.support_vectors_
        scores = self._kernel(self.gamma_).times(X, rows, self.dual_coef_.T) + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Data) -> Array:
        """Return the label of the largest score; of tied scores, the first in ``classes_``."""
        return winners(self.decision_function(X), self.classes_)

    def _kernel(self, gamma: float) -> Kernel:
        return kernel_from(self.kernel, gamma=gamma, degree=self.degree, coef0=float(self.coef0))

    def _machines(self, data: TrainingData, shown: Presentation) -> list[MistakeCounts]:
        signs = machine_signs(data.y, len(data.classes))[:, shown.order]
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=len(signs))
        weight = shown.weight[shown.order]
        return [MistakeCounts(y, weight, int(seed)) for y, seed in zip(signs, seeds, strict=True)]

    def _lines(self, machines: list[MistakeCounts], data: TrainingData, shown: Presentation) -> dict[str, Any]:
        dual = np.stack([machine.dual for machine in machines])
        used = np.flatnonzero(dual.any(axis=0))
        used = used[np.argsort(shown.order[used])]
        place = shown.order[used]
        found = {
            "support_": data.given_rows(place),
            "dual_coef_": dual[:, used],
            "intercept_": dual[:, used].sum(axis=1) * float(self.fit_intercept),
        }
        return found if is_given(self.kernel) else found | {"support_vectors_": data.X[place]}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_given(self.kernel)
        return tags


MOST_KEPT = 1 << 28
"""Bytes of products that are kept; the rest is computed again when a row is a mistake again."""

WHOLE = 1 << 27
"""Bytes up to which all products are computed at once."""


class ShownProducts:
    """The products of one row with all rows shown, on demand."""

    def __init__(self, kernel: Kernel, X: SparseOrDense, order: Array, *, is_given: bool) -> None:
        self.kernel, self.order = kernel, order
        self.rows = X if is_given else X[order]
        self.columns: Any = order if is_given else self.rows
        self.shown: Any = order if is_given else slice(None)
        self.kept: OrderedDict[int, Array] = OrderedDict()
        self.whole = None
        if 8 * len(order) ** 2 <= WHOLE:
            self.whole = kernel(self.rows, self.columns)[self.shown]
            check_products(self.whole)

    def __getitem__(self, i: int) -> Array:
        """Return the products with the row shown in place ``i``."""
        if self.whole is not None:
            return np.asarray(self.whole[:, i])
        if i not in self.kept:
            if 8 * len(self.order) * (len(self.kept) + 1) > MOST_KEPT:
                self.kept.popitem(last=False)
            self.kept[i] = self.kernel(self.rows, self.columns[[i]])[self.shown, 0]
            check_products(self.kept[i])
        return self.kept[i]


@dataclass
class MistakeCounts:
    """One class (``y`` = +1) against the rest (-1): the mistakes of each row shown, and the scores of all."""

    y: Array
    weight: Array
    seed: int
    counts: Array = field(default_factory=lambda: np.zeros(0))
    scores: Array = field(default_factory=lambda: np.zeros(0))
    n_iter: int = 0
    is_done: bool = False

    @property
    def dual(self) -> Array:
        """What each row has added to the weights: its mistakes, with its weight and sign."""
        return self.counts * self.weight * self.y


def count_mistakes(
    machines: list[MistakeCounts], products: ShownProducts, *, max_iter: int, shuffle: bool, watch: Watch = ignore
) -> Trace:
    """Show all rows, epoch by epoch, until no machine makes a mistake; return the trace."""
    n, trace = len(products.order), Trace()
    randoms = [np.random.default_rng(machine.seed) for machine in machines]
    for machine in machines:
        machine.counts, machine.scores = np.zeros(n), np.zeros(n)
    orders = [np.arange(n) for _ in machines]
    for epoch in range(1, max_iter + 1):
        losses = 0.0
        for k, (machine, random) in enumerate(zip(machines, randoms, strict=True)):
            if not machine.is_done:
                orders[k] = shuffled(np.arange(n), random) if shuffle else orders[k]
                with np.errstate(over="ignore", invalid="ignore"):
                    losses += _run_epoch(machine, products, orders[k])
        if not np.isfinite(losses):
            raise ValueError(
                "X must have smaller products, or sample_weight smaller weights: got scores that overflow. "
                "Change the units of X, or divide the weights by their mean."
            )
        n_mistakes = sum(float(machine.counts.sum()) for machine in machines)
        trace.add(iteration=epoch, objective=losses, updates=n_mistakes)
        trace.keep(dual=np.stack([machine.dual for machine in machines]), order=orders)
        stop = watch is not ignore and watch(machines)
        if stop or all(machine.is_done for machine in machines):
            break
    return trace


def _run_epoch(machine: MistakeCounts, products: ShownProducts, order: Array) -> float:
    """Go from mistake to mistake; return the mean loss of the rows when they were shown."""
    losses, start = 0.0, 0
    y, scores = machine.y, machine.scores
    while start < len(order):
        ahead = order[start:]
        wrong = y[ahead] * scores[ahead] <= 0.0
        step = int(np.argmax(wrong))
        if not wrong[step]:
            break
        i = int(ahead[step])
        losses += machine.weight[i] * abs(scores[i])
        scores += machine.weight[i] * y[i] * products[i]
        machine.counts[i] += 1.0
        start += step + 1
    machine.n_iter += 1
    machine.is_done = start == 0
    return losses / float(machine.weight.sum())
