"""K-means from several starts: each falls into its own minimum, and the lowest is the answer."""

from __future__ import annotations

import numpy as np

from pellucid.app.playing.given.given_data import GivenData
from pellucid.app.playing.layers import BarsLayer, Layer
from pellucid.app.playing.performance import Performance
from pellucid.app.playing.play import idea
from pellucid.app.playing.recorded_fit import perform_stages
from pellucid.app.playing.stages import ANSWER, FitStage, Report, fit_in_stages
from pellucid.app.playing.views.cluster_views import nearest
from pellucid.core.kinds.plain import OneOf, Whole
from pellucid.core.types import Array


def perform_kmeans_starts(
    data: GivenData,
    report: Report | None = None,
    *,
    n_clusters: int = 3,
    n_starts: int = 8,
    init: str = "random",
    random_state: int = 0,
) -> Performance:
    """Run k-means from several starts.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters.
    n_starts : int, default=8
        Number of starts, of which the best wins.
    init : {"random", "k-means++"}, default="random"
        How a start is drawn.
    random_state : int, default=0
        Seed of the first start; the others count on.
    """
    from pellucid.cluster import KMeans

    X = np.asarray(data.X, dtype=float)
    stages: list[FitStage] = []
    ends: list[FitStage] = []
    for start in range(n_starts):
        model = KMeans(n_clusters, init=init, n_init=1, random_state=random_state + start)
        _, own = fit_in_stages(model, X)
        for k, stage in enumerate(own):
            inertia = inertia_of(X, stage.model.cluster_centers_)
            known = {"measured": {"start": start + 1, "inertia": inertia}, "ended": [end.known for end in ends]}
            stages.append(FitStage(f"start {start + 1}, iteration {k + 1}", stage.model, None, known))
        ends.append(stages[-1])
        if report is not None:
            report(start + 1, f"start {start + 1}", 0.0)
    best = min(ends, key=lambda stage: stage.known["measured"]["inertia"])
    stages.append(FitStage(ANSWER, best.model, None, {**best.known, "ended": [end.known for end in ends]}))
    settings = f"{n_clusters}, init={init!r}, n_init=1"
    return perform_stages(
        stages,
        data,
        title="Starts of k-means",
        python=(
            "from pellucid.app.playing import read_data\nfrom pellucid.cluster import KMeans\n\n"
            f"{data.loading}\n"
            f"models = [KMeans({settings}, random_state={random_state} + start) for start in range({n_starts})]\n"
            "fits = [model.fit(data.X) for model in models]\n"
            "for start, model in enumerate(fits, start=1):\n    print(start, model.inertia_)\n"
            "print(min(fits, key=lambda model: model.inertia_).certificate_)\n"
        ),
        extra=lambda stage: _bars(stage, n_starts),
    )


def inertia_of(X: Array, centers: Array) -> float:
    """Return the sum of squared distances to the nearest centers."""
    return float(((X - centers[nearest(X, centers)]) ** 2).sum())


def _bars(stage: FitStage, n_starts: int) -> list[Layer]:
    """Return where each start has ended so far, the lowest in another color."""
    ended = [known["measured"]["inertia"] for known in stage.known["ended"]]
    values = [*ended, *[np.nan] * (n_starts - len(ended))]
    lowest = [int(np.isfinite(value) and value == min(ended)) for value in values]
    names = [f"start {k + 1}" for k in range(n_starts)]
    return [BarsLayer(names, values, lowest, title="inertia at the end of each start; the lowest wins")]


KMEANS_STARTS = idea(
    "k-means-starts",
    "Starts of k-means",
    perform_kmeans_starts,
    {
        "n_clusters": Whole(low=1, high=20),
        "n_starts": Whole(low=1, high=20),
        "init": OneOf(("random", "k-means++")),
        "random_state": Whole(low=0, high=2**31),
    },
    first={"set": "blobs"},
)
