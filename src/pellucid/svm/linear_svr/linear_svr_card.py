"""Method card of the linear support vector regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.cards import WORK_DONE, MethodCard
from pellucid.core.input_rules import NUMBERS, InputRules
from pellucid.kinds.arrays import Numbers
from pellucid.kinds.plain import Number, OneOf, Optional, Real
from pellucid.kinds.usual import COUNT, FLAG, NONNEGATIVE, POSITIVE, RANDOM_STATE, VERBOSE
from pellucid.proofs.svm.linear_machines import prove_linear_svr
from pellucid.svm.linear_svc.linear_svr import LinearSVR


def _check_combination(estimator: Any) -> None:
    if estimator.loss == "epsilon_insensitive" and estimator.dual not in ("auto", True):
        raise ValueError("dual must be True or 'auto' for loss='epsilon_insensitive', got False. Use 'auto'.")


CARDS = (
    MethodCard(
        LinearSVR,
        topics=("LIN-8",),
        prove=prove_linear_svr,
        workings="pellucid.svm.svr.svr_workings:linear_svr_workings",
        parameters={
            "epsilon": NONNEGATIVE,
            "tol": POSITIVE,
            "C": POSITIVE,
            "loss": OneOf(("epsilon_insensitive", "squared_epsilon_insensitive")),
            "fit_intercept": FLAG,
            "intercept_scaling": Number(above=0, hint="For no intercept use fit_intercept=False."),
            "dual": OneOf(("auto",)) | FLAG,
            "verbose": VERBOSE,
            "random_state": RANDOM_STATE,
            "max_iter": COUNT,
        },
        check=_check_combination,
        attributes={
            "coef_": Numbers(("n_features",), ("float64",)),
            "intercept_": Real() | Numbers((None,), ("float64",)),
            "dual_coef_": Optional(Numbers((None,), ("float64",))),
            "n_iter_": COUNT,
        },
        input=InputRules(NUMBERS, sparse=("csr",), dtypes=np.float64, order="C"),
        variants=(
            {"loss": "squared_epsilon_insensitive", "epsilon": 0.1},
            {"epsilon": 0.2, "fit_intercept": False},
        ),
        unproved={"n_iter_": WORK_DONE},
    ),
)
