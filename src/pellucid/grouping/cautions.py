"""What to beware of before anybody relies on clusters."""

from __future__ import annotations

import pandas as pd

from pellucid.cluster.choosing.recommendation import SHAKY, WEAK
from pellucid.grouping.methods import MethodScore
from pellucid.grouping.profiles import Profile
from pellucid.tables.understanding import Columns

FEW_PER_CLUSTER = 10
TINY = 0.01
MANY_GAPS = 0.3


def cautions_on(
    columns: Columns, table: pd.DataFrame, profiles: list[Profile], chosen: MethodScore, n_rows: int
) -> list[str]:
    """Return what to beware of, in sentences."""
    found = []
    if chosen.silhouette == chosen.silhouette and chosen.silhouette < WEAK:
        found.append(
            f"The clusters overlap: the mean silhouette is {chosen.silhouette:.2f}. They cut a cloud into parts, which "
            "may be useful, but they are no groups that stand apart."
        )
    if chosen.stability == chosen.stability and chosen.stability < SHAKY:
        found.append(
            "The clusters do not come back when the rows are drawn again (adjusted Rand index "
            f"{chosen.stability:.2f}): another sample would give others."
        )
    if n_rows < FEW_PER_CLUSTER * len(profiles):
        found.append(f"There are only {n_rows} rows for {len(profiles)} clusters.")
    small = [profile for profile in profiles if profile.share < TINY or profile.n_rows == 1]
    if small:
        named = ", ".join(f"{profile.label} ({profile.n_rows} row{'s' * (profile.n_rows > 1)})" for profile in small)
        found.append(f"Very small clusters may be outliers rather than groups: {named}.")
    gaps = [str(name) for name in columns.kinds if table[name].isna().mean() > MANY_GAPS]
    if gaps:
        found.append(f"Many gaps, taken for the median or for a word of their own, are in {', '.join(gaps)}.")
    left_out = "; ".join(f"{name} ({reason})" for name, reason in columns.left_out.items())
    if left_out:
        found.append(f"Left out: {left_out}.")
    return found
