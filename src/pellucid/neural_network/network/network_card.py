"""Method cards of estimators around networks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pellucid.core.cards import WORK_DONE, MethodCard, Trial
from pellucid.core.input_rules import IN_TURN, NUMBERS
from pellucid.core.kinds.arrays import WHOLES, Numbers
from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import Kind, Live, Nothing, Number, OneOf, Optional, Real, Text, Whole
from pellucid.core.kinds.usual import CLASS_WEIGHT, COUNT, FLAG, LABELS, NONNEGATIVE, POSITIVE, RANDOM_STATE, VERBOSE
from pellucid.neural_network.dense_network import DenseNetwork
from pellucid.neural_network.network.example_rules import ExampleRules, LabeledExampleRules
from pellucid.neural_network.network.given_module import GivenModule, is_module
from pellucid.neural_network.network.network_classifier import NetworkClassifier
from pellucid.neural_network.network.network_regressor import NetworkRegressor
from pellucid.neural_network.network_kinds import ARCHITECTURE, AUGMENTATION, WEIGHTS
from pellucid.neural_network.training.recipe import PRECISIONS
from pellucid.proofs.training_data import TrainingData


def _is_method(value: Any) -> bool:
    return callable(value) or (hasattr(value, "step") and hasattr(value, "start"))


PARAMETERS: dict[str, Kind] = {
    "module": Nothing()
    | ARCHITECTURE
    | Live("a module of torch, or a function that makes one", lambda value: is_module(value) or callable(value)),
    "epochs": Whole(low=1),
    "batch_size": Whole(low=1),
    "method": OneOf(("adam", "adamw", "sgd")) | Live("a method, or a function that makes an optimizer", _is_method),
    "learning_rate": POSITIVE | Live("a schedule", callable),
    "weight_decay": NONNEGATIVE,
    "augmentation": Items(AUGMENTATION | Live("a change of a batch", callable)),
    "validation_fraction": Number(low=0, below=1),
    "patience": Nothing() | Whole(low=0),
    "tol": NONNEGATIVE,
    "parameter_groups": Nothing() | Live("a function from a module to groups of its weights", callable),
    "device": Text(),
    "precision": OneOf(PRECISIONS),
    "channels_last": FLAG,
    "compiled": FLAG,
    "deterministic": FLAG,
    "checkpoint": Nothing() | Text() | Live("a path", lambda value: isinstance(value, Path)),
    "warm_start": FLAG,
    "verbose": VERBOSE,
    "random_state": RANDOM_STATE,
}
NETWORK = ARCHITECTURE | Live(
    "a module of torch, which a file that cannot run code does not hold", lambda value: isinstance(value, GivenModule)
)
ATTRIBUTES: dict[str, Kind | Optional] = {
    "architecture_": NETWORK,
    "weights_": WEIGHTS,
    "weights_digest_": Text(),
    "objective_": Real(),
    "gradient_norm_": Real(),
    "n_iter_": COUNT,
    "validation_rows_": Optional(Numbers((None,), WHOLES, low=0)),
    "best_validation_score_": Optional(Real()),
}
UNPROVED = {
    "n_iter_": WORK_DONE,
    "validation_rows_": "which rows were held out; the claim 'best epoch' scores those",
    "best_validation_score_": "found again up to rows that rounding decides, by the claim 'best epoch'",
}
VARIANTS: tuple[dict[str, Any], ...] = (
    {"module": DenseNetwork(hidden=(4,), activation="tanh", dropout=0.1), "epochs": 4, "validation_fraction": 0.25},
)


def _has_network(model: NetworkClassifier | NetworkRegressor, _data: TrainingData) -> dict[str, Any]:
    """Return whether the architecture is one: a proof knows numbers, not what the library can build."""
    return {"has_network": NETWORK.fits(model.architecture_)}


def _blocks_for(estimator: Any) -> str:
    """Return how rows in blocks are learned: in turn; those held out must be in memory."""
    return "" if estimator.validation_fraction or estimator.warm_start else IN_TURN


CARDS = (
    MethodCard(
        NetworkClassifier,
        topics=("DNN-7",),
        onnx="pellucid.neural_network.network.network_in_onnx:classifier",
        extra="deep",
        proof="pellucid.neural_network.network.network_proof:prove_network",
        asks=_has_network,
        parameters=PARAMETERS | {"class_weight": CLASS_WEIGHT},
        attributes=ATTRIBUTES | {"classes_": LABELS, "out_activation_": OneOf(("softmax", "logistic"))},
        input=lambda estimator: LabeledExampleRules(class_weight=estimator.class_weight, blocks=_blocks_for(estimator)),
        variants=VARIANTS,
        unproved=UNPROVED,
        trial=Trial(
            settings={"epochs": 15, "learning_rate": 0.1, "batch_size": 40},
            repeating=None,
            needs_library="its module runs on torch",
        ),
        take_for="images, or a network of torch of your own",
        references=(
            (
                "LeCun, Bottou, Bengio and Haffner, Gradient-based learning applied to document "
                "recognition, Proceedings of the IEEE 86 (1998)"
            ),
        ),
    ),
    MethodCard(
        NetworkRegressor,
        topics=("DNN-7",),
        onnx="pellucid.neural_network.network.network_in_onnx:regressor",
        extra="deep",
        proof="pellucid.neural_network.network.network_proof:prove_network",
        asks=_has_network,
        parameters=PARAMETERS,
        attributes=ATTRIBUTES | {"targets_": COUNT},
        input=lambda estimator: ExampleRules(NUMBERS, several_targets=True, blocks=_blocks_for(estimator)),
        variants=VARIANTS,
        unproved=UNPROVED,
        trial=Trial(
            settings={"epochs": 25, "learning_rate": 0.3, "batch_size": 50},
            needs_library="its module runs on torch",
        ),
        take_for="numbers from images, or a network of torch of your own",
        references=(
            (
                "LeCun, Bottou, Bengio and Haffner, Gradient-based learning applied to document "
                "recognition, Proceedings of the IEEE 86 (1998)"
            ),
        ),
    ),
)
