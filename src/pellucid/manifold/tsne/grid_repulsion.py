r"""Repulsion of all pairs of places in two dimensions by one convolution on a grid.

Every place is a charge of 1 with the potential :math:`1 / (1 + r^2)`; the force on a place is minus half the slope of
the potential of all. Charges are spread over the nodes around them by quintic B-splines, the nodes are convolved with
the potential by Fourier transforms, and splines read potential and slope off the nodes. The transform of the
potential is divided by that of the splines, twice, so that places on nodes get the exact potential (as in the smooth
particle mesh method of Essmann and others, 1995; for neighbor embedding, Linderman and others, 2019, interpolate by
polynomials). One convolution gives potential and force, which is its slope: the descent follows a true function.

The sums of one block of lines do not depend on the threads, nor does anything else here.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import fft

from pellucid.core.threads import run_blocks, split_evenly
from pellucid.core.types import Array

NODES = 6
"""Nodes along each axis that a charge is spread over."""

SPLINE = (66.0 / 120.0, 26.0 / 120.0, 1.0 / 120.0)
"""The quintic B-spline at 0, 1 and 2, as it is at -1 and -2."""

STEP = 16
"""Grids grow by so many nodes at a time, so that one transform of the potential serves many steps."""

LINES = 64
"""Lines that are transformed at once; a fixed number, for the same bits on any number of threads."""

BLOCK_ROWS = 2048


def grid_work(extent: Array) -> float:
    """Return how many multiplications, about, the transforms take for places that reach over so many nodes."""
    nodes = 4.0 * float(np.prod(extent + STEP))
    return nodes * float(np.log2(nodes))


def repulsion_on_a_grid(places: Array, spacing: float, forces: Array) -> float:
    """Write the forces on places (n, 2), and return the sum of the kernel over all pairs, both orders."""
    from pellucid.manifold.tsne.tsne_kernels import gather_potential, spread_charges

    nodes = np.ptp(places, axis=0) / spacing + (NODES + 2)
    shape = tuple(int(STEP * np.ceil(count / STEP)) for count in nodes)
    low = np.floor(places.min(axis=0) / spacing) * spacing  # nodes stay where they are while the map grows
    charges = np.zeros(shape, np.float32)
    spread_charges(places, low, spacing, np.empty((4, NODES)), charges)
    potential = _convolved(charges, _influence(shape, spacing))

    def work(rows: slice) -> float:
        room = np.empty((4, NODES))
        return float(gather_potential(places, low, spacing, room, potential, rows.start, rows.stop, forces))

    sums = run_blocks(work, split_evenly(len(places), -(-len(places) // BLOCK_ROWS)))
    return float(np.sum(sums)) - len(places)  # a place and itself are no pair


def _convolved(charges: Array, influence: Array) -> Array:
    """Return the potential on the nodes: transform, multiply, transform back; lines of zeros are left out."""
    height, width = charges.shape
    tall, broad = len(influence), 2 * (influence.shape[1] - 1)
    found = np.empty((height, influence.shape[1]), np.complex64)

    def along(rows: slice) -> None:
        found[rows] = fft.rfft(charges[rows], broad, axis=1)

    def across(columns: slice) -> None:
        lines = fft.fft(np.ascontiguousarray(found[:, columns].T), tall, axis=1, overwrite_x=True)
        lines *= influence.T[columns]
        found[:, columns] = fft.ifft(lines, axis=1, overwrite_x=True)[:, :height].T

    potential = np.empty((height, width), np.float32)

    def back(rows: slice) -> None:
        potential[rows] = fft.irfft(found[rows], broad, axis=1, overwrite_x=True)[:, :width]

    run_blocks(along, _lines(height))
    run_blocks(across, _lines(influence.shape[1]))
    run_blocks(back, _lines(height))
    return potential


def _lines(n: int) -> list[slice]:
    return split_evenly(n, -(-n // LINES))


@lru_cache(maxsize=2)
def _influence(shape: tuple[int, ...], spacing: float) -> Array:
    """Return the transform of the potential on twice the nodes, over that of the splines of charge and place."""
    sizes = [2 * fft.next_fast_len(count) for count in shape]  # even, for the way back
    squares = [(np.minimum(np.arange(size), size - np.arange(size)) * spacing) ** 2 for size in sizes]
    potential = fft.rfft2(1.0 / (1.0 + squares[0][:, None] + squares[1])).real
    angles = 2.0 * np.pi * fft.fftfreq(sizes[0]), 2.0 * np.pi * fft.rfftfreq(sizes[1])
    down, right = (SPLINE[0] + 2.0 * (SPLINE[1] * np.cos(a) + SPLINE[2] * np.cos(2.0 * a)) for a in angles)
    return (potential / (down[:, None] * right) ** 2).astype(np.float32)
