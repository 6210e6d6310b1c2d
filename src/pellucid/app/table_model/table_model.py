"""TableModel: a pipeline that takes tables, with intervals, calibrated probabilities and a memory of what it saw."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

from pellucid.app.table_model.calibration import Calibration, best_calibration
from pellucid.app.table_model.class_scores import (
    MOST_NUMBERS,
    HeldOut,
    HeldOutScores,
    class_scores,
    least_cost,
)
from pellucid.app.table_model.error_quantiles import ErrorQuantiles, OrderedShares
from pellucid.app.table_model.row_notes import row_notes
from pellucid.app.table_model.seen_table import SeenTable
from pellucid.app.tables.dates import DATES
from pellucid.app.tables.survey import RowsLearned
from pellucid.app.tables.understanding import TEXT
from pellucid.core.random_state import some_rows
from pellucid.core.short_html import short_html
from pellucid.core.types import Array, Data
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.table_model import prove_beside_steps

FAR = (-np.inf, np.inf)


def _has_probabilities(model: TableModel) -> bool:
    return getattr(model, "calibration_", None) is not None or hasattr(model[-1], "predict_proba")


class TableModel(Pipeline):
    """A pipeline that takes tables as they are, and what ``pellucid fit`` found out about it.

    It is put together from steps that are fitted already: see ``pellucid.app.bake_off``.

    Attributes
    ----------
    target_ : str
        Name of the column that it predicts.
    seen_ : SeenTable
        What the columns looked like, and the predictions for rows held out.
    errors_ : ErrorQuantiles or None
        Errors on rows held out while methods were compared: for intervals. None for classes.
    judged_ : ErrorQuantiles or None
        Errors on the rows kept aside to the end: for the coverage that the intervals had. None for classes.
    calibration_ : Calibration or None
        How scores of classes become probabilities. None for numbers.
    held_out_ : HeldOutScores or None
        The scores of rows held out that the calibration comes from. None for numbers.
    costs_ : ndarray of shape (n_classes, n_classes) or None
        Of calling a true class (rows) another (columns): the class of the least expected cost is predicted. None
        predicts the likeliest.
    limits_ : list of two floats or None
        Between which numbers predictions are kept, such as 0 and None for counts. None if nothing is known.
    order_ : OrderedShares or None
        Of a target of whole numbers in an order, how probable each of them is. None for others.
    learned_rows_ : ndarray of shape (n_rows,) or None
        Which of the rows with a target the steps after the first learned from. None if from all.
    rows_learned_ : RowsLearned or None
        Which rows of files larger than memory the last step learned from. None if it learned from a table.
    """

    target_: str
    seen_: SeenTable
    errors_: ErrorQuantiles | None
    judged_: ErrorQuantiles | None
    calibration_: Calibration | None
    costs_: Array | None = None
    held_out_: HeldOutScores | None = None
    learned_rows_: Array | None = None
    limits_: list[float | None] | None = None
    order_: OrderedShares | None = None
    rows_learned_: RowsLearned | None = None

    def learn_errors(self, held_out: HeldOut) -> Self:
        """Take from rows held out how far predictions are off, or how sure the scores of classes may be."""
        self.errors_ = self.calibration_ = self.held_out_ = None
        if is_classifier(self):
            codes = np.searchsorted(self.classes_, held_out.actual).astype(np.int64)
            rows = some_rows(len(codes), MOST_NUMBERS // len(self.classes_))
            self.held_out_ = HeldOutScores(np.ascontiguousarray(held_out.said[rows]), codes[rows])
            self.calibration_ = best_calibration(self.held_out_)
        else:
            self.errors_ = ErrorQuantiles.of(held_out.actual, held_out.said)
        return self

    def predict(self, X: Data, **params: Any) -> Array:
        """Return the prediction for every row: a number, the likeliest class, or the one of the least expected cost."""
        if self.costs_ is None and self._says_likeliest:
            said = np.asarray(super().predict(X, **params))
            return self._within_limits(said)
        chances = self.predict_proba(X)
        return np.asarray(self.classes_[chances.argmax(1) if self.costs_ is None else least_cost(chances, self.costs_)])

    def _within_limits(self, numbers: Array) -> Array:
        if self.limits_ is None:
            return numbers
        low, high = (limit if limit is not None else far for limit, far in zip(self.limits_, FAR, strict=True))
        return np.clip(numbers, low, high)

    @property
    def _says_likeliest(self) -> bool:
        """Whether what the last step predicts is the likeliest class of the calibrated ones too."""
        calibration = getattr(self, "calibration_", None)
        return calibration is None or calibration.keeps_order

    @available_if(_has_probabilities)
    def predict_proba(self, X: Data, **params: Any) -> Array:
        """Return the probability of every class, as bold or as cautious as the errors on rows held out advise.

        The class with the largest one is the class predicted, unless costs say otherwise.
        """
        if getattr(self, "calibration_", None) is None:
            return np.asarray(super().predict_proba(X, **params))
        scores = class_scores(self[-1], self[:-1].transform(X))
        return self.calibration_.probabilities(scores)  # type: ignore[union-attr]

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Data, **params: Any) -> Array:
        """Return the logarithm of the probability of every class."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, **params))

    def predict_interval(self, X: Data, level: float = 0.9) -> tuple[Array, Array]:
        """Return the ends of an interval around each prediction that holds the true number with this probability."""
        if getattr(self, "errors_", None) is None:
            raise ValueError("intervals must be asked of a model of numbers fitted by pellucid, and this is none.")
        low, high = self.errors_.interval(np.asarray(self.predict(X), dtype=np.float64), level)  # type: ignore[union-attr]
        return self._within_limits(low), self._within_limits(high)

    @available_if(lambda self: self.order_ is not None)
    def predict_shares(self, X: Data) -> Array:
        """Return the probability of each of the whole numbers ``order_.values``, of shape (n_rows, n_values)."""
        assert self.order_ is not None  # or this method is not there
        return self.order_.shares(self.predict(X))

    def notes(self, X: pd.DataFrame) -> list[list[str]]:
        """Return for each row of a table how unusual values were read, and which are far from those learned from."""
        return row_notes(self, X)

    def coverage(self, level: float) -> float | None:
        """Return the share of the rows kept aside whose true number lay in its interval; None if none were kept."""
        errors, judged = getattr(self, "errors_", None), getattr(self, "judged_", None)
        return None if errors is None or judged is None else errors.coverage(judged, level)

    def proved_beside_steps(self, found: Certificate, X: pd.DataFrame, y: Any) -> Certificate:
        """Return the certificate of the steps with what is claimed of intervals, probabilities and columns seen."""
        columns = {}
        if getattr(self, "seen_", None) is not None:
            read = self[0].transform(X)
            columns = {name: _plain_column(read[name]) for name in self._remembered()}
        return prove_beside_steps(self, found, columns, np.asarray(y))

    def _remembered(self) -> list[str]:
        """Return the columns whose contents are kept in short: not dates and texts, which are new every time."""
        return [name for name, kind in self[0].kinds.items() if kind not in DATES and kind != TEXT]

    def remember(self, read: pd.DataFrame, said: Array) -> Self:
        """Keep what the table looks like, dates and texts aside, which are new every time; and some predictions."""
        predictions = pd.DataFrame({self.prediction_name: self.said_as_seen(said)})
        self.seen_ = SeenTable.of(read[self._remembered()]).and_also(SeenTable.of(predictions))
        return self

    @staticmethod
    def said_as_seen(said: Array) -> Array:
        """Return predictions as a column: numbers as they are, classes as words."""
        return said if said.dtype.kind == "f" else said.astype(str).astype(object)

    @property
    def prediction_name(self) -> str:
        """What the predictions are called among the columns seen."""
        return f"prediction of {self.target_}"

    def _html_repr(self) -> str:
        """Return what a notebook shows: what is predicted from which columns, then the steps as scikit-learn's."""
        steps: str = super()._html_repr()
        kinds = getattr(self[0], "kinds", {})
        if not hasattr(self, "target_") or not kinds:
            return steps
        shown = short_html(
            f"Predicts {self.target_} from {len(kinds)} column{'s' if len(kinds) > 1 else ''}",
            folded={"Columns": [f"{name} ({kind})" for name, kind in kinds.items()]},
            certificate=getattr(self[-1], "certificate_", None),
        )
        return shown + steps


def _plain_column(column: pd.Series) -> Array:
    """Return a column as an array of floats with NaN, or of words with None."""
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64)
    return column.astype(object).where(column.notna(), None).to_numpy(dtype=object)
