from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.naive_bayes as peer

import pellucid
from pellucid.core.kinds.pages import NotSaveableError
from pellucid.naive_bayes import GaussianNB, MixedNB
from pellucid.probability import Bernoulli, Categorical, Gaussian, Logistic
from tests.naive_bayes.samples import counts, points, repeated, seeds


def table(seed=0, n=60):
    rng = np.random.default_rng(seed)
    y = np.concatenate([["in", "out"], rng.choice(["in", "out"], n - 2)])
    warm = (y == "out") * 5.0
    frame = pd.DataFrame(
        {
            "sky": rng.choice(["rain", "sun", "snow"], n),
            "degrees": rng.normal(10 + warm, 3),
            "windy": rng.integers(0, 2, n),
            "month": pd.Categorical(rng.integers(1, 4, n)),
        }
    )
    return frame, y


def kinds(model):
    return [type(densities[0]) for densities in model.densities_]


@dataclass(frozen=True)
class Exponential:
    """A density of a user: waiting times."""

    rate: float

    @classmethod
    def fit(cls, X, sample_weight=None, *, prior=None):
        return cls(1 / np.average(X, weights=sample_weight))

    def log_prob(self, X):
        return np.where(X >= 0, np.log(self.rate) - self.rate * X, -np.inf)

    def sample(self, n, random_state=None):
        return np.random.default_rng(random_state).exponential(1 / self.rate, n)

    def entropy(self):
        return 1 - np.log(self.rate)

    mean = property(lambda self: 1 / self.rate)
    variance = property(lambda self: self.rate**-2)


@pytest.mark.by_hand
def test_prior_and_conditionals_are_smoothed_by_adding_one():  # by hand
    X = np.array([["sun"], ["sun"], ["rain"], ["sun"]], dtype=object)
    model = MixedNB(alpha=1, prior_alpha=1).fit(X, ["c", "c", "c", "j"])
    np.testing.assert_allclose(model.class_prior_, [2 / 3, 1 / 3])  # (3 + 1) / 6, (1 + 1) / 6
    np.testing.assert_allclose(model.densities_[0][0].probabilities, [2 / 5, 3 / 5])
    np.testing.assert_allclose(model.densities_[0][1].probabilities, [1 / 3, 2 / 3])


def test_auto_guesses_from_texts_categories_zeros_and_ones():
    frame, y = table()
    model = MixedNB().fit(frame, y)
    assert kinds(model) == [Categorical, Gaussian, Bernoulli, Categorical]
    assert pellucid.verify(model, frame, y).holds


def test_columns_are_chosen_by_name_by_place_and_by_class():
    frame, y = table()
    assert kinds(MixedNB({"degrees": "logistic", 2: "categorical"}).fit(frame, y)) == [
        *(Categorical, Logistic, Categorical, Categorical)
    ]
    X, y = counts(0)
    assert kinds(MixedNB(Categorical).fit(X, y)) == [Categorical] * X.shape[1]


def test_a_label_that_training_never_saw_says_nothing():
    frame, y = table()
    model = MixedNB().fit(frame, y)
    rest = MixedNB().fit(frame.drop(columns="sky"), y)
    strange = frame.assign(sky="fog")
    np.testing.assert_allclose(model.predict_proba(strange), rest.predict_proba(frame.drop(columns="sky")))


def test_a_density_of_a_user_takes_part_and_is_not_claimed():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    X = np.column_stack([rng.exponential(1 + 4 * y), rng.standard_normal(80)])
    model = MixedNB([Exponential, "gaussian"]).fit(X, y)
    assert model.densities_[0][1].rate == pytest.approx(1 / X[y == 1, 0].mean())
    assert "columns [0]" in model.certificate_.reason
    assert pellucid.verify(model, X, y) == pellucid.verify(model, X, y)
    assert pellucid.verify(model, X, y).holds
    with pytest.raises(NotSaveableError):
        pellucid.save(model, "nowhere.safetensors")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_of_both_makers_give_the_same_model(frame):
    pandas, y = table()
    data = frame({name: pandas[name].tolist() for name in ("sky", "degrees", "windy")})
    model = MixedNB().fit(data, y)
    np.testing.assert_array_equal(model.feature_names_in_, ["sky", "degrees", "windy"])
    np.testing.assert_allclose(
        model.predict_proba(data), MixedNB().fit(pandas.iloc[:, :3], y).predict_proba(pandas.iloc[:, :3])
    )


@pytest.mark.property
@seeds
def test_a_weight_is_a_number_of_repetitions(seed):  # properties
    frame, y = table(seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(y))
    weight[:2] = 1
    weighted = MixedNB().fit(frame, y, sample_weight=weight)
    rows, labels = repeated(np.arange(len(y)), y, weight)
    copied = MixedNB().fit(frame.iloc[rows], labels)
    np.testing.assert_allclose(weighted.predict_log_proba(frame), copied.predict_log_proba(frame), rtol=1e-9)
    assert pellucid.verify(weighted, frame, y, sample_weight=weight).holds


@pytest.mark.parametrize(("column", "change"), [(0, "probabilities"), (1, "mean"), (1, "variance"), (2, "p")])
def test_verify_objects_to_a_broken_density(column, change):
    frame, y = table()
    model = MixedNB().fit(frame, y)
    density = model.densities_[column][1]
    value = getattr(density, change)
    if change == "probabilities":
        broken = Categorical(value[::-1], density.categories)
    else:
        broken = type(density)(**{**vars(density), change: value * (1 + 1e-9)})
    model.densities_[column][1] = broken
    with pytest.warns(pellucid.UncertifiedWarning, match="conditionals"):
        assert not pellucid.verify(model, frame, y).holds


def test_verify_objects_to_a_density_of_another_kind_and_to_other_categories():
    frame, y = table()
    for column, other in (
        (1, [Logistic(10.0, 3.0), Logistic(15.0, 3.0)]),
        (1, [Exponential(0.1), Exponential(0.1)]),
        (0, [Categorical([0.25] * 4, ["fog", "rain", "snow", "sun"])] * 2),
    ):
        model = MixedNB({"degrees": "gaussian"}).fit(frame, y)
        model.densities_[column] = other
        with pytest.warns(pellucid.UncertifiedWarning, match="densities|conditionals"):
            assert not pellucid.verify(model, frame, y).holds


def test_a_table_comes_back_whole_from_a_file(tmp_path):
    frame, y = table()
    model = MixedNB({"degrees": "logistic"}, prior_alpha=1).fit(frame, y)
    pellucid.save(model, tmp_path / "model.safetensors")
    again = pellucid.load(tmp_path / "model.safetensors")
    assert again.densities_ == model.densities_
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert pellucid.verify(again, frame, y).holds


@seeds
def test_all_gaussian_is_gaussian_naive_bayes(seed):  # peer
    X, y = points(seed)
    mixed, gaussian = MixedNB("gaussian").fit(X, y), GaussianNB().fit(X, y)
    np.testing.assert_allclose(mixed.predict_joint_log_proba(X), gaussian.predict_joint_log_proba(X), rtol=1e-12)
    assert mixed.trace_["objective"] == pytest.approx(gaussian.trace_["objective"])


@pytest.mark.peer
@seeds
def test_all_of_one_discrete_kind_is_that_naive_bayes(seed):
    X, y = counts(seed)
    categorical = peer.CategoricalNB(alpha=0.5).fit(X, y)
    np.testing.assert_allclose(
        MixedNB("categorical", alpha=0.5).fit(X, y).predict_log_proba(X), categorical.predict_log_proba(X), atol=1e-12
    )
    bernoulli = peer.BernoulliNB(alpha=0.5).fit(X > 0, y)
    np.testing.assert_allclose(
        MixedNB(alpha=0.5).fit(X > 0, y).predict_log_proba(X > 0), bernoulli.predict_log_proba(X > 0), atol=1e-12
    )


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"alpha": -1}, ValueError, "alpha must be at least 0, got -1"),
        ({"prior_alpha": -1}, ValueError, "prior_alpha must be at least 0, got -1"),
        ({"densities": ["gaussian"]}, ValueError, "an entry for each of the 4 columns, got 1"),
        ({"densities": {"moon": "gaussian"}}, ValueError, "densities must name columns of X, got 'moon'"),
        ({"densities": "normal"}, ValueError, "density must be one of"),
        ({"densities": "gaussian"}, ValueError, "must hold numbers in a column with a Gaussian density"),
    ],
)
def test_refuses_bad_parameters(parameters, error, message):  # errors
    with pytest.raises(error, match=message):
        MixedNB(**parameters).fit(*table())


def test_refuses_a_column_of_numbers_and_texts():
    with pytest.raises(TypeError, match="numbers or texts in column 0, got both"):
        MixedNB().fit(np.array([[1.0], ["two"], [3.0]], dtype=object), [0, 1, 1])
