"""Denoising and inpainting by a dictionary: each patch is coded by few atoms, and what patches say is averaged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import floor, log2, sqrt
from typing import ClassVar

import numpy as np
from scipy.ndimage import distance_transform_edt

from pellucid.core.checks import check_one_of, check_positive, check_whole
from pellucid.core.threads import own_threads, run_blocks
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.vision.restoration.dictionaries.coding_kernels import add_patches, fill_block, lasso_block, omp_block
from pellucid.vision.restoration.dictionaries.ksvd import cosine_dictionary, drawn_patches, ksvd
from pellucid.vision.restoration.dictionaries.sparse_coding import checked_dictionary, room_for_lasso
from pellucid.vision.restoration.method import RestorationMethod, RestoredPlane
from pellucid.vision.restoration.operators import Mask, Operator

N_LEARNT_FROM = 40_000
"""Patches, drawn at random, that a dictionary is learnt from."""

SHARE_OF_NOISY = 0.5
"""Weight of the noisy pixel in an average where each patch that holds it weighs 1."""

STRIP = 16
"""Rows of patches that are coded together: a fixed number, so that sums do not depend on threads."""

ALPHA = 1.8
"""Weight of the l1 penalty, in units of the noise times its gain."""

GAP = 1e-5
"""Gap of a lasso code, as a share of half the patch's square."""

MOST_PASSES = 1000
"""Passes of coordinate descent over a code, at most."""

LEAST_NOISE = 0.005
"""Noise that inpainting assumes at least, as a share of the range: codes that fit all digits are long and wave."""


@dataclass(frozen=True, eq=False)
class DictionaryDenoising(RestorationMethod):
    r"""Patches as sums of few atoms, learnt on the image itself (Elad and Aharon 2006).

    .. math:: \min_{c_p} \|c_p\|_0 \ \text{such that}\ \|R_p y - m_p - D^T c_p\|^2 \le n (g\sigma)^2, \qquad
        \hat x = \frac{\mu y + \sum_p R_p^T (D^T c_p + m_p)}{\mu + \sum_p R_p^T 1}

    :math:`R_p` takes a patch of n pixels, :math:`m_p` is its mean. Where pixels are missing, codes fit the seen ones.

    Parameters
    ----------
    dictionary : array of shape (n_atoms, patch_size ** 2), optional
        Atoms of length 1, such as ``learn_dictionary`` returns. None learns them on the image, by K-SVD; where pixels
        are missing there is too little to learn from, and None takes waves.
    coding : {"omp", "lasso"}, default="omp"
        Whether codes are found greedily or by an l1 penalty of weight 1.8 g sigma.
    n_atoms : int, default=256
        Atoms to learn.
    patch_size : int, default=8
        Side of the patches.
    noise_gain : float, default=1.1
        :math:`g`: how much of the noise a code leaves.
    n_iter : int, default=10
        Turns of K-SVD.
    random_state : int, default=0
        What the patches to learn from are drawn by.

    Examples
    --------
    >>> from pellucid.vision.restoration.operators import Identity
    >>> y = np.full((2, 2), 5.0)
    >>> y[0, 0] = 7.0  # one patch, of mean 5.5 and less than the noise around it, and half a share of the noisy image
    >>> DictionaryDenoising().solve(y, Identity(), 1.0, 255.0).image.round(3)
    array([[6.   , 5.333],
           [5.333, 5.333]])
    """

    dictionary: Data | None = None
    coding: str = "omp"
    n_atoms: int = 256
    patch_size: int = 8
    noise_gain: float = 1.1
    n_iter: int = 10
    random_state: int = 0
    takes: ClassVar[tuple[str, ...]] = ("Identity", "Mask")
    leaves: ClassVar[tuple[str, ...]] = ("dictionary", "code_ends", "code_atoms", "code_values")

    def __post_init__(self) -> None:
        check_one_of(("omp", "lasso"), coding=self.coding)
        check_whole(1, n_atoms=self.n_atoms, patch_size=self.patch_size, n_iter=self.n_iter)
        check_whole(0, random_state=self.random_state)
        check_positive(noise_gain=self.noise_gain)
        why = ""
        if self.dictionary is None:
            why = "the dictionary is learnt on the image, by choices that jump as it changes."
        elif self.coding == "omp":
            why = "which atoms are taken jumps as the image changes. Take coding='lasso' for an estimate."
        object.__setattr__(self, "not_smooth", why)
        if self.dictionary is not None:
            atoms = checked_dictionary(self.dictionary)
            if atoms.shape[1] != self.patch_size**2:
                raise ValueError(
                    f"dictionary must hold atoms of {self.patch_size**2} numbers, as patch_size asks for, got "
                    f"{atoms.shape[1]}. Give patch_size as well."
                )
            object.__setattr__(self, "dictionary", atoms)

    def solve(self, y: Array, operator: Operator, sigma: float, peak: float) -> RestoredPlane:
        """Return the average of the coded patches, with the dictionary that coded them."""
        shape = (min(self.patch_size, y.shape[0]), min(self.patch_size, y.shape[1]))
        if self.dictionary is not None and shape != (self.patch_size, self.patch_size):
            raise ValueError(
                f"image must be at least {self.patch_size} pixels high and wide, as the atoms are, got {y.shape}. "
                "Learn the dictionary on the image: dictionary=None."
            )
        largest = float(np.abs(y).max())
        unit = 2.0 ** floor(log2(largest)) if largest > 0 else 1.0  # squares stay finite
        trace, atoms = Trace(), self.dictionary
        if atoms is None:
            atoms = cosine_dictionary(*shape, self.n_atoms)
            if sigma > 0.0 and len(atoms) and not isinstance(operator, Mask):
                atoms, trace = self._learnt(y / unit, self.noise_gain * sigma / unit, atoms, shape)
        if isinstance(operator, Mask):
            image, codes = self._fill(y / unit, ~operator.missing, sigma / unit, atoms, shape)
        else:
            image, codes = self._denoise(y / unit, sigma / unit, atoms, shape)
        ends, taken, values = codes
        evidence = {"dictionary": atoms, "code_ends": ends, "code_atoms": taken, "code_values": unit * values}
        return RestoredPlane(unit * image, {}, trace, evidence)

    def _denoise(self, y: Array, sigma: float, atoms: Array, shape: tuple[int, int]) -> tuple[Array, SparseRows]:
        if sigma == 0.0 or not len(atoms):
            return y.copy(), _no_codes()
        gram, noise = atoms @ atoms.T, self.noise_gain * sigma
        if self.coding == "omp":
            coded = partial(omp_patches, atoms=atoms, gram=gram, noise=noise)
        else:
            coded = partial(lasso_patches, atoms=atoms, gram=gram, alpha=ALPHA * noise)
        total, count, codes = averaged_patches(y, np.ones(y.shape, bool), shape, lambda patches, _seen: coded(patches))
        return (total + SHARE_OF_NOISY * y) / (count + SHARE_OF_NOISY), codes

    def _fill(
        self, y: Array, seen: Array, sigma: float, atoms: Array, shape: tuple[int, int]
    ) -> tuple[Array, SparseRows]:
        if self.coding == "lasso":
            raise ValueError("coding must be 'omp' where pixels are missing, got 'lasso'. Leave it as it is.")
        noise = self.noise_gain * max(sigma, LEAST_NOISE * float(y[seen].max() - y[seen].min()))
        coded = partial(fill_patches, atoms=with_constant(atoms, shape), noise=noise)
        total, count, codes = averaged_patches(y, seen, shape, coded)
        total, count = total + SHARE_OF_NOISY * seen * y, count + SHARE_OF_NOISY * seen
        rows, columns = np.asarray(distance_transform_edt(~seen, return_distances=False, return_indices=True))
        return np.where(count > 0, total / np.where(count > 0, count, 1.0), y[rows, columns]), codes

    def _learnt(self, y: Array, noise: float, start: Array, shape: tuple[int, int]) -> tuple[Array, Trace]:
        signals = drawn_patches(y, shape, N_LEARNT_FROM, np.random.default_rng(self.random_state))
        error = noise * sqrt(signals.shape[1])
        found = ksvd(signals, len(start), error=error, n_iter=self.n_iter, start=start, random_state=self.random_state)
        return found.atoms, found.trace


SparseRows = tuple[Array, Array, Array]
"""SparseCodes one after the other: where each ends, atoms in the order in which they were taken, their factors."""

Coded = tuple[Array, Array, Array, Array]
"""Patches as codes make them, how many atoms each code has, which, and times what."""


def averaged_patches(
    y: Array, seen: Array, shape: tuple[int, int], coded: Callable[[Array, Array], Coded]
) -> tuple[Array, Array, SparseRows]:
    """Return the sum of what coded patches say of each pixel, how many say something, and the codes; strip by strip."""
    height, width = shape
    n_rows, n_columns = y.shape[0] - height + 1, y.shape[1] - width + 1
    total, count = np.zeros(y.shape), np.zeros(y.shape)

    def strip(top: int) -> tuple[Array, Array, Array, Array, Array]:
        rows = slice(top, min(top + STRIP, n_rows) + height - 1)
        patches, masks = (
            np.ascontiguousarray(
                np.lib.stride_tricks.sliding_window_view(image[rows], shape).reshape(-1, height * width)
            )
            for image in (y, seen)
        )
        made, counts, taken, values = coded(patches, masks)
        says = np.repeat(np.asarray(masks.any(axis=1), dtype=np.float64)[:, None], height * width, axis=1)
        sums = np.zeros((2, rows.stop - rows.start, y.shape[1]))
        add_patches(made, n_columns, height, width, sums[0])
        add_patches(says, n_columns, height, width, sums[1])
        used = np.arange(taken.shape[1]) < counts[:, None]
        return sums[0], sums[1], counts, taken[used], values[used]

    with own_threads():
        tops = range(0, n_rows, STRIP)
        strips = run_blocks(strip, tops)
    for top, (some, n, *_) in zip(tops, strips, strict=True):
        total[top : top + len(some)] += some
        count[top : top + len(n)] += n
    counts, taken, values = (np.concatenate([one[k] for one in strips]) for k in (2, 3, 4))
    return total, count, (np.cumsum(counts), taken, values)


def _no_codes() -> SparseRows:
    return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)


def with_constant(atoms: Array, shape: tuple[int, int]) -> Array:
    """Return atoms with the constant one behind them."""
    n = shape[0] * shape[1]
    return np.concatenate([atoms.reshape(-1, n), np.full((1, n), 1.0 / sqrt(n))])


def omp_patches(patches: Array, atoms: Array, gram: Array, noise: float) -> Coded:
    """Return patches as their means and the atoms that leave ``noise`` squared per pixel."""
    n = patches.shape[1]
    means = patches.mean(axis=1, keepdims=True)
    rest = patches - means
    counts, taken, values = _room_for_codes(len(patches), max(1, min(n // 2, len(atoms))))
    room = np.zeros((taken.shape[1], taken.shape[1])), np.empty(len(atoms))
    goals = np.full(len(patches), n * noise**2)
    omp_block(rest @ atoms.T, gram, np.einsum("ij,ij->i", rest, rest), goals, counts, taken, values, *room)
    return means + _sums(counts, taken, values, atoms), counts, taken, values


def lasso_patches(patches: Array, atoms: Array, gram: Array, alpha: float) -> Coded:
    """Return patches as their means and the sum of atoms of least squares and l1 penalty."""
    means = patches.mean(axis=1, keepdims=True)
    rest = patches - means
    codes, gaps = np.zeros((len(patches), len(atoms))), np.zeros(len(patches))
    squares = np.einsum("ij,ij->i", rest, rest)
    alphas, room = np.full(len(patches), alpha), room_for_lasso(*atoms.shape)
    lasso_block(rest @ atoms.T, gram, squares, alphas, GAP, MOST_PASSES, codes, gaps, *room)
    counts = np.count_nonzero(codes, axis=1)
    _, taken, values = _room_for_codes(len(patches), int(counts.max(initial=0)))
    used = np.arange(taken.shape[1]) < counts[:, None]
    taken[used], values[used] = np.nonzero(codes)[1], codes[codes != 0]
    return means + codes @ atoms, counts, taken, values


def fill_patches(patches: Array, masks: Array, atoms: Array, noise: float) -> Coded:
    """Return patches as the atoms, the last one constant, that leave ``noise`` squared per seen pixel."""
    n = patches.shape[1]
    counts, taken, values = _room_for_codes(len(patches), n // 2 + 1)
    room = np.zeros((n // 2 + 1, n // 2 + 1)), np.empty((len(atoms), n + 1)), np.empty((2, n))
    fill_block(patches, masks, atoms, noise, counts, taken, values, *room)
    return _sums(counts, taken, values, atoms), counts, taken, values


def _room_for_codes(n: int, most: int) -> tuple[Array, Array, Array]:
    return np.zeros(n, np.int64), np.zeros((n, most), np.int64), np.zeros((n, most))


def _sums(counts: Array, taken: Array, values: Array, atoms: Array) -> Array:
    found = np.zeros((len(counts), atoms.shape[1]))
    for k in range(int(counts.max(initial=0))):
        rows = np.flatnonzero(counts > k)
        found[rows] += values[rows, k, None] * atoms[taken[rows, k]]
    return found
