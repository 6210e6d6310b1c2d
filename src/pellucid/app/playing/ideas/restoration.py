"""A noisy image, restored by total variation: the more weight, the fewer and the sharper its edges."""

from __future__ import annotations

import numpy as np

from pellucid.app.playing.given.given_data import GivenData
from pellucid.app.playing.layers import image
from pellucid.app.playing.performance import Performance
from pellucid.app.playing.play import idea
from pellucid.app.playing.recording import Frame, Recording
from pellucid.app.playing.stages import ANSWER, Report, shown_not_warned
from pellucid.app.playing.telling import told_columns, worst_claims
from pellucid.core.kinds.plain import Number, Whole

MOST_STEPS = 50_000
"""Of each solution: a small image takes many, and each is quick."""
LEAST, MOST = 0.05, 10.0
"""Weights that are tried, in units of the noise."""


def perform_restoration(
    data: GivenData, report: Report | None = None, *, noise: float = 0.1, n_weights: int = 30, random_state: int = 0
) -> Performance:
    """Add noise to an image, and take it away again with more and more weight.

    Parameters
    ----------
    noise : float, default=0.1
        Standard deviation of the noise; black is 0 and white is 1.
    n_weights : int, default=30
        Number of weights of the total variation that are tried.
    random_state : int, default=0
        Seed of the noise.
    """
    from pellucid.vision.restoration import TotalVariation, psnr, restore

    clean = np.asarray(data.image, dtype=float)
    noisy = clean + noise * np.random.default_rng(random_state).standard_normal(clean.shape)
    weights = noise * np.geomspace(LEAST, MOST, n_weights)
    with shown_not_warned():
        found = []
        for k, weight in enumerate(weights.tolist()):
            method = TotalVariation(weight=weight, max_iter=MOST_STEPS)
            found.append(restore(noisy, sigma=noise, method=method, peak=1.0, estimate_psnr=False))
            if report is not None:
                report(k + 1, f"weight {weight:.3g}", 0.0)
        chosen = restore(noisy, sigma=noise, method=TotalVariation(max_iter=MOST_STEPS), peak=1.0, estimate_psnr=False)
    best = float(chosen.chosen[0]["weight"])
    labels = [*(f"weight {weight:.3g}" for weight in weights), f"{ANSWER}: weight {best:.3g}"]
    every = [*found, chosen]
    frames = tuple(
        Frame(
            label,
            (
                image(noisy, title=f"measured: {psnr(clean, noisy, peak=1.0):.1f} dB"),
                image(one.image, title=f"restored: {psnr(clean, one.image, peak=1.0):.1f} dB"),
                image(0.5 + (noisy - one.image), title="what was taken away (gray is nothing)"),
                image(clean, title="the clean image, for comparison"),
            ),
            k,
        )
        for k, (label, one) in enumerate(zip(labels, every, strict=True))
    )
    columns = {
        "iteration": np.arange(1, len(every) + 1),
        "weight": [*weights, best],
        "PSNR": [psnr(clean, one.image, peak=1.0) for one in every],
    }
    recording = Recording(
        title=f"Restoration of {data.name} by total variation",
        method="TotalVariation",
        parameters={"noise": str(noise), "random_state": str(random_state)},
        python=(
            "import numpy as np\n\nfrom pellucid.app.playing import read_data\n"
            "from pellucid.vision.restoration import TotalVariation, psnr, restore\n\n"
            f"{data.loading}\nclean = data.image\n"
            f"noisy = clean + {noise} * np.random.default_rng({random_state}).standard_normal(clean.shape)\n"
            f"found = restore(noisy, sigma={noise}, method=TotalVariation(), peak=1.0)\n"
            "print(psnr(clean, noisy, peak=1.0), psnr(clean, found.image, peak=1.0))\nprint(found.certificate)\n"
        ),
        data={"name": data.name, "columns": [], "rows": len(clean), "classes": None},
        axes={axis: {"label": "", "range": [0, 1]} for axis in "xy"} | {"equal": True},
        layers=(),
        frames=frames,
        trace=told_columns(columns),
        certificate=worst_claims([one.certificate for one in every]),
    )
    return Performance(recording)


RESTORATION = idea(
    "restoration",
    "Restoration of an image",
    perform_restoration,
    {
        "noise": Number(above=0, high=1),
        "n_weights": Whole(low=2, high=100),
        "random_state": Whole(low=0, high=2**32 - 1),
    },
    first={"image": "disk"},
    data="image",
)
