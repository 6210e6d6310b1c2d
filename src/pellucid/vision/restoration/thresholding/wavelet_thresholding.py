"""Thresholds on the coefficients of orthogonal wavelets, one for each band if they are to be found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pellucid.core.checks import check_nonnegative, check_one_of, check_whole
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.vision.restoration.method import RestorationMethod, RestoredPlane
from pellucid.vision.restoration.operators import Operator
from pellucid.vision.restoration.thresholding.dct_thresholding import HARD, JUMPS, UNEVEN

WAVELETS = {"haar": (1, 1), "db": (1, 12), "sym": (2, 12), "coif": (1, 3)}
"""Orthogonal wavelets, and of which orders: the moments of longer filters drown in rounding, and no proof sees them."""


@dataclass(frozen=True)
class WaveletThresholding(RestorationMethod):
    r"""Shrink the wavelet coefficients of an image (Donoho and Johnstone 1995), shifted and back if asked (1995).

    .. math:: x = \frac{1}{K}\sum_{k=1}^{K} S_k' W' \, \eta_t(W S_k y), \qquad
              \eta_t(c) = \operatorname{sign}(c) \max(|c| - t, 0) \ \text{ or }\ c\,[|c| > t]

    :math:`W` is the orthonormal transform of the image on a torus, mirrored until its sides can be halved
    ``levels`` times, and :math:`S_k` shifts it; the coarsest means are not shrunken. With one shift, soft thresholds
    minimize :math:`\frac12\|x - y\|^2 + \sum_i t_i |(Wx)_i|`.

    Parameters
    ----------
    wavelet : str, default="sym4"
        An orthogonal wavelet of PyWavelets: ``haar``, ``db1`` to ``db12``, ``sym2`` to ``sym12``, ``coif1`` to
        ``coif3``.
    threshold : float, tuple of floats, "universal" or None, default=None
        :math:`t`, at least 0, in standard deviations of the noise, for all bands or for each, coarse ones first, in the
        order of PyWavelets; ``universal`` is :math:`\sqrt{2\log n}`. None takes for each band the soft one of least
        estimated error (SureShrink), universal where a band holds little but noise; a hard one is 3.
    kind : {"soft", "hard"}, default="soft"
        Whether what is left is shrunken, too.
    levels : int, default=4
        How often the image is halved, at most; fewer times if its shorter side is below 16 pixels.
    spins : int, default=4
        Shifts along each axis: 1 for none, 16 for all that matter with four levels.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.vision.restoration.operators import Identity
    >>> y = np.array([[5.0, 1.0], [5.0, 1.0]])  # Haar: mean coefficient 6, horizontal difference 4, others 0
    >>> method = WaveletThresholding("haar", 1.0, levels=1, spins=1)
    >>> method.solve(y, Identity(), 1.0, 255.0).image  # the difference is 3 now
    array([[4.5, 1.5],
           [4.5, 1.5]])
    """

    wavelet: str = "sym4"
    threshold: float | tuple[float, ...] | str | None = None
    kind: str = "soft"
    levels: int = 4
    spins: int = 4

    takes: ClassVar[tuple[str, ...]] = ("Identity",)
    color: ClassVar[str] = "opponent"
    leaves: ClassVar[tuple[str, ...]] = ("low_pass",)

    def __post_init__(self) -> None:
        if isinstance(self.threshold, str):
            check_one_of(("universal",), threshold=self.threshold, hint="Or give a number, or None to have it chosen.")
        elif self.threshold is not None:
            for one in self.threshold if isinstance(self.threshold, tuple) else (self.threshold,):
                check_nonnegative(threshold=one, hint="Give None to have it chosen.")
        check_one_of(("soft", "hard"), kind=self.kind)
        check_whole(levels=self.levels, spins=self.spins)
        if self.levels > 12 or self.spins > 64:
            raise ValueError(f"levels and spins must be at most 12 and 64, got {self.levels} and {self.spins}. Take 4.")
        _filter(self.wavelet)

    @property
    def not_smooth(self) -> str:  # type: ignore[override]  # it depends on the kind
        """Why there is no unbiased estimate of the error."""
        return JUMPS if self.kind == "hard" else ""

    def solve(self, y: Array, operator: Operator, sigma: float, peak: float) -> RestoredPlane:
        """Return the answer for one plane."""
        trace, evidence = Trace(), {"low_pass": _filter(self.wavelet)}
        if sigma == 0:
            return RestoredPlane(y.copy(), {} if self.threshold is not None else {"threshold": HARD}, trace, evidence)
        levels = min(self.levels, max(1, math.ceil(math.log2(min(y.shape)))))
        padded = np.pad(y, [(0, -n % 2**levels) for n in y.shape], mode="symmetric") / sigma
        threshold = self._settled(_transformed(padded, self.wavelet, levels)[1], y.size)
        thresholds = threshold if isinstance(threshold, tuple) else (threshold,) * (3 * levels)
        if len(thresholds) != 3 * levels:
            raise ValueError(
                f"threshold must hold one number for each of the {3 * levels} bands, got {len(thresholds)}. "
                "Give one number for all."
            )
        total = np.zeros_like(padded)
        for i in range(self.spins):  # one after the other: on two threads they would hold ten images
            for j in range(self.spins):
                means, bands = _transformed(np.roll(padded, (i, j), (0, 1)), self.wavelet, levels)
                for band, t in zip(bands, thresholds, strict=True):
                    _shrink(band, t, self.kind)
                total += np.roll(_transformed_back(means, bands, self.wavelet), (-i, -j), (0, 1))
        for k, t in enumerate(thresholds, start=1):
            trace.add(iteration=k, threshold=t)
        image = sigma * total[: y.shape[0], : y.shape[1]] / self.spins**2
        chosen: dict[str, Any] = {} if self.threshold is not None else {"threshold": threshold}
        return RestoredPlane(image, chosen, trace, evidence)

    def _settled(self, bands: list[Array], n: int) -> float | tuple[float, ...]:
        """Return the threshold in units of the noise, or one for each band; coefficients are in these units, too."""
        if isinstance(self.threshold, str):
            return max(math.sqrt(2.0 * math.log(n)), 1.0)
        if self.threshold is not None:
            return self.threshold
        return HARD if self.kind == "hard" else tuple(sure_threshold(band) for band in bands)


def sure_threshold(band: Array) -> float:
    r"""Return the soft threshold of least estimated error, for n coefficients in units of the noise.

    It is 0, the universal :math:`\sqrt{2 \log n}`, or the size of a coefficient between them, whichever makes
    :math:`n - 2\,\#\{|c| \le t\} + \sum \min(|c|, t)^2` least; and the universal one in any case where the energy of
    the coefficients tells that all but few are noise (Donoho and Johnstone 1995).

    Examples
    --------
    >>> sure_threshold(np.array([0.5, 8.0, -9.0, 7.0]))  # 4 - 2 + 4 * 0.25 = 3; without a threshold it would be 4
    0.5
    """
    sizes = np.sort(np.abs(band), axis=None)
    n = sizes.size
    largest = max(math.sqrt(2.0 * math.log(n)), 1.0)
    squares = np.square(np.minimum(sizes, 1e100))
    if float(np.mean(squares)) - 1.0 <= max(math.log2(n), 1.0) ** 1.5 / math.sqrt(n):
        return largest
    n_small = int(np.searchsorted(sizes, largest, side="right"))
    tried = np.concatenate([[0.0], sizes[:n_small], [largest]])
    n_below = np.concatenate([[np.searchsorted(sizes, 0.0, side="right")], np.arange(1, n_small + 1), [n_small]])
    energy_below = np.concatenate([[0.0], np.cumsum(squares)])[n_below]
    risks = n - 2.0 * n_below + energy_below + (n - n_below) * tried**2
    return float(tried[np.argmin(risks)])


def _transformed(image: Array, wavelet: str, levels: int) -> tuple[Array, list[Array]]:
    """Return the coarsest means, and the bands of all levels, coarse ones first."""
    import pywt

    bands: list[Array] = []
    for _ in range(levels):
        image, details = pywt.dwt2(image, wavelet, mode="periodization")
        bands = [*details, *bands]
    return image, bands


def _transformed_back(image: Array, bands: list[Array], wavelet: str) -> Array:
    """Undo ``_transformed``."""
    import pywt

    for k in range(0, len(bands), 3):
        image = pywt.idwt2((image, tuple(bands[k : k + 3])), wavelet, mode="periodization")
    return image


def _shrink(band: Array, threshold: float, kind: str) -> None:
    """Threshold a band in place."""
    if kind == "hard":
        band[np.abs(band) <= threshold * UNEVEN] = 0.0
    else:
        band -= np.clip(band, -threshold, threshold)


def _filter(wavelet: str) -> Array:
    """Return the low pass of an orthogonal wavelet, and refuse others."""
    import pywt

    known = ["haar", *(f"{name}{k}" for name, (low, high) in WAVELETS.items() for k in range(low, high + 1))]
    check_one_of([name for name in known if name != "haar1"], wavelet=wavelet, hint="These are orthogonal.")
    return np.array(pywt.Wavelet(wavelet).dec_lo)
