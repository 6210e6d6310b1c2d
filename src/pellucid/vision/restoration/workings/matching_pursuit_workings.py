"""Orthogonal matching pursuit by hand: the atom most like what is left, then least squares on all atoms taken."""

from __future__ import annotations

from typing import Any

from sympy import Matrix, Rational, sqrt

from pellucid.core.types import Data
from pellucid.neural_network.workings.exact_network import exact_matrix
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.notation import column, fenced, math, matrix

MOST_ATOMS, MOST_NUMBERS = 8, 6


def show_omp(dictionary: Data, y: Data = None, atoms: int = 2) -> Document:
    """Return the steps of orthogonal matching pursuit.

    Parameters
    ----------
    dictionary : array-like of shape (n, n_atoms)
        Its columns are the atoms: at most eight, of at most six numbers, of any length but 0.
    y : array-like of shape (n,)
        The signal to be written as a sum of atoms.
    atoms : int, default=2
        Most atoms that are taken, 1 to the smaller side of the dictionary.

    Examples
    --------
    >>> show_omp([[1, 0, 1], [0, 1, 1]], [3, 1], 1).answer["code"]
    [3, 0, 0]
    """
    D, signal = exact_matrix(dictionary, "dictionary"), exact_matrix(y, "y")
    if D.rows != signal.rows or signal.cols != 1 or D.cols > MOST_ATOMS or D.rows > MOST_NUMBERS:
        raise ValueError(
            f"dictionary must have at most {MOST_ATOMS} atoms of at most {MOST_NUMBERS} numbers, as many as y, to show "
            f"the work, got shapes {D.shape} and {signal.shape}."
        )
    lengths = [D.col(j).dot(D.col(j)) for j in range(D.cols)]
    if 0 in lengths or not 1 <= atoms <= min(D.shape):
        raise ValueError(f"atoms must be 1 to {min(D.shape)}, and no atom be 0, got atoms={atoms!r}.")
    taken: list[int] = []
    residual, code = signal, Matrix()
    steps: list[Step] = []
    while len(taken) < atoms and any(residual):
        products = [D.col(j).dot(residual) for j in range(D.cols)]
        scores = [p**2 / length for p, length in zip(products, lengths, strict=True)]
        best = max(range(D.cols), key=lambda j: (scores[j], -j))
        if scores[best] == 0:
            break
        taken.append(best)
        chosen = Matrix.hstack(*(D.col(j) for j in taken))
        code = (chosen.T * chosen).LUsolve(chosen.T * signal)
        before, residual = residual, signal - chosen * code
        steps.append(_round(before, products, scores, taken, chosen, signal, code, residual))
    answer = [Rational(0)] * D.cols
    for j, value in zip(taken, code, strict=True):
        answer[j] = value
    steps.append(_recovery_step(D, lengths, len(taken)))
    opening = (
        sentence("Write a signal with few atoms of a dictionary, one more at a time:"),
        formula("y =", column(list(signal)), ", D =", matrix(D)),
    )
    found: dict[str, Any] = {"code": answer, "atoms": [j + 1 for j in taken], "residual": list(residual)}
    return Document("Orthogonal matching pursuit", opening, tuple(steps), found)


def _round(
    before: Matrix,
    products: list[Any],
    scores: list[Any],
    taken: list[int],
    chosen: Matrix,
    y: Matrix,
    code: Matrix,
    residual: Matrix,
) -> Step:
    k = len(taken)
    rows = [[math(j + 1), p, score] for j, (p, score) in enumerate(zip(products, scores, strict=True))]
    blocks: list[Block] = [
        sentence("Left is ", math(f"r_{k - 1} ="), column(list(before)), "."),
        sentence("Of it an atom explains the square of its product with it, divided by the atom's own square:"),
        table(["atom", math("d · r"), "explains"], rows),
        sentence(f"Atom {taken[-1] + 1} explains the most. Least squares on all atoms taken so far:"),
        formula("G =", matrix(chosen.T * chosen), ", b =", column(list(chosen.T * y)), ", G c = b"),
        result("c =", column(list(code)), f", r_{k} =", column(list(residual))),
        sentence("What is left is at right angles to the atoms taken, so none of them is taken again."),
    ]
    return step(f"Atom {k}", *blocks)


def _recovery_step(D: Matrix, lengths: list[Any], k: int) -> Step:
    """Return when the pursuit must find the right atoms: Tropp's condition by the coherence."""
    squares = [(D.col(i).dot(D.col(j)) ** 2 / (lengths[i] * lengths[j]), i, j) for i in range(D.cols) for j in range(i)]
    square, i, j = max(squares, default=(Rational(0), 0, 0))
    coherence = sqrt(square)
    number = coherence * (2 * k - 1)
    shown = [value if value.is_Rational else Rational(str(round(float(value), 5))) for value in (coherence, number)]
    said = (
        f"It is below 1: a signal of {k} atoms is found exactly, whichever they are (Tropp 2004)."
        if number < 1
        else "It is not below 1: nothing is promised, though the atoms may well be the right ones."
    )
    return step(
        "Were these the right atoms?",
        sentence(
            f"The two atoms most alike, {j + 1} and {i + 1}, have a cosine of:" if D.cols > 1 else "There is one atom:"
        ),
        formula("μ =", shown[0]),
        formula("μ", fenced("2 k − 1"), "=", shown[1], ", k =", k),
        remark(said),
    )
