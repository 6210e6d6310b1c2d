"""Method card of bridge regression."""

from __future__ import annotations

from pellucid.core.cards import WORK_DONE, MethodCard
from pellucid.core.input_rules import ANY_SPARSE, NUMBERS, InputRules
from pellucid.core.kinds.plain import Number, Whole
from pellucid.core.kinds.usual import COUNT, FLAG, POSITIVE
from pellucid.linear_model.bridge_regression import BridgeRegression
from pellucid.linear_model.linear_kinds import LINE
from pellucid.proofs.linear_model.bridge import prove_bridge

CARDS = (
    MethodCard(
        BridgeRegression,
        topics=("LIN-4",),
        prove=prove_bridge,
        parameters={
            "alpha": Number(above=0, hint="For no penalty use LinearRegression."),
            "q": POSITIVE,
            "tol": POSITIVE,
            "max_iter": Whole(low=1),
            "fit_intercept": FLAG,
            "warm_start": FLAG,
        },
        attributes={**LINE, "n_iter_": COUNT},
        input=InputRules(NUMBERS, sparse=ANY_SPARSE),
        variants=({"q": 0.5, "alpha": 0.1}, {"q": 1.0, "fit_intercept": False}),
        unproved={"n_iter_": WORK_DONE},
    ),
)
