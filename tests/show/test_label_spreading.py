from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pellucid.plots.drawing.style import spread


def test_labels_that_do_not_overlap_stay():
    assert spread([0.9, 0.1, 0.5], 0.1) == [0.9, 0.1, 0.5]


def test_labels_at_one_height_are_centered_on_it():
    assert spread([5.0, 5.0], 2.0) == [4.0, 6.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_labels_never_overlap_and_keep_their_order(heights):
    placed = spread(heights, 0.05)
    order = sorted(range(len(heights)), key=heights.__getitem__)
    assert (np.diff([placed[i] for i in order]) >= 0.05 - 1e-9).all()
