"""Method card of nonnegative matrix factorization."""

from __future__ import annotations

from typing import Any

from pellucid.core.cards import WORK_DONE, MethodCard
from pellucid.core.input_rules import InputRules
from pellucid.core.user_warnings import warn_user
from pellucid.decomposition.nmf.nmf import NMF
from pellucid.decomposition.nmf.nmf_problem import LOSSES
from pellucid.kinds.arrays import FLOATS, Numbers
from pellucid.kinds.plain import Nothing, Number, OneOf, Real, Whole
from pellucid.kinds.usual import FLAG, NONNEGATIVE, RANDOM_STATE, VERBOSE
from pellucid.proofs.decomposition.nmf import prove_nmf


def _check_solver(estimator: Any) -> None:
    """Refuse a divergence that coordinate descent does not know, and warn of zeros that would stay."""
    if estimator.solver == "cd" and estimator.beta_loss not in (2, "frobenius"):
        raise ValueError(
            f"Invalid beta_loss parameter: solver 'cd' does not handle beta_loss = {estimator.beta_loss!r}. "
            "Use solver='mu'."
        )
    if estimator.solver == "mu" and estimator.init == "nndsvd":
        warn_user(
            "The multiplicative update ('mu') solver cannot update zeros present in the initialization, and so leads "
            "to poorer results when used jointly with init='nndsvd'. You may try init='nndsvda' or init='nndsvdar' "
            "instead."
        )


CARDS = (
    MethodCard(
        NMF,
        topics=("DIM-4",),
        prove=prove_nmf,
        workings="pellucid.decomposition.nmf.nmf_workings:nmf_workings",
        free={
            "order": "the order of the components, which follows the start",
            "scale": "how the length of a component is shared with its weights, where nothing is penalized",
        },
        parameters={
            "n_components": Nothing() | OneOf(("auto",)) | Whole(low=1),
            "init": Nothing() | OneOf(("random", "nndsvd", "nndsvda", "nndsvdar", "custom")),
            "solver": OneOf(("cd", "mu")),
            "beta_loss": OneOf(tuple(LOSSES)) | Number(),
            "tol": NONNEGATIVE,
            "max_iter": Whole(low=1),
            "random_state": RANDOM_STATE,
            "alpha_W": NONNEGATIVE,
            "alpha_H": OneOf(("same",)) | NONNEGATIVE,
            "l1_ratio": Number(low=0, high=1),
            "verbose": VERBOSE,
            "shuffle": FLAG,
        },
        check=_check_solver,
        attributes={
            "components_": Numbers(("n_found", "n_features"), FLOATS, low=0),
            "weights_": Numbers(("n_rows", "n_found"), FLOATS, low=0),
            "n_components_": Whole(low=1, size="n_found"),
            "reconstruction_err_": Real(),
            "n_iter_": Whole(low=1),
        },
        input=InputRules(sparse=("csr",), missing=True, weights=False),
        variants=(
            {"n_components": 2, "alpha_W": 0.01, "l1_ratio": 0.5},
            {"n_components": 2, "solver": "mu", "beta_loss": "kullback-leibler"},
        ),
        unproved={"n_iter_": WORK_DONE},
        squares=frozenset({"reconstruction_err_"}),
    ),
)
