"""The filter behind an output pixel of a network without biases: which pixels it was averaged from, and how."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import torch

from pellucid.core.types import Array, Data
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.vision.networks import prove_filter
from pellucid.vision.restoration.images import Format
from pellucid.vision.restoration.networks.network_methods import BiasFreeDnCNN
from pellucid.vision.restoration.networks.network_runs import settings_of


@dataclass(frozen=True, eq=False, repr=False)
class PixelFilter:
    """Weights by which the pixels around one were added up to its restored value."""

    weights: Array
    """One for each pixel of the window ``image[rows, columns]``; beyond it all are 0."""
    rows: slice
    columns: slice
    output: float
    certificate: Certificate

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.weights.shape))
        return (
            f"PixelFilter({size}, sum {self.weights.sum():.3f}, output {self.output:.4g}; {self.certificate.verdict})"
        )


def filter_behind(
    method: BiasFreeDnCNN, image: Data, pixel: tuple[int, int], *, peak: float | None = None
) -> PixelFilter:
    r"""Return the row of the Jacobian at an output pixel, which is the linear filter that made it (Mohan et al. 2020).

    Without biases a network of convolutions and ReLUs is linear around each image:
    :math:`f(y)_i = \sum_j \frac{\partial f_i}{\partial y_j}\, y_j` exactly.

    Parameters
    ----------
    method : BiasFreeDnCNN
        The network.
    image : array of shape (height, width)
        The noisy image, gray.
    pixel : tuple of int
        Row and column.
    peak : float, optional
        Largest gray value, as in ``restore``.

    Examples
    --------
    >>> found = filter_behind(BiasFreeDnCNN(), np.full((5, 5), 50.0), (2, 2), peak=255)
    >>> found.weights.shape, bool(np.isclose(np.sum(found.weights * 50.0), found.output)), found.certificate.holds
    ((5, 5), True, True)
    """
    if not isinstance(method, BiasFreeDnCNN):
        raise TypeError(f"method must be a BiasFreeDnCNN, got {type(method).__name__}. With biases no filter is whole.")
    y = np.asarray(image, dtype=np.float64)
    if y.ndim != 2 or not np.isfinite(y).all():
        raise ValueError(f"image must be gray and finite, got shape {y.shape}. Give one channel: image[:, :, 0].")
    if len(pixel) != 2 or not all(0 <= place < n for place, n in zip(pixel, y.shape, strict=True)):
        raise ValueError(f"pixel must be a row and a column of an image of {y.shape}, got {pixel}.")
    scale = Format.of(image, peak).peak
    module = method.module()
    reach = settings_of(module).reach
    rows, columns = (slice(max(0, place - reach), place + reach + 1) for place in pixel)
    window = torch.from_numpy(y[rows, columns] / scale).requires_grad_()
    exact = copy.deepcopy(module).cpu().double()
    output = exact(window[None, None])[0, 0, pixel[0] - rows.start, pixel[1] - columns.start]
    (weights,) = torch.autograd.grad(output, window)
    found, restored = weights.numpy(), scale * float(output.detach())
    certificate = prove_filter(found, y[rows, columns], restored)
    return PixelFilter(found, rows, columns, restored, certificate)
