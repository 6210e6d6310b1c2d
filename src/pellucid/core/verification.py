"""verify: recompute a certificate from the data, without the solver's code."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples, check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator
from pellucid.core.fit_parameters import changed_parameters, parameter_texts
from pellucid.core.input_rules import CLASSES
from pellucid.core.pipeline_proof import steps_again
from pellucid.core.random_state import generator
from pellucid.core.threads import single_threaded_blas
from pellucid.core.types import Data
from pellucid.core.user_warnings import warn_unless_holds
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.sampling import drawing
from pellucid.proofs.seen import refusal
from pellucid.proofs.training_data import TrainingData, fingerprint

OTHER_DATA = (
    "These are not the training data: their fingerprint differs. Verify with the rows, targets and weights of the fit."
)

FEW_ROWS = 1000
"""Up to so many, matrices are small: threads of BLAS would cost more than they bring."""


def verify(
    model: Any, X: Data, y: Data = None, *, sample_weight: Data | None = None, random_state: Any = None
) -> Certificate:
    """Recompute the certificate of a fitted model from its training data, in float64, by independent code.

    Where a claim is about more than can be looked at, what is looked at is drawn anew each time; ``random_state``, a
    seed or a generator, draws the same again.

    Warns with :class:`UncertifiedWarning` for every claim that does not hold, and says so where the data are not those
    of the fit. A scikit-learn Pipeline that ends in an estimator of ours is verified from its first step to its last:
    steps of ours by their proofs, others by fitting a copy of them to the same rows and comparing what it holds.

    Examples
    --------
    >>> import pellucid
    >>> from pellucid.linear_model import LinearRegression
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 2.5]
    >>> model = LinearRegression().fit(X, y)
    >>> pellucid.verify(model, X, y).holds
    True
    """
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
        single_threaded_blas() if _num_samples(X) <= FEW_ROWS else nullcontext(),
    ):
        if isinstance(whole, Pipeline):
            certificate = _proof_of_pipeline(whole, X, y, sample_weight)
        else:
            certificate = _proof_of(model, X, y, sample_weight)
    warn_unless_holds(certificate, f"verify({type(model).__name__})")
    return certificate


def _proof_of_pipeline(pipeline: Pipeline, X: Data, y: Data, sample_weight: Data | None) -> Certificate:
    """Return what is found in all steps; a pipeline that answers by more than its steps has a proof of the rest."""
    before = steps_again(pipeline, X, y, sample_weight, lambda step, rows, target: _proof_of(step, rows, target, None))
    found = before.added_to(_proof_of(pipeline[-1], before.X, before.y, before.weight))
    prove_rest = getattr(pipeline, "proved_beside_steps", None)
    return found if prove_rest is None else prove_rest(found, X, y)


def _proof_of(model: CertifiedEstimator, X: Data, y: Data, sample_weight: Data | None) -> Certificate:
    """Return what the proof on the model's card finds in the user's data, checked by the rules of the fit."""
    card = card_of(type(model))
    changed = changed_parameters(model.fit_parameters_, parameter_texts(model, card.parameters))
    if changed:
        return refusal("parameters", f"changed since the fit: {'; '.join(changed)}")
    rules = card.rules_for(model)
    classes = getattr(model, "classes_", None) if rules.target == CLASSES else None
    data = rules.check(model, X, y, sample_weight, reset=False, classes=classes)
    found = card.proof_of(model, data)
    return found if not found.failed or _is_training_data(model, data) else _blamed_on_the_data(found)


def _is_training_data(model: CertifiedEstimator, data: TrainingData) -> bool:
    """Return whether the fingerprint of the fit is that of these data; a ranking's covers its queries too."""
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
