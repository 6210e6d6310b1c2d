"""A gallery of pages: ``python -m pellucid.app.playing.gallery build/gallery`` exports them, and an index of cards."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from pellucid.app.playing.export import page_with
from pellucid.app.playing.given.given_data import read_data
from pellucid.app.playing.plays import find_play
from pellucid.app.playing.recording import Recording
from pellucid.app.playing.thumbnail import thumbnail
from pellucid.core.atomic import write_whole
from pellucid.core.checks import find_name
from pellucid.core.watching import tracked

ROSENBROCK = {"formula": "(1 - x)**2 + 100*(y - x**2)**2", "start": [-1.2, 1.0]}
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 1rem }
body { background: #fdfdfb; color: #1c1c1e; overflow-wrap: anywhere }
ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr)); gap: 1rem }
ul { list-style: none; padding: 0 }
a { display: block; height: 100%; color: inherit; text-decoration: none; border: 1px solid #8886 }
a { border-radius: 0.5rem }
a:hover, a:focus-visible { outline: 3px solid #0072b2 }
svg { display: block; width: 100%; border-radius: 0.5rem }
b, span { display: block; padding: 0.3rem 0.7rem 0 }
span { padding-bottom: 0.6rem; font-size: 0.9rem; opacity: 0.8 }
@media (prefers-color-scheme: dark) { body { background: #16181c; color: #e6e6e3 } }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


@dataclass(frozen=True)
class Exhibit:
    """One page: a play, its data if they are not those it begins with, its parameters, and what there is to see."""

    play: str
    words: str
    data: Mapping[str, Any] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    frame: int = -1
    """The frame on the card."""
    panels: bool = False
    """Whether the card shows the panels, not what stands on the axes."""

    def record(self) -> Recording:
        """Play it."""
        play = find_play(self.play)
        return play.record(read_data(self.data or play.first), self.parameters)


EXHIBITS: dict[str, Exhibit] = {
    "gradient_descent": Exhibit(
        "gradient-descent", "Down a bent valley, step by step.", ROSENBROCK, {"max_iter": 20_000}
    ),
    "least_squares": Exhibit("LinearRegression", "A line, its residuals, and the band of its predictions."),
    "lasso_path": Exhibit("lasso-path", "Coefficients leave zero one by one as the penalty falls.", frame=30),
    "logistic_regression": Exhibit("LogisticRegression", "The boundary turns until the loss is least."),
    "perceptron": Exhibit("Perceptron", "Each mistake moves the line.", parameters={"max_iter": 30}),
    "discriminant_analysis": Exhibit(
        "LinearDiscriminantAnalysis",
        "Classes as Gaussian clouds of one shape.",
        {"set": "iris", "columns": ["petal_length", "petal_width"]},
        {"store_covariance": True, "solver": "lsqr"},
    ),
    "nearest_neighbors": Exhibit(
        "KNeighborsClassifier", "The vote of the five nearest rows.", parameters={"n_neighbors": 5}
    ),
    "kd_tree": Exhibit("kd-tree", "Boxes that are too far are never opened."),
    "naive_bayes": Exhibit(
        "GaussianNB", "Ellipses along the axes.", {"set": "iris", "columns": ["petal_length", "petal_width"]}
    ),
    "support_vectors": Exhibit(
        "SVC", "Two multipliers move at a time, and the margins with them.", parameters={"C": 2.0}
    ),
    "pruning": Exhibit("pruning", "The weakest link of a tree is cut, again and again.", frame=2),
    "adaboost": Exhibit("AdaBoostClassifier", "Rows that are missed grow.", parameters={"n_estimators": 20}),
    "random_forest": Exhibit("RandomForestClassifier", "Trees vote.", parameters={"n_estimators": 30}),
    "gradient_boosting": Exhibit(
        "HistGradientBoostingRegressor",
        "Each tree corrects those before it.",
        {"set": "wave"},
        {"max_iter": 60, "min_samples_leaf": 5},
    ),
    "kmeans_starts": Exhibit("k-means-starts", "Eight starts, and not all end in the same place."),
    "merges": Exhibit(
        "AgglomerativeClustering", "The two nearest clusters merge, until three are left.", parameters={"n_clusters": 3}
    ),
    "gaussian_mixture": Exhibit("GaussianMixture", "Ellipses that share the rows.", parameters={"n_components": 3}),
    "principal_components": Exhibit("PCA", "Four columns seen along two directions.", parameters={"n_components": 2}),
    "kernel_pca": Exhibit(
        "KernelPCA",
        "The inner ring gathers in the middle.",
        {"set": "circles"},
        {"n_components": 2, "kernel": "rbf", "gamma": 15.0},
    ),
    "parts_of_digits": Exhibit(
        "NMF",
        "Parts of which written digits are sums.",
        {"set": "digits"},
        {"n_components": 9, "max_iter": 100},
        panels=True,
    ),
    "swiss_roll": Exhibit("Isomap", "A roll laid flat by ways along its neighbors."),
    "network": Exhibit(
        "MLPClassifier",
        "Hidden units, each a bend, and the weights between them.",
        None,
        {"hidden_layer_sizes": 8, "max_iter": 400, "learning_rate_init": 0.1, "activation": "tanh"},
    ),
    "convolution": Exhibit("convolution", "A window, a kernel, their products, one sum."),
    "bias_and_variance": Exhibit("bias-and-variance", "Stiff fits miss, loose fits scatter.", frame=6),
    "roc": Exhibit("roc", "The threshold moves, and with it what is right and wrong.", frame=20),
    "computation_graph": Exhibit("computation-graph", "Values go forward, gradients come back."),
    "restoration": Exhibit("restoration", "Noise is smoothed away, and edges stay.", frame=20),
}
"""Name of the page -> what is on it."""


def build_gallery(
    folder: str | os.PathLike[str], names: Sequence[str] | None = None, *, progress: bool = False
) -> None:
    """Export pages and an index of cards into a folder.

    Parameters
    ----------
    folder : path
        It is made if it is not there.
    names : sequence of str, default=None
        Pages to export, by their names in ``EXHIBITS``; None exports all.
    progress : bool, default=False
        Whether to show a progress bar.
    """
    chosen = [find_name(name, EXHIBITS, what="page") for name in (EXHIBITS if names is None else names)]
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    cards = []
    for name in tracked(chosen, "pages", show=progress):
        exhibit = EXHIBITS[name]
        recording = exhibit.record()
        write_whole(target / f"{name}.html", page_with(recording).encode())
        cards.append(_card(name, exhibit, recording))
    write_whole(target / "index.html", _index(cards).encode())


def _card(name: str, exhibit: Exhibit, recording: Recording) -> str:
    picture = thumbnail(recording, min(exhibit.frame, len(recording.frames) - 1), panels=exhibit.panels)
    words = f"<b>{escape(recording.title)}</b><span>{escape(exhibit.words)}</span>"
    return f'<li><a href="{name}.html">{picture}{words}</a></li>'


def _index(cards: Sequence[str]) -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Pellucid: a gallery</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<style>{STYLE}</style></head><body><h1>See it move</h1>"
        "<p>Each page plays what a fit really did, step by step, with its certificate. "
        "It is one file, and needs neither a server nor a network.</p>"
        f"<ul>{''.join(cards)}</ul></body></html>\n"
    )


if __name__ == "__main__":
    build_gallery(sys.argv[1] if len(sys.argv) > 1 else "build/gallery", sys.argv[2:] or None, progress=True)
