"""Method cards of blends."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.base import clone, is_classifier, is_regressor
from sklearn.pipeline import Pipeline

from pellucid.core.cards import MethodCard, Trial, card_of
from pellucid.core.estimator import CertifiedEstimator, parameter_texts
from pellucid.core.files.registry import Model
from pellucid.core.input_rules import CLASSES, NUMBERS, InputRules
from pellucid.core.kinds.arrays import Numbers
from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import Kind, Nothing
from pellucid.core.kinds.usual import LABELS, NONNEGATIVE
from pellucid.core.verification import same, verify
from pellucid.ensemble.blend.blend import Blend, BlendClassifier, BlendRegressor
from pellucid.ensemble.member_check import check_members
from pellucid.proofs.sampling import drawn, draws, is_fitting
from pellucid.proofs.training_data import TrainingData

MOST_ROWS = 500
"""Rows that the members and the blend are asked about."""


def _check_members(blend: Any) -> None:
    members = blend._members()
    suits = is_classifier if isinstance(blend, BlendClassifier) else is_regressor
    for member in members:
        last = _last_of(member)
        if not (isinstance(last, CertifiedEstimator) and suits(last)):
            raise ValueError(f"estimators must be of pellucid and of the same task, got {type(last).__name__}.")
        if is_classifier(last) and not hasattr(last, "predict_proba"):
            raise ValueError(f"estimators must have probabilities, got {type(last).__name__}.")
    if not members:
        raise ValueError("estimators must be at least one, got none.")
    if blend.weights is not None and (len(blend.weights) != len(members) or not sum(blend.weights) > 0):
        raise ValueError(f"weights must be one for each of {len(members)} members, not all 0, got {blend.weights}.")


def _rules(target: str) -> Any:
    def rules(blend: Any) -> InputRules:
        return InputRules(target, missing=blend._takes_gaps())

    return rules


def _found_in(model: Blend, data: TrainingData) -> dict[str, Any]:
    """Return what the members' own proofs find, and what members and blend say about some rows."""
    asked = model._members()
    if is_fitting():  # which claims no more than that weights are those asked for
        return {"n_members": len(asked)}
    check_members(model.estimators_)
    rows = data.X[drawn(data.X.shape[0], MOST_ROWS)]
    are_right, reasons = [], []
    for wanted, member in zip(asked, model.estimators_, strict=False):
        reason = _fault(wanted, member, data)
        are_right.append(not reason)
        reasons += [reason] if reason else []
    return {
        "n_members": len(asked),
        "are_right": are_right,
        "reasons": reasons,
        "member_answers": [model._answers(member, rows) for member in model.estimators_],
        "blend_answers": model._mean_answers(rows) if len(model.weights_) == len(model.estimators_) else rows[:, 0],
    }


def _fault(wanted: Any, member: Any, data: TrainingData) -> str:
    """Return what is wrong with a member; nothing if it is as asked for and its proof holds."""
    name = type(_last_of(member)).__name__
    if [type(step) for step in _steps_of(member)] != [type(step) for step in _steps_of(wanted)]:
        return f"{name} instead of {type(_last_of(wanted)).__name__}, or with other steps before it"
    if not all(map(_is_set_like, _steps_of(member), _steps_of(wanted))):
        return f"{name} with other parameters"
    X, y, weight = data.given
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the claim says it
        failed = verify(member, X, y, sample_weight=weight, random_state=draws()).failed
    return f"{name}: {', '.join(claim.name for claim in failed)}" if failed else ""


def _steps_of(member: Any) -> list[Any]:
    """Return the steps of a pipeline, or a lone estimator as the only one."""
    return [step for _, step in member.steps] if isinstance(member, Pipeline) else [member]


def _last_of(member: Any) -> Any:
    return _steps_of(member)[-1]


def _is_set_like(step: Any, wanted: Any) -> bool:
    """Return whether two steps have the same parameters."""
    if not isinstance(wanted, CertifiedEstimator):
        return same(clone(step), clone(wanted))
    parameters = card_of(type(wanted)).parameters
    return parameter_texts(step, parameters) == parameter_texts(wanted, parameters)


PARAMETERS: dict[str, Kind] = {"estimators": Nothing() | Items(Model()), "weights": Nothing() | Items(NONNEGATIVE)}
FITTED: dict[str, Any] = {"estimators_": Items(Model()), "weights_": Numbers((None,), ("float64",))}
SHARED: dict[str, Any] = {
    "topics": ("TRE-6",),
    "parameters": PARAMETERS,
    "check": _check_members,
    "asks": _found_in,
    "variants": ({"weights": [3.0, 1.0]},),
    "tests": ("test_blend",),
    "trial": Trial(needs_library="its members are models of any kind"),
    "meaning": "what is proved of each member holds, and the answer is their weighted mean; that the weights are good "
    "was seen on rows held out, not proved",
}

CARDS = (
    MethodCard(
        BlendClassifier,
        onnx="pellucid.ensemble.ensembles_in_onnx:blend",
        **SHARED,
        input=_rules(CLASSES),
        attributes={**FITTED, "classes_": LABELS},
        take_for="several good classifiers of different kinds, and no need to explain one of them",
        references=("Breiman, Stacked regressions, Machine Learning 24 (1996)",),
    ),
    MethodCard(
        BlendRegressor,
        onnx="pellucid.ensemble.ensembles_in_onnx:blend",
        **SHARED,
        input=_rules(NUMBERS),
        attributes=FITTED,
        take_for="several good regressions of different kinds, and no need to explain one of them",
        references=("Breiman, Stacked regressions, Machine Learning 24 (1996)",),
    ),
)
