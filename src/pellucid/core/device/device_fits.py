"""Fits to rows on a device: by passes of blocks made there, or by the function that the method's card names."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import accuracy_score, r2_score

from pellucid.core.array_api import array_namespace, is_torch_array
from pellucid.core.arrays import RowsToSend, as_tensor, as_they_are, is_foreign, on_host, wanted_device
from pellucid.core.cards import MethodCard, card_of
from pellucid.core.device.class_answers import FROM_SCORES
from pellucid.core.device.device_moments import block_weights, refuse_values
from pellucid.core.device.device_rows import (
    DeviceRows,
    NoDeviceFormError,
    device_rows,
    label_codes,
    plain_rows,
    refuse_device,
    without_derivatives,
)
from pellucid.core.device.places import Place, at_place, hand_over, refuse_single, settle, to_host
from pellucid.core.input_rules import CLASSES, NO_TARGET, PASSES, InputRules
from pellucid.core.labels import refuse_no_labels
from pellucid.core.scale.block_data import as_one_target, check_count, look_at_columns
from pellucid.core.scale.moments import refuse_no_weight
from pellucid.core.scale.pass_fits import fit_by_passes
from pellucid.core.scale.row_blocks import RowBlock
from pellucid.core.threads import one_thread
from pellucid.core.types import Array
from pellucid.core.watching import make_watch
from pellucid.proofs.training_data import TrainingData

T = TypeVar("T")

BY_BLOCKS = "sums in double precision there, solved on the host"
FEW_COLUMNS = 256
"""Up to which what the host has left to do, with some hundred rows, takes less than waking its threads would."""


@dataclass(frozen=True, eq=False)
class DeviceData:
    """Checked rows on a device, as the ``fit`` of a method's device module gets them."""

    rows: DeviceRows
    X: Any
    y: Any = None
    """Numbers, or codes of the labels."""
    weight: Any = None
    """In double precision, above 0; None where all rows count once."""
    classes: Array = field(default_factory=lambda: np.empty(0))
    kept: Any = None
    """Which of the given rows these are; None for all of them."""

    @property
    def fingerprint(self) -> str:
        """A short name of the rows as they were given."""
        return self.rows.fingerprint

    @property
    def given(self) -> tuple[Any, ...]:
        """Rows, target and weights as they came."""
        return self.rows.given

    @property
    def here(self) -> TrainingData:
        """The same on the host, for a proof that looks at some of them only."""
        parts = (self.X, self.y, self.weight, self.kept, *self.given)
        different = {id(part): part for part in parts}  # rows that were given are often those that are fitted
        copies = {name: None if part is None else on_host(part) for name, part in different.items()}
        X, y, weight, kept, *given = (copies[id(part)] for part in parts)
        return TrainingData(X, y, weight, self.classes, kept, tuple(given))


def device_module(card: MethodCard) -> ModuleType | None:
    """Return the module with what a method does on a device: its ``fit`` and its answers; None if there is none."""
    return import_module(card.device.partition(":")[0]) if card.device else None


def _lent(place: int) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Let a function take arrays of any library: it works on tensors of the same memory, and hands over what it finds.

    ``place`` is that of the rows among its arguments.
    """

    def lent(work: Callable[..., T]) -> Callable[..., T]:
        @functools.wraps(work)
        def worked(*given: Any, **options: Any) -> T:
            rows = given[place] if len(given) > place else options.get("X")
            is_other = is_foreign(rows) and not is_torch_array(rows)
            if is_other:
                refuse_single(Place.of(rows))
            found = work(*map(as_tensor, given), **{name: as_tensor(part) for name, part in options.items()})
            if is_other:
                found = hand_over(found, Place.of(rows))
            return found

        return worked

    return lent


@_lent(2)
def fit_there(fit: Callable[..., Any], estimator: Any, X: Any, *given: Any, **options: Any) -> Any:
    """Fit to rows on a device; the fitted attributes stay there, or come back where the rows were sent."""
    rows = RowsToSend.of(X) if wanted_device() is not None else X
    with as_they_are():
        try:
            way = _fitted(fit, estimator, rows, *given, **options)
        except NoDeviceFormError:
            refuse_device(type(estimator).__name__)
        if not isinstance(rows, RowsToSend):
            settle(estimator, Place.of(rows), way)
            return estimator
        if rows.was_numpy:
            vars(estimator).update(vars(to_host(estimator)))
        else:
            settle(estimator, Place.of(rows.tensor), way)
        estimator.backend_ = f"torch on {rows.device}, rows sent there in blocks: {way}"
        return estimator


def _fitted(fit: Callable[..., Any], estimator: Any, X: Any, *given: Any, **options: Any) -> str:
    """Fit in the way that the method's card names; return how, in words."""
    card = card_of(type(estimator))
    name, blocks = card.device.partition(":")[2], card.rules_for(estimator).blocks
    if name:
        asked = signature(fit).bind(estimator, X, *given, **options).arguments
        beside = {word: asked.pop(word, None) for word in ("y", "sample_weight")}
        for word in list(asked)[2:]:
            if asked[word] is not None:
                raise ValueError(f"{word} must be left out for arrays on a device, got it. Fit on the host.")
        return _fit_by_module(estimator, card, getattr(device_module(card), name), X, **beside)
    if not card.device or not blocks:
        refuse_device(type(estimator).__name__)
    shape = (X.tensor if isinstance(X, RowsToSend) else X).shape
    with one_thread() if shape[-1] <= FEW_COLUMNS else nullcontext():
        if blocks == PASSES:
            fit_by_passes(estimator, X, *given, **options)
        else:
            fit(estimator, X, *given, **options)
    return BY_BLOCKS


def _fit_by_module(
    estimator: Any, card: MethodCard, solve: Callable[..., Any], X: Any, y: Any = None, sample_weight: Any = None
) -> str:
    card.check_parameters(estimator)
    data = checked(estimator, card.rules_for(estimator), X, y, sample_weight)
    watch = make_watch(estimator, X, y, attributes=dict, max_iter=getattr(estimator, "max_iter", None))
    found = solve(estimator, data, watch)
    proved_by_passes = card.rules_for(estimator).blocks == PASSES
    estimator._adopt(found, data if found.certificate else data.rows if proved_by_passes else data.here)
    return str(getattr(solve, "way", "worked on there"))


def checked(estimator: Any, rules: InputRules, X: Any, y: Any, sample_weight: Any, *, reset: bool = True) -> DeviceData:
    """Return the rows of a fit with their target; refuse what the method does not take."""
    name = type(estimator).__name__
    if sample_weight is not None and not rules.weights:
        raise ValueError(f"sample_weight must be None for {name}, got weights. Repeat the rows.")
    if y is None and rules.target != NO_TARGET:
        raise ValueError(f"y must be given for {name}, which requires y to be passed, but the target y is None.")
    rows = device_rows(X, None if rules.target == NO_TARGET else as_one_target(rules, y), sample_weight)
    look_at_columns(estimator, rows, reset=reset)
    check_count(rules, rows.n_rows)
    X, y = rows.rows[0], rows.targets[0]
    if rows.sent_to is not None:  # a method that does not work by blocks needs all of them there
        X = X.to(rows.sent_to.device)
    weight = block_weights(RowBlock(0, X, None, rows.weights[0]))
    xp = array_namespace(X)
    if rules.missing and bool(xp.any(xp.isnan(X))):
        raise ValueError(f"X must be complete for {name} on a device, got NaN. Fit on the host, where it is missing.")
    check_finite_there(X)
    if isinstance(y, np.ndarray) and not is_classifier(estimator):
        raise ValueError(f"y must be numbers, got {y.dtype}: Unknown label type. Code words as numbers.")
    if is_foreign(y):
        check_finite_there(y, "y")
    kept = None
    if weight is not None and not bool(xp.all(weight > 0.0)):
        kept = xp.nonzero(weight > 0.0)[0]
        X, weight = X[kept], weight[kept]
        y = None if y is None else y[on_host(kept) if isinstance(y, np.ndarray) else kept]
        refuse_no_weight(X)
    if rules.target != CLASSES:
        return DeviceData(rows, X, y, weight, kept=kept)
    classes, codes = label_codes(y, Place.of(X))
    refuse_no_labels(classes)
    return DeviceData(rows, X, codes, weight, classes, kept)


def check_finite_there(X: Any, name: str = "X") -> None:
    """Refuse NaN, infinity, and values whose squares overflow."""
    xp = array_namespace(X)
    if not xp.isdtype(X.dtype, "real floating"):
        return
    # a finite sum of squares shows at the cost of reading the numbers once that all are finite
    if not np.isfinite(float(xp.linalg.vector_norm(X, dtype=xp.float64))):
        refuse_values(RowBlock(0, X) if name == "X" else RowBlock(0, X[:0], X), name)


@_lent(2)
def answer_there(model: Any, name: str, X: Any, *given: Any, **options: Any) -> Any:
    """Return what a model says of rows on a device, as an array there: by its device module."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    form = _answer_of(model, name)
    sent = RowsToSend.of(X) if wanted_device() is not None else None
    X = X if sent is None else sent.tensor.to(sent.device)
    if X.ndim != 2:
        raise ValueError(f"X must be a 2D array, got {X.ndim} dimensions. Reshape your data.")
    X = plain_rows(X)
    place = Place.of(X)
    if not place.xp.isdtype(X.dtype, "real floating"):
        X = place.xp.astype(X, place.dtype)
    if name != "inverse_transform" and X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X must have the columns of the fit: X has {X.shape[1]} features, but {type(model).__name__} is expecting "
            f"{model.n_features_in_} features as input."
        )
    known = vars(model).get("feature_names_in_")
    if known is not None and sent is not None and sent.names is not None and tuple(known) != sent.names:
        raise ValueError(f"X must have the columns {list(known)}, got {list(sent.names)}. Put them in order.")
    check_finite_there(X)
    with as_they_are():
        found = form(at_place(model, place), X, *given, **options)
    return found if sent is None else _sent_back(found, sent)


def _sent_back(found: Any, sent: RowsToSend) -> Any:
    """Return an answer where its rows came from; numbers, and labels in words, are on the host already."""
    if isinstance(found, tuple):
        return tuple(_sent_back(part, sent) for part in found)
    if not is_foreign(found):
        return found
    return on_host(found) if sent.was_numpy else found.to(sent.tensor.device)


def _answer_of(model: Any, name: str) -> Callable[..., Any]:
    """Return the function that answers: one of the method's device module, by its name or from its class scores."""
    module = device_module(card_of(type(model)))
    form: Callable[..., Any] | None = getattr(module, name, None)
    if form is not None:
        return form
    scores: Any = getattr(module, "class_scores", None)
    if scores is None or name not in FROM_SCORES:
        refuse_device(f"{type(model).__name__}.{name}")
    return lambda there, X: FROM_SCORES[name](there, scores(there, X))


@_lent(1)
def score_there(model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
    """Return the share of right labels, or R squared, of rows on a device."""
    if not (is_classifier(model) or is_regressor(model)):
        return float(answer_there(model, "score", X, y, sample_weight))
    said = model.predict(X)
    place = Place.of(said) if is_foreign(said) else None
    if place is None:
        score = accuracy_score if is_classifier(model) else r2_score
        target, weight = (None if part is None else on_host(part) for part in (y, sample_weight))
        return float(score(target, said, sample_weight=weight))
    xp = place.xp
    target = without_derivatives(y) if is_foreign(y) else place.holding(np.asarray(y))
    weight = xp.ones(said.shape[0], dtype=xp.float64, device=place.device)
    if sample_weight is not None:
        weight = xp.astype(sample_weight if is_foreign(sample_weight) else place.holding(sample_weight), xp.float64)
    if is_classifier(model):
        return float(weight @ xp.astype(said == target, xp.float64) / xp.sum(weight))
    said, target = (xp.astype(xp.reshape(part, (part.shape[0], -1)), xp.float64) for part in (said, target))
    left = weight @ (said - target) ** 2
    spread = weight @ (target - (weight @ target) / xp.sum(weight)) ** 2
    scores = xp.where(spread > 0.0, 1.0 - left / spread, xp.where(left > 0.0, 0.0, 1.0))
    return float(xp.mean(scores))
