"""Kinds of the parameters and attributes that SVC and SVR share."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.cards import GAP_UP_TO_ROUNDING
from pellucid.kernels.choice import is_given
from pellucid.kernels.kernel_kinds import kernel_kind
from pellucid.kinds.arrays import WHOLES, Numbers
from pellucid.kinds.collections import Row
from pellucid.kinds.plain import Kind, Number, OneOf, Optional, Real, Whole
from pellucid.kinds.sparse import SparseRows
from pellucid.kinds.usual import COUNT, FLAG, POSITIVE, VERBOSE
from pellucid.svm.kernel_machine.machine_kernel import matrix_function
from pellucid.svm.kernel_machine.machine_rules import MachineRules

WIDE = ("float64",)

PARAMETERS: dict[str, Kind] = {
    "kernel": kernel_kind(function="a function of two matrices"),
    "degree": Whole(low=0),
    "gamma": OneOf(("scale", "auto")) | Number(low=0),
    "coef0": Number(),
    "tol": POSITIVE,
    "C": Number(above=0, finite=False),
    "shrinking": FLAG,
    "cache_size": POSITIVE,
    "verbose": VERBOSE,
    "max_iter": Whole(low=-1),
}

ATTRIBUTES: dict[str, Kind | Optional] = {
    "support_": Numbers(("n_support",), WHOLES, low=0),
    "support_vectors_": Numbers((None, None), WIDE) | SparseRows(("n_support", "n_features")),
    "dual_coef_": Numbers(("n_others", "n_support"), WIDE) | SparseRows(("n_others", "n_support")),
    "intercept_": Numbers(("n_machines",), WIDE),
    "intercept_range_": Numbers(("n_machines", 2), WIDE, finite=False),
    "objective_": Numbers(("n_machines",), WIDE),
    "dual_gap_": Numbers(("n_machines",), WIDE),
    "gamma_": Real(),
    "shape_fit_": Row((COUNT, COUNT)),
    "fit_status_": Whole(low=0, high=1),
}

UNPROVED = {
    "dual_gap_": GAP_UP_TO_ROUNDING,
    "fit_status_": "whether the solver stopped by itself; the claims say how good its answer is",
}


def machine_rules(target: str) -> Any:
    """Return what tells from an estimator which data it takes."""
    return lambda estimator: MachineRules(
        target,
        sparse=("csr",),
        dtypes=np.float64,
        order="C",
        products=is_given(estimator.kernel) or matrix_function(estimator.kernel) is not None,
        function=matrix_function(estimator.kernel),
    )
