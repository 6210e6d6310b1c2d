"""Method card of alternating least squares."""

from __future__ import annotations

from pellucid.core.cards import WORK_DONE, MethodCard
from pellucid.core.input_rules import InputRules
from pellucid.decomposition.alternating.alternating_least_squares import AlternatingLeastSquares
from pellucid.kinds.arrays import FLOATS, Numbers
from pellucid.kinds.plain import Nothing, Real, Whole
from pellucid.kinds.usual import NONNEGATIVE, RANDOM_STATE
from pellucid.proofs.decomposition.alternating import prove_alternating

CARDS = (
    MethodCard(
        AlternatingLeastSquares,
        topics=("DIM-3",),
        prove=prove_alternating,
        workings="pellucid.decomposition.alternating.alternating_workings:alternating_workings",
        free={
            "scale": "how the length of a component is shared with its weights, where both penalties are 0",
        },
        parameters={
            "n_components": Whole(low=1),
            "alpha": NONNEGATIVE,
            "alpha_components": Nothing() | NONNEGATIVE,
            "max_iter": Whole(low=1),
            "tol": NONNEGATIVE,
            "random_state": RANDOM_STATE,
        },
        attributes={
            "components_": Numbers(("n_found", "n_features"), FLOATS),
            "weights_": Numbers(("n_rows", "n_found"), FLOATS),
            "objective_": Real(),
            "n_iter_": Whole(low=1),
        },
        input=InputRules(sparse=("csr",), missing=True, weights=False),
        variants=({"n_components": 3, "alpha": 1.0, "alpha_components": 0.01},),
        unproved={"n_iter_": WORK_DONE},
        squares=frozenset({"objective_"}),
    ),
)
