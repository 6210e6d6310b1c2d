"""Method card of support vector regression."""

from __future__ import annotations

from pellucid.core.cards import WORK_DONE, MethodCard
from pellucid.core.input_rules import NUMBERS
from pellucid.kinds.arrays import WHOLES, Numbers
from pellucid.kinds.usual import COUNT, NONNEGATIVE
from pellucid.proofs.svm.kernel_machines import prove_svr
from pellucid.svm.kernel_machine.machine_card import ATTRIBUTES, PARAMETERS, UNPROVED, machine_rules
from pellucid.svm.svr.svr import SVR

CARDS = (
    MethodCard(
        SVR,
        topics=("LIN-8",),
        prove=prove_svr,
        workings="pellucid.svm.svr.svr_workings:svr_workings",
        parameters=PARAMETERS | {"epsilon": NONNEGATIVE},
        attributes=ATTRIBUTES | {"n_support_": Numbers((1,), WHOLES, low=0), "n_iter_": COUNT},
        input=machine_rules(NUMBERS),
        variants=(
            {"kernel": "linear", "C": 10.0},
            {"kernel": "poly", "degree": 2, "coef0": 1.0},
            {"kernel": "sigmoid", "epsilon": 0.5},
        ),
        unproved=UNPROVED | {"n_iter_": WORK_DONE},
    ),
)
