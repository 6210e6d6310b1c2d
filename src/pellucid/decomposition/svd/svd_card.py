"""Method card of the singular value decomposition."""

from __future__ import annotations

from typing import Any

from pellucid.core.cards import MethodCard
from pellucid.core.input_rules import NO_TARGET, InputRules
from pellucid.decomposition.svd.svd import SVD
from pellucid.kinds.arrays import FLOATS, Numbers
from pellucid.kinds.plain import Nothing, OneOf, Real, Whole
from pellucid.kinds.usual import RANDOM_STATE
from pellucid.proofs.decomposition.svd import prove_svd


def _check_full(estimator: Any) -> None:
    if estimator.kind == "full" and estimator.n_components is not None:
        raise ValueError(
            f"n_components must be None for kind='full', which has all vectors, got {estimator.n_components}. Use "
            "kind='compact'."
        )


CARDS = (
    MethodCard(
        SVD,
        topics=("DIM-1",),
        prove=prove_svd,
        workings="pellucid.decomposition.svd.svd_workings:svd_workings",
        parameters={
            "kind": OneOf(("compact", "full", "truncated", "randomized")),
            "n_components": Nothing() | Whole(low=1),
            "random_state": RANDOM_STATE,
        },
        check=_check_full,
        attributes={
            "U_": Numbers(("n_rows", "n_left"), FLOATS),
            "singular_values_": Numbers(("n_found",), FLOATS, low=0),
            "components_": Numbers(("n_right", "n_features"), FLOATS),
            "energy_": Real(),
        },
        input=lambda estimator: InputRules(
            NO_TARGET, sparse=("csr", "csc") if estimator.kind in ("truncated", "randomized") else (), weights=False
        ),
        variants=({"kind": "full"}, {"kind": "randomized", "n_components": 2}),
        squares=frozenset({"energy_"}),
    ),
)
