"""Sparse codes: a signal as a sum of few atoms, greedily or by an l1 penalty."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from pellucid.core.checks import check_nonnegative, check_positive, check_whole
from pellucid.core.threads import own_threads, run_blocks
from pellucid.core.types import Array, Data
from pellucid.vision.restoration.dictionaries.coding_kernels import lasso_block, omp_block

AT_ONCE = 2048
"""Signals whose correlations with all atoms are computed in one product."""

UNIT = 1e-6
"""How far from 1 the length of an atom may be."""


@dataclass(frozen=True, eq=False)
class SparseCodes:
    """Sparse codes of many signals: of signal s the atoms ``atoms[s, :counts[s]]`` times ``values[s, :counts[s]]``."""

    counts: Array
    atoms: Array
    values: Array
    n_atoms: int

    def dense(self) -> Array:
        """Return the codes as a table (signals, atoms)."""
        table = np.zeros((len(self.counts), self.n_atoms))
        taken = np.arange(self.atoms.shape[1]) < self.counts[:, None]
        table[np.nonzero(taken)[0], self.atoms[taken]] = self.values[taken]
        return table


def omp(signals: Data, dictionary: Data, *, n_nonzero: int | None = None, error: float | None = None) -> Array:
    r"""Return codes by orthogonal matching pursuit: take the atom of largest correlation, fit all that were taken.

    .. math:: \min \|c\|_0 \quad \text{such that}\quad \|x - D^T c\|_2 \le \text{error}

    is what it looks for, greedily. With mutual coherence :math:`\mu` and :math:`\mu(2k - 1) < 1` it finds every sum of
    k atoms (Tropp 2004).

    Parameters
    ----------
    signals : array of shape (n_signals, n)
        One signal in each row.
    dictionary : array of shape (n_atoms, n)
        Atoms, of length 1.
    n_nonzero : int, optional
        Most atoms in a code; n if None.
    error : float, optional
        Length of the residual at which to stop; 0 if None.

    Examples
    --------
    >>> omp([[3.0, 4.0]], [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    array([[0., 0., 5.]])
    """
    signals, dictionary = checked_signals(signals, dictionary)
    if n_nonzero is not None:
        check_whole(1, n_nonzero=n_nonzero)
    if error is not None:
        check_nonnegative(error=error)
    most = min(n_nonzero or inf, *dictionary.shape)
    return omp_codes(signals, dictionary, np.full(len(signals), (error or 0.0) ** 2), int(most)).dense()


def omp_codes(signals: Array, dictionary: Array, goals: Array, most: int) -> SparseCodes:
    """Return codes of at most so many atoms whose squared residuals are at most ``goals``, on all threads."""
    n, gram = len(signals), dictionary @ dictionary.T
    found = SparseCodes(np.zeros(n, np.int64), np.zeros((n, most), np.int64), np.zeros((n, most)), len(dictionary))

    def block(start: int) -> None:
        rows = slice(start, min(start + AT_ONCE, n))
        part = np.ascontiguousarray(signals[rows])
        room = np.zeros((most, most)), np.empty(len(dictionary))
        squares = np.einsum("ij,ij->i", part, part)
        written = found.counts[rows], found.atoms[rows], found.values[rows]
        omp_block(part @ dictionary.T, gram, squares, goals[rows], *written, *room)

    with own_threads():
        run_blocks(block, range(0, n, AT_ONCE))
    return found


def lasso_codes(
    signals: Data, dictionary: Data, alpha: float, *, tol: float = 1e-6, max_iter: int = 1000
) -> tuple[Array, Array]:
    r"""Return codes with an l1 penalty, and for each its duality gap.

    .. math:: \min_c\ \tfrac12\|x - D^T c\|_2^2 + \alpha \|c\|_1

    Parameters
    ----------
    signals, dictionary : arrays of shape (n_signals, n) and (n_atoms, n)
        Signals and atoms, one in each row; atoms have length 1.
    alpha : float
        Weight of the penalty, above 0.
    tol : float, default=1e-6
        Gap to reach, as a share of half the signal's square.
    max_iter : int, default=1000
        Most passes.

    Examples
    --------
    >>> codes, gaps = lasso_codes([[3.0, -0.5]], [[1.0, 0.0], [0.0, 1.0]], 1.0)
    >>> codes
    array([[2., 0.]])
    """
    signals, dictionary = checked_signals(signals, dictionary)
    check_positive(alpha=alpha, tol=tol)
    check_whole(1, max_iter=max_iter)
    codes, gaps = np.zeros((len(signals), len(dictionary))), np.zeros(len(signals))
    lasso_into(signals, dictionary, alpha, tol, max_iter, codes, gaps)
    return codes, gaps


def lasso_into(
    signals: Array, dictionary: Array, alpha: float, tol: float, max_iter: int, codes: Array, gaps: Array
) -> None:
    """Write lasso codes and their gaps over first guesses, on all threads."""
    n, gram = len(signals), dictionary @ dictionary.T
    alphas = np.full(n, float(alpha))

    def block(start: int) -> None:
        rows = slice(start, min(start + AT_ONCE, n))
        part = np.ascontiguousarray(signals[rows])
        squares, room = np.einsum("ij,ij->i", part, part), room_for_lasso(*dictionary.shape)
        lasso_block(part @ dictionary.T, gram, squares, alphas[rows], tol, max_iter, codes[rows], gaps[rows], *room)

    with own_threads():
        run_blocks(block, range(0, n, AT_ONCE))


def room_for_lasso(n_atoms: int, n: int) -> tuple[Array, Array, Array, Array]:
    """Return what a block of lasso codes needs: correlations, a support, a Cholesky factor, a solution."""
    most = min(n, n_atoms)
    return np.empty(n_atoms), np.empty(n_atoms, np.int64), np.empty((most, most)), np.empty(most)


def mutual_coherence(dictionary: Data) -> float:
    r"""Return the largest cosine of two atoms, :math:`\mu = \max_{i \ne j} |d_i^T d_j|`.

    Parameters
    ----------
    dictionary : array of shape (n_atoms, n)
        Atoms, of length 1, one in each row.

    Examples
    --------
    >>> mutual_coherence([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    0.8
    """
    atoms = np.asarray(dictionary, dtype=np.float64)
    gram = np.abs(atoms @ atoms.T)
    np.fill_diagonal(gram, 0.0)
    return float(gram.max(initial=0.0))


def checked_signals(signals: Data, dictionary: Data) -> tuple[Array, Array]:
    """Return signals and atoms as tables of float64, or say what is wrong with them."""
    signals, dictionary = np.asarray(signals, dtype=np.float64), checked_dictionary(dictionary)
    if signals.ndim != 2 or signals.shape[1] != dictionary.shape[1]:
        raise ValueError(
            f"signals must have one row each and {dictionary.shape[1]} columns, as the atoms have, got shape "
            f"{signals.shape}. Transpose them if they stand in columns."
        )
    if not np.isfinite(signals).all():
        raise ValueError("signals must hold finite numbers, got nan or infinity. Leave those signals out.")
    return signals, dictionary


def checked_dictionary(dictionary: Data) -> Array:
    """Return atoms as a table of float64, or say what is wrong with them."""
    atoms = np.asarray(dictionary, dtype=np.float64)
    if atoms.ndim != 2 or not atoms.size:
        raise ValueError(f"dictionary must be a table with an atom in each row, got shape {atoms.shape}.")
    lengths = np.linalg.norm(atoms, axis=1)
    if not (np.abs(lengths - 1.0) <= UNIT).all():
        worst = lengths[np.argmax(np.abs(lengths - 1.0))]
        raise ValueError(f"dictionary must hold atoms of length 1, got one of {worst:.6g}. Divide each by its length.")
    return np.ascontiguousarray(atoms)
