"""Method cards of SVC and SVR."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.cards import GAP_UP_TO_ROUNDING, WORK_DONE, MethodCard, Trial
from pellucid.core.input_rules import CLASSES, NUMBERS
from pellucid.core.kinds.arrays import WHOLES, Numbers, SparseRows
from pellucid.core.kinds.collections import Row
from pellucid.core.kinds.plain import Kind, Number, OneOf, Optional, Real, Whole
from pellucid.core.kinds.usual import CLASS_WEIGHT, COUNT, FLAG, LABELS, NONNEGATIVE, POSITIVE, RANDOM_STATE, VERBOSE
from pellucid.kernels.choice import is_given
from pellucid.kernels.kernel_kinds import kernel_kind
from pellucid.svm.kernel_machine.support_vector_model import MachineRules, matrix_function
from pellucid.svm.svc.svc import SVC
from pellucid.svm.svc.svr import SVR

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


CARDS = (
    MethodCard(
        SVC,
        topics=("KER-2",),
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
        device="pellucid.svm.kernel_machine.machine_on_device:fit_svc",
        onnx="pellucid.svm.machines_in_onnx:svc",
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
        trial=Trial(rows=6, many_rows=True),
        take_for="boundaries of any shape in columns of comparable units; up to some ten thousand rows",
        references=(
            "Cortes and Vapnik, Support-vector networks, Machine Learning 20 (1995)",
            "Fan, Chen and Lin, Working set selection using second order information, JMLR 6 (2005)",
        ),
    ),
    MethodCard(
        SVR,
        topics=("LIN-8",),
        workings="pellucid.svm.svc.svr_workings:svr_workings",
        parameters=PARAMETERS | {"epsilon": NONNEGATIVE},
        attributes=ATTRIBUTES | {"n_support_": Numbers((1,), WHOLES, low=0), "n_iter_": COUNT},
        input=machine_rules(NUMBERS),
        device="pellucid.svm.kernel_machine.machine_on_device:fit_svr",
        onnx="pellucid.svm.machines_in_onnx:svr",
        variants=(
            {"kernel": "linear", "C": 10.0},
            {"kernel": "poly", "degree": 2, "coef0": 1.0},
            {"kernel": "sigmoid", "epsilon": 0.5},
        ),
        unproved=UNPROVED | {"n_iter_": WORK_DONE},
        trial=Trial(rows=5),
        take_for="curves that far rows pull little, by few support vectors; up to some ten thousand rows",
        references=(
            "Smola and Schölkopf, A tutorial on support vector regression, Statistics and Computing 14 (2004)",
        ),
    ),
)
