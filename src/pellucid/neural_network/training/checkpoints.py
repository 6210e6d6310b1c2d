"""Checkpoints: a run's whole state after an epoch, in a file that appears whole or not at all and holds no code."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from pellucid.core.atomic import write_whole
from pellucid.core.trace import Trace
from pellucid.neural_network.training.recipe import Patience, TrainingRecipe

KEY = "pellucid checkpoint"


@dataclass(frozen=True)
class Checkpoint:
    """Where a run stood after an epoch."""

    epochs: int
    weights: dict[str, Tensor]
    mover: dict[str, Any]
    trace: Trace
    patience: Patience


def write_checkpoint(path: Path, state: Checkpoint, recipe: TrainingRecipe) -> None:
    """Write the file in place of the last one; a process killed at any moment leaves the one or the other."""
    tensors = {f"weights/{name}": weight for name, weight in state.weights.items()}
    tensors |= {f"mover/{name}": value for name, value in state.mover.items() if isinstance(value, Tensor)}
    tensors |= {f"best/{name}": weight for name, weight in (state.patience.kept or {}).items()}
    document = {
        "recipe": _recipe_text(recipe),
        "epochs": state.epochs,
        "mover": {name: value for name, value in state.mover.items() if not isinstance(value, Tensor)},
        "trace": {name: list(state.trace[name]) for name in state.trace.columns},
        "patience": {name: getattr(state.patience, name) for name in PATIENCE},
    }
    stored = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_whole(path, save(stored, metadata={KEY: json.dumps(document)}))


def find_checkpoint(path: Path, recipe: TrainingRecipe) -> Checkpoint | None:
    """Return what the file holds, if it is there; refuse one of another recipe, and a place where none can be."""
    if not path.parent.is_dir():
        raise ValueError(f"checkpoint must be a file in a folder that is there, got {path}. Make the folder first.")
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            document = json.loads((file.metadata() or {})[KEY])
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118  (no mapping)
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        raise ValueError(f"checkpoint must be a file that a run has written, got {path}. Remove it.") from error
    if document["recipe"] != _recipe_text(recipe):
        raise ValueError(f"checkpoint {path} must be of a run with the same recipe, but it is not. Remove it.")
    patience = Patience(0.0, 0.0)
    for name in PATIENCE:
        setattr(patience, name, document["patience"][name])
    patience.kept = _under(tensors, "best") or None
    mover = {**document["mover"], **_under(tensors, "mover")}
    trace = Trace.from_columns(document["trace"])
    return Checkpoint(document["epochs"], _under(tensors, "weights"), mover, trace, patience)


PATIENCE = ("tol", "most", "best", "best_epoch", "waited")


def _under(tensors: dict[str, Tensor], room: str) -> dict[str, Tensor]:
    return {name.removeprefix(f"{room}/"): tensor for name, tensor in tensors.items() if name.startswith(f"{room}/")}


def _recipe_text(recipe: TrainingRecipe) -> str:
    """Return what a run depends on, but for how long it lasts: more epochs go on from fewer."""
    left_out = {"epochs", "checkpoint"}
    said = {name: getattr(value, "__qualname__", repr(value)) for name, value in vars(recipe).items()}
    return "; ".join(f"{name}={text}" for name, text in said.items() if name not in left_out)
