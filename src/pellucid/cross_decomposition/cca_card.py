"""Method card of canonical correlation analysis."""

from __future__ import annotations

from pellucid.core.cards import MethodCard, Trial
from pellucid.core.input_rules import MOMENTS, NUMBERS, InputRules
from pellucid.core.kinds.arrays import Numbers
from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import Whole
from pellucid.core.kinds.usual import FLAG, NONNEGATIVE
from pellucid.cross_decomposition.cca import CCA

WIDE = ("float64",)
X_SIDE = Numbers(("n_features", "n_components"), WIDE)
Y_SIDE = Numbers(("n_targets", "n_components"), WIDE)

CARDS = (
    MethodCard(
        CCA,
        topics=("DIM-7",),
        onnx="pellucid.cross_decomposition.cca_in_onnx:numbers",
        parameters={
            "n_components": Whole(low=1),
            "scale": FLAG,
            "max_iter": Whole(low=1),
            "tol": NONNEGATIVE,
            "copy": FLAG,
            "alpha": NONNEGATIVE,
        },
        attributes={
            "x_weights_": X_SIDE,
            "y_weights_": Y_SIDE,
            "x_rotations_": X_SIDE,
            "y_rotations_": Y_SIDE,
            "x_loadings_": X_SIDE,
            "y_loadings_": Y_SIDE,
            "correlations_": Numbers(("n_components",), WIDE, low=0.0),
            "coef_": Numbers(("n_targets", "n_features"), WIDE),
            "intercept_": Numbers(("n_targets",), WIDE),
            "x_mean_": Numbers(("n_features",), WIDE),
            "x_scale_": Numbers(("n_features",), WIDE, low=0.0),
            "y_scale_": Numbers(("n_targets",), WIDE, low=0.0),
            "single_target_": FLAG,
            "n_iter_": Items(Whole(low=1)),
        },
        input=InputRules(NUMBERS, several_targets=True, fewest_rows=2, blocks=MOMENTS),
        variants=({"n_components": 1, "alpha": 0.3}, {"n_components": 1, "scale": False}),
        squares=frozenset({"coef_"}),
        trial=Trial(
            settings={"n_components": 1},  # two components need two targets
        ),
        take_for="two sets of columns about the same rows, and the question what they have in common",
        references=("Hotelling, Relations between two sets of variates, Biometrika 28 (1936)",),
    ),
)
