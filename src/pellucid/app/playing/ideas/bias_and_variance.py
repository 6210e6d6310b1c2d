"""Many fits of polynomials to noisy samples of one curve: how far off they are on average, and how they scatter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures

from pellucid.app.playing.given.given_data import GivenData
from pellucid.app.playing.layers import BandLayer, BarsLayer, Layer, PointsLayer, PolylineLayer
from pellucid.app.playing.performance import Performance
from pellucid.app.playing.play import idea
from pellucid.app.playing.recording import Frame, Recording
from pellucid.app.playing.stages import Report, shown_not_warned
from pellucid.app.playing.telling import told_columns, worst_claims
from pellucid.app.playing.views.scene import range_around
from pellucid.core.kinds.plain import Number, Whole
from pellucid.core.types import Array

PLACES = 60
"""Places where curves are drawn and errors split."""
SHOWN_FITS = 20
LOW, HIGH = 0.0, 1.0


def perform_bias_and_variance(
    data: GivenData,
    report: Report | None = None,
    *,
    max_degree: int = 9,
    n_rows: int = 20,
    noise: float = 0.3,
    n_fits: int = 100,
    random_state: int = 0,
) -> Performance:
    """Fit polynomials of rising degree to many samples.

    Parameters
    ----------
    max_degree : int, default=9
        The largest degree.
    n_rows : int, default=20
        Rows of a sample, evenly between 0 and 1.
    noise : float, default=0.3
        Standard deviation of the noise.
    n_fits : int, default=100
        Samples, each of which is fitted.
    random_state : int, default=0
        Seed of the samples.
    """
    from pellucid.linear_model import LinearRegression
    from pellucid.model_selection import bias_variance_simulation

    truth, name = _curve_of(str(data.formula))
    places, rows = np.linspace(LOW, HIGH, PLACES)[:, np.newaxis], np.linspace(LOW, HIGH, n_rows)[:, np.newaxis]

    def draw(random: np.random.Generator) -> tuple[Array, Array]:
        return rows, truth(rows) + noise * random.standard_normal(n_rows)

    splits = []
    with shown_not_warned():
        for degree in range(max_degree + 1):
            scaled = make_pipeline(MinMaxScaler((-1, 1)), PolynomialFeatures(degree), LinearRegression())
            splits.append(
                bias_variance_simulation(
                    scaled, draw, places, truth, noise_variance=noise**2, n_repeats=n_fits, random_state=random_state
                )
            )
            if report is not None:
                report(degree + 1, f"degree {degree}", 0.0)
    x, right = places[:, 0], truth(places)
    sample = draw(np.random.default_rng(random_state))
    columns: dict[str, Any] = {
        "iteration": np.arange(1, max_degree + 2),
        "degree": np.arange(max_degree + 1),
        "bias²": [split.bias for split in splits],
        "variance": [split.variance for split in splits],
        "error": [split.error for split in splits],
    }
    frames = tuple(
        Frame(f"degree {degree}", _layers(x, right, split, noise**2), degree) for degree, split in enumerate(splits)
    )
    room = right.max() - right.min() + 4 * noise
    recording = Recording(
        title=f"Bias and variance of polynomials on {data.formula}",
        method="LinearRegression",
        parameters={"n_rows": str(n_rows), "noise": str(noise), "n_fits": str(n_fits)},
        python=_python(str(data.formula), name, n_rows, noise, n_fits, max_degree, random_state),
        data={"name": str(data.formula), "columns": [name], "rows": n_rows, "classes": None},
        axes={
            "x": {"label": name, "range": list(range_around(x))},
            "y": {"label": "target", "range": [float(right.min() - 0.3 * room), float(right.max() + 0.3 * room)]},
            "equal": False,
        },
        layers=(PointsLayer(sample[0][:, 0], sample[1]),),
        frames=frames,
        trace=told_columns(columns),
        certificate=worst_claims([split.certificate for split in splits]),
    )
    return Performance(recording)


def _layers(x: Array, right: Array, split: Any, noise_variance: float) -> tuple[Layer, ...]:
    curves = np.asarray(split.predictions)
    mean, spread = curves.mean(axis=0), curves.std(axis=0)
    parts = BarsLayer(
        ["noise", "bias²", "variance"],
        [noise_variance, split.bias, split.variance],
        [2, 1, 0],
        title=f"expected squared error {split.error:.3g}",
    )
    return (
        *(PolylineLayer(x, curve, None, width=0.25) for curve in curves[:SHOWN_FITS]),
        BandLayer(x, mean - 2 * spread, mean + 2 * spread, 0),
        PolylineLayer(x, right, 1, width=2, label="truth"),
        PolylineLayer(x, mean, 0, width=2, label="mean of the fits"),
        parts,
    )


def _curve_of(formula: str) -> tuple[Callable[[Any], Array], str]:
    """Return the curve of a formula of one variable, and the variable."""
    from pellucid.optimize.formula import Formula

    read = Formula(formula)
    if len(read.variables) != 1:
        raise ValueError(f"formula must have one variable, got {formula!r}. Try 'sin(2*pi*x)'.")
    value = read.problem().value

    def curve(X: Any) -> Array:
        return np.array([float(value(row)) for row in np.asarray(X, dtype=float)])

    return curve, str(read.variables[0])


def _python(formula: str, name: str, n_rows: int, noise: float, n_fits: int, max_degree: int, random_state: int) -> str:
    return f"""import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures

from pellucid.linear_model import LinearRegression
from pellucid.model_selection import bias_variance_simulation
from pellucid.optimize import Formula

value = Formula({formula!r}).problem().value  # of {name}
rows, places = (np.linspace(0.0, 1.0, n)[:, None] for n in ({n_rows}, {PLACES}))


def truth(X):
    return np.array([float(value(row)) for row in X])


def draw(random):
    return rows, truth(rows) + {noise} * random.standard_normal({n_rows})


for degree in range({max_degree + 1}):
    model = make_pipeline(MinMaxScaler((-1, 1)), PolynomialFeatures(degree), LinearRegression())
    split = bias_variance_simulation(
        model, draw, places, truth, noise_variance={noise}**2, n_repeats={n_fits}, random_state={random_state}
    )
    print(degree, split)
print(split.certificate)
"""


BIAS_AND_VARIANCE = idea(
    "bias-and-variance",
    "Bias and variance",
    perform_bias_and_variance,
    {
        "max_degree": Whole(low=0, high=15),
        "n_rows": Whole(low=4, high=500),
        "noise": Number(low=0, high=100),
        "n_fits": Whole(low=2, high=1000),
        "random_state": Whole(low=0, high=2**32 - 1),
    },
    first={"formula": "sin(2*pi*x)"},
    data="formula",
)
