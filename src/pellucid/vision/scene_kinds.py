"""What the parameters of estimators that see may be, and how they stand in a file. This file loads without torch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pellucid.core.files.schema import Schema
from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import Kind, Live, Nothing, Number, OneOf, Optional, Real, Text, Whole, storable
from pellucid.core.kinds.records import ConfiguredByName
from pellucid.core.kinds.usual import COUNT, EVIDENCE, FLAG, LABELS, NONNEGATIVE, POSITIVE, RANDOM_STATE, VERBOSE
from pellucid.neural_network.network_kinds import ARCHITECTURE, WEIGHTS
from pellucid.neural_network.training.recipe import PRECISIONS

SCENE_AUGMENTATION = ConfiguredByName(
    "augmentation",
    dict.fromkeys(("ColorShift", "SceneFlip", "SceneScale"), "pellucid.vision.scene_augmentation"),
)


def _is_method(value: Any) -> bool:
    return callable(value) or (hasattr(value, "step") and hasattr(value, "start"))


TRAINING: Mapping[str, Kind] = {
    "epochs": Whole(low=1),
    "batch_size": Whole(low=1),
    "method": OneOf(("adam", "adamw", "sgd")) | Live("a method, or a function that makes an optimizer", _is_method),
    "learning_rate": POSITIVE | Live("a schedule", callable),
    "schedule": OneOf(("cosine", "constant")),
    "weight_decay": NONNEGATIVE,
    "clip_norm": Nothing() | POSITIVE,
    "augmentation": Items(SCENE_AUGMENTATION | Live("a change of a scene", callable)),
    "validation_fraction": Number(low=0, below=1),
    "patience": Nothing() | Whole(low=0),
    "tol": NONNEGATIVE,
    "initial_weights": Nothing() | Text() | Live("a path", lambda value: isinstance(value, Path)),
    "parameter_groups": Nothing() | Live("a function from a module to groups of its weights", callable),
    "device": Text(),
    "precision": OneOf(PRECISIONS),
    "channels_last": FLAG,
    "deterministic": FLAG,
    "checkpoint": Nothing() | Text() | Live("a path", lambda value: isinstance(value, Path)),
    "verbose": VERBOSE,
    "random_state": RANDOM_STATE,
}
"""Parameters that Segmenter and Detector share."""

FITTED: Mapping[str, Kind | Optional] = {
    "classes_": LABELS,
    "architecture_": ARCHITECTURE,
    "weights_": WEIGHTS,
    "weights_digest_": Text(),
    "training_score_": Real(finite=False),
    "n_iter_": COUNT,
    **EVIDENCE,
}


def scene_schema(name: str, module: str, kinds: Mapping[str, Kind], more: Mapping[str, Kind | Optional]) -> Schema:
    """Return what a file may say about an estimator that sees."""
    parameters = {parameter: storable(kind) for parameter, kind in kinds.items()}
    return Schema(name, module, parameters=parameters, attributes={**FITTED, **more})
