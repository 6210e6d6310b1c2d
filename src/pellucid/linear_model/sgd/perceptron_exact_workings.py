"""The epochs of a perceptron in fractions, by the products of its rows: with a kernel or without, the same steps."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Matrix, Rational

from pellucid.workings.shown_rows import ShownRows

MOST_SHOWN = 120
"""Rows that may be shown in epochs that still have mistakes."""


@dataclass(frozen=True)
class Look:
    """One row is shown: its score, whether it is a mistake, and the mistakes of all rows after it."""

    row: int
    score: Rational
    is_mistake: bool
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Stop:
    """When to stop, as the estimator does: by epochs, or by ``patience`` epochs in a row that improve by too little."""

    max_iter: int
    tol: Rational | None = None
    patience: int = 5


@dataclass(frozen=True)
class Walk:
    """The epochs with mistakes, how many there were in all, and what ended them."""

    epochs: tuple[tuple[Look, ...], ...]
    n_epochs: int
    end: str
    """'right': an epoch without mistakes; otherwise the parameter that stopped it."""

    @property
    def is_done(self) -> bool:
        """Whether all rows are right."""
        return self.end == "right"

    @property
    def counts(self) -> tuple[int, ...]:
        """Mistakes of each row."""
        return self.epochs[-1][-1].counts

    @property
    def n_mistakes(self) -> int:
        """All mistakes."""
        return sum(self.counts)


def walk(products: Matrix, signs: list[int], shown: ShownRows, eta: Rational, stop: Stop) -> Walk:
    """Show the rows in order until an epoch has no mistakes or the estimator would stop, or refuse what is too long."""
    counts, epochs = [0] * len(signs), list[tuple[Look, ...]]()
    best, waited = None, 0
    for epoch in range(1, stop.max_iter + 1):
        looks = [_look(products, signs, shown, eta, counts, i) for i in shown.order(epoch)]
        if not any(look.is_mistake for look in looks):
            return Walk(tuple(epochs), epoch, "right")
        epochs.append(tuple(looks))
        if len(epochs) * len(looks) > MOST_SHOWN:
            raise ValueError(
                f"max_iter must be at most {MOST_SHOWN // len(looks)} for these {len(looks)} rows to be worked by "
                f"hand, which still make mistakes after {MOST_SHOWN} looks, got {stop.max_iter}. Lower it, or show "
                "rows that separate sooner."
            )
        lost = (shown.weights[look.row] * abs(look.score) for look in looks if look.is_mistake)
        loss = sum(lost, Rational(0)) / shown.total
        improves = stop.tol is None or best is None or loss <= best - stop.tol
        waited = 0 if improves else waited + 1
        best = loss if best is None else min(best, loss)
        if waited == stop.patience:
            return Walk(tuple(epochs), epoch, "tol")
    return Walk(tuple(epochs), stop.max_iter, "max_iter")


def _look(products: Matrix, signs: list[int], shown: ShownRows, eta: Rational, counts: list[int], i: int) -> Look:
    terms = (counts[j] * shown.weights[j] * signs[j] * products[j, i] for j in range(len(signs)) if counts[j])
    score = eta * sum(terms, Rational(0))
    is_mistake = bool(signs[i] * score <= 0)
    counts[i] += is_mistake
    return Look(i, score, is_mistake, tuple(counts))


def weighted_mistakes(done: Walk, shown: ShownRows) -> Rational:
    """Return what the theorem bounds: (sum of s)^2 / (sum of s^2) over the mistakes, their number if all weigh 1."""
    pairs = list(zip(done.counts, shown.weights, strict=True))
    return Rational(sum(m * s for m, s in pairs) ** 2, sum(m * s * s for m, s in pairs))
