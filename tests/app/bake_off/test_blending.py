"""A blend is chosen where it is better than its best member, with weights that are the best for what is asked."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.pipeline import Pipeline

import pellucid
from pellucid.app.bake_off import bake_off, blending
from pellucid.app.bake_off.blending import EVEN_ROWS, best_blend, mixture_weights, simplex_weights
from pellucid.app.bake_off.contestants import CLASSIFIERS, REGRESSORS
from pellucid.app.bake_off.measures import ACCURACY, RMSE, Measure
from pellucid.app.bake_off.scores import MethodScore, Pace
from pellucid.app.table_model.class_scores import HeldOut
from pellucid.app.tables.understanding import Columns
from pellucid.ensemble import BlendClassifier, BlendRegressor

COLUMNS = Columns({"x": "number"}, {})
READ = pd.DataFrame({"x": np.arange(100.0)})


def scored(name, misses):
    """Return a method that is off by these numbers, split by split."""
    splits = tuple(HeldOut(np.zeros(len(some)), np.asarray(some)) for some in misses)
    errors = np.array([np.sqrt(np.mean(np.square(some))) for some in misses])
    method = next(one for one in REGRESSORS if one.name == name)
    return MethodScore(method, errors, None, 3, Pace(100, 1.0), 0.1, measure=Measure(RMSE, None), by_split=splits)


def sure(name, chances):
    """Return a method that gives the true class of each row these probabilities, split by split."""
    measure = Measure(ACCURACY, np.array(["no", "yes"]))
    splits = tuple(HeldOut(np.full(len(p), "yes"), np.log(np.column_stack([1 - p, p]))) for p in chances)
    errors = np.array([np.mean(p <= 0.5) for p in chances])
    method = next(one for one in CLASSIFIERS if one.name == name)
    options = {"measure": measure, "by_split": splits, "held_out": HeldOut.joined(splits)}
    return MethodScore(method, errors, errors, 3, Pace(100, 1.0), 0.1, **options)


def penalized(loss, n_members):
    """Return the least loss over the simplex, found by another method."""
    start, constraint = np.full(n_members, 1 / n_members), {"type": "eq", "fun": lambda w: w.sum() - 1}
    return minimize(loss, start, bounds=[(1e-12, 1)] * n_members, constraints=constraint, tol=1e-12).fun


@pytest.mark.parametrize("unit", [1.0, 1e6, 1e-6])
@pytest.mark.parametrize("seed", range(3))
def test_the_weights_are_the_best_on_the_simplex_in_any_unit(seed, unit):
    rng = np.random.default_rng(seed)
    misses = rng.standard_normal((4, 60)) * np.array([0.5, 1.0, 1.5, 0.6])[:, None]
    usual = np.mean(np.square(misses))
    weights = simplex_weights(unit * misses)

    def loss(w):
        return np.sum((w @ misses) ** 2) + EVEN_ROWS * usual * (w @ w)

    assert weights.sum() == pytest.approx(1.0)
    assert weights.min() >= 0
    assert loss(weights) <= penalized(loss, 4) * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_weights_of_classes_make_the_truth_most_likely(seed):
    chances = np.random.default_rng(seed).uniform(0.05, 0.95, (3, 200))
    weights = mixture_weights(chances)

    def loss(w):
        return -np.sum(np.log(w @ chances)) - EVEN_ROWS / 3 * np.sum(np.log(w))

    assert weights.sum() == pytest.approx(1.0)
    assert loss(weights) <= penalized(loss, 3) + 1e-4


def test_independent_errors_are_blended_and_equal_ones_are_not():
    rng = np.random.default_rng(0)
    one, other = ([rng.standard_normal(200) for _ in range(5)] for _ in range(2))
    found = best_blend([scored("boosted trees", one), scored("ridge", other)], COLUMNS, READ)
    assert found.contestant.name == "blend of 2 methods"
    assert found.mean < 0.8  # of two independent errors the mean is smaller by the root of two
    made = found.contestant.method(COLUMNS)
    assert isinstance(made, BlendRegressor)
    assert sum(made.weights) == pytest.approx(1.0)
    assert sorted(isinstance(one, Pipeline) for one in made.estimators) == [False, True]  # ridge brings its preparation
    assert best_blend([scored("boosted trees", one), scored("random forest", one)], COLUMNS, READ) is None


def test_the_score_of_a_blend_is_that_of_weights_which_have_not_seen_the_split():
    rng = np.random.default_rng(1)
    splits = [rng.standard_normal((2, 40)) for _ in range(5)]
    found = best_blend(
        [scored(name, [s[k] for s in splits]) for k, name in enumerate(("lasso", "ridge"))], COLUMNS, READ
    )
    for place, error in enumerate(found.errors):
        others = np.concatenate([s for where, s in enumerate(splits) if where != place], axis=1)
        assert error == pytest.approx(np.sqrt(np.mean((simplex_weights(others) @ splits[place]) ** 2)))


def test_classes_are_blended_by_their_probabilities():
    rng = np.random.default_rng(0)
    one, other = ([rng.uniform(0.1, 0.99, 300) for _ in range(5)] for _ in range(2))
    found = best_blend([sure("boosted trees", one), sure("logistic regression", other)], COLUMNS, READ)
    assert isinstance(found.contestant.method(COLUMNS), BlendClassifier)
    assert found.log_loss < min(np.mean(-np.log(one)), np.mean(-np.log(other))) - 0.05
    assert found.mean < 0.5 * np.mean(np.concatenate(one) <= 0.5) * 2


def test_single_splits_users_methods_slow_ones_and_texts_are_not_blended():
    rng = np.random.default_rng(0)
    one, other = ([rng.standard_normal(200) for _ in range(5)] for _ in range(2))
    trees, forest, ridge = scored("boosted trees", one), scored("random forest", other), scored("ridge", other)
    assert best_blend([scored("lasso", one[:1]), scored("ridge", other[:1])], COLUMNS, READ) is None
    assert best_blend([trees, ridge], COLUMNS, READ, seconds=1.5) is None
    assert best_blend([trees, forest], COLUMNS, READ, seconds=2.5) is not None
    with_text = Columns({"x": "number", "t": "text"}, {})
    assert best_blend([trees, ridge], with_text, READ.assign(t="a b c d")) is None
    assert best_blend([trees, forest], with_text, READ.assign(t="a b c d")) is not None


def test_no_weight_is_negative_where_a_difference_would_be_perfect(monkeypatch):
    monkeypatch.setattr(blending, "EVEN_ROWS", 0.0)
    miss = np.array([1.0, -2.0, 0.5, 3.0])
    assert simplex_weights(np.array([miss, 2.0 * miss])).tolist() == [1.0, 0.0]  # not 2 and -1


def test_a_blend_that_may_be_better_by_chance_is_none(monkeypatch):
    rng = np.random.default_rng(0)
    one, other = ([rng.standard_normal(200) for _ in range(5)] for _ in range(2))
    monkeypatch.setattr(blending, "standard_error", lambda _differences: 10.0)
    assert best_blend([scored("boosted trees", one), scored("random forest", other)], COLUMNS, READ) is None


@pytest.fixture(scope="module")
def mixed():
    """Half of the target is a plane, half a step: neither ridge nor trees have it alone."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300), "town": rng.choice(list("uvw"), 300)})
    frame.loc[rng.choice(300, 20, replace=False), "b"] = np.nan
    step = 3 * (frame["a"] > 0.3) * (frame["town"] == "v")
    return frame.assign(y=2 * frame["b"].fillna(0) + step + rng.normal(size=300))


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_a_blend_with_preparations_of_its_members_is_fitted_proved_and_saved(mixed, kind, tmp_path):
    table = mixed if kind == "numbers" else mixed.assign(y=np.where(mixed["y"] > 1, "yes", "no"))
    only = ["ridge", "random forest"] if kind == "numbers" else ["logistic regression", "random forest"]
    result = bake_off(table, "y", seconds=60, only=only)
    assert result.chosen.name == "blend of 2 methods"
    assert any(isinstance(one, Pipeline) for one in result.model[-1].estimators_)
    assert result.verified.holds, str(result.verified)
    pellucid.save(result.model, tmp_path / "model.safetensors")
    again = pellucid.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict(table), result.model.predict(table))
    linear = next(one for one in again[-1].estimators_ if isinstance(one, Pipeline))
    linear[-1].coef_ = linear[-1].coef_ * 1.01
    with pytest.warns(pellucid.UncertifiedWarning):
        found = pellucid.verify(again, table.drop(columns="y"), table["y"].to_numpy())
    assert "members" in [claim.name for claim in found.failed]


def test_members_prepared_anew_say_what_they_said_in_the_comparison(mixed):
    """The matrix of trees loses nothing: ridge on it is ridge on the table."""
    from pellucid.app.bake_off.options import Options, understood
    from pellucid.app.tables.column_reader import ColumnReader
    from pellucid.app.tables.preparation import coded, from_codes

    columns = understood(mixed, "y", Options())
    read = ColumnReader(dict(columns.kinds)).fit_transform(mixed)
    y = mixed["y"].to_numpy()
    for name in ("ridge", "ridge with steps", "kernel ridge", "ridge with products"):
        contestant = next(one for one in REGRESSORS if one.name == name)
        plain = contestant.pipeline(columns, read, y).fit(read, y).predict(read)
        codes = coded(columns, read).fit_transform(read)
        method = contestant.method(columns, y)
        steps = [*from_codes(contestant.prepare, columns, read), ("method", method)]
        np.testing.assert_allclose(Pipeline(steps).fit(codes, y).predict(codes), plain, rtol=1e-6)
