"""A network layer by layer: what comes out, how many weights, how many multiplications."""

from __future__ import annotations

from typing import Any

import pandas as pd
import torch
from torch import Tensor, nn

from pellucid.neural_network.architecture import Architecture
from pellucid.neural_network.modules.network_weights import empty_module
from pellucid.vision.models.lenet import PartlyConnected

CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, PartlyConnected)
TRANSPOSED = (nn.ConvTranspose1d, nn.ConvTranspose2d)


def layer_table(architecture: Architecture, shape: tuple[int, ...]) -> pd.DataFrame:
    """Return one row per layer in the order in which they work, and a last row with the sums.

    Nothing is computed and no memory taken: only shapes go through the network.

    Parameters
    ----------
    architecture : Architecture
        The network.
    shape : tuple of int
        Of one example, such as (3, 224, 224).

    Examples
    --------
    >>> from pellucid.vision.models import LeNet5
    >>> layer_table(LeNet5(), (1, 32, 32)).loc[["C1", "S2", "C3"], ["output", "weights", "multiply_adds"]]
               output  weights  multiply_adds
    C1    6 x 28 x 28      156         117600
    S2    6 x 14 x 14        0              0
    C3   16 x 10 x 10     2416         240000
    """
    if not isinstance(architecture, Architecture):
        raise TypeError(f"architecture must be one such as LeNet5(), got {type(architecture).__name__}.")
    module = empty_module(architecture).eval()
    rows: list[dict[str, Any]] = []

    def note(name: str, layer: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        rows.append(
            {
                "layer": name,
                "kind": type(layer).__name__,
                "output": " x ".join(map(str, output.shape[1:])),
                "weights": sum(weight.numel() for weight in layer.parameters()),
                "multiply_adds": multiply_adds(layer, inputs[0], output),
            }
        )

    for name, layer in module.named_modules():
        if not any(True for _ in layer.children()):
            layer.register_forward_hook(lambda layer, inputs, output, name=name: note(name, layer, inputs, output))
    try:
        scores = module(torch.empty(1, *shape, device="meta"))
    except RuntimeError as error:
        raise ValueError(f"shape must be one that {architecture} takes, got {shape}: {error}") from error
    found = pd.DataFrame(rows).set_index("layer").rename_axis(None)
    found.loc["total"] = {
        "kind": type(architecture).__name__,
        "output": " x ".join(map(str, scores.shape[1:])),
        "weights": sum(weight.numel() for weight in module.parameters()),
        "multiply_adds": int(found["multiply_adds"].sum()),
    }
    return found


def multiply_adds(layer: nn.Module, given: Tensor, output: Tensor) -> int:
    """Return how often a layer multiplies a weight by a value, for one example; 0 for layers without products.

    A convolution uses each weight once for every pixel of its output, a transposed one of its input.
    """
    weight = getattr(layer, "weight", None)
    if isinstance(layer, CONVOLUTIONS) and weight is not None:
        return weight.numel() * output[0, 0].numel()
    if isinstance(layer, TRANSPOSED):
        return layer.weight.numel() * given[0, 0].numel()
    if isinstance(layer, nn.Linear):
        return layer.weight.numel() * (output[0].numel() // layer.out_features)
    return 0
