r"""What bags claim, and the proof of it from the data alone.

The samples of rows and columns follow from the seeds of the members, and these from ``random_state`` where that is a
number. A member of ours is proved by its own proof; one that is not is fitted again on its sample, and must say the
same, at the rows and between them (the card asks for both; of many members, for some, drawn at random). The bag's
answer is the mean of its members' answers, and the out-of-bag answers are the means over members that have not seen the
row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.ensemble.samples import judged, n_drawn, times_drawn, value_order
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.sampling import is_fitting, most_wrong
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData
from pellucid.proofs.tree.tree_rows import LARGEST_SEED, class_target, number_target

REFIT = "Fit the model again on these data: what it has stored is something else."


def prove_bagging(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate; ``fitted`` also has what is wrong with members, and what they and the bag say."""
    samples = MemberSamples(parameters, data)
    claims = [samples_claim(fitted, parameters, samples)]
    if claims[0].holds and not is_fitting():
        claims += [members_claim(fitted), answers_claim(fitted, data)]
        if parameters.oob_score:
            claims.append(out_of_bag_claim(fitted, samples))
    return Certificate("replayed", tuple(claims))


@dataclass(frozen=True, eq=False)
class MemberSamples:
    """The sample of rows and of columns of each member, by its seed."""

    parameters: Seen
    data: TrainingData

    @cached_property
    def order(self) -> Array:
        """The rows in an order that depends on their values alone, as they come where these are no numbers."""
        X = self.data.X
        is_numbers = (X.data if sparse.issparse(X) else X).dtype.kind in "biuf"
        return value_order(X, np.asarray(self.data.y)) if is_numbers else np.arange(X.shape[0])

    def counts(self, seed: int) -> Array:
        """Return how often each row is in the sample of a member."""
        n, wanted, weight = self.data.X.shape[0], self.parameters.max_samples, self.data.weight
        n_draws = n_drawn(wanted, n, weight)
        if self.parameters.bootstrap:
            return times_drawn(seed, self.order, n_draws, weight)
        places = np.random.RandomState(seed).permutation(n)[: n if wanted is None else n_draws]
        return np.bincount(self.order[places], minlength=n)

    def columns(self, seed: int) -> Array:
        """Return the columns of a member."""
        d, amount = self.data.X.shape[1], self.parameters.max_features
        count = int(amount) if isinstance(amount, Integral) else max(1, int(amount * d))
        rng = np.random.RandomState([seed, 1])
        if self.parameters.bootstrap_features:
            return rng.randint(0, d, count)
        return np.arange(d) if count == d else np.sort(rng.permutation(d)[:count])


def samples_claim(fitted: Seen, parameters: Seen, samples: MemberSamples) -> Claim:
    """Claim that seeds, order and weights of rows, and columns of members follow from parameters and data."""
    count, seeds, data = parameters.n_estimators, np.asarray(fitted.seeds_), samples.data
    wrong = len(fitted.estimators_) != count or seeds.shape != (count,) or len(fitted.estimators_features_) != count
    wrong = float(wrong or len(fitted.sample_order_) != data.X.shape[0])
    wrong += bool(parameters.oob_score and parameters.warm_start)  # which no fit takes
    if wrong == 0.0:
        if isinstance(parameters.random_state, (int, np.integer)):
            drawn = np.random.RandomState(parameters.random_state).randint(LARGEST_SEED, size=count)
            wrong += float(np.sum(drawn != seeds))
        wrong += not np.array_equal(data.given_rows(samples.order), fitted.sample_order_)
        room = None if data.weight is None else data.weight[samples.order]
        wrong += (room is None) != (fitted.draw_weight_ is None)
        wrong += room is not None and not np.array_equal(room, fitted.draw_weight_)
        wrong += sum(
            not np.array_equal(samples.columns(int(seed)), columns)
            for seed, columns in zip(seeds, fitted.estimators_features_, strict=True)
        )
        if len(data.classes):
            given = np.unique(np.asarray(data.given[1]).ravel())
            wrong += fitted.n_classes_ != len(given) or not np.array_equal(given, fitted.classes_)
    statement = "seeds, rows, weights, columns and labels that do not follow from parameters and data"
    return Claim("samples", statement, float(wrong), 0.0, REFIT)


def members_claim(fitted: Seen) -> Claim:
    """Claim that members are right about their samples, and say what that proves about those not looked at."""
    count, total = fitted.n_looked_at, len(fitted.estimators_)
    proves = "all" if count == total else f"at most {most_wrong(count):.2g} of all members wrong at 99 % confidence"
    statement = f"wrong members of {count} looked at, of {total}: {proves}"
    faults = "; ".join(f"member {place}: {fault}" for place, fault in list(fitted.faults.items())[:3])
    return Claim("members", statement, float(len(fitted.faults)), 0.0, f"{REFIT} {faults}".strip())


def answers_claim(fitted: Seen, data: TrainingData) -> Claim:
    """Claim that the bag says the mean of what its members say."""
    mean = np.mean(fitted.member_answers, axis=0)
    size = _size(data)
    error = (
        float(np.max(np.abs(mean - fitted.bag_answers))) / size if mean.shape == fitted.bag_answers.shape else math.inf
    )
    statement = "largest difference of an answer from the mean of the members'"
    return Claim("answers", statement, error, 64 * sum_error(len(fitted.member_answers)), REFIT)


def out_of_bag_claim(fitted: Seen, samples: MemberSamples) -> Claim:
    """Claim that out-of-bag answers are means over members that have not seen the row, and the score theirs."""
    data, rows = samples.data, fitted.rows
    n, n_classes = data.X.shape[0], len(data.classes)
    target = class_target(np.asarray(data.y), n_classes) if n_classes else number_target(data.y)
    unseen = np.stack([samples.counts(int(seed))[rows] == 0 for seed in fitted.seeds_])
    sums = np.einsum("tn,tnk->nk", unseen.astype(float), np.asarray(fitted.member_answers))
    right = sums / np.maximum(unseen.sum(axis=0), 1)[:, None]
    stored = np.asarray(fitted.oob_decision_function_ if n_classes else fitted.oob_prediction_)
    error = math.inf
    if len(stored) == data.n_given:
        kept = (stored if data.kept is None else stored[data.kept]).reshape(n, -1)
        shaped = kept[:, None, :] if n_classes else kept[:, :, None]
        found = judged(shaped, target, data.weight, True)
        said = np.array([fitted.oob_score_, fitted.oob_rows_ / n, fitted.oob_deviation_])
        wanted = np.array([found.score, found.rows / n, found.deviation])
        parts = [np.max(np.abs(kept[rows] - right)) / _size(data), *np.abs(said - wanted)]
        error = float(np.max(parts))
    some = "" if len(rows) == n else f", {len(rows)} of {n} rows checked"
    statement = f"largest error of an out-of-bag answer or of the score{some}"
    return Claim("out of bag", statement, error, 64 * sum_error(n + len(unseen)), REFIT)


def _size(data: TrainingData) -> float:
    """Return the size of answers."""
    if len(data.classes):
        return 1.0
    numbers: Array = np.abs(np.asarray(data.y, dtype=np.float64))
    return max(float(numbers.max(initial=0.0)), float(np.finfo(float).tiny))


PROVES = {"BaggingClassifier": prove_bagging, "BaggingRegressor": prove_bagging}
