"""AdaBoost by hand: every stump of every round, and the weights of all rows as fractions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sympy import Matrix, Rational, log, sqrt

from pellucid.core.types import Data
from pellucid.show.decisions import read_new, vote_step
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import ExactData, Label, class_column, exact_features, read_labels, sorted_classes
from pellucid.show.notation import Words, fenced, math, over, root, typed

if TYPE_CHECKING:
    from pellucid.ensemble.ada_boost.ada_boost_classifier import AdaBoostClassifier

FEW = 5
"""Wrong rows that are named."""

SHOWN_ROUNDS = 3
"""Rounds worked by hand; the fractions of later ones are too long to read."""


@dataclass(frozen=True)
class StumpByHand:
    """A threshold of a column, what it says on either side, and how well it parts the weights."""

    column: int
    threshold: Rational
    says: tuple[int, int]
    wrong: tuple[int, ...]
    error: Rational
    impurity: Rational


@dataclass(frozen=True)
class AdaBoostRound:
    """The weights of a round, all its stumps and the one taken."""

    weights: tuple[Rational, ...]
    stumps: tuple[StumpByHand, ...]
    best: StumpByHand
    n_classes: int

    @property
    def odds(self) -> Rational:
        """By how much the weights of wrong rows grow against the others."""
        return (1 - self.best.error) * (self.n_classes - 1) / self.best.error

    def next_weight(self, i: int) -> Rational:
        """Return the weight of a row in the next round."""
        k, error = self.n_classes, self.best.error
        return self.weights[i] * (k - 1) / (k * error) if i in self.best.wrong else self.weights[i] / (k * (1 - error))


def ada_boost_workings(estimator: AdaBoostClassifier, X: Data, y: Data, new: Data = None) -> Document:
    """Show the first rounds of AdaBoost with stumps, every row counted once at the start."""
    _refuse_others(estimator)
    features, names, rounded = exact_features(X)
    labels = read_labels(y, features.rows)
    classes = sorted_classes(labels)
    codes = [classes.index(label) for label in labels]
    data = ExactData(features, Matrix(codes), names, rounded)
    rounds, ends = _rounds(features, codes, len(classes), min(estimator.n_estimators, SHOWN_ROUNDS))
    steps = [_round_step(t, now, data, classes) for t, now in enumerate(rounds, start=1)]
    answer: dict[str, Any] = {"weights": [list(now.weights) for now in rounds]}
    if estimator.n_estimators <= SHOWN_ROUNDS or rounds[-1].best.error == 0:  # the program did no more
        rest = estimator.n_estimators - len(rounds)
        votes = [log(now.odds) if now.best.error else Rational(1) for now in rounds]
        answer["estimator_errors_"] = [now.best.error for now in rounds] + [Rational(1)] * rest
        answer["estimator_weights_"] = votes + [Rational(0)] * rest
    steps.append(_vote_step(rounds, data, classes, codes, ends))
    if new is not None:
        if "estimator_weights_" not in answer:
            raise ValueError(
                f"n_estimators must be at most {SHOWN_ROUNDS} to decide about new rows by hand, got "
                f"{estimator.n_estimators}. Set it."
            )
        decided = [_new_step(i, row, rounds, classes) for i, row in enumerate(read_new(new, features.cols))]
        steps += [made for made, _ in decided]
        answer["predicted"] = [label for _, label in decided]
    return Document("AdaBoost", _opening(data, labels, len(classes)), tuple(steps), answer)


def _new_step(i: int, row: list[Rational], rounds: list[AdaBoostRound], classes: list[Label]) -> tuple[Step, Label]:
    votes = []
    for t, now in enumerate(rounds, start=1):
        word, vote = _said(now.best, row[now.best.column]), log(now.odds) if now.best.error else Rational(1)
        votes.append((f"round {t}", classes[word], vote))
    return vote_step(i, votes, classes, ["stump of", "says", "vote"])


def _refuse_others(estimator: AdaBoostClassifier) -> None:
    if estimator.learning_rate != 1.0:
        raise ValueError(f"learning_rate must be 1 for weights that are fractions, got {estimator.learning_rate!r}.")
    base = estimator.estimator
    if base is not None and (getattr(base, "max_depth", None) != 1 or getattr(base, "criterion", "") != "gini"):
        raise ValueError(f"estimator must be None or a tree with max_depth=1 to be worked by hand, got {base!r}.")


def _rounds(X: Matrix, codes: list[int], n_classes: int, n_rounds: int) -> tuple[list[AdaBoostRound], str]:
    """Return the rounds and why they ended."""
    weights = [Rational(1, len(codes))] * len(codes)
    rounds: list[AdaBoostRound] = []
    while len(rounds) < n_rounds:
        stumps = _stumps(X, codes, n_classes, weights)
        best = min(stumps, key=lambda stump: stump.impurity) if stumps else None  # the first of equal ones
        if best is None or best.error >= 1 - Rational(1, n_classes):
            if not rounds:
                raise ValueError("X must let a stump do better than guessing, got rows that none can part.")
            return rounds, "The best stump of the next round is no better than guessing, so the rounds end."
        rounds.append(AdaBoostRound(tuple(weights), tuple(stumps), best, n_classes))
        if best.error == 0:
            return rounds, "The last stump has no error, so the rounds end; its vote is set to 1."
        weights = [rounds[-1].next_weight(i) for i in range(len(codes))]
    return rounds, f"These are the votes of {len(rounds)} rounds."


def _stumps(X: Matrix, codes: list[int], n_classes: int, weights: list[Rational]) -> list[StumpByHand]:
    found = []
    for j in range(X.cols):
        for low, high in pairwise(sorted(set(X.col(j)))):
            cut = (low + high) / 2
            sides = [[i for i in range(X.rows) if bool(X[i, j] <= cut) is left] for left in (True, False)]
            says, impurity = [], Rational(0)
            for side in sides:
                masses = [sum((weights[i] for i in side if codes[i] == k), Rational(0)) for k in range(n_classes)]
                whole = sum(masses, Rational(0))
                says.append(masses.index(max(masses)))
                impurity += whole - sum(mass**2 for mass in masses) / whole
            wrong = tuple(i for side, word in zip(sides, says, strict=True) for i in side if codes[i] != word)
            error = sum((weights[i] for i in wrong), Rational(0))
            found.append(StumpByHand(j, cut, (says[0], says[1]), tuple(sorted(wrong)), error, impurity))
    return found


def _opening(data: ExactData, labels: list[Label], k: int) -> tuple[Block, ...]:
    odds = over(math("1 − e"), math("e"))
    vote = math("α =", Words("ln"), odds) if k == 2 else math("α =", Words("ln"), odds, "+", Words("ln"), k - 1)
    share = "half" if k == 2 else f"{k - 1}/{k}"
    return (
        sentence(
            "Every round takes the stump that parts the weights of the classes best: the lowest mean Gini impurity, of "
            "equal ones the first column and the lowest threshold. Its error ",
            math("e"),
            " is the weight of the rows it gets wrong. Its vote is ",
            vote,
            f". Then the weights of the wrong rows grow until they have {share} of the whole, and the others the rest:",
        ),
        formula("w ←", over(math(k - 1, "w") if k > 2 else math("w"), math(k, "e")), Words(" if wrong")),
        formula("w ←", over(math("w"), math(k, fenced(math("1 − e")))), Words(" if right")),
        *data.opening(class_column(labels)),
    )


def _round_step(t: int, now: AdaBoostRound, data: ExactData, classes: list[Label]) -> Step:
    best = now.best
    lines = []
    for stump in now.stumps:
        said = f"{classes[stump.says[0]]}, {classes[stump.says[1]]}"
        wrong = ", ".join(str(i + 1) for i in stump.wrong[:FEW]) or "none"
        wrong += f", {len(stump.wrong) - FEW} more" if len(stump.wrong) > FEW else ""
        mark = "taken" if stump is best else ""
        lines.append([_cut(data, stump), said, wrong, math(stump.error), math(stump.impurity), mark])
    blocks: list[Block] = [
        table(["stump", "says", "wrong rows", math("e"), "impurity", ""], lines, caption="All stumps"),
        formula("e =", best.error),
    ]
    if best.error:
        blocks.append(formula("α =", Words("ln"), now.odds, "≈", Words(f"{float(log(now.odds)):.4f}")))
        blocks.append(_weights_table(now))
    else:
        blocks.append(remark("A stump without an error would have an endless vote: it is set to 1."))
    return step(f"Round {t}", *blocks)


def _weights_table(now: AdaBoostRound) -> Block:
    lines = []
    for i, w in enumerate(now.weights):
        lines.append([math(i + 1), math(w), "wrong" if i in now.best.wrong else "right", math(now.next_weight(i))])
    return table(["row", "weight", "", "weight in the next round"], lines, caption="The weights")


def _vote_step(rounds: list[AdaBoostRound], data: ExactData, classes: list[Label], codes: list[int], ends: str) -> Step:
    votes = [float(log(now.odds)) if now.best.error else 1.0 for now in rounds]
    lines, wrong = [], 0
    for i in range(data.n_samples):
        said = [_said(now.best, data.X[i, now.best.column]) for now in rounds]
        counts = [sum(v for v, word in zip(votes, said, strict=True) if word == k) for k in range(len(classes))]
        answer = counts.index(max(counts))
        wrong += answer != codes[i]
        told, tally = ", ".join(str(classes[word]) for word in said), ", ".join(f"{count:.3f}" for count in counts)
        lines.append([math(i + 1), told, tally, str(classes[answer]), "right" if answer == codes[i] else "wrong"])
    k, square = len(classes), Rational(1)
    for now in rounds:
        square *= now.best.error * (1 - now.best.error) * k**2 / (k - 1) if now.best.error else Rational(0)
    factor = math(2, root(math("e", fenced(math("1 − e"))))) if k == 2 else math(
        over(k, root(k - 1)), root(math("e", fenced(math("1 − e"))))
    )  # fmt: skip
    named = ", ".join(map(str, classes))
    blocks: list[Block] = [
        sentence(ends),
        table(["row", "the rounds say", f"votes for {named}", "answer", ""], lines, caption="The weighted vote"),
    ]
    if rounds[-1].best.error:
        blocks += [
            sentence("The share of wrong rows is at most the product of ", factor, " over the rounds:"),
            result(Rational(wrong, data.n_samples), "≤", Words(f"{float(sqrt(square)):.4f}")),
        ]
    return step("The votes", *blocks)


def _said(stump: StumpByHand, value: Rational) -> int:
    return stump.says[0] if value <= stump.threshold else stump.says[1]


def _cut(data: ExactData, stump: StumpByHand) -> Any:
    return math(data.symbol("x", stump.column), "≤", typed(stump.threshold))
