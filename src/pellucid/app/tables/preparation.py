"""How a table that a ColumnReader has read becomes the matrix of a method."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import validate_data

from pellucid.app.tables.comparable_numbers import ComparableNumbers
from pellucid.app.tables.step_features import StepFeatures
from pellucid.app.tables.target_means import TargetMeans
from pellucid.app.tables.understanding import MOST_WORDS, TEXT, WORD_KINDS, Columns
from pellucid.app.tables.word_encoder import GAP, WordEncoder
from pellucid.core.types import Data

MOST_TERMS = 500
"""Words of a text column that count."""
MANY_ROWS = 500
RARE = 1 / 5000
"""In a table of many rows, words in fewer than this share of them (and in fewer than five) share a column."""
MOST_CODES = 250
"""Words of a column that trees tell apart: their bins are bytes."""
MOST_TERMS_OF_TREES = 100
"""The same for methods that take no sparse matrix."""
MOST_STEPS, FEWEST_STEPS, ROWS_PER_STEP = 40, 3, 20
MOST_STEP_COLUMNS = 500
"""All numbers of a table together have about this many steps: a wide table would be slow."""
MOST_DENSE_NUMBERS = 30_000_000
"""A matrix of more numbers than this is kept sparse."""

PRODUCT = re.compile(r" (?=numbers__|words__)")
"""Between the factors of a product of columns."""


def standardized(columns: Columns, read: pd.DataFrame) -> ColumnTransformer:
    """Return the transformer that fills gaps, scales numbers and turns words into indicator columns."""
    return _prepared(columns, read, [StandardScaler()])


def stepped(columns: Columns, read: pd.DataFrame) -> ColumnTransformer:
    """Return the transformer that also adds steps to the numbers."""
    most = min(MOST_STEPS, MOST_STEP_COLUMNS // max(1, len(_numbers(columns, read))))
    n_steps = int(np.clip(len(read) // ROWS_PER_STEP, FEWEST_STEPS, max(most, FEWEST_STEPS)))
    return _prepared(columns, read, [StepFeatures(n_steps), StandardScaler()])


def unchanged(columns: Columns, read: pd.DataFrame) -> ColumnTransformer:
    """Return the transformer that fills gaps only: for methods that take numbers and words as they are. No texts."""
    words = columns.of(*WORD_KINDS)
    numbers = _numbers(columns, read)
    branches = [
        ("numbers", SimpleImputer(strategy="median", keep_empty_features=True), numbers),
        ("words", _filled_words(), words),
    ]
    return ColumnTransformer([branch for branch in branches if branch[2]])


def coded(columns: Columns, read: pd.DataFrame) -> ColumnTransformer:
    """Return the transformer for trees: words become codes, first of all columns, and gaps in numbers stay gaps."""
    numbers, words, texts = _numbers(columns, read), columns.of(*WORD_KINDS), columns.of(TEXT)
    branches: list[tuple[str, Any, Any]] = []
    if words:
        branches.append(("words", WordEncoder(MOST_CODES, min_frequency=_rare(read)), words))
    if numbers:
        branches.append(("numbers", StandardScaler(with_mean=False, with_std=False), numbers))  # only makes them floats
    branches += [(f"text {name}", TfidfVectorizer(max_features=MOST_TERMS_OF_TREES), name) for name in texts]
    return ColumnTransformer(branches, sparse_threshold=0.0)


def averaged(columns: Columns, read: pd.DataFrame) -> ColumnTransformer:
    """Return the transformer for trees that also gives words of columns with many the mean of the target."""
    return _with_means(coded(columns, read), [TargetMeans()], columns, read)


def standardized_averages(columns: Columns, read: pd.DataFrame) -> ColumnTransformer:
    """Return the transformer for linear methods that does the same."""
    return _with_means(standardized(columns, read), [TargetMeans(), StandardScaler()], columns, read)


def many_words(columns: Columns, read: pd.DataFrame) -> list[str]:
    """Return the columns of more words than linear methods tell apart."""
    return [name for name in columns.of(*WORD_KINDS) if read[name].nunique() > MOST_WORDS]


def _with_means(
    transformer: ColumnTransformer, steps: list[Any], columns: Columns, read: pd.DataFrame
) -> ColumnTransformer:
    branch = ("means", make_pipeline(*steps), many_words(columns, read))
    return transformer.set_params(transformers=[*transformer.transformers, branch])


def comparable(columns: Columns, read: pd.DataFrame) -> ColumnTransformer:
    """Return the transformer for distances of rows: numbers in one unit, words as indicators, few words of texts.

    Two rows that differ in a word are as far apart as two that differ by about a standard deviation and a half.
    """
    numbers, words, texts = _numbers(columns, read), columns.of(*WORD_KINDS), columns.of(TEXT)
    branches: list[tuple[str, Any, Any]] = []
    if numbers:
        branches.append(("numbers", ComparableNumbers(), numbers))
    if words:
        branches.append(("words", WordEncoder(MOST_WORDS, min_frequency=_rare(read), indicators=True), words))
    branches += [(f"text {name}", TfidfVectorizer(max_features=MOST_TERMS_OF_TREES), name) for name in texts]
    return ColumnTransformer(branches, sparse_threshold=0.0)


def is_sparse(columns: Columns, read: pd.DataFrame) -> bool:
    """Return whether the prepared matrix is sparse: there are texts, or very many numbers."""
    return bool(columns.of(TEXT)) or len(read) * prepared_width(columns, read) > MOST_DENSE_NUMBERS


def readable_names(names: Iterable[str], columns: Columns) -> list[str]:
    """Return the names that a preparation gives its columns as a person would write them."""
    words = sorted(columns.of(*WORD_KINDS), key=len, reverse=True)  # of "a" and "a_b", the longer one fits better
    return [" × ".join(_readable(part, words) for part in PRODUCT.split(str(name))) for name in names]


def from_codes(
    prepare: Callable[[Columns, pd.DataFrame], Any], columns: Columns, read: pd.DataFrame
) -> tuple[tuple[str, Any], ...]:
    """Return the steps that bring the matrix of :func:`coded` to where ``prepare`` brings the table; no texts."""
    words, numbers = columns.of(*WORD_KINDS), _numbers(columns, read)
    return ("table", TableOfCodes(words, numbers)), ("prepare", prepare(columns, read))


def _prepared(columns: Columns, read: pd.DataFrame, on_numbers: list[Any]) -> ColumnTransformer:
    sparse = is_sparse(columns, read)
    numbers, words, texts = _numbers(columns, read), columns.of(*WORD_KINDS), columns.of(TEXT)
    branches: list[tuple[str, Any, Any]] = []
    if numbers:
        gaps = bool(read[numbers].isna().any(axis=None))
        imputer = SimpleImputer(strategy="median", add_indicator=gaps, keep_empty_features=True)
        branches.append(("numbers", make_pipeline(imputer, *on_numbers), numbers))
    if words:
        encoder = WordEncoder(MOST_WORDS, min_frequency=_rare(read), indicators=True, sparse_output=sparse)
        branches.append(("words", encoder, words))
    branches += [(f"text {name}", TfidfVectorizer(max_features=MOST_TERMS), name) for name in texts]
    return ColumnTransformer(branches, sparse_threshold=1.0 if sparse else 0.0)


def _readable(name: str, words: list[str]) -> str:
    branch, _, rest = name.partition("__")
    if branch.startswith("text "):
        return f"{branch.removeprefix('text ')} has {rest!r}"
    if branch == "words":
        if rest in words:  # as codes
            return rest
        column = next((column for column in words if rest.startswith(f"{column}_")), "")
        return f"{column}: {rest[len(column) + 1 :]}"
    missing = rest.removeprefix("missingindicator_")
    return rest if missing == rest else f"{missing} is missing"


def _rare(read: pd.DataFrame) -> int:
    """Return the rows in which a word must be to have a place of its own."""
    return max(5, int(RARE * len(read))) if len(read) >= MANY_ROWS else 1


def _filled_words() -> SimpleImputer:
    return SimpleImputer(strategy="constant", fill_value=GAP)


def _numbers(columns: Columns, read: pd.DataFrame) -> list[str]:
    others = set(columns.of(*WORD_KINDS, TEXT))
    return [name for name in read.columns if name not in others]


def prepared_width(columns: Columns, read: pd.DataFrame) -> int:
    """Return about how many columns numbers and words become, texts and steps aside."""
    words = sum(min(MOST_WORDS, read[name].nunique()) for name in columns.of(*WORD_KINDS))
    return len(_numbers(columns, read)) + words


class TableOfCodes(TransformerMixin, BaseEstimator):
    """Give the columns of a matrix of codes and numbers their names and kinds back, so that it can be prepared anew.

    Methods of different preparations can then share one matrix: that of trees, which loses nothing but rare words.

    Parameters
    ----------
    words : sequence of str, default=()
        Names of the first columns, whose codes become words; nan becomes a gap.
    numbers : sequence of str, default=()
        Names of the others.

    Examples
    --------
    >>> TableOfCodes(["city"], ["size"]).fit_transform([[1.0, 2.5], [np.nan, 3.0]])
      city  size
    0    1   2.5
    1  NaN   3.0
    """

    n_features_in_: int

    def __init__(self, words: Sequence[str] = (), numbers: Sequence[str] = ()) -> None:
        self.words = words
        self.numbers = numbers

    def fit(self, X: Data, y: Any = None) -> Self:
        """See that there is a column for every name."""
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        n_names = len(self.words) + len(self.numbers)
        if X.shape[1] != n_names:
            raise ValueError(f"words and numbers must name all {X.shape[1]} columns, got {n_names} names.")
        return self

    def transform(self, X: Data) -> pd.DataFrame:
        """Return the table."""
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        table: dict[str, Any] = {}
        for name, codes in zip(self.words, X.T, strict=False):
            places = np.where(np.isnan(codes), -1, codes).astype(np.int64)
            known = [str(place) for place in range(int(places.max(initial=-1)) + 1)]
            table[name] = pd.Categorical.from_codes(places, known)
        table.update(zip(self.numbers, X.T[len(self.words) :], strict=True))
        return pd.DataFrame(table)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
