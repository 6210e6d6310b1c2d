"""Method cards of the multilayer perceptrons."""

from __future__ import annotations

from typing import Any

from pellucid.core.cards import WORK_DONE, MethodCard, Trial
from pellucid.core.input_rules import IN_TURN, NUMBERS, InputRules
from pellucid.core.kinds.arrays import WHOLES, Numbers
from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import Kind, Live, Nothing, Number, OneOf, Optional, Real, Text, Whole
from pellucid.core.kinds.usual import (
    A_LIST,
    CLASS_WEIGHT,
    COUNT,
    FLAG,
    LABELS,
    NONNEGATIVE,
    POSITIVE,
    RANDOM_STATE,
    VERBOSE,
)
from pellucid.core.linear_classifier import LabelSetRules
from pellucid.neural_network.dense_network import ACTIVATION_NAMES, INITIALIZATION_NAMES
from pellucid.neural_network.mlp.mlp_classifier import MLPClassifier
from pellucid.neural_network.mlp.mlp_regressor import MLPRegressor

WORKINGS = "pellucid.neural_network.mlp.mlp_workings:mlp_workings"
SIZES = Whole(low=1) | Items(Whole(low=1)) | A_LIST
BELOW_ONE = Number(low=0, below=1)


def _takes_batches(value: Any) -> bool:
    return bool(getattr(value, "takes_batches", False)) and hasattr(value, "step")


PARAMETERS: dict[str, Kind] = {
    "hidden_layer_sizes": SIZES,
    "activation": OneOf(ACTIVATION_NAMES),
    "solver": OneOf(("lbfgs", "sgd", "adam")) | Live("a method that takes batches", _takes_batches),
    "alpha": NONNEGATIVE,
    "batch_size": OneOf(("auto",)) | Whole(low=1),
    "learning_rate": OneOf(("constant", "invscaling", "adaptive")),
    "learning_rate_init": POSITIVE,
    "power_t": NONNEGATIVE,
    "max_iter": Whole(low=1),
    "shuffle": FLAG,
    "random_state": RANDOM_STATE,
    "tol": NONNEGATIVE,
    "verbose": VERBOSE,
    "warm_start": FLAG,
    "momentum": Number(low=0, high=1),
    "nesterovs_momentum": FLAG,
    "early_stopping": FLAG,
    "validation_fraction": BELOW_ONE,
    "beta_1": BELOW_ONE,
    "beta_2": BELOW_ONE,
    "epsilon": POSITIVE,
    "n_iter_no_change": Number(low=1, finite=False),
    "max_fun": Whole(low=1),
    "dropout": BELOW_ONE,
    "batch_normalization": FLAG,
    "initialization": OneOf(INITIALIZATION_NAMES),
    "pieces": Whole(low=2),
}
MAYBE_REAL = Nothing() | Real()
ATTRIBUTES: dict[str, Kind | Optional] = {
    "coefs_": Items(Numbers((None, None))),
    "intercepts_": Items(Numbers((None,))),
    "objective_": Real(),
    "gradient_norm_": Real(),
    "weights_digest_": Text(),
    "loss_": Real(),
    "n_iter_": COUNT,
    "n_layers_": Whole(low=2),
    "n_outputs_": Whole(low=1),
    "t_": COUNT,
    "out_activation_": Text(),
    "loss_curve_": Optional(Items(Real())),
    "best_loss_": Optional(MAYBE_REAL),
    "best_validation_score_": Optional(MAYBE_REAL),
    "validation_scores_": Optional(Nothing() | Items(Real(finite=False))),
    "validation_rows_": Optional(Numbers((None,), WHOLES, low=0)),
}
PAST = "how the training went; answers depend on where it ended"
UNPROVED = {
    "n_iter_": WORK_DONE,
    "t_": WORK_DONE,
    "loss_": PAST,
    "loss_curve_": PAST,
    "best_loss_": PAST,
    "validation_scores_": PAST,
    "validation_rows_": "which rows were held out; the claim 'best epoch' scores those",
    "best_validation_score_": "found again up to rows that rounding decides, by the claim 'best epoch'",
}
VARIANTS: tuple[dict[str, Any], ...] = (
    {"solver": "lbfgs", "activation": "tanh", "hidden_layer_sizes": (6, 5), "max_iter": 3000, "tol": 0.05},
    {"activation": "maxout", "hidden_layer_sizes": (5,), "dropout": 0.2, "tol": 0.3, "max_iter": 60},
    {"activation": "elu", "hidden_layer_sizes": 6, "batch_normalization": True, "early_stopping": True, "tol": 0.2},
)


def _label_rules(estimator: Any) -> InputRules:
    return LabelSetRules(sparse=("csr", "csc"), class_weight=estimator.class_weight, blocks=_blocks_for(estimator))


def _number_rules(estimator: Any) -> InputRules:
    return InputRules(NUMBERS, several_targets=True, sparse=("csr", "csc"), blocks=_blocks_for(estimator))


def _blocks_for(estimator: Any) -> str:
    """Return how rows in blocks are learned: in turn; rows held out must be in memory, and so must further rounds."""
    return "" if estimator.early_stopping or estimator.warm_start else IN_TURN


CARDS = (
    MethodCard(
        MLPClassifier,
        topics=("DNN-2", "DNN-3"),
        onnx="pellucid.neural_network.mlp.mlp_in_onnx:classifier",
        workings=WORKINGS,
        device="pellucid.neural_network.mlp.mlp_on_device:fit_on_device",
        parameters=PARAMETERS | {"class_weight": CLASS_WEIGHT},
        attributes=ATTRIBUTES | {"classes_": LABELS},
        input=_label_rules,
        variants=VARIANTS,
        unproved=UNPROVED,
        trial=Trial(
            settings={"tol": 0.01, "learning_rate_init": 0.05, "hidden_layer_sizes": (10,)},
            repeating=None,
            by_hand={"hidden_layer_sizes": (3,), "solver": "lbfgs", "tol": 0.1, "random_state": 0},
        ),
        take_for=(
            "smooth boundaries in many columns, many rows, and time to tune; on tables, boosting is the one to beat"
        ),
        references=(
            ("Rumelhart, Hinton and Williams, Learning representations by back-propagating errors, Nature 323 (1986)"),
            "Kingma and Ba, Adam: a method for stochastic optimization, ICLR 2015",
        ),
    ),
    MethodCard(
        MLPRegressor,
        topics=("DNN-2", "DNN-3"),
        onnx="pellucid.neural_network.mlp.mlp_in_onnx:regressor",
        workings=WORKINGS,
        device="pellucid.neural_network.mlp.mlp_on_device:fit_on_device",
        parameters={"loss": OneOf(("squared_error", "poisson")), **PARAMETERS, "standardize_target": FLAG},
        attributes=ATTRIBUTES,
        input=_number_rules,
        variants=(*VARIANTS[:2], VARIANTS[2] | {"standardize_target": True}),
        unproved=UNPROVED,
        trial=Trial(
            settings={"tol": 0.05, "learning_rate_init": 0.1, "hidden_layer_sizes": (10,), "max_iter": 500},
            by_hand={"hidden_layer_sizes": (3,), "solver": "lbfgs", "tol": 0.1, "random_state": 0},
        ),
        take_for=(
            "smooth functions of many columns, many rows, and time to tune; on tables, boosting is the one to beat"
        ),
        references=(
            ("Rumelhart, Hinton and Williams, Learning representations by back-propagating errors, Nature 323 (1986)"),
            "Kingma and Ba, Adam: a method for stochastic optimization, ICLR 2015",
        ),
    ),
)
