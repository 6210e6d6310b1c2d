"""The rules by which one place checks the training data of every estimator."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import _check_sample_weight, validate_data

from pellucid.core.labels import encode_labels, known_codes, label_column
from pellucid.core.scale.row_blocks import is_in_blocks
from pellucid.core.threads import WORTH_SHARING, run_blocks, shares
from pellucid.core.types import Array, Data, SparseOrDense
from pellucid.proofs.training_data import TrainingData

FLOATS = (np.float64, np.float32)
ANY_SPARSE = ("csr", "csc")

CLASSES = "classes"
NUMBERS = "numbers"
UNCHECKED = "unchecked"
NO_TARGET = "none"

MOMENTS, FOLD_MOMENTS, VARIANCES = "moments", "moments of folds", "variances"
SUMS, CATEGORIES = "sums", "categories"
BINS, PASSES, IN_TURN = "bins", "passes", "rows in turn"


TARGET_KINDS = {CLASSES: "iubU", NUMBERS: "iuf", UNCHECKED: "iub"}
"""Kinds of arrays that are targets as they are: labels that hold no NaN, and numbers, among which ``check`` looks."""


@dataclass(frozen=True)
class InputRules:
    """What data a method takes; ``check`` refuses all others with a sentence."""

    target: str = NO_TARGET
    """``CLASSES`` (labels of any kind), ``NUMBERS``, ``UNCHECKED`` (the method looks itself) or ``NO_TARGET``."""
    several_targets: bool = False
    sparse: tuple[str, ...] = ()
    """Sparse formats that need no conversion; the first is what others become."""
    dtypes: Any = FLOATS
    order: str | None = None
    missing: bool = False
    """Whether NaN in X means a missing value."""
    looks_for_nan: bool = True
    """False: the fit sees NaN in its own sums and calls ``check_finite`` then, to save a pass over the data."""
    fewest_rows: int = 1
    weights: bool = True
    blocks: str = ""
    """What of the rows the answer depends on, where a pass over blocks of them will do: their ``MOMENTS``, which are
    weight, mean and scatter, the same of each fold (``FOLD_MOMENTS``), or by class the ``VARIANCES`` (with weight and
    mean), ``SUMS`` or ``CATEGORIES`` of each column; or the ``BINS`` of all numbers, one byte each, which the method
    gathers itself. ``PASSES`` where it takes several of them, by the function ``passes`` of the method's card.
    ``IN_TURN`` where it learns from one block after the other, the targets of all of them at hand. Empty where all
    rows must be in memory."""

    reads_again: bool = False
    """Whether a model of rows in blocks reads all of them again for each answer: it cannot be saved."""

    @property
    def summed_target(self) -> str:
        """What a target of rows in blocks is."""
        return self.target

    def completed(self, estimator: Any, data: TrainingData, classes: Array | None = None) -> TrainingData:
        """Return checked data, or those that stand for rows in blocks, with a target as the method wants it."""
        return data

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
        """Return the data, checked; with ``reset=False`` they must look like those of the fit.

        ``classes`` are labels known before: of an earlier part of the data, or of the model that is verified.
        """
        if sample_weight is not None and not self.weights:
            name = type(estimator).__name__
            raise ValueError(f"sample_weight must be None for {name}, got weights. Repeat the rows.")
        if is_in_blocks(X):
            return self._check_blocks(estimator, X, y, sample_weight, reset=reset, classes=classes)
        X, y = self._validated(estimator, X, y, reset=reset)
        X = self._settled(estimator, X, look_for_nan=self.looks_for_nan or not reset)
        return self._with_target(estimator, X, y, check_sample_weight(sample_weight, X), classes)

    def _check_blocks(
        self, estimator: Any, X: Data, y: Data, sample_weight: Data | None, *, reset: bool, classes: Array | None
    ) -> TrainingData:
        """Return a small table that stands for rows in blocks."""
        from pellucid.core.scale.block_data import rows_in_turn, summarized

        if self.blocks == IN_TURN:
            return rows_in_turn(estimator, self, X, y, sample_weight, reset=reset, classes=classes)
        return summarized(estimator, self, X, y, sample_weight)

    def _with_target(
        self, estimator: Any, X: Any, y: Any, weight: Array | None, classes: Array | None, name: str = ""
    ) -> TrainingData:
        """Return checked rows with their target, labels as codes; ``name`` is the fingerprint of rows in blocks."""
        if self.target == NUMBERS:
            check_finite(y, estimator, "y")
        if self.target != CLASSES:
            return _counted(TrainingData(X, y, weight, given=(X, y, weight), name=name))
        y = label_column(y)
        data = TrainingData(X, y, weight, given=(X, y, weight), name=name)
        if classes is None:
            classes, codes = encode_labels(y)
            return _counted(replace(data, classes=classes, y=codes))
        data = _counted(data)  # a row of weight 0 may have any label
        return replace(data, classes=classes, y=known_codes(data.y, classes))

    def check_rows(self, estimator: Any, X: Data) -> Any:
        """Return new rows in the form of the training rows."""
        known = vars(estimator)
        is_known = "feature_names_in_" not in known and self._is_ready(X) and X.shape[1] == known.get("n_features_in_")
        if not is_known:
            X = validate_data(estimator, X, **self._options(reset=False) | {"ensure_min_samples": 1})
        return self._settled(estimator, X, look_for_nan=True)

    def _settled(self, estimator: Any, X: SparseOrDense, *, look_for_nan: bool) -> Any:
        if sparse.issparse(X):
            X = _with_short_indices(X)
            if not X.has_canonical_format:
                X = X.copy()
                X.sum_duplicates()  # and puts the entries in order
        if look_for_nan and not self.missing:
            check_finite(X, estimator)
        return X

    def _options(self, *, reset: bool) -> dict[str, Any]:
        return {
            "reset": reset,
            "accept_sparse": self.sparse or False,
            "dtype": self.dtypes,
            "order": self.order,
            "ensure_all_finite": "allow-nan" if self.missing else False,  # otherwise on all threads, by check_finite
            "ensure_min_samples": self.fewest_rows,
        }

    def _validated(self, estimator: Any, X: Data, y: Data, *, reset: bool) -> tuple[Any, Any]:
        if reset and self._needs_no_change(X, y):
            estimator.n_features_in_ = X.shape[1]
            vars(estimator).pop("feature_names_in_", None)  # of an earlier fit to a data frame
            return X, None if self.target == NO_TARGET else y
        options = self._options(reset=reset)
        if self.target == NO_TARGET:
            return validate_data(estimator, X, **options), None
        several = self.several_targets or self.target == UNCHECKED
        return validate_data(estimator, X, y, multi_output=several, y_numeric=self.target == NUMBERS, **options)

    def _needs_no_change(self, X: Data, y: Data) -> bool:
        """Return whether plain arrays are already what scikit-learn's check would return: it takes longer to see that.

        Whatever is in doubt, or wrong, goes there for its conversions and its messages.
        """
        if not self._is_ready(X) or len(X) < self.fewest_rows:
            return False
        kinds = TARGET_KINDS.get(self.target)
        if kinds is None:
            return self.target == NO_TARGET
        is_target = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in kinds and y.dtype.isnative
        return is_target and len(y) == len(X)

    def _is_ready(self, X: Data) -> bool:
        """Return the same of rows alone; where NaN means a missing value, of rows without any."""
        if not (type(X) is np.ndarray and X.ndim == 2 and X.size > 0):
            return False
        if (self.order == "C" and not X.flags.c_contiguous) or self.order == "F":
            return False
        dtypes = self.dtypes if isinstance(self.dtypes, tuple) else (self.dtypes,)
        if not any(X.dtype == dtype for dtype in dtypes if dtype is not None):
            return False
        return not self.missing or all_finite(X)


def _with_short_indices(X: SparseOrDense) -> Any:
    """Return rows, or columns, whose indices have 32 bits where these suffice: compiled loops know no others."""
    if X.indices.dtype == np.int32 or max(X.nnz, *X.shape) > np.iinfo(np.int32).max:
        return X
    return type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape, copy=False)


def _counted(data: TrainingData) -> TrainingData:
    """Return the data without the rows of weight 0."""
    if data.weight is None or data.weight.all():
        return data
    kept = np.flatnonzero(data.weight)
    y = None if data.y is None else data.y[kept]
    return replace(data, X=data.X[kept], y=y, weight=data.weight[kept], kept=kept)


LARGEST = 1e151
"""Sums of squares of larger values overflow in float64."""

BLOCK = 1 << 18
"""Values squared and summed in one go."""


def check_finite(X: Data, estimator: Any, name: str = "X") -> None:
    """Refuse NaN and infinity with scikit-learn's message, and values above ``LARGEST`` with ours.

    A finite sum of squares shows at the cost of reading the data that nothing is wrong; only otherwise is each value
    looked at.
    """
    values: Array = X.data if sparse.issparse(X) else X
    if values.dtype.kind in "biu":
        return
    if values.dtype.kind in "OSU":  # texts among numbers
        assert_all_finite(X, estimator_name=type(estimator).__name__, input_name=name)
        return
    if all_finite(values):
        return
    assert_all_finite(X, estimator_name=type(estimator).__name__, input_name=name)
    size = float(max(values.max(), -values.min()))
    if size > LARGEST:
        raise ValueError(
            f"{name} must have values whose squares are finite, at most {LARGEST:g}, got {size:g}. Change its units."
        )


def all_finite(values: Array) -> bool:
    """Return whether the sum of all squares is finite, so that every value is; False leaves it open."""
    if values.size == 0:
        return True
    whole = slice(0, len(values))
    parts = [whole] if values.size < WORTH_SHARING else shares(len(values), values.size)
    return math.isfinite(sum(run_blocks(_Squares(values), parts)))


def unit_for(size: float) -> float:
    """Return the power of two that brings a size near 1: squares stay finite then, and no digit is lost.

    Examples
    --------
    >>> unit_for(3e200) * 3e200
    0.97...
    >>> unit_for(5e-324) > 1e307
    True
    """
    return math.ldexp(1.0, min(-math.frexp(size)[1], 1023)) if size > 0.0 else 1.0


def size_of(value: Any) -> float | None:
    """Return the largest absolute value of the floats in an attribute, infinity for NaN, None if it holds no floats."""
    if sparse.issparse(value):
        return size_of(value.data)
    if isinstance(value, (list, tuple)):
        return max((size for size in map(size_of, value) if size is not None), default=None)
    if isinstance(value, (float, np.floating)) or (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
        size = float(max(np.max(value), -np.min(value))) if np.size(value) else 0.0  # np.abs would be a copy
        return np.inf if np.isnan(size) else size
    return None


class _Squares:
    """Sums the squares of a part of the rows, in blocks."""

    def __init__(self, values: Array) -> None:
        self.values = values
        self.height = max(1, BLOCK * len(values) // values.size)

    def __call__(self, part: slice) -> float:
        total = 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(part.start, part.stop, self.height):
                flat = self.values[start : min(start + self.height, part.stop)].ravel(order="K")
                total += float(np.dot(flat, flat))
        return total


def check_sample_weight(sample_weight: Data | None, X: Array) -> Array | None:
    """Return the weights as float64 of shape (n_samples,), or None for equal weights; refuse negative or all zero."""
    if sample_weight is None:
        return None
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if weight.min() < 0:
        raise ValueError(
            f"sample_weight must be at least 0, got {float(weight.min())!r}. Negative values in data passed as "
            "sample_weight have no meaning as repetitions: drop those rows."
        )
    return weight


def mean_about_first(rows: Array, weight: Array) -> Array:
    """Return the weighted mean of rows, taken about the first of them so that a large offset costs no digits."""
    origin = np.asarray(rows[0], dtype=np.float64)
    return np.asarray(origin + weight @ (rows - origin) / weight.sum())


def relative_weights(weight: Array | None) -> Array | None:
    """Return the weights scaled to mean 1: only their ratios matter, as the loss is a weighted mean."""
    if weight is None:
        return None
    total = weight.sum()
    if total == 0.0:
        raise ValueError("sample_weight must be above 0 for a row of each training fold, got all 0. Shuffle the folds.")
    return weight * (len(weight) / total)
