"""The confusion matrix as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import confusion_matrix

from pellucid.core.types import Data
from pellucid.drawing.style import INK, PALETTE, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_confusion(y_true: Data, y_pred: Data, ax: Axes | None = None) -> Axes:
    """Draw how often each true class was predicted as each class; shades are shares of the true class.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    from matplotlib.colors import LinearSegmentedColormap

    labels = np.unique(np.concatenate([np.asarray(y_true), np.asarray(y_pred)]))
    counts = confusion_matrix(y_true, y_pred, labels=labels)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ax = tidy_axes(ax)
    ax.imshow(shares, cmap=LinearSegmentedColormap.from_list("house", ["white", PALETTE[0]]), vmin=0.0, vmax=1.0)
    for i, j in np.ndindex(counts.shape):
        text = f"{counts[i, j]:,}\n{shares[i, j]:.0%}" if counts[i, j] else "0"
        ax.text(j, i, text, ha="center", va="center", color="white" if shares[i, j] > 0.6 else INK)
    ax.set_xticks(range(len(labels)), [str(label) for label in labels])
    ax.set_yticks(range(len(labels)), [str(label) for label in labels])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_xlabel("predicted")
    ax.set_ylabel("true")
    return ax
