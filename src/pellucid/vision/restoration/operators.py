"""What happened to the image: the operators A of the model y = A x + e, as values.

Each applies itself to one plane of an image, knows its adjoint, and where it is diagonal in a basis of cosines or of
complex exponentials, its spectrum there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import fft, sparse
from scipy.signal import fftconvolve

from pellucid.core.checks import check_one_of, check_whole
from pellucid.core.types import Array, Data

BORDERS = ("reflect", "periodic", "valid")
"""How a blur goes on beyond the image: mirrored, from the other side, or not at all, so that the result is smaller."""

SUM_ERROR = 1e-6
"""How far from 1 the sum of a kernel may be: one stored in float32 is as near as that."""


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues of an operator in the orthonormal basis in which it is diagonal."""

    basis: str
    """``cosine`` (mirrored borders) or ``fourier`` (periodic ones)."""
    values: Array

    def coefficients(self, image: Array) -> Array:
        """Return an image in that basis."""
        return cosine_basis(image) if self.basis == "cosine" else fft.fft2(image, norm="ortho")

    def image(self, coefficients: Array) -> Array:
        """Return the image with these coefficients."""
        if self.basis == "cosine":
            return fft.idctn(coefficients, type=2, norm="ortho")
        return fft.ifft2(coefficients, norm="ortho").real

    def roughness(self) -> Array:
        r"""Return the eigenvalues of :math:`D'D`, the squared differences of neighbors, in the same basis."""
        height, width = self.values.shape
        return _roughness(height, self.basis)[:, None] + _roughness(width, self.basis)


def cosine_basis(image: Array) -> Array:
    """Return the coefficients of an image in the orthonormal basis of cosines, which mirrors its borders."""
    return fft.dctn(image, type=2, norm="ortho")


def _roughness(n: int, basis: str) -> Array:
    """Return the eigenvalues of the differences along one axis: 2 less twice the cosine of the frequency."""
    turns = np.arange(n) / (2 * n) if basis == "cosine" else np.arange(n) / n
    return 4.0 * np.sin(np.pi * turns) ** 2


class Operator:
    """A linear map of images; apply, adjoint and spectrum are about one plane."""

    @property
    def name(self) -> str:
        """Name of its class, by which methods say what they can invert."""
        return type(self).__name__

    def restored_shape(self, shape: tuple[int, int]) -> tuple[int, int]:
        """Return the shape of x where y has this one."""
        return shape

    def seen(self, image: Data) -> Data:
        """Return what was measured of an image, all channels: all that it holds."""
        return image

    def apply(self, image: Array) -> Array:
        """Return A x."""
        raise NotImplementedError

    def adjoint(self, measured: Array) -> Array:
        """Return A' y: <A x, y> = <x, A' y> for all x and y."""
        raise NotImplementedError

    def spectrum(self, shape: tuple[int, int]) -> Spectrum | None:
        """Return the eigenvalues for images of this shape, or None where neither basis makes it diagonal."""
        return None


@dataclass(frozen=True)
class Identity(Operator):
    """Nothing but noise: y = x + e.

    Examples
    --------
    >>> Identity().apply(np.array([[1.0, 2.0]]))
    array([[1., 2.]])
    """

    def apply(self, image: Array) -> Array:
        """Return the image."""
        return image

    def adjoint(self, measured: Array) -> Array:
        """Return the image."""
        return measured

    def spectrum(self, shape: tuple[int, int]) -> Spectrum:
        """Return ones: every basis will do, the one that mirrors borders is kindest to images."""
        return Spectrum("cosine", np.ones(shape))


@dataclass(frozen=True, eq=False)
class Mask(Operator):
    """Some pixels were not seen.

    Parameters
    ----------
    missing : array of bool, shape (height, width)
        Where nothing is known. What the image holds there is never looked at.

    Examples
    --------
    >>> Mask([[False, True]]).apply(np.array([[3.0, 5.0]]))
    array([[3., 0.]])
    """

    missing: Data

    def __post_init__(self) -> None:
        missing = np.asarray(self.missing)
        if missing.ndim != 2 or missing.dtype != bool:
            raise ValueError(
                f"missing must be a table of True and False, got {missing.dtype} of shape {missing.shape}. "
                "Compare the mask with 0: mask > 0."
            )
        if missing.size and missing.all():
            raise ValueError("missing must leave some pixels, got a mask that hides all of them. Invert it: ~missing.")
        object.__setattr__(self, "missing", missing)

    def restored_shape(self, shape: tuple[int, int]) -> tuple[int, int]:
        """Return the shape of the mask, which must be that of the image."""
        if shape != self.missing.shape:
            raise ValueError(
                f"mask must have the size of the image, {shape[0]} x {shape[1]}, got "
                f"{self.missing.shape[0]} x {self.missing.shape[1]}. Crop or enlarge it."
            )
        return shape

    def seen(self, image: Data) -> Data:
        """Return the image with zeros where it is missing, whatever stands there."""
        self.restored_shape((image.shape[0], image.shape[1]))
        missing = self.missing.reshape(*self.missing.shape, *[1] * (image.ndim - 2))
        return np.where(missing, image.dtype.type(0), image)

    def apply(self, image: Array) -> Array:
        """Return the image with zeros where it is missing."""
        return np.where(self.missing, 0.0, image)

    def adjoint(self, measured: Array) -> Array:
        """Return the same: a mask is its own adjoint."""
        return self.apply(measured)


@dataclass(frozen=True, eq=False)
class Blur(Operator):
    r"""Convolution with a kernel :math:`k` whose middle is the pixel ``(height // 2, width // 2)`` of it.

    .. math:: (Ax)_i = \sum_j k_j\, x_{i + c - j}

    Parameters
    ----------
    kernel : array of shape (height, width)
        Numbers that sum to 1, so that a constant image stays as it is.
    border : {"reflect", "periodic", "valid"}, default="reflect"
        What stands beyond the image: its mirror image, its other side, or nothing. With "valid" the blurred image is
        smaller by the kernel's size less one.

    Examples
    --------
    >>> Blur(np.full((1, 3), 1 / 3), border="periodic").apply(np.array([[3.0, 0.0, 0.0, 0.0]]))
    array([[1., 1., 0., 1.]])
    """

    kernel: Data
    border: str = "reflect"

    def __post_init__(self) -> None:
        check_one_of(BORDERS, border=self.border)
        object.__setattr__(self, "kernel", checked_kernel(self.kernel))

    @property
    def middle(self) -> tuple[int, int]:
        """Row and column of the kernel that stand on the pixel itself."""
        return self.kernel.shape[0] // 2, self.kernel.shape[1] // 2

    def restored_shape(self, shape: tuple[int, int]) -> tuple[int, int]:
        """Return the same shape, or one larger by what a valid blur cuts off."""
        if self.border != "valid":
            return shape
        return shape[0] + self.kernel.shape[0] - 1, shape[1] + self.kernel.shape[1] - 1

    def apply(self, image: Array) -> Array:
        """Return the blurred image."""
        if self.border == "periodic":
            return np.asarray(fft.irfft2(fft.rfft2(image) * fft.rfft2(self._wrapped(image.shape)), s=image.shape))
        if self.border == "valid" and any(n < k for n, k in zip(image.shape, self.kernel.shape, strict=True)):
            raise ValueError(
                f"image must be at least as large as the kernel, {self.kernel.shape}, got {image.shape}. "
                "Take another border."
            )
        return np.asarray(fftconvolve(self._extended(image), self.kernel, mode="valid"))

    def adjoint(self, measured: Array) -> Array:
        """Return the correlation with the kernel; what stood beyond a border is folded back."""
        if self.border == "periodic":
            transfer = fft.rfft2(self._wrapped(measured.shape)).conj()
            return np.asarray(fft.irfft2(fft.rfft2(measured) * transfer, s=measured.shape))
        spread = np.asarray(fftconvolve(measured, self.kernel[::-1, ::-1], mode="full"))
        if self.border == "valid":
            return spread
        rows, columns = (_mirror(n, *pads) for n, pads in zip(measured.shape, self._pads(), strict=True))
        return np.asarray((columns.T @ (rows.T @ spread).T).T)

    def spectrum(self, shape: tuple[int, int]) -> Spectrum | None:
        """Return the transfer function: of periodic borders always, of mirrored ones if the kernel is symmetric."""
        if self.border == "periodic":
            return Spectrum("fourier", fft.fft2(self._wrapped(shape)))
        is_odd = all(n % 2 for n in self.kernel.shape)
        if (
            self.border == "valid"
            or not is_odd
            or not all(np.array_equal(self.kernel, flipped) for flipped in (self.kernel[::-1], self.kernel[:, ::-1]))
        ):
            return None
        waves = [
            np.cos(np.pi * np.outer(np.arange(n), np.arange(k) - k // 2) / n)
            for n, k in zip(shape, self.kernel.shape, strict=True)
        ]
        return Spectrum("cosine", waves[0] @ self.kernel @ waves[1].T)

    def _pads(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return how many pixels are needed before and behind the image, along both axes."""
        (height, width), (row, column) = self.kernel.shape, self.middle
        return (height - 1 - row, row), (width - 1 - column, column)

    def _extended(self, image: Array) -> Array:
        return image if self.border == "valid" else np.pad(image, self._pads(), mode="symmetric")

    def _wrapped(self, shape: tuple[int, ...]) -> Array:
        """Return the kernel as an image, its middle at the first pixel; what is larger is wrapped round."""
        wrapped = np.zeros(shape)
        rows, columns = ((np.arange(k) - k // 2) % n for n, k in zip(shape, self.kernel.shape, strict=True))
        np.add.at(wrapped, (rows[:, None], columns), self.kernel)
        return wrapped


@dataclass(frozen=True, eq=False)
class BlurDecimate(Operator):
    """A blur of which every ``scale``-th pixel is kept, the first one among them, along both axes.

    Parameters
    ----------
    kernel : array of shape (height, width)
        Of the blur: numbers that sum to 1.
    scale : int, default=2
        At least 1; 1 keeps all pixels.
    border : {"reflect", "periodic"}, default="reflect"
        What the blur sees beyond the image: its mirror image, or its other side.

    Examples
    --------
    >>> BlurDecimate(np.ones((1, 1)), 2).apply(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[1.]])
    """

    kernel: Data
    scale: int = 2
    border: str = "reflect"

    def __post_init__(self) -> None:
        check_whole(1, scale=self.scale)
        check_one_of(("reflect", "periodic"), border=self.border, hint="A valid blur has no size to come back to.")
        object.__setattr__(self, "kernel", checked_kernel(self.kernel))

    @property
    def blur(self) -> Blur:
        """The blur by itself."""
        return Blur(self.kernel, self.border)

    def restored_shape(self, shape: tuple[int, int]) -> tuple[int, int]:
        """Return a shape ``scale`` times as large."""
        return shape[0] * self.scale, shape[1] * self.scale

    def apply(self, image: Array) -> Array:
        """Return every ``scale``-th pixel of the blurred image."""
        return self.blur.apply(image)[:: self.scale, :: self.scale]

    def adjoint(self, measured: Array) -> Array:
        """Return the adjoint blur of the pixels put back in their places, with zeros between."""
        spread = np.zeros(self.restored_shape((measured.shape[0], measured.shape[1])))
        spread[:: self.scale, :: self.scale] = measured
        return self.blur.adjoint(spread)


@dataclass(frozen=True)
class Downscale(Operator):
    """Bicubic reduction to one ``scale``-th, antialiased, as the tables of super-resolution take it.

    Parameters
    ----------
    scale : int, default=2
        At least 1; sides are rounded up to whole pixels.

    Examples
    --------
    >>> Downscale(2).apply(np.full((4, 6), 7.0)).round(12)
    array([[7., 7., 7.],
           [7., 7., 7.]])
    """

    scale: int = 2

    def __post_init__(self) -> None:
        check_whole(1, scale=self.scale)

    def restored_shape(self, shape: tuple[int, int]) -> tuple[int, int]:
        """Return a shape ``scale`` times as large."""
        return shape[0] * self.scale, shape[1] * self.scale

    def apply(self, image: Array) -> Array:
        """Return the reduced image."""
        rows, columns = (bicubic_matrix(n, -(-n // self.scale), 1 / self.scale) for n in image.shape)
        return np.asarray((columns @ (rows @ image).T).T)

    def adjoint(self, measured: Array) -> Array:
        """Return each pixel spread by the weights it was made with."""
        rows, columns = (bicubic_matrix(n * self.scale, n, 1 / self.scale) for n in measured.shape)
        return np.asarray((columns.T @ (rows.T @ measured).T).T)


def bicubic_resize(image: Array, scale: float) -> Array:
    """Return an image enlarged or reduced by the cubic convolution of Keys with a = -1/2; reductions are antialiased.

    Parameters
    ----------
    image : array of shape (height, width)
        One plane of gray values; of a color image give each channel by itself.
    scale : float
        Above 0; each side becomes so many times as long, rounded up to whole pixels.

    Examples
    --------
    >>> bicubic_resize(np.array([[0.0, 4.0]]), 2).round(3)  # 4 beside 0 overshoots, and borders are mirrored
    array([[-0.375,  0.812,  3.188,  4.375],
           [-0.375,  0.812,  3.188,  4.375]])
    """
    rows, columns = (bicubic_matrix(n, int(np.ceil(n * scale)), float(scale)) for n in image.shape)
    return np.asarray((columns @ (rows @ image).T).T)


@cache
def bicubic_matrix(n_in: int, n_out: int, scale: float) -> sparse.csr_array:
    """Return the weights of all inputs in all outputs along one axis; each row sums to 1.

    Output i, from 0, is centered at (i + 1/2) / scale - 1/2. A reduction widens the kernel by 1 / scale, which removes
    the frequencies that fewer pixels cannot show.
    """
    stretch = min(scale, 1.0)
    center = (np.arange(n_out) + 0.5) / scale - 0.5
    first = np.floor(center - 2.0 / stretch).astype(int)
    reached = first[:, None] + np.arange(int(np.ceil(4.0 / stretch)) + 2)
    weights = _keys_cubic((center[:, None] - reached) * stretch)
    weights /= weights.sum(axis=1, keepdims=True)
    places = reached % (2 * n_in)
    mirrored = np.where(places < n_in, places, 2 * n_in - 1 - places)
    rows = np.repeat(np.arange(n_out), reached.shape[1])
    return sparse.csr_array((weights.ravel(), (rows, mirrored.ravel())), shape=(n_out, n_in))


def _keys_cubic(t: Array) -> Array:
    """Return the piecewise cubic with a = -1/2 that interpolates parabolas exactly (Keys 1981, equation 15)."""
    t = np.abs(t)
    near = (1.5 * t - 2.5) * t * t + 1.0
    far = ((-0.5 * t + 2.5) * t - 4.0) * t + 2.0
    return np.where(t <= 1, near, np.where(t <= 2, far, 0.0))


def checked_kernel(kernel: Data) -> Array:
    """Return a kernel as float64, or say what is wrong with it."""
    kernel = np.asarray(kernel, dtype=np.float64)
    if kernel.ndim != 2 or not kernel.size:
        raise ValueError(f"kernel must be a table of numbers, got shape {kernel.shape}. Give it two axes.")
    if not np.isfinite(kernel).all():
        raise ValueError("kernel must hold finite numbers, got nan or infinity. Replace them.")
    total = float(kernel.sum())
    if abs(total - 1.0) > SUM_ERROR:
        raise ValueError(f"kernel must sum to 1, got {total:.6g}. Divide it by its sum: kernel / kernel.sum().")
    return kernel


@cache
def _mirror(n: int, before: int, behind: int) -> sparse.csr_array:
    """Return the matrix that puts mirrored pixels before and behind ``n`` of them."""
    places = np.pad(np.arange(n), (before, behind), mode="symmetric")
    return sparse.csr_array((np.ones(len(places)), (np.arange(len(places)), places)), shape=(len(places), n))
