"""What the parameters of estimators that see may be, and how they stand in a file. This file loads without torch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pellucid.core.files.schema import Schema
from pellucid.core.kinds.collections import Items
from pellucid.core.kinds.plain import Kind, Live, Nothing, OneOf, Optional, Real, Text, storable
from pellucid.core.kinds.records import ConfiguredByName
from pellucid.core.kinds.usual import COUNT, EVIDENCE, LABELS, POSITIVE
from pellucid.neural_network.network.network_card import PARAMETERS
from pellucid.neural_network.network_kinds import ARCHITECTURE, WEIGHTS

SCENE_AUGMENTATION = ConfiguredByName(
    "augmentation",
    dict.fromkeys(("ColorShift", "SceneFlip", "SceneScale"), "pellucid.vision.scene_augmentation"),
)


AS_OTHER_NETWORKS = (
    *("epochs", "batch_size", "method", "learning_rate", "weight_decay", "validation_fraction", "patience", "tol"),
    *("parameter_groups", "device", "precision", "channels_last", "deterministic", "checkpoint", "verbose"),
    "random_state",
)
"""Parameters that NetworkClassifier has, too."""

TRAINING: Mapping[str, Kind] = {
    **{name: PARAMETERS[name] for name in AS_OTHER_NETWORKS},
    "schedule": OneOf(("cosine", "constant")),
    "clip_norm": Nothing() | POSITIVE,
    "augmentation": Items(SCENE_AUGMENTATION | Live("a change of a scene", callable)),
    "initial_weights": Nothing() | Text() | Live("a path", lambda value: isinstance(value, Path)),
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
