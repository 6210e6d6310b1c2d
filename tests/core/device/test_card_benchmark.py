"""The lines of ``benchmarks card`` run, on small data, and no answer of ours is worse."""

from __future__ import annotations

import pytest
from benchmarks import card_distances
from benchmarks.card import _measured

from tests.core.device.conftest import DEVICE

torch = pytest.importorskip("torch")


@pytest.mark.filterwarnings("ignore::pellucid.UncertifiedWarning")  # twenty rounds, not as many as it takes
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("row", card_distances.card_rows(1e-4), ids=lambda row: row.name)
def test_lines_about_distances(row):
    worse = float(_measured(row, torch.device(DEVICE))[-1])
    assert worse < (0.1 if "start" in row.name else 1e-4)  # rows are drawn otherwise there
