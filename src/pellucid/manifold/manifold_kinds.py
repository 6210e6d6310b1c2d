"""Kinds of parameters and attributes that several maps have."""

from __future__ import annotations

from pellucid.kinds.arrays import FLOATS, Numbers
from pellucid.kinds.collections import PLAIN, Lookup
from pellucid.kinds.plain import Kind, Live, Nothing, Optional, Text, Whole

WIDE = ("float64",)
COMPONENTS = Whole(low=1)
METRIC: dict[str, Kind] = {
    "metric": Text() | Live("a function of two rows", lambda value: callable(value) or hasattr(value, "pairwise")),
    "metric_params": Nothing() | Lookup(PLAIN) | Live("a dict", lambda value: isinstance(value, dict)),
}
ROWS = Optional(Numbers(("n_rows", "n_features"), FLOATS))
PLACES = Numbers(("n_rows", "n_components"), WIDE)
TABLE = Numbers(("n_rows", "n_rows"), WIDE, low=0)
