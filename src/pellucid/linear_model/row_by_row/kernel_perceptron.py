"""KernelPerceptron: the perceptron in the space of a kernel, by counting mistakes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.core.certificate import Certificate
from pellucid.core.checks import check_one_of, check_positive, check_whole, is_number
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.labeled_input import check_labeled_input
from pellucid.core.linear_classifier import known_codes, machine_signs, winners
from pellucid.core.types import Array, Data
from pellucid.kernels.kernel import KERNELS, Kernel, ShiftedKernel, kernel_from, scale_gamma
from pellucid.linear_model.row_by_row.kernel_perceptron_proof import KernelMistakes, prove_kernel_mistakes
from pellucid.linear_model.row_by_row.kernel_perceptron_solvers import KernelMachine, ProductRows, count_mistakes
from pellucid.linear_model.row_by_row.perceptron_proof import repeated_weight
from pellucid.linear_model.row_by_row.presented_rows import Presentation, present_as_given, present_by_content


class KernelPerceptron(ClassifierMixin, CertifiedEstimator):
    r"""Perceptron in the space of a kernel: the weights are never written down, only how often each row was wrong.

    .. math:: f(x) = \sum_i m_i c_i t_i\,k(x_i, x) + b,\qquad t_i f(x_i) \le 0:\quad m_i \leftarrow m_i + 1

    If the rows can be separated with margin :math:`\gamma` in that space, there are at most :math:`(R/\gamma)^2`
    mistakes, :math:`R^2 = \max k(x, x)`. Rows are shown as to :class:`Perceptron`, whose mistakes it makes with
    ``kernel='linear'``; given products ('precomputed') are shown as they stand, without looking for equal rows.

    Parameters
    ----------
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'laplacian', 'precomputed'} or callable, default='rbf'
        :math:`k`; a callable takes two rows and returns a number.
    gamma : {'scale', 'auto'} or float, default='scale'
        Factor of the kernels that have one, above 0; 'scale' is one over the number of columns times the variance of
        all entries, 'auto' one over the number of columns.
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
        random_state: Any = 0,
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
        self._check_parameters()
        X, y, weight = self._check_labeled(X, y, sample_weight, reset=True)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y must hold at least 2 classes, got one class: {self.classes_.tolist()[0]!r}.")
        shown = self._present(X, codes, weight)
        self.gamma_ = self._factor(X, shown)
        machines = self._machines(codes, shown)
        products = ProductRows(
            self._products(with_constant=True), X, shown.order, is_given=self.kernel == "precomputed"
        )
        watch = self._watch(X, y, attributes=lambda found: self._lines(found, X, shown), max_iter=self.max_iter)
        trace = count_mistakes(machines, products, max_iter=self.max_iter, shuffle=self.shuffle, watch=watch)
        if hasattr(self, "support_vectors_"):
            del self.support_vectors_  # of an earlier fit, maybe with another kernel
        for name, value in self._lines(machines, X, shown).items():
            setattr(self, name, value)
        self.n_mistakes_ = int(sum(machine.counts.sum() for machine in machines))
        self.n_iter_ = max(machine.n_iter for machine in machines)
        together = shown.weight[shown.shown_as]
        self._conclude(self._certificate(X, codes, weight, together), trace, X, y, weight)
        return self

    def decision_function(self, X: Data) -> Array:
        """Return :math:`f(x)`, of shape (n_samples,) for two classes and (n_samples, n_classes) otherwise.

        Given products are those of the rows with all training rows, of shape (n_samples, n_samples of the fit).
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        scores = self._products().times(X, self._support_rows(), self.dual_coef_.T) + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Data) -> Array:
        """Return the label of the largest score; of tied scores, the first in ``classes_``."""
        return winners(self.decision_function(X), self.classes_)

    def _check_parameters(self) -> None:
        if not callable(self.kernel):
            check_one_of(tuple(KERNELS), "Or pass a function of two rows.", kernel=self.kernel)
        if isinstance(self.gamma, str):
            check_one_of(("scale", "auto"), gamma=self.gamma)
        else:
            check_positive(gamma=self.gamma)
        check_positive(degree=self.degree)
        if not is_number(self.coef0):
            raise TypeError(f"coef0 must be a number, got {self.coef0!r}.")
        check_one_of((True, False), fit_intercept=self.fit_intercept)
        check_one_of((True, False), shuffle=self.shuffle)
        check_whole(max_iter=self.max_iter)

    def _check_labeled(self, X: Data, y: Data, sample_weight: Data | None, *, reset: bool) -> tuple[Any, Array, Array]:
        X, y, weight = check_labeled_input(
            self, X, y, sample_weight, reset=reset, accept_sparse="csr", dtype=np.float64, order="C"
        )
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(f"X must be square if it holds the products of the rows, got shape {X.shape}.")
        if sparse.issparse(X) and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X, y, np.ones(X.shape[0]) if weight is None else weight

    def _present(self, X: Any, codes: Array, weight: Array) -> Presentation:
        if self.shuffle and self.kernel != "precomputed":
            return present_by_content(X, codes, weight)
        return present_as_given(weight)

    def _factor(self, X: Any, shown: Presentation) -> float:
        if self.gamma == "auto" or self.kernel == "precomputed":
            return 1.0 / X.shape[1]
        if self.gamma == "scale":
            return scale_gamma(X[shown.order], shown.weight[shown.order])
        return float(self.gamma)

    def _products(self, *, with_constant: bool = False) -> Kernel:
        kernel = kernel_from(self.kernel, gamma=self.gamma_, degree=self.degree, coef0=float(self.coef0))
        return ShiftedKernel(kernel) if with_constant and self.fit_intercept else kernel

    def _machines(self, codes: Array, shown: Presentation) -> list[KernelMachine]:
        signs = machine_signs(codes, len(self.classes_))[:, shown.order]
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=len(signs))
        weight = shown.weight[shown.order]
        return [KernelMachine(y, weight, int(seed)) for y, seed in zip(signs, seeds, strict=True)]

    def _lines(self, machines: list[KernelMachine], X: Any, shown: Presentation) -> dict[str, Any]:
        dual = np.stack([machine.dual for machine in machines])
        used = np.flatnonzero(dual.any(axis=0))
        used = used[np.argsort(shown.order[used])]
        support = shown.order[used]
        found = {"support_": support, "dual_coef_": dual[:, used]}
        found["intercept_"] = found["dual_coef_"].sum(axis=1) * float(self.fit_intercept)
        return found if self.kernel == "precomputed" else found | {"support_vectors_": X[support]}

    def _support_rows(self) -> Any:
        return self.support_ if self.kernel == "precomputed" else self.support_vectors_

    def _certificate(self, X: Any, codes: Array, weight: Array, together: Array) -> Certificate:
        model = KernelMistakes(
            dual=self.dual_coef_,
            support=self.support_,
            rows=self._support_rows(),
            intercept=self.intercept_,
            n_mistakes=self.n_mistakes_,
            fit_intercept=self.fit_intercept,
        )
        signs = machine_signs(codes, len(self.classes_))
        return prove_kernel_mistakes(self._products(with_constant=True), X, signs, weight, together, model)

    def _prove(self, X: Data, y: Data, sample_weight: Data | None = None) -> Certificate:
        X, y, weight = self._check_labeled(X, y, sample_weight, reset=False)
        codes = known_codes(y, self.classes_)
        is_by_content = self.shuffle and self.kernel != "precomputed"
        return self._certificate(X, codes, weight, repeated_weight(X, codes, weight) if is_by_content else weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
