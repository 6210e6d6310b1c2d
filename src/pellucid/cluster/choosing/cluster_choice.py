"""ClusterChoice: what every number of clusters is worth, and which one is recommended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pellucid.core.types import Array

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


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
        from pellucid.drawing.cluster_choice_plot import plot_cluster_choice

        return plot_cluster_choice(self, figure)

    def __repr__(self) -> str:
        return f"ClusterChoice: k = {self.k} of {self.ks[0]} to {self.ks[-1]}. {self.reason}"
