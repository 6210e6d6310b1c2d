r"""Batch normalization as part of the layer before it: in test mode both are linear, so that one is enough.

.. math:: \gamma \frac{(W x + b) - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta = (s W) x + s (b - \mu) + \beta,
    \qquad s = \frac{\gamma}{\sqrt{\sigma^2 + \epsilon}}
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator

import torch
from torch import Tensor, fx, nn

LAYERS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
NORMALIZATIONS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


def fuse(module: nn.Module) -> nn.Module:
    """Return a copy in test mode that gives the same answers up to rounding, with fewer normalizations.

    A normalization disappears into a linear layer or convolution whose output goes there and nowhere else. One that
    keeps no running statistics, or stands in front of the layer, remains. The copy is for prediction: it has not
    the weights of its architecture, and cannot be saved.

    Parameters
    ----------
    module : torch module
        It must run the same layers for every input; it stays as it is.

    Examples
    --------
    >>> fuse(nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU()))
    Sequential(
      (0): Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1))
      (1): Identity()
      (2): ReLU()
    )
    """
    if not isinstance(module, nn.Module):
        raise TypeError(f"module must be a torch module, such as module_ of a network, got {type(module).__name__}.")
    fused = copy.deepcopy(module).eval()
    for layer_name, norm_name in list(_normalized_layers(fused)) if _has_normalization(fused) else []:
        _absorb(fused.get_submodule(layer_name), fused.get_submodule(norm_name))  # type: ignore[arg-type]  # by the search
        fused.set_submodule(norm_name, nn.Identity())
    return fused


def _absorb(layer: nn.Linear | nn.Conv2d, norm: nn.BatchNorm2d) -> None:
    """Change weight and bias of the layer so that it does the work of the normalization too."""
    mean, variance, eps = _float64(norm.running_mean), _float64(norm.running_var), norm.eps
    scale = torch.rsqrt(variance + eps) * (1.0 if norm.weight is None else _float64(norm.weight))
    bias = (0.0 if layer.bias is None else _float64(layer.bias)) - mean
    shift = bias * scale + (0.0 if norm.bias is None else _float64(norm.bias))
    weight = layer.weight.detach()
    per_output = scale.reshape(-1, *(1 for _ in weight.shape[1:]))
    layer.weight = nn.Parameter((weight.double() * per_output).to(weight.dtype))
    layer.bias = nn.Parameter(shift.to(weight.dtype))


def _float64(values: Tensor | None) -> Tensor:
    assert values is not None  # the search has looked
    return values.detach().double()


def _normalized_layers(module: nn.Module) -> Iterator[tuple[str, str]]:
    """Yield the names of each layer and the normalization that alone takes its output."""
    try:
        graph = _Tracer().trace(module)
    except (fx.proxy.TraceError, TypeError) as error:
        raise ValueError(f"a module to fuse must run the same layers for every input: {error}") from error
    uses = Counter(node.target for node in graph.nodes if node.op == "call_module")
    for node in graph.nodes:
        before = node.args[0] if node.op == "call_module" and node.args else None
        if not isinstance(before, fx.Node) or before.op != "call_module" or len(before.users) > 1:
            continue
        names = str(before.target), str(node.target)
        layer, norm = map(module.get_submodule, names)
        once = uses[before.target] == uses[node.target] == 1
        if once and isinstance(layer, LAYERS) and isinstance(norm, NORMALIZATIONS) and norm.track_running_stats:
            yield names


def _has_normalization(module: nn.Module) -> bool:
    return any(isinstance(layer, NORMALIZATIONS) for layer in module.modules())


class _Tracer(fx.Tracer):
    """Follows values through modules down to those without normalizations inside."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Return whether to look no further into a module."""
        return isinstance(m, NORMALIZATIONS) or not _has_normalization(m)
