"""From what the criteria prefer to one number of clusters, and the reason in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.core.types import Array

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


NAMES = {"elbow": "the elbow", "silhouette": "the silhouette", "gap": "the gap statistic", "bic": "BIC"}
WEAK, FAIR, STRONG = 0.25, 0.5, 0.7
"""Mean silhouettes up to which clusters are weak, fair and clear (Kaufman and Rousseeuw, 1990); above, strong."""
STABLE, SHAKY = 0.9, 0.6
"""Agreements under the bootstrap from which clusters are called stable, and below which they are not."""


def recommend(ks: Array, votes: Mapping[str, int | None], silhouettes: Array) -> int:
    """Return the K of most votes; of equally many that of the larger silhouette, then the smaller.

    Silhouette and elbow cannot prefer one cluster. It is recommended if the gap statistic prefers it, and BIC does too
    or no silhouette says that clusters are more than weak.
    """
    if votes["gap"] == 1 and 1 in ks and (votes["bic"] == 1 or _best(silhouettes) < WEAK):
        return 1
    counts = {int(k): sum(vote == k for vote in votes.values()) for k in ks}
    by_k = {int(k): value if np.isfinite(value) else -1.0 for k, value in zip(ks, silhouettes, strict=True)}
    return max(counts, key=lambda k: (counts[k], by_k[k], -k))


def _best(silhouettes: Array) -> float:
    return float(np.nanmax(silhouettes)) if np.isfinite(silhouettes).any() else -1.0


def reason_for(
    k: int, ks: Array, votes: Mapping[str, int | None], silhouettes: Array, stability: Array, spread: Array
) -> str:
    """Return why, in a few sentences: who agrees, who does not, how clear and how stable the clusters are."""
    agree = [NAMES[name] for name, vote in votes.items() if vote == k]
    others = [f"{NAMES[name]} prefers {vote}" for name, vote in votes.items() if vote not in (k, None)]
    silent = [NAMES[name] for name, vote in votes.items() if vote is None]
    place = int(np.flatnonzero(ks == k)[0])
    parts = []
    if k == 1:
        why = f"and no mean silhouette is above {WEAK:g}" if votes["bic"] != 1 else "and BIC prefers one as well"
        parts.append(f"No clusters: the gap statistic sees no more than in rows spread evenly, {why}.")
    elif agree:
        verb = "prefers" if len(agree) == 1 else "prefer"
        parts.append(f"{_joined(agree)} {verb} {k} clusters.")
    parts += [f"{_joined(others)}."] if others else []
    parts += [f"{_joined(silent)} cannot say."] if silent else []
    if k > 1:
        parts.append(_clear(float(silhouettes[place])))
        parts.append(_stable(float(stability[place]), float(spread[place])))
    return " ".join(part[:1].upper() + part[1:] for part in parts if part)


def _clear(silhouette: float) -> str:
    if not np.isfinite(silhouette):
        return ""
    word = (
        "weak" if silhouette < WEAK else "fair" if silhouette < FAIR else "clear" if silhouette < STRONG else "strong"
    )
    return f"The clusters are {word} (mean silhouette {silhouette:.2f})."


def _stable(agreement: float, error: float) -> str:
    if not np.isfinite(agreement):
        return ""
    shown = f"adjusted Rand index {agreement:.2f} ± {error:.2f}"
    if agreement >= STABLE:
        return f"They come back when the rows are drawn again ({shown})."
    if agreement >= SHAKY:
        return f"Most of them come back when the rows are drawn again ({shown})."
    return f"They do not come back when the rows are drawn again ({shown}): do not rely on them."


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


@dataclass(frozen=True, repr=False)
class ClusterChoice:
    """The criteria for every K, what each prefers, and one recommendation with its reason."""

    k: int
    """The number of clusters that is recommended."""
    reason: str
    votes: Mapping[str, int | None]
    """What each criterion prefers: elbow, silhouette, gap, bic; None where it cannot say."""
    ks: Array
    dispersion: Array
    """Sums of squared distances to the means of the clusters."""
    silhouette: Array
    gap: Array
    gap_error: Array
    """Standard error of the gap, the spread over the rows spread evenly included."""
    bic: Array
    stability: Array
    """Mean adjusted Rand index with the clusters of rows drawn again."""
    stability_error: Array
    model: Any
    """The estimator with ``k`` clusters, fitted to all rows."""
    labels: Array
    """Its clusters."""

    def frame(self) -> pd.DataFrame:
        """Return the criteria as a pandas data frame, one row per K."""
        import pandas as pd

        columns = ("dispersion", "silhouette", "gap", "gap_error", "bic", "stability", "stability_error")
        return pd.DataFrame({"k": self.ks, **{name: getattr(self, name) for name in columns}})

    def plot(self, figure: Figure | None = None) -> Figure:
        """Draw the criteria, each with the K it prefers; see :func:`pellucid.plots.plot_cluster_choice`."""
        from pellucid.plots.drawing.cluster_choice_plot import plot_cluster_choice

        return plot_cluster_choice(self, figure)

    def __repr__(self) -> str:
        return f"ClusterChoice: k = {self.k} of {self.ks[0]} to {self.ks[-1]}. {self.reason}"
