"""Every option of a bake-off does what it says: seen in the splits, the fits, the scores and the model."""

import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid.app.bake_off import bake_off
from pellucid.app.bake_off import options as options_module
from pellucid.app.bake_off.contestants import CLASSIFIERS, REGRESSORS
from pellucid.app.bake_off.learned import fit_weighted
from pellucid.app.bake_off.options import Options, chosen_contestants, row_facts, understood
from pellucid.app.tables.reading import TableError
from pellucid.app.tables.understanding import Columns
from pellucid.core.files.saving import model_bytes
from pellucid.model_selection import TestVault

LINE = {"only": ["least squares"], "folds": 2, "seconds": 60}
LOGISTIC = {"only": ["logistic regression"], "folds": 2, "seconds": 60}


def shop(n=240, seed=0):
    """Return several rows of each of 40 customers, in order of days, with weights, a number and a class to predict."""
    rng = np.random.default_rng(seed)
    customer = rng.integers(0, 40, n)
    frame = pd.DataFrame(
        {
            "customer_id": [f"C{i}" for i in customer],
            "day": pd.date_range("2024-01-01", periods=n).strftime("%Y-%m-%d"),
            "size": rng.standard_normal(n).round(3),
            "age": rng.standard_normal(n).round(3),
            "times": rng.integers(1, 4, n),
            "id": np.arange(5000, 5000 + n),
        }
    )
    frame["price"] = (2 * frame["size"] + rng.normal(0, 0.3, n)).round(3)
    frame["buys"] = np.where(frame["size"] + rng.normal(0, 0.8, n) > 1.0, "yes", "no")
    return frame


@pytest.fixture
def parts(monkeypatch):
    """Collect the rows, as the vault numbers them, of every split that a bake-off makes."""
    found = {"splits": [], "vaults": []}
    from pellucid.model_selection.recipes import Recipe

    make, lock = Recipe.splits, TestVault.__init__

    def splits(self, X, y, **given):
        made = make(self, X, y, **given)
        found["splits"] += [(X.index[learn], X.index[validate]) for learn, validate in made]
        return made

    def init(self, X, y, **given):
        lock(self, X, y, **given)
        found["vaults"].append((X.index[self.learning_rows], X.index[self.test_rows]))

    monkeypatch.setattr(Recipe, "splits", splits)
    monkeypatch.setattr(TestVault, "__init__", init)
    return found


def test_dropped_columns_are_not_used_and_kept_ones_are():
    frame = shop().drop(columns=["buys", "day"])
    result = bake_off(frame, "price", drop=["customer_id"], keep=["id"], **LINE)
    assert set(result.columns.kinds) == {"size", "age", "times", "id"}
    assert result.columns.left_out == {"customer_id": "you said so"}
    assert not any("you said so" in caution for caution in result.cautions)
    assert "id" not in bake_off(frame, "price", **LINE).columns.kinds


def test_groups_are_never_shared_between_parts(parts):
    frame = shop()
    result = bake_off(frame.drop(columns="buys"), "price", group="customer_id", **LINE)
    owner = frame["customer_id"]
    assert len(parts["splits"]) >= 2 + 3  # of the comparison and of the learning curve
    for learn, other in parts["splits"] + parts["vaults"]:
        assert not set(owner[learn]) & set(owner[other])
    assert result.columns.left_out["customer_id"] == "it names the groups"


def test_the_future_is_never_before_the_past(parts):
    frame = shop().sample(frac=1, random_state=0).reset_index(drop=True)
    bake_off(frame.drop(columns="buys"), "price", time_column="day", **LINE)
    days = frame["day"]
    assert len(parts["splits"]) >= 2 + 3
    for learn, other in parts["splits"] + parts["vaults"]:
        assert days[learn].max() < days[other].min()


def test_weights_equal_repetitions_in_a_fit():
    frame = shop()
    X, y, weights = frame[["size", "age"]], frame["price"].to_numpy(), frame["times"].to_numpy(dtype=float)
    again = np.repeat(np.arange(len(y)), frame["times"])
    columns = Columns({"size": "number", "age": "number"}, {})
    contestant = next(one for one in REGRESSORS if one.name == "least squares")
    weighted = fit_weighted(contestant.pipeline(columns, X), X, y, weights)
    repeated = contestant.pipeline(columns, X).fit(X.iloc[again], y[again])
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-9)
    plain = contestant.pipeline(columns, X).fit(X, y)
    assert np.abs(plain.predict(X) - weighted.predict(X)).max() > 1e-4


def test_weights_reach_the_fits_and_the_scores_and_leave_out_methods_without():
    frame = shop().drop(columns=["buys", "customer_id", "day"])
    options = {"only": ["least squares", "nearest neighbors"], "folds": 2, "seconds": 60}
    result = bake_off(frame, "price", weights="times", **options)
    assert ("nearest neighbors", "it takes no weights") in {(one.name, one.reason) for one in result.untried}
    assert "times" not in result.columns.kinds
    judged = result.judgement
    missed = np.sqrt(np.average((judged.actual - judged.predicted) ** 2, weights=judged.weights))
    assert judged.headline.score == pytest.approx(missed)
    assert set(judged.weights) <= {1.0, 2.0, 3.0}
    weights = frame["times"].to_numpy(dtype=float)
    rows = result.model[:-1].transform(frame)
    assert pellucid.verify(result.model[-1], rows, frame["price"].to_numpy(), sample_weight=weights).holds


def test_ones_own_test_rows_go_into_the_vault_and_the_model_learns_from_all_others():
    frame, own = shop().drop(columns="buys"), shop(60, seed=1).drop(columns="buys")
    result = bake_off(frame, "price", test=own, **LINE)
    np.testing.assert_array_equal(result.judgement.actual, own["price"].to_numpy())
    np.testing.assert_allclose(result.judgement.predicted, result.model.predict(own))
    assert result.n_learning == result.n_rows == 240


def test_own_test_rows_of_unknown_classes_are_left_out_and_told():
    own = shop(60, seed=1).drop(columns="price")
    own.loc[:2, "buys"] = "perhaps"
    result = bake_off(shop().drop(columns="price"), "buys", test=own, **LOGISTIC)
    assert len(result.judgement.actual) == 57
    assert any("3 rows of the test table were left out" in caution for caution in result.cautions)


def test_the_metric_chooses_scores_and_sets_the_threshold_of_the_model(tmp_path):
    frame = shop().drop(columns=["price", "customer_id", "day"])
    result = bake_off(frame, "buys", metric="f1", **LOGISTIC)
    judged = result.judgement
    assert judged.headline.name == "f1"
    assert judged.threshold is not None
    chances = result.model.predict_proba(frame)[:, 1]
    np.testing.assert_array_equal(result.model.predict(frame) == "yes", chances > judged.threshold)
    (tmp_path / "model").write_bytes(model_bytes(result.model))
    np.testing.assert_array_equal(pellucid.load(tmp_path / "model").predict(frame), result.model.predict(frame))


def test_costs_make_the_model_call_what_is_cheap_to_miss_less_often():
    frame = shop().drop(columns=["price", "customer_id", "day"])
    costs = pd.DataFrame([[0, 1], [20, 0]], index=["no", "yes"], columns=["no", "yes"])
    plain, careful = (bake_off(frame, "buys", metric=metric, **LOGISTIC) for metric in (None, costs))
    n_calls = [int((one.model.predict(frame) == "yes").sum()) for one in (plain, careful)]
    assert n_calls[1] > n_calls[0]
    assert careful.judgement.headline.name == "cost per row"


def test_another_metric_may_choose_another_method():
    kept, _ = chosen_contestants(CLASSIFIERS, Options())
    assert kept == list(CLASSIFIERS)
    frame = shop().drop(columns=["price", "customer_id", "day"])
    result = bake_off(frame, "buys", metric="roc_auc", only=["Logistic Regression", "decision tree"], folds=2)
    best = max((score for score in result.scores if not score.contestant.is_baseline), key=lambda score: score.auc)
    assert result.chosen is best
    assert result.chosen.mean == pytest.approx(1 - result.chosen.auc)


def test_only_and_without_keep_the_baseline():
    kept, out = chosen_contestants(REGRESSORS, Options(without=("lasso", "ridge")))
    assert {name for name, _ in out} == {"lasso", "ridge"}
    assert kept[0].is_baseline
    kept, _ = chosen_contestants(REGRESSORS, Options(only=("lasso",)))
    assert [one.name for one in kept] == ["mean", "lasso"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"drop": ["nothing"]}, r"drop must name one of the columns \[.*\], got 'nothing'"),
        ({"keep": ["price"]}, "keep must name another column than the target, got 'price'"),
        ({"drop": "age", "keep": "age"}, "drop and keep must name different columns, got 'age' in both"),
        ({"group": "customer_id", "time_column": "day"}, "must not be given together"),
        ({"group": "id"}, "group must name a column whose values repeat, got 'id', where all differ"),
        ({"time_column": "customer_id"}, "time-column must hold dates or numbers, got 'customer_id'"),
        ({"weights": "age"}, "weights must be numbers of at least 0 in every row, got -"),
        ({"only": ["magic"]}, "only must be a name that is known, got 'magic'; .* are nearest"),
        ({"only": ["Random  Forrest"]}, "got 'Random  Forrest'; random forest, .* nearest"),
        ({"drop": ["AGE"]}, r"got 'AGE'. Did you mean 'age'\?"),
        ({"metric": "MAE"}, r"got 'MAE'. Did you mean 'neg_mean_absolute_error'\?"),
        ({"metric": "neg_mean_absolut_error"}, r"Did you mean 'neg_mean_absolute_error'\?"),
        ({"without": ["magic"]}, "without must be a name that is known, got 'magic'; .* are nearest"),
        ({"only": ["nearest neighbors"], "weights": "times"}, "must leave a method to choose, got none"),
        ({"metric": "f1"}, "metric must suit a target of numbers"),
        ({"test": pd.DataFrame({"price": [1.0, 2.0]})}, "table must have the columns"),
        (
            {"test": pd.DataFrame({"size": [1.0]})},
            r"test must have the columns .* but \['price'\] is missing",
        ),
    ],
)
def test_a_bad_value_is_one_sentence(given, message):
    options = {"only": ["least squares"], "folds": 2, "seconds": 60} | given
    with pytest.raises(TableError, match=message):
        bake_off(shop().drop(columns="buys"), "price", **options)


def test_a_column_that_says_nothing_cannot_be_kept():
    frame = shop().assign(empty=np.nan)
    with pytest.raises(TableError, match="keep must name columns that say something, got 'empty': it is empty"):
        understood(frame, "price", Options(keep=("empty",)))


def test_a_row_without_a_group_is_alone_and_one_without_a_time_is_told():
    frame = shop()
    frame.loc[3, ["customer_id", "day"]] = None
    groups = row_facts(frame, Options(group="customer_id")).groups
    assert (groups == groups[3]).sum() == 1
    with pytest.raises(TableError, match="time-column must have a value in every row, got 'day' with gaps"):
        row_facts(frame, Options(time_column="day"))


def test_a_split_by_time_that_leaves_one_class_is_told():
    frame = shop().drop(columns="price")
    frame["buys"] = np.where(np.arange(len(frame)) < 200, "no", "yes")
    with pytest.raises(TableError, match="all rows to learn from are no"):
        bake_off(frame, "buys", time_column="day", **LOGISTIC)


def test_numbers_can_say_when():
    order = row_facts(shop(), Options(time_column="id")).order
    assert (np.diff(order) > 0).all()
    assert options_module.takes_weights(REGRESSORS[1])
