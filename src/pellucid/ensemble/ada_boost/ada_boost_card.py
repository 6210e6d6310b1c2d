"""Method card of AdaBoost."""

from __future__ import annotations

from typing import Any

from pellucid.core.cards import MethodCard, Trial
from pellucid.core.files.registry import Model
from pellucid.core.input_rules import CLASSES, InputRules
from pellucid.core.kinds.arrays import Numbers
from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import Nothing, Whole
from pellucid.core.kinds.usual import LABELS, POSITIVE, RANDOM_STATE
from pellucid.ensemble.ada_boost.ada_boost_classifier import AdaBoostClassifier
from pellucid.ensemble.member_check import check_members
from pellucid.proofs.sampling import is_fitting
from pellucid.proofs.training_data import TrainingData
from pellucid.tree.tree_kinds import Trees


def _ask_members(model: AdaBoostClassifier, data: TrainingData) -> dict[str, Any]:
    """Return the votes of classifiers that are no trees of ours: the proof has no other way to them.

    With them the error of one more, where rounds are missing. A fit, where a proof should cost little, has seen both.
    """
    if is_fitting():
        return model._seen_in_rounds
    if model.trees_ is not None:
        return {}
    check_members(model.members_ or ())
    votes = model.member_votes(data.X)
    return {"member_votes": votes, "next_error": model.next_error(data, votes)}


CARDS = (
    MethodCard(
        AdaBoostClassifier,
        topics=("TRE-6",),
        onnx="pellucid.ensemble.ensembles_in_onnx:ada_boost",
        workings="pellucid.ensemble.ada_boost.ada_boost_workings:ada_boost_workings",
        parameters={
            "estimator": Nothing() | Model(),
            "n_estimators": Whole(low=1),
            "learning_rate": POSITIVE,
            "random_state": RANDOM_STATE,
        },
        attributes={
            "classes_": LABELS,
            "n_classes_": Whole(low=1, size="n_classes"),
            "estimator_weights_": Numbers(("n_estimators",), ("float64",)),
            "estimator_errors_": Numbers(("n_estimators",), ("float64",)),
            "trees_": Nothing() | Trees(),
            "seeds_": Nothing() | Numbers((None,), ("int64",), low=0),
            "members_": Nothing() | Items(Model()),
        },
        input=InputRules(CLASSES, sparse=("csr", "csc")),
        asks=_ask_members,
        variants=({"n_estimators": 8, "learning_rate": 0.5},),
        unproved={"seeds_": "no answer depends on them: splits that draw nothing are the same for every seed"},
        tests=("test_ada_boost",),
        trial=Trial(settings={"n_estimators": 4}),
        take_for="labels without many mistakes, simple members, and the wish to see which rows are hard",
        references=(
            "Freund and Schapire, A decision-theoretic generalization of on-line learning, JCSS 55 (1997)",
            "Zhu and others, Multi-class AdaBoost, Statistics and Its Interface 2 (2009)",
        ),
    ),
)
