r"""Sequential minimal optimization in fractions: the multipliers of a small machine, two at a time.

With :math:`s_i = \sum_j \alpha_j t_j K_{ij}` and the errors :math:`E_i = s_i - t_i` (the intercept would cancel), the
pair whose errors are most at odds moves along the line that keeps the balance, to the best point within the box:

.. math:: \eta = K_{ii} + K_{jj} - 2K_{ij},\qquad
   \alpha_j \leftarrow \left[\alpha_j + t_j(E_i - E_j)/\eta\right]_L^H,\qquad
   \alpha_i \leftarrow \alpha_i + t_i t_j(\alpha_j^{\text{old}} - \alpha_j^{\text{new}})
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sympy import Matrix, Rational, oo

from pellucid.show.document import Block, Step, formula, sentence, step, table
from pellucid.show.notation import Math, Words, cases, column, factor, fenced, math, over, typed

MOST_PAIRS = 40
"""Pairs after which the rest is left to the conditions: they come nearer to the minimum but may never reach it."""

MOST_SHOWN = 10
"""Pairs whose arithmetic is written down."""


@dataclass(frozen=True)
class PairStep:
    """One pair of points, and what became of its multipliers."""

    i: int
    j: int
    errors: tuple[Rational, Rational]
    eta: Rational
    ends: tuple[Rational, Any]
    unclipped: Rational | None
    before: tuple[Rational, Rational]
    after: tuple[Rational, Rational]
    alpha: tuple[Rational, ...]

    @property
    def is_clipped(self) -> bool:
        """Whether the best point of the line lies outside of the box."""
        return self.unclipped is None or self.unclipped != self.after[1]


@dataclass(frozen=True)
class PairSearch:
    """The pairs, the multipliers at the end, and how far the errors are still at odds: at most 0 at the minimum."""

    pairs: tuple[PairStep, ...]
    alpha: tuple[Rational, ...]
    violation: Rational


def search_by_pairs(K: Matrix, signs: Sequence[Rational], C: Rational | None, tol: Rational) -> PairSearch:
    """Return the pairs until no two errors are at odds by more than ``tol``, or there are too many."""
    n = len(signs)
    alpha, found = [Rational(0)] * n, list[PairStep]()
    while True:
        scores = K * Matrix([a * t for a, t in zip(alpha, signs, strict=True)])
        errors = [score - t for score, t in zip(scores, signs, strict=True)]
        rising = [i for i in range(n) if (alpha[i] != C if signs[i] > 0 else alpha[i] > 0)]
        falling = [i for i in range(n) if (alpha[i] > 0 if signs[i] > 0 else alpha[i] != C)]
        i = min(rising, key=lambda k: (errors[k], k))
        j = max(falling, key=lambda k: (errors[k], -k))
        violation = errors[j] - errors[i]
        if violation <= 0 or len(found) == MOST_PAIRS or (violation <= tol and len(found) > MOST_SHOWN):
            return PairSearch(tuple(found), tuple(alpha), violation)
        found.append(_move(K, signs, C, alpha, (i, j), errors))


def _move(
    K: Matrix, signs: Sequence[Rational], C: Rational | None, alpha: list[Rational], pair: tuple[int, int], errors: Any
) -> PairStep:
    """Move two multipliers, in place."""
    i, j = pair
    before = alpha[i], alpha[j]
    low, high = _ends(before, same=signs[i] == signs[j], C=C)
    eta = K[i, i] + K[j, j] - 2 * K[i, j]
    slope = signs[j] * (errors[i] - errors[j])
    if eta > 0:
        unclipped = alpha[j] + slope / eta
        alpha[j] = min(max(unclipped, low), high)
    else:
        unclipped, alpha[j] = None, high if slope > 0 else low
    alpha[i] += signs[i] * signs[j] * (before[1] - alpha[j])
    own = errors[i], errors[j]
    return PairStep(i, j, own, eta, (low, high), unclipped, before, (alpha[i], alpha[j]), tuple(alpha))


def _ends(before: tuple[Rational, Rational], *, same: bool, C: Rational | None) -> tuple[Rational, Any]:
    """Return between which values the second multiplier may move while the first stays in its box."""
    first, second, most = *before, oo if C is None else C
    if same:
        return max(Rational(0), first + second - most), min(most, first + second)
    return max(Rational(0), second - first), min(most, most + second - first)


def rule_step(C: Rational | None) -> Step:
    """Return how a pair is chosen and moved."""
    low = math("max", fenced("0 , α_j − α_i")), math("max", fenced("0 , α_i + α_j − C"))
    high = math("min", fenced("C , C + α_j − α_i")), math("min", fenced("C , α_i + α_j"))
    hard = C is None
    return step(
        "How two multipliers move",
        sentence("Begin with all multipliers at 0. The error of a point, without the intercept, is"),
        formula("E_i = ∑ α_j t_j K_ij − t_i"),
        sentence(
            "Take the point i of least error among those whose ",
            math("α_i t_i"),
            " can grow, and the point j of largest error among those whose ",
            math("α_j t_j"),
            " can shrink (of equals the first). As long as ",
            math("E_i < E_j"),
            " the pair is at odds. Only both together can move, as ",
            math("∑ α_i t_i = 0"),
            " must stay true; along that line the dual is a parabola with its top at",
        ),
        formula("η = K_ii + K_jj − 2 K_ij ,", "α_j ← α_j +", over(math("t_j", fenced("E_i − E_j")), "η")),
        sentence("and ", math("α_j"), " is clipped to what the box leaves, from L to H:"),
        formula("L =", cases((0 if hard else low[1], Words("same sign")), (low[0], Words("other signs")))),
        formula(
            "H =",
            cases(
                ("α_i + α_j" if hard else high[1], Words("same sign")),
                (Words("no end") if hard else high[0], Words("other signs")),
            ),
        ),
        sentence("The partner moves so that the balance stays:"),
        formula("α_i ← α_i + t_i t_j", fenced(math(Words("old"), "α_j −", Words("new"), "α_j"))),
    )


def pair_steps(search: PairSearch, signs: Sequence[Rational]) -> list[Step]:
    """Return the arithmetic of the first pairs, and a table of the others."""
    steps = [_pair_step(number + 1, pair, signs) for number, pair in enumerate(search.pairs[:MOST_SHOWN])]
    rest = search.pairs[MOST_SHOWN:]
    if rest:
        rows = [
            [
                math(MOST_SHOWN + k + 1),
                f"{p.i + 1}, {p.j + 1}",
                p.errors[1] - p.errors[0],
                "yes" if p.is_clipped else "",
            ]
            for k, p in enumerate(rest)
        ]
        steps.append(
            step(
                f"Pairs {MOST_SHOWN + 1} to {len(search.pairs)}",
                sentence("The rest in the same way. What the errors are apart by gets small:"),
                table(["step", "pair", math("E_j − E_i"), "clipped"], rows),
            )
        )
    return [*steps, _end_step(search)]


def _pair_step(number: int, pair: PairStep, signs: Sequence[Rational]) -> Step:
    i, j = pair.i, pair.j
    (first, second), (low, high) = pair.errors, pair.ends
    end = Words("no end") if high is oo else math(high)
    blocks: list[Block] = [
        formula(
            f"E_{i + 1} =", first, ",", f"E_{j + 1} =", second, ",", "η =", pair.eta, ",", "L =", low, ",", "H =", end
        )
    ]
    if pair.unclipped is None:
        blocks.append(sentence("The parabola is a straight line here, as η = 0: go to the end that is higher."))
    else:
        quotient = over(math(typed(signs[j]), fenced(math(first, "−", factor(second)))), pair.eta)
        blocks.append(formula(f"α_{j + 1} ←", pair.before[1], "+", quotient, "=", pair.unclipped))
    if pair.is_clipped:
        blocks.append(
            sentence(
                "Beyond the box, so clipped: " if pair.unclipped is not None else "That is ",
                _now(j, pair.after[1]),
                ".",
            )
        )
    moved = math(
        f"α_{i + 1} ←",
        pair.before[0],
        *_signed(signs[i] * signs[j]),
        fenced(math(pair.before[1], "−", factor(pair.after[1]))),
    )
    blocks += [formula(moved, "=", pair.after[0]), formula("α =", column(pair.alpha))]
    return step(f"Pair {number}: points {i + 1} and {j + 1}", *blocks)


def _now(i: int, value: Rational) -> Math:
    return math(f"α_{i + 1} =", value)


def _signed(sign: Rational) -> list[Any]:
    return ["+" if sign > 0 else "−"]


def _end_step(search: PairSearch) -> Step:
    if search.violation <= 0:
        return step(
            "No pair is at odds",
            sentence(
                "Now the least error of a point that can grow is no less than the largest of one that can shrink: "
                "these are the KKT conditions, and the multipliers are final."
            ),
            formula("α =", column(search.alpha)),
        )
    return step(
        "Where the pairs lead",
        sentence(
            f"After {len(search.pairs)} pairs two errors are still apart by ",
            search.violation,
            ". Each pair comes nearer, but where three multipliers or more are inside their box, pairs need not "
            "arrive. A program stops when this is below its tolerance. By now it is clear who is inside the box, and "
            "the conditions below give the numbers to which the pairs tend.",
        ),
    )
