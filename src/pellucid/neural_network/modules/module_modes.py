"""The modes of a module's layers, kept while someone else uses it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def predicting(module: nn.Module) -> Iterator[None]:
    """Put a module into the mode in which it predicts; afterwards each of its layers is as it was."""
    modes = [(layer, layer.training) for layer in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for layer, mode in modes:
            layer.training = mode
