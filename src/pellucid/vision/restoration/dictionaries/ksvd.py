"""K-SVD: a dictionary learnt from signals, atom by atom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from scipy.linalg import eigh

from pellucid.core.checks import check_nonnegative, check_positive, check_whole
from pellucid.core.random_state import generator
from pellucid.core.threads import own_threads
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data, RandomState
from pellucid.vision.restoration.dictionaries.sparse_coding import SparseCodes, checked_dictionary, omp_codes

ALIKE = 0.99
"""Cosine of two atoms from which on one of them is replaced."""


@dataclass(frozen=True, eq=False)
class LearntDictionary:
    """Atoms, the codes that they were last fitted with, and the squared residual along the way."""

    atoms: Array
    codes: SparseCodes
    trace: Trace


def ksvd(
    signals: Data,
    n_atoms: int = 256,
    *,
    n_nonzero: int | None = None,
    error: float = 0.0,
    n_iter: int = 10,
    start: Data | None = None,
    random_state: RandomState = 0,
) -> LearntDictionary:
    r"""Return a dictionary in which each signal is a sum of few atoms (Aharon, Elad and Bruckstein 2006).

    .. math:: \min_{D, C} \sum_s \|x_s - D^T c_s\|_2^2 \quad\text{with few atoms in each } c_s

    In turn the codes are found by orthogonal matching pursuit, and each atom with its coefficients becomes the best
    product of a vector and a row of numbers for what the other atoms leave: a singular value decomposition.

    Parameters
    ----------
    signals : array of shape (n_signals, n)
        One signal in each row.
    n_atoms : int, default=256
        Atoms to learn.
    n_nonzero : int, optional
        Most atoms in a code; half of n if None.
    error : float, default=0.0
        Length of the residual at which a code is long enough.
    n_iter : int, default=10
        Turns.
    start : array of shape (n_atoms, n), optional
        Atoms to begin with; signals drawn at random if None.
    random_state : int, Generator or None, default=0
        What they are drawn by.

    Examples
    --------
    >>> signals = [[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0], [0.0, 1.0]]
    >>> learnt = ksvd(signals, 2, n_nonzero=1, start=[[0.8, 0.6], [-0.6, 0.8]], n_iter=3)
    >>> np.abs(learnt.atoms.round(6)) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    signals = np.asarray(signals, dtype=np.float64)
    if signals.ndim != 2 or not signals.size or not np.isfinite(signals).all():
        raise ValueError(f"signals must be a table of finite numbers, one signal a row, got shape {signals.shape}.")
    check_whole(1, n_atoms=n_atoms, n_iter=n_iter)
    check_nonnegative(error=error)
    most = max(1, signals.shape[1] // 2) if n_nonzero is None else n_nonzero
    check_whole(1, n_nonzero=most)
    rng = generator(random_state)
    atoms = _drawn_atoms(signals, n_atoms, rng) if start is None else checked_dictionary(start).copy()
    goals, trace = np.full(len(signals), error**2), Trace()
    with own_threads():
        for turn in range(1, n_iter + 1):
            codes = omp_codes(signals, atoms, goals, min(most, *atoms.shape))
            residual = _updated_atoms(signals, atoms, codes)
            mean_atoms = float(codes.counts.mean())
            trace.add(iteration=turn, objective=float(np.sum(residual**2)), atoms_per_signal=mean_atoms)
            if turn < n_iter:
                _replace_useless(signals, atoms, codes, residual)
    return LearntDictionary(atoms, codes, trace)


def _updated_atoms(signals: Array, atoms: Array, codes: SparseCodes) -> Array:
    """Update each atom and its coefficients in place, one after the other; return what is left of the signals."""
    taken = np.arange(codes.atoms.shape[1]) < codes.counts[:, None]
    where = np.flatnonzero(taken.ravel())
    values = codes.values.reshape(-1)  # a view: the codes change with it
    owner, used = where // codes.atoms.shape[1], codes.atoms.reshape(-1)[where]
    residual = signals.copy()
    for column in range(codes.atoms.shape[1]):
        rows = np.flatnonzero(codes.counts > column)
        residual[rows] -= codes.values[rows, column, None] * atoms[codes.atoms[rows, column]]
    order = np.argsort(used, kind="stable")
    ends = np.searchsorted(used[order], np.arange(len(atoms) + 1))
    for k in range(len(atoms)):
        mine = order[ends[k] : ends[k + 1]]
        if not len(mine):
            continue
        rows, places = owner[mine], where[mine]
        without = residual[rows] + values[places, None] * atoms[k]
        _, vectors = eigh(without.T @ without, subset_by_index=[atoms.shape[1] - 1] * 2)
        leading = vectors[:, 0]
        atoms[k] = leading if leading @ atoms[k] >= 0 else -leading  # of the two signs, that of before
        values[places] = without @ atoms[k]
        residual[rows] = without - values[places, None] * atoms[k]
    return residual


def _replace_useless(signals: Array, atoms: Array, codes: SparseCodes, residual: Array) -> None:
    """Put the signals that are coded worst in the place of atoms that no signal or a very similar atom uses."""
    taken = np.arange(codes.atoms.shape[1]) < codes.counts[:, None]
    uses = np.bincount(codes.atoms[taken], minlength=len(atoms))
    gram = np.abs(np.triu(atoms @ atoms.T, 1))
    useless = np.flatnonzero((uses == 0) | (gram.max(axis=0) > ALIKE))
    left = np.einsum("ij,ij->i", residual, residual)
    for k, s in zip(useless, np.argsort(-left, kind="stable"), strict=False):
        length = np.linalg.norm(signals[s])
        if left[s] > 0 and length > 0:
            atoms[k] = signals[s] / length


def _drawn_atoms(signals: Array, n_atoms: int, rng: np.random.Generator) -> Array:
    """Return signals drawn at random, made of length 1; where there are too few, random directions."""
    lengths = np.linalg.norm(signals, axis=1)
    drawn = rng.permutation(np.flatnonzero(lengths > 0))[:n_atoms]
    more = rng.standard_normal((n_atoms - len(drawn), signals.shape[1]))
    atoms = np.concatenate([signals[drawn], more])
    return atoms / np.linalg.norm(atoms, axis=1, keepdims=True)


def cosine_dictionary(height: int, width: int, n_atoms: int) -> Array:
    """Return patches of waves, more than a basis would have, slow ones first; each has mean 0 and length 1.

    Examples
    --------
    >>> cosine_dictionary(2, 2, 3).round(2)
    array([[ 0.5, -0.5,  0.5, -0.5],
           [ 0.5,  0.5, -0.5, -0.5],
           [ 0.5, -0.5, -0.5,  0.5]])
    """
    n_waves = ceil(sqrt(n_atoms + 1))
    down, right = (_waves(n, n_waves) for n in (height, width))
    patches = np.einsum("ai,bj->abij", down, right).reshape(n_waves**2, height * width)[1:]
    total = np.add.outer(np.arange(n_waves), np.arange(n_waves)).ravel()[1:]
    patches = patches[np.argsort(total, kind="stable")]
    lengths = np.linalg.norm(patches, axis=1, keepdims=True)
    keep = lengths[:, 0] > 1e-9  # along one pixel there is no wave
    return (patches[keep] / lengths[keep])[:n_atoms]


def _waves(n: int, n_waves: int) -> Array:
    """Return cosines over n pixels, the constant one first, the others with mean 0."""
    turns = np.arange(n_waves) / max(n_waves, n)
    waves = np.cos(np.pi * np.outer(turns, np.arange(n) + 0.5))
    waves[1:] -= waves[1:].mean(axis=1, keepdims=True)
    return waves


def drawn_patches(image: Array, shape: tuple[int, int], n_patches: int, rng: np.random.Generator) -> Array:
    """Return patches less their mean, one a row, drawn at random where there are more than so many."""
    windows = np.lib.stride_tricks.sliding_window_view(image, shape)
    rows, columns = windows.shape[:2]
    places = rng.permutation(rows * columns)[:n_patches] if rows * columns > n_patches else np.arange(rows * columns)
    patches = windows[places // columns, places % columns].reshape(len(places), -1)
    return patches - patches.mean(axis=1, keepdims=True)


def learn_dictionary(
    images: Sequence[Data],
    *,
    n_atoms: int = 256,
    patch_size: int = 8,
    sigma: float = 10.0,
    n_iter: int = 10,
    n_patches: int = 40_000,
    random_state: RandomState = 0,
) -> Array:
    """Return atoms learnt from patches of several images, to be given to ``DictionaryDenoising``.

    Parameters
    ----------
    images : sequence of arrays of shape (height, width)
        Gray images of one scale.
    n_atoms, patch_size, n_iter : int
        Size of the dictionary, side of its patches, turns of K-SVD.
    sigma : float, default=10.0
        Root mean square of what a code may leave of a patch, in units of the images.
    n_patches : int, default=40_000
        Patches drawn from all images together.
    random_state : int, Generator or None, default=0
        What they are drawn by.

    Examples
    --------
    >>> stripes = np.tile([0.0, 9.0], (8, 8))
    >>> learn_dictionary([stripes], n_atoms=1, patch_size=2, sigma=0.1).round(2)
    array([[ 0.5, -0.5,  0.5, -0.5]])
    """
    check_whole(1, n_atoms=n_atoms, patch_size=patch_size, n_iter=n_iter, n_patches=n_patches)
    check_positive(sigma=sigma)
    rng = generator(random_state)
    tables = [np.asarray(image, dtype=np.float64) for image in images]
    if not tables or any(table.ndim != 2 or min(table.shape) < patch_size for table in tables):
        raise ValueError(
            f"images must be gray and at least {patch_size} pixels high and wide, got shapes "
            f"{[table.shape for table in tables]}. Take their luminance, or smaller patches."
        )
    share, shape = ceil(n_patches / len(tables)), (patch_size, patch_size)
    signals = np.concatenate([drawn_patches(table, shape, share, rng) for table in tables])
    start = cosine_dictionary(*shape, n_atoms)
    return ksvd(signals, n_atoms, error=sigma * patch_size, n_iter=n_iter, start=start, random_state=rng).atoms
