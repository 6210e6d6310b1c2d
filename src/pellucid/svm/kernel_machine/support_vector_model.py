"""What SVC and SVR share: the data they take, scores of new rows from support vectors, weights of a linear kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import _num_samples, check_consistent_length, check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator
from pellucid.core.linear_classifier import dense
from pellucid.core.types import Array, Data, SparseOrDense
from pellucid.kernels.choice import ProductRules, gamma_from, is_given, kernel_from
from pellucid.kernels.formulas import Linear
from pellucid.kernels.functions import check_products, check_symmetric
from pellucid.kernels.kernel import Kernel
from pellucid.proofs.training_data import TrainingData
from pellucid.svm.kernel_machine.kernel_sums import kernel_sums
from pellucid.svm.kernel_machine.machine_measures import MachineMeasures
from pellucid.svm.kernel_machine.machine_rows import class_blocks


class SupportVectorModel(CertifiedEstimator):
    """Scores rows by their products with the support vectors. ``n_support_`` counts them by class, or all."""

    kernel: Any
    gamma: Any
    degree: int
    coef0: float
    support_: Array
    support_vectors_: Any
    n_support_: Array
    dual_coef_: Any
    intercept_: Array
    gamma_: float
    shape_fit_: tuple[int, int]

    _function_rows: Any = None
    """The training data of a kernel that is a function, which wants them for every prediction."""

    @property
    def coef_(self) -> Any:
        """Weights of the columns, of shape (n_machines, n_columns), read-only; of a linear kernel only."""
        if not self._is_linear:
            raise AttributeError("coef_ is only there for a linear kernel.")
        coef = self._weights()
        (coef.data if sparse.issparse(coef) else coef).flags.writeable = False
        return coef

    @property
    def _is_linear(self) -> bool:
        return isinstance(self.kernel, Linear) or (isinstance(self.kernel, str) and self.kernel == "linear")

    def _weights(self) -> Any:
        return summed_vectors(self.dual_coef_, self.support_vectors_)

    def _class_parts(self, X: SparseOrDense, machines: Array | None = None) -> list[Array]:
        """Return what the support vectors of each class add to the scores: (n_rows, rows of ``dual_coef_``) each.

        ``X`` are checked rows, or their products with all training rows. If all coefficients of ``machines`` are
        given, what all vectors add to these is the only part.
        """
        kernel, dual_coef = machine_kernel(self, self.gamma_), dense(self.dual_coef_)
        vectors = self.support_ if has_products(self.kernel) else self.support_vectors_
        if len(self.support_) != self.n_support_.sum() or vectors.shape[0] != len(self.support_):
            raise ValueError(f"The internal representation of {type(self).__name__} was altered. Fit it again.")
        blocks = class_blocks(self.n_support_)
        if machines is not None:
            blocks, dual_coef = [slice(None)], machines
        return [kernel_sums(kernel, X, vectors[block], np.ascontiguousarray(dual_coef[:, block].T)) for block in blocks]

    def _new_rows(self, X: Data) -> Any:
        """Return new rows in the form of the training rows; for a function, their products with all of these."""
        check_is_fitted(self)
        function = matrix_function(self.kernel)
        if function is not None:
            return function_products(function, X, self._function_rows)
        rows = card_of(type(self)).rules_for(self).check_rows(self, X)
        trained_on_sparse = sparse.issparse(self.support_vectors_)
        if sparse.issparse(rows) and not trained_on_sparse:
            raise ValueError(
                f"X must be dense for a {type(self).__name__} that was fitted to dense rows, got a sparse matrix."
            )
        return type(self.support_vectors_)(rows) if trained_on_sparse and not sparse.issparse(rows) else rows

    def _keep_function_rows(self, X: Data) -> None:
        if matrix_function(self.kernel) is not None:
            self._function_rows = X
        else:
            self.__dict__.pop("_function_rows", None)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.pairwise = given
        tags.input_tags.sparse = not given
        return tags


def as_it_is(rows: Any) -> Any:
    """Return rows where they are."""
    return rows


def summed_vectors(coefs: Any, vectors: Any) -> Any:
    """Return the sums of support vectors times coefficients that sum to 0, about their mean, which keeps digits."""
    if sparse.issparse(vectors) or not len(vectors):
        return safe_sparse_dot(coefs, vectors)
    return np.asarray(coefs @ (vectors - vectors.mean(axis=0)))


def support_attributes(data: TrainingData, rows: Array, dual_coef: Array, *, has_products: bool) -> dict[str, Any]:
    """Return the support vectors with their coefficients, sparse if the data are; ``rows`` are places in the data."""
    is_sparse = sparse.issparse(data.X)
    return {
        "support_": data.given_rows(rows).astype(np.int32),
        "support_vectors_": np.empty((0, 0)) if has_products else data.X[rows],
        "dual_coef_": type(data.X)(dual_coef) if is_sparse else dual_coef,
        "shape_fit_": tuple(data.given[0].shape),
    }


def measured_attributes(machines: Sequence[MachineMeasures]) -> dict[str, Array]:
    """Return what is known of each machine: the range of its intercept, its objective and its gap."""
    return {
        "intercept_range_": np.array(
            [[end - machine.shift for end in machine.intercept_range] for machine in machines]
        ),
        "objective_": np.array([machine.objective for machine in machines]),
        "dual_gap_": np.array([machine.gap for machine in machines]),
    }


@dataclass(frozen=True)
class MachineRules(ProductRules):
    """Rules for rows, for products, or for data that only a function can read; the last become products.

    Of products, rows and columns of weight 0 are both gone, so that they are square.
    """

    function: Any = None

    def check(
        self,
        estimator: Any,
        X: Data,
        y: Data = None,
        sample_weight: Data | None = None,
        *,
        reset: bool = True,
        classes: Array | None = None,
    ) -> TrainingData:
        """Return the training data."""
        is_function = self.function is not None
        if is_function:
            check_consistent_length(X, y)
            X = check_symmetric(function_products(self.function, X, X))
        elif self.products and sparse.issparse(X):
            raise TypeError("X must be dense, got a sparse matrix: Sparse precomputed kernels are not supported.")
        data = super().check(estimator, X, y, sample_weight, reset=reset, classes=classes)
        if is_function:  # the columns are rows of the user's data, not features
            vars(estimator).pop("n_features_in_", None)
        return data if data.kept is None or not self.products else replace(data, X=data.X[:, data.kept])


def function_products(function: Any, X: Data, others: Data) -> Array:
    """Return what a function says of whole data sets, checked; it may take data that are no arrays."""
    found = function(X, others)
    products = np.asarray(found.toarray() if sparse.issparse(found) else found, dtype=np.float64, order="C")
    wanted = (_num_samples(X), _num_samples(others))
    if products.shape != wanted:
        raise ValueError(
            f"kernel must return a matrix of shape {wanted} for {wanted[0]} and {wanted[1]} rows, got shape "
            f"{products.shape}."
        )
    check_products(products)
    return products


def matrix_function(kernel: Any) -> Any:
    """Return the kernel if it is a plain function of two matrices, None for names and kernel objects."""
    return kernel if callable(kernel) and not isinstance(kernel, Kernel) else None


def has_products(kernel: Any) -> bool:
    """Return whether the training data are products in the end, given or from a function."""
    return matrix_function(kernel) is not None or is_given(kernel)


def machine_kernel(parameters: Any, gamma: float) -> Kernel:
    """Return the kernel of the parameters; a function of matrices has been applied when the machine sees its data."""
    kernel = parameters.kernel if matrix_function(parameters.kernel) is None else "precomputed"
    return kernel_from(kernel, gamma=gamma, degree=parameters.degree, coef0=float(parameters.coef0))


def machine_gamma(parameters: Any, data: TrainingData) -> float:
    """Return the factor that ``gamma`` means for these data; 0 where the kernel is not one of scikit-learn's names."""
    if has_products(parameters.kernel) or not isinstance(parameters.kernel, str):
        return 0.0
    return gamma_from(parameters.gamma, data.X, data.weights)
