"""The base that joins scikit-learn's BaseEstimator with traces, certificates and callbacks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from typing import Any, Self, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin, with_callbacks

from pellucid.core.arrays import is_on_device
from pellucid.core.cards import LATER, card_of
from pellucid.core.checks import is_number
from pellucid.core.fit import Fit
from pellucid.core.scale.lazy_answers import answer_lazily
from pellucid.core.scale.row_blocks import RowBlocks, is_in_blocks, refuse_blocks
from pellucid.core.threads import has_own_threads, own_threads
from pellucid.core.trace import Trace
from pellucid.core.types import Data
from pellucid.core.user_warnings import warn_unless_holds
from pellucid.core.watching import Watch, finish_watch, has_callbacks, make_watch, run_watched
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.training_data import TrainingData, fingerprint, fingerprint_of_sample, sample_of

SEEN_IN_DATA = frozenset({"n_features_in_", "feature_names_in_"})
"""Attributes that the check of the data sets, before the fit."""

KEPT_FOR_PROOF = 32 << 20
"""Most bytes of rows that a model refers to until somebody asks for its certificate."""

F = TypeVar("F", bound=Callable[..., Any])


def fit_method(fit: F) -> F:
    """Wrap ``fit``: it runs on our threads, with callbacks, and when it fails leaves nothing that looks fitted."""

    @functools.wraps(fit)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        is_part = has_own_threads()
        try:
            with own_threads():
                chosen: Callable[..., Any] = fit
                rows = args[0] if args else kwargs.get("X")
                if isinstance(rows, np.memmap):
                    rows = rows_or_blocks(self, rows)
                    args, kwargs = ((rows, *args[1:]), kwargs) if args else (args, kwargs | {"X": rows})
                if is_on_device(rows):
                    chosen = _fit_on_device(fit)
                elif is_in_blocks(rows):
                    chosen = _fit_to_blocks(self, fit)
                fitted = (_watched(chosen) if has_callbacks(self) else chosen)(self, *args, **kwargs)
                # none of many fits, each to rows drawn for it, may keep them; on a device a copy of the model answers
                if is_part or "backend_" in vars(self):
                    let_go_of_rows(self)
                return fitted
        except BaseException:
            forget_fit(self)
            raise

    return wrapped  # type: ignore[return-value]  # same signature, by wraps


def rows_or_blocks(estimator: Any, rows: Any) -> Any:
    """Return a memmap as it is, or in blocks if it is too large for memory and the method can read it so."""
    from pellucid.core.scale.mapped_rows import in_blocks, is_too_large

    rules = card_of(type(estimator)).rules_for(estimator)
    return in_blocks(rows) if rules.blocks and not rules.reads_again and is_too_large(rows) else rows


def _fit_to_blocks(estimator: Any, fit: Callable[..., Any]) -> Callable[..., Any]:
    """Return how rows in blocks are fitted: by passes, or by the fit of a small table that stands for them."""
    from pellucid.core.scale.pass_fits import fit_by_passes, takes_passes

    return fit_by_passes if takes_passes(estimator) else fit


def _fit_on_device(fit: Callable[..., Any]) -> Callable[..., Any]:
    from pellucid.core.device.device_fits import fit_there

    return partial(fit_there, fit)


def _watched(fit: Callable[..., Any]) -> Any:
    """Return the fit that tells callbacks what it does."""

    @with_callbacks
    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        is_iterative = "n_iter_" in card_of(type(self)).attributes
        return run_watched(fit, self, *args, is_iterative=is_iterative, **kwargs)

    return watched


def forget_fit(estimator: Any, keep: frozenset[str] = frozenset()) -> None:
    """Remove every fitted attribute but those to keep."""
    for name in [name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")]:
        if name not in keep:
            delattr(estimator, name)
    vars(estimator).pop(LATER, None)


def let_go_of_rows(estimator: Any) -> None:
    """Make the evidence that waits for somebody to ask, for who keeps many models or copies of one."""
    for name in ("certificate_", "data_fingerprint_"):
        getattr(estimator, name, None)


def compute_the_rest(estimator: Any) -> None:
    """Compute the attributes that the fit left for later, for who needs them all."""
    for name in tuple(vars(estimator).get(LATER, ())):
        getattr(estimator, name)


def _whole(value: Any) -> Any:
    """Return an array without gaps.

    A view of a column would hold the whole table, and its sums round otherwise than those of the numbers in a file.
    """
    is_view = isinstance(value, np.ndarray) and not (value.flags.c_contiguous or value.flags.f_contiguous)
    return np.ascontiguousarray(value) if is_view else value


@dataclass(frozen=True)
class Unproved:
    """The rows of a fit, from which its certificate is made when somebody first asks for it."""

    data: TrainingData

    def __call__(self, model: CertifiedEstimator) -> Certificate:
        """Return the certificate of the model as it is then; none where rows or parameters are others by then."""
        card = card_of(type(model))
        changed = changed_parameters(model.fit_parameters_, parameter_texts(model, card.parameters))
        if sample_of(*self.data.given) != self.data.sample:
            changed = ["the rows, the target or the weights were written to", *changed]
        if changed:
            words = f"Before somebody first asked for this certificate, {'; '.join(changed)}."
            return Certificate("none", reason=f"{words} Fit again, or call verify with the data of the fit.")
        with own_threads():
            return card.proof_of(model, self.data)


def _are_few(data: TrainingData) -> bool:
    """Return whether the rows are in memory, and so few that a model may refer to them until it is proved."""
    is_mapped = any(isinstance(part, np.memmap) for part in data.given)
    return not is_mapped and sum(map(_bytes_of, data.given)) <= KEPT_FOR_PROOF


def _bytes_of(array: Any) -> int:
    if sparse.issparse(array):
        return sum(part.nbytes for part in (array.data, array.indices, array.indptr))
    return 0 if array is None else int(array.nbytes)


class CertifiedEstimator(CallbackSupportMixin, BaseEstimator):
    """Base of all estimators. What belongs to one stands on its method card; see ``pellucid.core.cards``.

    ``fit`` is decorated with ``fit_method`` and reads ``data = self._check(X, y, sample_weight)``, a solver that
    returns a :class:`Fit`, and ``return self._adopt(found, data)``.
    """

    trace_: Trace
    certificate_: Certificate
    data_fingerprint_: str
    fit_parameters_: dict[str, str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        answer_lazily(cls)

    def _check(self, X: Data, y: Data = None, sample_weight: Data | None = None, **options: Any) -> TrainingData:
        """Return the training data; refuse parameters and data that the card does not allow."""
        card = card_of(type(self))
        card.check_parameters(self)
        rules = card.rules_for(self)
        if is_in_blocks(X) and not rules.blocks:
            refuse_blocks(self)
        return rules.check(self, X, y, sample_weight, **options)

    def _adopt(self, found: Fit, data: TrainingData | RowBlocks) -> Self:
        """Store a fit with its evidence, in place of what an earlier one left; warn if a claim does not hold."""
        forget_fit(self, keep=SEEN_IN_DATA)
        for name, value in found.attributes.items():
            setattr(self, name, _whole(value))
        card = card_of(type(self))
        later: dict[str, Callable[..., Any]] = dict(found.later)
        if "trace_" not in later:
            self.trace_ = found.trace
        self.fit_parameters_ = parameter_texts(self, card.parameters)
        if isinstance(data, TrainingData) and not data.name:
            later["data_fingerprint_"] = partial(fingerprint_of_sample, data.sample)
            # else a warning may be due now
            is_done = "n_iter_" not in card.attributes if found.reached is None else found.reached
            if is_done and not found.certificate and "certificate_" not in later and _are_few(data):
                later["certificate_"] = Unproved(data)
        else:
            self.data_fingerprint_ = data.fingerprint
        if later:
            setattr(self, LATER, later)
        proof_waits = "certificate_" in later
        if not proof_waits:
            self.certificate_ = card.named(found.certificate) if found.certificate else card.proof_of(self, data)
        if has_callbacks(self):  # they are shown all attributes
            let_go_of_rows(self)
        finish_watch(self, *data.given[:2])
        if not proof_waits:
            warn_unless_holds(self.certificate_, type(self).__name__)
        return self

    def __getattr__(self, name: str) -> Any:
        """Compute an attribute that the fit left for later, and keep it; its inputs go when all are computed."""
        later = vars(self).get(LATER, {})
        if name == "backend_" and "fit_parameters_" in vars(self):
            return "NumPy on the host"
        if name not in later:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        value = later[name](*((self,) if isinstance(later[name], Unproved) else ()))
        setattr(self, name, card_of(type(self)).named(value) if name == "certificate_" else value)
        # a copy of the model may have the same ones, which stay as they are
        left = {other: compute for other, compute in later.items() if other not in vars(self)}
        self.__dict__.pop(LATER)
        if left:
            self.__dict__[LATER] = left
        if name == "certificate_":
            warn_unless_holds(self.certificate_, type(self).__name__)
        return vars(self)[name]

    def _watch(
        self,
        X: Data,
        y: Data,
        *,
        attributes: Callable[..., dict[str, Any]],
        max_iter: int | None = None,
    ) -> Watch:
        """Return what a solver calls after each iteration; it answers whether to stop.

        ``attributes`` turns the solver's iterate into fitted attributes, so that callbacks can score it.
        """
        return make_watch(self, X, y, attributes=attributes, max_iter=max_iter)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *vars(self).get(LATER, ())})

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy or a pickle holds: the certificate, not the rows that it would be made of."""
        let_go_of_rows(self)
        return dict(super().__getstate__())

    def _html_repr(self) -> str:
        certificate = getattr(self, "certificate_", None)
        page = super()._html_repr()
        return page if certificate is None else page + certificate._repr_html_()


BOOKKEEPING = frozenset({"copy_X", "n_jobs", "precompute", "verbose", "warm_start"})
"""Parameters that say how to work, not what the answer is: they may change after the fit."""

DEEPEST = 12
"""Levels of a parameter that are told: lists in dicts in estimators in estimators."""


def parameter_texts(estimator: Any, names: Iterable[str]) -> dict[str, str]:
    """Return every parameter that the answer depends on, in words that a file can hold."""
    return {name: _in_words(getattr(estimator, name)) for name in names if name not in BOOKKEEPING}


def changed_parameters(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return a phrase for each parameter that is not what it was at the fit."""
    return [f"{name} was {then.get(name)} and is {text}" for name, text in now.items() if text != then.get(name)]


def _in_words(value: Any, depth: int = DEEPEST) -> str:
    """Return the same text for equal values, whether a list or an array, 1 or 1.0, fresh or read from a file."""
    if value is None or isinstance(value, (str, bool, np.bool_)):
        return repr(value.item() if isinstance(value, np.bool_) else value)
    if type(value) in (int, float) or is_number(value):  # the first is quicker
        return f"{float(value):.17g}"
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return f"numbers {fingerprint(value)}"
    if depth == 0:  # something that holds itself, perhaps
        return type(value).__qualname__
    within = partial(_in_words, depth=depth - 1)
    if isinstance(value, Mapping):
        return "{" + ", ".join(sorted(f"{within(key)}: {within(item)}" for key, item in value.items())) + "}"
    if isinstance(value, (list, tuple, np.ndarray)):
        if len(value) and all(map(is_number, value)):
            return within(np.asarray(value, dtype=np.float64))
        return f"[{', '.join(map(within, value))}]"
    if hasattr(value, "get_params"):
        return f"{type(value).__name__}({within(value.get_params(deep=False))})"
    if is_dataclass(value) and not isinstance(value, type):
        return f"{type(value).__name__}({within({field.name: getattr(value, field.name) for field in fields(value)})})"
    return str(getattr(value, "__qualname__", type(value).__qualname__))  # a function, a generator: no more can be told
