"""A blend is chosen where it is clearly better than its best member, with weights that are exactly the best."""

import numpy as np
import pytest
from scipy.optimize import minimize

from pellucid.bake_off import blending
from pellucid.bake_off.blending import Said, best_blend, simplex_weights
from pellucid.bake_off.contestants import REGRESSORS
from pellucid.bake_off.measures import RMSE, Measure
from pellucid.bake_off.pace import Pace
from pellucid.bake_off.scores import MethodScore
from pellucid.table_model.held_out import HeldOut
from pellucid.tables.understanding import Columns

COLUMNS = Columns({"x": "number"}, {})


def method(name):
    return next(one for one in REGRESSORS if one.name == name)


def scored(name, misses):
    """Return a method that is off by these numbers, split by split."""
    splits = tuple(HeldOut(np.zeros(len(some)), np.asarray(some)) for some in misses)
    errors = np.array([np.sqrt(np.mean(np.square(some))) for some in misses])
    return MethodScore(method(name), errors, None, 3, Pace(100, 1.0), 0.1, measure=Measure(RMSE, None), by_split=splits)


@pytest.mark.parametrize("unit", [1.0, 1e6, 1e-6])
@pytest.mark.parametrize("seed", range(3))
def test_the_weights_are_the_best_on_the_simplex_in_any_unit(seed, unit):
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal((60, 1))
    split = Said(truth + rng.standard_normal((4, 60, 1)) * np.array([0.5, 1.0, 1.5, 0.6])[:, None, None], truth)
    weights = simplex_weights([Said(unit * split.members, unit * truth)])
    misses = (split.members - truth)[:, :, 0]

    def error(w):
        return np.mean((w @ misses) ** 2)

    peer = minimize(
        error, np.full(4, 0.25), bounds=[(0, 1)] * 4, constraints={"type": "eq", "fun": lambda w: w.sum() - 1}
    )
    assert weights.sum() == pytest.approx(1.0)
    assert weights.min() >= 0
    assert error(weights) <= peer.fun + 1e-9


def test_independent_errors_are_blended_and_equal_ones_are_not():
    rng = np.random.default_rng(0)
    one, other = ([rng.standard_normal(200) for _ in range(5)] for _ in range(2))
    found = best_blend([scored("boosted trees", one), scored("random forest", other)], COLUMNS)
    assert found.contestant.name == "blend of 2 methods"
    assert found.mean < 0.8  # of two independent errors the mean is smaller by the root of two
    made = found.contestant.method(COLUMNS)
    assert sum(made.weights) == pytest.approx(1.0)
    assert best_blend([scored("boosted trees", one), scored("random forest", one)], COLUMNS) is None


def test_methods_that_are_prepared_otherwise_and_single_splits_are_not_blended():
    rng = np.random.default_rng(0)
    one, other = ([rng.standard_normal(200) for _ in range(5)] for _ in range(2))
    assert best_blend([scored("boosted trees", one), scored("ridge", other)], COLUMNS) is None
    assert best_blend([scored("boosted trees", one[:1]), scored("random forest", other[:1])], COLUMNS) is None


def test_no_weight_is_negative_where_a_difference_would_be_perfect():
    truth = np.zeros((4, 1))
    miss = np.array([[1.0], [-2.0], [0.5], [3.0]])
    assert simplex_weights([Said(np.array([miss, 2.0 * miss]), truth)]).tolist() == [1.0, 0.0]  # not 2 and -1


def test_a_blend_within_a_standard_error_is_none(monkeypatch):
    rng = np.random.default_rng(0)
    one, other = ([rng.standard_normal(200) for _ in range(5)] for _ in range(2))
    monkeypatch.setattr(blending, "standard_error", lambda _differences: 10.0)
    assert best_blend([scored("boosted trees", one), scored("random forest", other)], COLUMNS) is None
