"""Tensors on the processor, with scikit-learn's dispatch on; on a card where PELLUCID_DEVICE names one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import sklearn

torch = pytest.importorskip("torch")

DEVICE = os.environ.get("PELLUCID_DEVICE", "cpu")


def _refuse(*_: Any) -> None:
    raise TypeError("as on a card: a tensor becomes an array of NumPy only where somebody asks for it")


@pytest.fixture(autouse=True)
def dispatch(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let arrays on the processor be worked on as tensors."""
    if DEVICE != "cpu" and not torch.cuda.is_available():
        pytest.skip(f"there is no {DEVICE} here")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    monkeypatch.setattr(torch.Tensor, "__array__", _refuse)
    with sklearn.config_context(array_api_dispatch=True):
        yield


@pytest.fixture
def there() -> Callable[[Any], Any]:
    """Return what makes a tensor on the device of an array."""
    return lambda part: torch.as_tensor(np.asarray(part), device=DEVICE)
