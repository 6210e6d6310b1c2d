"""Tests of the notes draw from the ``rng`` of their file: each begins anew, whatever ran before it."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def same_numbers(request):
    """Give the file of a test its random numbers from their beginning."""
    if hasattr(request.module, "rng"):
        request.module.rng = np.random.default_rng(0)
