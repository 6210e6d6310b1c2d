"""The lines of ``benchmarks card`` run, on small data, and no answer of ours is worse."""

from __future__ import annotations

import pytest
from benchmarks import card_distances, card_factors, card_networks
from benchmarks.card import _measured

from tests.core.device.conftest import DEVICE

torch = pytest.importorskip("torch")


@pytest.mark.filterwarnings("ignore::pellucid.UncertifiedWarning")  # twenty rounds, not as many as it takes
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:Array API does not support LU")  # of scikit-learn
@pytest.mark.parametrize(
    "row",
    [row for kind in (card_distances, card_factors, card_networks) for row in kind.card_rows(1e-4)],
    ids=lambda row: row.name,
)
def test_lines_about_distances_factors_and_networks(row):
    worse = float(_measured(row, torch.device(DEVICE))[-1])
    # rows are drawn otherwise there, and nonnegative factors end in another minimum
    assert worse < (0.1 if "start" in row.name or "NMF" in row.name else 1e-4)
