"""verify: recompute a certificate from the data, without the solver's code."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, fields, is_dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from pellucid.core.arrays import is_foreign, on_host
from pellucid.core.cards import LATER, card_of
from pellucid.core.device.places import to_host
from pellucid.core.estimator import CertifiedEstimator, changed_parameters, parameter_texts, rows_or_blocks
from pellucid.core.input_rules import CLASSES
from pellucid.core.random_state import generator
from pellucid.core.scale.row_blocks import RowBlocks, is_in_blocks
from pellucid.core.threads import single_threaded_blas
from pellucid.core.types import Data, RandomState
from pellucid.core.user_warnings import warn_unless_holds
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.sampling import drawing
from pellucid.proofs.seen import refusal
from pellucid.proofs.training_data import TrainingData, fingerprint

OTHER_DATA = (
    "These are not the training data: their fingerprint differs. Verify with the rows, targets and weights of the fit."
)

FEW_NUMBERS = 1 << 20
"""Up to so many in a table, threads of BLAS cost more than they bring: on a busy machine the QR factor of 2,000 x 10
takes 0.3 ms on one and 67 on two."""


PROVERS = {
    "pellucid.probability.": "pellucid.proofs.probability.maximum_likelihood:certify_fit",
    "pellucid.optimize.problem": "pellucid.optimize.certifying:certify",
    "pellucid.optimize.constrained.": "pellucid.optimize.constrained:kkt_certificate",
    "pellucid.neural_network.robustness.": "pellucid.neural_network.robustness.certified_radius:prove_again",
    "pellucid.vision.detection.detector": "pellucid.vision.scene_estimator:verify_scenes",
    "pellucid.vision.detection.region_grouping.": (
        "pellucid.vision.detection.region_grouping.selective_search:verify_proposals"
    ),
    "pellucid.vision.segmentation.segmenter": "pellucid.vision.scene_estimator:verify_scenes",
    "pellucid.vision.segmentation.scoring": "pellucid.proofs.vision.segmentation:prove_score",
    "pellucid.vision.restoration.": "pellucid.vision.restoration.restoring:verify_restoration",
    "pellucid.vision.detection.boxes.": "pellucid.vision.detection.boxes.verifying:verify_boxes",
    "pellucid.vision.detection.scoring.": "pellucid.vision.detection.boxes.verifying:verify_boxes",
}
"""Where something that is no estimator is defined -> the function that proves what is said of it."""


def verify(
    model: Any,
    X: Data,
    y: Data = None,
    *,
    sample_weight: Data | None = None,
    random_state: RandomState = None,
    **options: Any,
) -> Certificate:
    """Recompute the certificate of a fitted model from its training data, in float64, by independent code.

    Where a claim is about more than can be looked at, what is looked at is drawn anew each time.

    Rows on a device, and a model that was fitted to them, are copied to the host, where the proof is made.

    Warns with :class:`UncertifiedWarning` for every claim that does not hold, and says so where the data are not those
    of the fit. A scikit-learn Pipeline that ends in an estimator of ours is verified from its first step to its last:
    steps of ours by their proofs, others by fitting a copy of them to the same rows and comparing what it holds.

    What is no estimator is verified too: a density, from its data (and ``prior=``); a point ``X`` of a problem of
    ``pellucid.optimize`` (with ``tolerance=``, or multipliers ``lam=`` and ``nu=`` where it has constraints); certified
    radii, from the rows and the network ``y``.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted; or something else that has a proof, see above.
    X : array-like, sparse matrix or data frame
        The training data, as they were given to ``fit``; for what is no estimator, the data or the point it is about.
    y : array-like, default=None
        The target of the fit; None for methods without one.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights of the fit; None for a fit without them.
    random_state : int, RandomState, Generator or None, default=None
        What samples are drawn by: the same seed draws the same again, None others each time.
    **options
        Only for what is no estimator: what its proof takes beside, see above.

    Examples
    --------
    >>> import pellucid
    >>> from pellucid.linear_model import LinearRegression
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 2.5]
    >>> model = LinearRegression().fit(X, y)
    >>> pellucid.verify(model, X, y).holds
    True
    """
    prove = None if isinstance(model, (CertifiedEstimator, type)) else _prover_of(type(model))
    if prove is not None:
        if is_in_blocks(X):
            from pellucid.core.scale.block_proofs import rows_to_prove

            X, sample_weight = rows_to_prove(model, X, sample_weight)
        given = {"sample_weight": sample_weight, "random_state": random_state}
        options |= {name: value for name, value in given.items() if value is not None}
        certificate: Certificate = prove(model, X, *(() if y is None else (y,)), **options)
        warn_unless_holds(certificate, f"verify({type(model).__name__})")
        return certificate
    if options:
        raise TypeError(f"{next(iter(options))} must be left out for {type(model).__name__}. It is verified without.")
    whole, model = model, model[-1] if isinstance(model, Pipeline) else model
    if not isinstance(model, CertifiedEstimator):
        raise TypeError(
            f"model must be an estimator of pellucid, got {type(model).__name__}. "
            "Fit the class of that name in pellucid."
        )
    check_is_fitted(whole)
    with (
        drawing(generator(random_state)),
        np.errstate(all="ignore"),  # a broken model may overflow; its claims read inf or nan
        single_threaded_blas() if _is_small(X) else nullcontext(),
    ):
        if isinstance(whole, Pipeline):
            certificate = _proof_of_pipeline(whole, X, y, sample_weight)
        else:
            certificate = _proof_of(model, X, y, sample_weight)
    warn_unless_holds(certificate, f"verify({type(model).__name__})")
    return certificate


def _brought_here(part: Any) -> Any:
    """Return an array of a device as one of NumPy: proofs are made here, by other code than that which ran there."""
    return on_host(part) if is_foreign(part) else part


def _is_small(X: Data) -> bool:
    return not is_in_blocks(X) and math.prod(getattr(X, "shape", ())) <= FEW_NUMBERS


def _prover_of(kind: type) -> Callable[..., Certificate] | None:
    """Return what proves things of this class, imported on first use; None if nothing does."""
    path = next((path for room, path in PROVERS.items() if kind.__module__.startswith(room)), None)
    if path is None:
        return None
    module, function = path.split(":")
    found: Callable[..., Certificate] = getattr(import_module(module), function)
    return found


def _proof_of_pipeline(pipeline: Pipeline, X: Data, y: Data, sample_weight: Data | None) -> Certificate:
    """Return what is found in all steps; a pipeline that answers by more than its steps has a proof of the rest."""
    before = steps_again(pipeline, X, y, sample_weight, lambda step, rows, target: _proof_of(step, rows, target, None))
    found = before.added_to(_proof_of(pipeline[-1], before.X, before.y, before.weight))
    prove_rest = getattr(pipeline, "proved_beside_steps", None)
    return found if prove_rest is None else prove_rest(found, X, y)


def _proof_of(model: CertifiedEstimator, X: Data, y: Data, sample_weight: Data | None) -> Certificate:
    """Return what the proof on the model's card finds in the user's data, checked by the rules of the fit."""
    if is_foreign(X) or "backend_" in vars(model):
        model, (X, y, sample_weight) = to_host(model), map(_brought_here, (X, y, sample_weight))
    card = card_of(type(model))
    changed = changed_parameters(model.fit_parameters_, parameter_texts(model, card.parameters))
    if changed:
        return refusal("parameters", f"changed since the fit: {'; '.join(changed)}")
    rules = card.rules_for(model)
    classes = getattr(model, "classes_", None) if rules.target == CLASSES else None
    data: TrainingData | RowBlocks
    X = rows_or_blocks(model, X) if isinstance(X, np.memmap) else X
    if is_in_blocks(X):
        from pellucid.core.scale.block_proofs import data_to_prove, labels_out_of_order

        first = labels_out_of_order(getattr(model, "classes_", None))
        if first:
            return refusal("classes", f"classes_ must be sorted, each label once, got {first}")
        data = data_to_prove(model, rules, X, y, sample_weight)
    else:
        data = rules.check(model, X, y, sample_weight, reset=False, classes=classes)
    found = card.proof_of(model, data)
    return found if not found.failed or _is_training_data(model, data) else _blamed_on_the_data(found)


def _is_training_data(model: CertifiedEstimator, data: TrainingData | RowBlocks) -> bool:
    """Return whether the fingerprint of the fit is that of these data; a ranking's covers its queries too."""
    if isinstance(data, RowBlocks) or data.name:
        return model.data_fingerprint_ == data.fingerprint
    return model.data_fingerprint_ in (data.fingerprint, fingerprint(*data.given, getattr(model, "qid_", None)))


def _blamed_on_the_data(found: Certificate) -> Certificate:
    """Return the certificate with the reason that its claims fail, instead of advice for the fit."""
    claims = (claim if claim.holds else replace(claim, remedy=OTHER_DATA) for claim in found.claims)
    return replace(found, claims=tuple(claims), reason=OTHER_DATA)


def last_step(model: Any, X: Data) -> tuple[Any, Data]:
    """Return the estimator at the end of a pipeline and the data as it sees them; a lone estimator is its own end."""
    if not isinstance(model, Pipeline):
        return model, X
    check_is_fitted(model)
    return model[-1], model[:-1].transform(X) if len(model.steps) > 1 else X


# The steps before the last one of a pipeline, looked at again: ours by their proofs, others by fitting them anew.
#
# Scikit-learn's transformers have no proofs. But most of them are quickly fitted, and the same rows leave the same
# numbers: what a step holds is compared, number by number, with what a new copy of it holds after a fit to these rows.


CLOSE = 1e-9
"""Relative difference of numbers that another processor may leave."""

EVIDENCE = {LATER, "data_fingerprint_", "certificate_", "trace_", "fit_parameters_"}
"""What an estimator of ours holds beside what it answers by."""

TAKEN = "the parameters of the steps before the last are taken as they are"
REFIT = "Fit the whole pipeline again."

Prove = Callable[[Any, Data, Data], Certificate]


@dataclass
class StepsAgain:
    """What was found on the way through the steps, and the rows as the last one was fitted on them."""

    X: Data
    y: Data = None
    weight: Data | None = None
    wrong: list[str] = field(default_factory=list)
    uncovered: list[str] = field(default_factory=list)
    n_steps: int = 0

    def keep(self, rows: Any) -> None:
        """Go on with some rows: those that all steps after the first learned from, as the pipeline says."""
        y, chosen = np.asarray(self.y), np.asarray(rows)
        if chosen.dtype != bool or chosen.shape != y.shape[:1] or not chosen.any():
            self.wrong.append("learned_rows_")
            return
        self.X = self.X.iloc[chosen] if hasattr(self.X, "iloc") else self.X[chosen]
        self.y, self.weight = y[chosen], None if self.weight is None else np.asarray(self.weight)[chosen]
        self.uncovered.append(f"{len(y) - chosen.sum():,} of the {len(y):,} rows, which it did not learn from")

    def added_to(self, found: Certificate) -> Certificate:
        """Return the certificate of the last step with what was found in the others."""
        if not self.n_steps:
            return found
        which = f": {', '.join(self.wrong)}" if self.wrong else ""
        statement = f"of {self.n_steps} steps before the last, those that these rows do not leave{which}"
        words = "; ".join([*self.uncovered, TAKEN])
        reason = f"{found.reason} Not covered: {words}.".strip()
        claim = Claim("steps", statement, float(len(self.wrong)), 0.0, REFIT)
        return Certificate(found.grade, (*found.claims, claim), reason)


def steps_again(pipeline: Pipeline, X: Data, y: Data, weight: Data | None, prove: Prove) -> StepsAgain:
    """Look at all steps but the last; ``prove`` returns what the proof of an estimator of ours finds.

    The first step reads a table whole; what follows may have learned from some of its rows, ``learned_rows_``.
    """
    found, learned = StepsAgain(X, y, weight), getattr(pipeline, "learned_rows_", None)
    for place, (name, step) in enumerate(pipeline.steps[:-1]):
        if place == 1 and learned is not None:
            found.keep(learned)
        if step is None or isinstance(step, str):  # it lets everything pass
            continue
        found.n_steps += 1
        if hasattr(step, "certificate_"):
            if prove(step, found.X, found.y).failed:
                found.wrong.append(name)
            found.X = step.transform(found.X)
        else:
            _look_at(found, name, step)
    return found


def _look_at(found: StepsAgain, name: str, step: Any) -> None:
    y, weight = found.y, found.weight
    options: list[dict[str, Any]] = [{}]
    if weight is not None and has_fit_parameter(step, "sample_weight"):
        options.append({"sample_weight": weight})
    for given in options:
        again, rows = _fitted(step, found.X, y, given)
        if same(step, again):
            found.X = rows  # as the fit saw them: a transform after the fit may round otherwise
            return
    if same(again, _fitted(step, found.X, y, given)[0]):
        found.wrong.append(name)
        found.X = rows
    else:
        found.uncovered.append(f"{name}, which draws at random")
        found.X = step.transform(found.X)


def _fitted(step: Any, X: Data, y: Data, options: dict[str, Any]) -> tuple[Any, Data]:
    again = clone(step)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit has said it
        if hasattr(again, "fit_transform"):
            return again, again.fit_transform(X, y, **options)
        return again, again.fit(X, y, **options).transform(X)


def same(one: Any, other: Any) -> bool:
    """Return whether two values are the same up to rounding; of estimators, all that both hold beside evidence."""
    if is_foreign(one):
        return is_foreign(other) and same(on_host(one), on_host(other))
    if isinstance(one, BaseEstimator):
        return type(one) is type(other) and _same_parts(_parts(one), _parts(other))
    if isinstance(one, (float, np.floating)) and isinstance(other, (float, np.floating, int)):
        return bool(np.isclose(one, other, rtol=CLOSE, atol=0.0, equal_nan=True))
    if sparse.issparse(one):
        return sparse.issparse(other) and one.shape == other.shape and same(one.toarray(), other.toarray())
    if isinstance(one, np.ndarray) or hasattr(one, "to_numpy"):  # or a column or an index of a data frame
        return _same_arrays(np.asarray(one), np.asarray(other))
    if isinstance(one, (list, tuple)):
        return isinstance(other, (list, tuple)) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if is_dataclass(one) and not isinstance(one, type):
        return type(one) is type(other) and all(
            same(getattr(one, part.name), getattr(other, part.name)) for part in fields(one)
        )
    if isinstance(one, (str, int, bool, bytes, slice, type, np.generic, np.dtype)) or one is None:
        return bool(one == other)
    return type(one) is type(other)  # a function, a source of random numbers


def _parts(estimator: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(estimator).items() if name not in EVIDENCE}


def _same_parts(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether what both hold is the same: a file keeps what answers need, and not all that a fit leaves."""
    return all(same(one[name], other[name]) for name in one.keys() & other.keys())


def _same_arrays(one: Any, other: Any) -> bool:
    if one.shape != other.shape:
        return False
    if one.dtype.kind in "fc" and other.dtype.kind in "fciub":
        with np.errstate(invalid="ignore"):
            scale = CLOSE * np.abs(one[np.isfinite(one)]).max(initial=0.0)
        return bool(np.allclose(one, other, rtol=CLOSE, atol=min(scale, CLOSE), equal_nan=True))
    if one.dtype.kind == "O":
        return all(map(same, one.ravel().tolist(), other.ravel().tolist()))
    return bool(np.array_equal(one, other))
