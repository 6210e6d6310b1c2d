"""fine_tune: which stages of a network learn, and how fast each does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import nn

from pellucid.core.checks import check_positive, is_number
from pellucid.vision.models.image_network import stages


def fine_tune(module: nn.Module, rates: Sequence[float] | Mapping[str, float]) -> list[dict[str, Any]]:
    """Freeze all stages but those with a learning rate, and return groups of weights for an optimizer.

    A frozen stage of a network of the zoo stays in test mode when the rest trains: its batch statistics are kept.

    Parameters
    ----------
    module : torch module
        Its stages are those of ``pellucid.vision.models.stages``; they are frozen and freed in place.
    rates : sequence of float, or dict from name of stage to float
        Learning rates of the last stages, the head's last: ``(1e-4, 1e-3)`` trains the last two; ``()`` freezes all.

    Returns
    -------
    list of dict
        ``{"params": [...], "lr": ...}`` for each stage that learns, as torch's optimizers take them.

    Examples
    --------
    >>> from pellucid.vision.models import LeNet5
    >>> module = LeNet5().build()
    >>> [(len(group["params"]), group["lr"]) for group in fine_tune(module, (1e-4, 1e-3))]
    [(2, 0.0001), (2, 0.001)]
    >>> [name for name, weight in module.named_parameters() if weight.requires_grad]
    ['F6.weight', 'F6.bias', 'output.weight', 'output.bias']
    """
    if is_number(rates) or isinstance(rates, str):
        raise TypeError(f"rates must be several, the head's last, or a dict by stage, got {rates!r}. Write (rate,).")
    found = stages(module)
    by_name = dict(rates) if isinstance(rates, Mapping) else _of_the_last(list(found), rates)
    unknown = sorted(set(by_name) - set(found))
    if unknown:
        raise ValueError(f"a stage must be one of {tuple(found)}, got {unknown[0]!r}.")
    for name, rate in by_name.items():
        check_positive("Leave it out to freeze the stage.", **{f"learning rate of {name}": rate})
    for name, stage in found.items():
        stage.requires_grad_(name in by_name)
    module.train(module.training)  # frozen stages go to test mode
    return [{"params": list(found[name].parameters()), "lr": rate} for name, rate in by_name.items()]


def _of_the_last(names: Sequence[str], rates: Sequence[float]) -> dict[str, float]:
    if len(rates) > len(names):
        raise ValueError(f"there must be at most {len(names)} learning rates, one per stage, got {len(rates)}.")
    return dict(zip(names[len(names) - len(rates) :], rates, strict=True))
