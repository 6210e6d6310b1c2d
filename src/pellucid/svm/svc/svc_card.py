"""Method card of the support vector classifier."""

from __future__ import annotations

from pellucid.core.cards import WORK_DONE, MethodCard
from pellucid.core.input_rules import CLASSES
from pellucid.kinds.arrays import WHOLES, Numbers
from pellucid.kinds.plain import OneOf, Optional
from pellucid.kinds.usual import CLASS_WEIGHT, FLAG, LABELS, RANDOM_STATE
from pellucid.proofs.svm.kernel_machines import prove_svc
from pellucid.svm.kernel_machine.machine_kinds import ATTRIBUTES, PARAMETERS, UNPROVED, WIDE, machine_rules
from pellucid.svm.svc.svc import SVC

CARDS = (
    MethodCard(
        SVC,
        topics=("KER-2",),
        prove=prove_svc,
        workings="pellucid.svm.svc.svc_workings:svc_workings",
        parameters={
            **PARAMETERS,
            "probability": FLAG | OneOf(("deprecated",)),
            "class_weight": CLASS_WEIGHT,
            "decision_function_shape": OneOf(("ovo", "ovr")),
            "break_ties": FLAG,
            "random_state": RANDOM_STATE,
        },
        attributes={
            "classes_": LABELS,
            "class_weight_": Numbers(("n_classes",), WIDE),
            **ATTRIBUTES,
            "n_support_": Numbers(("n_classes",), WHOLES, low=0),
            "margin_width_": Numbers(("n_machines",), WIDE, finite=False),
            "n_iter_": Numbers(("n_machines",), WHOLES, low=0),
            "probability_slopes_": Optional(Numbers(("n_machines", 2), WIDE)),
            "held_out_scores_": Optional(Numbers(("n_others", None), WIDE)),
        },
        input=machine_rules(CLASSES),
        variants=(
            {"kernel": "linear", "class_weight": "balanced"},
            {"kernel": "poly", "degree": 2, "coef0": 1.0, "decision_function_shape": "ovo"},
            {"kernel": "sigmoid", "break_ties": True},
            {"probability": True, "C": 10.0},
        ),
        unproved=UNPROVED
        | {
            "n_iter_": WORK_DONE,
            "held_out_scores_": "of machines that verify does not fit again; the slopes are proved to be their best",
        },
    ),
)
