"""RankingSVM: by hand, properties, against machines on listed pairs, errors."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.callback import ScoringMonitor
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.svm import LinearSVC as Peer

import pellucid
from pellucid.ranking import RankingSVM, pair_sums
from pellucid.ranking.pair_sums import ListablePairs, RankedPairs
from pellucid.ranking.ranking_problem import RankingProblem

LOSSES = ["hinge", "squared_hinge"]
both_losses = pytest.mark.parametrize("loss", LOSSES)
seeds = given(st.integers(0, 2**32 - 1))


def queries(seed, n=60, p=4, n_queries=4, levels=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = np.floor(levels * rng.random(n)) + (X[:, 0] > 0)
    return X, y, rng.integers(0, n_queries, n)


def differences(X, y, qid):
    """Every pair, written out."""
    better, worse = np.nonzero((y[:, None] > y) & (qid[:, None] == qid))
    return X[better] - X[worse]


def objective(w, D, C, loss):
    short = np.maximum(0.0, 1.0 - D @ w)
    return 0.5 * w @ w + C * np.sum(short if loss == "hinge" else short**2)


# by hand


@pytest.mark.by_hand
def test_three_rows_one_apart_have_weight_one():
    # w >= 1 puts the two neighbors apart by 1; the outer pair is apart by 2
    model = RankingSVM(C=10.0).fit([[0.0], [1.0], [2.0]], [1, 2, 3])
    assert model.coef_ == pytest.approx([1.0], abs=1e-4)
    assert model.predict([[3.0]]) == pytest.approx([3.0], abs=1e-3)


def test_a_low_cost_is_the_weight():
    # one pair at distance 1: the least w^2/2 + C (1 - w) is at w = C, if that is below 1
    assert RankingSVM(C=0.25).fit([[0.0], [1.0]], [0, 1]).coef_ == pytest.approx([0.25])


def test_squared_hinge_of_one_pair_balances_norm_and_loss():
    # w = 2C (1 - w): w = 2C / (1 + 2C)
    assert RankingSVM(C=0.5, loss="squared_hinge").fit([[0.0], [1.0]], [0, 1]).coef_ == pytest.approx([0.5])


def test_rows_of_different_queries_are_not_compared():
    # within each query more is better; across, the second query lies far below although it is relevant
    X, y, qid = [[0.0], [1.0], [-9.0], [-8.0]], [0, 1, 2, 3], ["a", "a", "b", "b"]
    apart = RankingSVM(C=10.0).fit(X, y, qid=qid)
    assert apart.coef_ == pytest.approx([1.0], abs=1e-4)
    assert apart.score(X, y, qid=qid) == 1.0
    assert RankingSVM(C=10.0).fit(X, y).coef_[0] < 0.0


@both_losses
def test_without_pairs_all_scores_are_zero(loss):
    model = RankingSVM(loss=loss).fit([[1.0, 2.0], [3.0, 4.0]], [1, 1])
    np.testing.assert_array_equal(model.coef_, 0.0)
    assert model.certificate_.holds
    assert pellucid.verify(model, [[1.0, 2.0], [3.0, 4.0]], [1, 1]).holds


@pytest.mark.parametrize("most", [0, 64], ids=["sorted", "listed"])
def test_the_pair_loss_has_the_slopes_of_the_listed_pairs(monkeypatch, most):
    monkeypatch.setattr(pair_sums, "MOST_ROWS_EACH", most)
    X, y, qid = queries(3, n=25)
    w = np.array([0.4, -0.2, 0.1, 0.3])
    problem = RankingProblem(X, ListablePairs(RankedPairs(y, qid, np.ones(len(y)))), 1.0)
    D = differences(X, y, qid)
    margins = D @ w
    squared, smoothed = problem.loss(X @ w, 0.0), problem.loss(X @ w, 0.3)
    a = np.clip((1 - margins) / 0.3, 0, 1)
    assert squared.value == pytest.approx(np.sum(np.maximum(0, 1 - margins) ** 2))
    assert smoothed.value == pytest.approx(np.sum(np.maximum(0, 1 - margins)))
    assert smoothed.excess == pytest.approx(np.sum((1 - a) * np.maximum(0, 1 - margins)))
    np.testing.assert_allclose(X.T @ squared.minus_slope, 2 * np.maximum(0, 1 - margins) @ D)
    np.testing.assert_allclose(X.T @ smoothed.minus_slope, a @ D)
    near = D[(margins < 1) & (margins >= 0.7)]
    np.testing.assert_allclose(problem.hessian(smoothed), np.eye(4) + near.T @ near / 0.3)


# properties


@pytest.mark.property
@both_losses
@settings(max_examples=15)
@seeds
def test_weights_are_repetitions(loss, seed):
    X, y, qid = queries(seed, n=20, n_queries=2)
    weight = np.random.default_rng(seed).integers(0, 4, len(y))
    weighted = RankingSVM(loss=loss, tol=1e-9).fit(X, y, sample_weight=weight, qid=qid)
    repeated = RankingSVM(loss=loss, tol=1e-9).fit(
        X.repeat(weight, axis=0), y.repeat(weight), qid=qid.repeat(weight)
    )  # fmt: skip
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)
    assert pellucid.verify(weighted, X, y, sample_weight=weight).holds


@both_losses
@settings(max_examples=15)
@seeds
def test_only_the_order_of_y_and_differences_of_x_matter(loss, seed):
    X, y, qid = queries(seed)
    model = RankingSVM(loss=loss).fit(X, y, qid=qid)
    moved = RankingSVM(loss=loss).fit(X + 1e6 * (1.0 + qid[:, None]), np.exp(y), qid=qid)
    np.testing.assert_allclose(moved.coef_, model.coef_, atol=1e-3)


@both_losses
@settings(max_examples=15)
@seeds
def test_the_gap_bounds_the_distance_to_the_best_objective(loss, seed):
    X, y, qid = queries(seed)
    rough, fine = (RankingSVM(loss=loss, tol=tol).fit(X, y, qid=qid) for tol in (1e-2, 1e-9))
    D = differences(X, y, qid)
    values = [objective(model.coef_, D, 1.0, loss) for model in (rough, fine)]
    gap = pellucid.verify(rough, X, y)["duality gap"].value * values[0]
    assert -1e-9 <= values[0] - values[1] <= gap + 1e-9 * values[0]


@both_losses
@pytest.mark.parametrize("seed", range(3))
def test_the_proof_measures_what_listed_pairs_give(loss, seed):
    X, _, qid = queries(seed, n=300, n_queries=2)  # more rows in a query than the proof lists
    y = np.round(2.0 * X[:, 0] - X[:, 1] + np.random.default_rng(seed).standard_normal(300), 1)
    model = RankingSVM(loss=loss).fit(X, y, qid=qid)
    model.coef_ = 1.1 * model.coef_
    D = differences(X, y, qid)
    margins = D @ (model.coef_ if loss == "squared_hinge" else model.smoothed_coef_)
    if loss == "hinge":
        alpha = np.clip((1 - margins) / model.smoothing_, 0, 1)
        dual = alpha.sum()
    else:
        alpha = 2 * np.maximum(0, 1 - margins)
        dual = alpha.sum() - np.sum(alpha**2) / 4
    dual -= 0.5 * np.sum((alpha @ D) ** 2)
    value = objective(model.coef_, D, 1.0, loss)
    with pytest.warns(pellucid.UncertifiedWarning):
        proof = pellucid.verify(model, X, y)
    assert proof["duality gap"].value == pytest.approx((value - dual) / value, rel=1e-8)


@both_losses
def test_listed_and_sorted_pairs_give_the_same_machine(monkeypatch, loss):
    X, y, qid = queries(0, n=60)
    listed = RankingSVM(loss=loss).fit(X, y, qid=qid)
    monkeypatch.setattr(pair_sums, "MOST_ROWS_EACH", 0)
    by_sorting = RankingSVM(loss=loss).fit(X, y, qid=qid)
    np.testing.assert_allclose(listed.coef_, by_sorting.coef_, rtol=1e-6, atol=1e-9)


@both_losses
def test_sparse_and_dense_rows_agree(loss):
    X, y, qid = queries(0)
    X[np.abs(X) < 0.7] = 0.0
    dense = RankingSVM(loss=loss, tol=1e-9).fit(X, y, qid=qid)
    thin = RankingSVM(loss=loss, tol=1e-9).fit(sparse.csr_array(X), y, qid=qid)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-4)
    assert pellucid.verify(thin, sparse.csr_array(X), y).holds


@both_losses
def test_many_columns_are_solved_by_conjugate_gradients(loss):
    rng = np.random.default_rng(0)
    X = sparse.random_array((80, 700), density=0.05, rng=rng, format="csr")
    y = rng.integers(0, 3, 80)
    model = RankingSVM(loss=loss).fit(X, y)
    assert model.certificate_.holds
    assert pellucid.verify(model, X, y).holds
    assert model.score(X, y) == 1.0


@both_losses
@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("C", [1e-6, 1e4])
def test_is_certified_at_any_scale(loss, scale, C):
    X, y, qid = queries(1)
    assert RankingSVM(C, loss=loss).fit(scale * X, y, qid=qid).certificate_.holds


@both_losses
def test_a_stopped_fit_warns_and_a_broken_one_is_objected_to(loss):
    X, y, qid = queries(2)
    with pytest.warns(pellucid.UncertifiedWarning, match="duality gap.*Raise max_iter"):
        RankingSVM(loss=loss, max_iter=1).fit(X, y, qid=qid)
    model = RankingSVM(loss=loss).fit(X, y, qid=qid)
    for name in ["coef_", "qid_"] + ["smoothed_coef_"] * (loss == "hinge"):
        broken = copy.deepcopy(model)
        getattr(broken, name)[:2] += 1
        with pytest.warns(pellucid.UncertifiedWarning, match="above its bound"):
            assert not pellucid.verify(broken, X, y).holds


def test_the_proof_objects_to_other_rows_and_to_a_lost_smoothing():
    X, y, _ = queries(2)
    model = RankingSVM().fit(X, y)
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, X[:-1], y[:-1]).holds
    model.smoothing_ = 0.0
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, X, y).holds


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("smoothed_coef_", np.full(4, np.nan)),
        ("smoothed_coef_", np.full(4, np.inf)),
        ("smoothed_coef_", np.zeros(3)),
        ("smoothed_coef_", 1e200 * np.ones(4)),
        ("smoothing_", np.nan),
        ("smoothing_", np.inf),
        ("smoothing_", -1.0),
        *(("smoothing_", 10.0**-k) for k in range(14, 24)),  # rounding, divided by this, would be a large bound
        ("coef_", np.full(4, np.nan)),
        ("qid_", np.full(60, -1)),
        ("qid_", np.full(60, 10**12)),
    ],
)
def test_a_witness_that_is_no_number_proves_nothing(name, wrong):
    X, y, _ = queries(2)
    model = RankingSVM().fit(X, y)
    setattr(model, name, wrong)
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, X, y).holds
    del model.smoothed_coef_
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, X, y).holds


def test_callbacks_score_every_iterate():
    X, y, _ = queries(0)
    monitor = ScoringMonitor(scoring="neg_mean_squared_error")
    model = RankingSVM().set_callbacks(monitor).fit(X, y)
    assert len(monitor.get_logs().data) >= model.n_iter_


def test_refitting_with_another_loss_forgets_the_smoothing():
    X, y, _ = queries(0)
    model = RankingSVM().fit(X, y).set_params(loss="squared_hinge").fit(X, y)
    assert not hasattr(model, "smoothing_")
    assert pellucid.verify(model, X, y).holds


def test_query_ids_are_routed_by_grid_search():
    X, y, qid = queries(0, n=120, n_queries=12)
    from sklearn import config_context

    with config_context(enable_metadata_routing=True):
        ranker = RankingSVM(loss="squared_hinge").set_fit_request(qid=True).set_score_request(qid=True)
        search = GridSearchCV(ranker, {"C": [1e-4, 1.0]}, cv=GroupKFold(3)).fit(X, y, qid=qid, groups=qid)
    assert 0.5 < search.best_score_ <= 1.0


# peer


@pytest.mark.peer
@both_losses
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_same_answer_as_scikit_learn_on_the_listed_pairs(loss, C):
    X, y, qid = queries(5)
    D = differences(X, y, qid)
    signs = np.where(np.arange(len(D)) % 2, 1, -1)
    peer = Peer(C=C, loss=loss, fit_intercept=False, dual=True, tol=1e-9, max_iter=100_000, random_state=0)
    best = peer.fit(D * signs[:, None], signs).coef_[0]
    model = RankingSVM(C, loss=loss, tol=1e-9).fit(X, y, qid=qid)
    np.testing.assert_allclose(model.coef_, best, atol=1e-4)
    assert objective(model.coef_, D, C, loss) <= objective(best, D, C, loss) * (1 + 1e-9)


# errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"C": 0.0}, "C must be above 0, got 0"),
        ({"loss": "logistic"}, "loss must be one of"),
        ({"tol": -1.0}, "tol must be above 0"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
    ],
)
def test_refuses_bad_parameters(settings_, message):
    with pytest.raises(ValueError, match=message):
        RankingSVM(**settings_).fit([[0.0], [1.0]], [0, 1])


def test_refuses_bad_query_ids():
    with pytest.raises(ValueError, match="qid must have one id for each of the 2 rows of X, got 3"):
        RankingSVM().fit([[0.0], [1.0]], [0, 1], qid=[1, 1, 2])
    with pytest.raises(ValueError, match="qid must hold an id for every row, got NaN"):
        RankingSVM().fit([[0.0], [1.0]], [0, 1], qid=[1.0, np.nan])


def test_refuses_negative_weights():
    with pytest.raises(ValueError, match="sample_weight must be at least 0"):
        RankingSVM().fit([[0.0], [1.0]], [0, 1], sample_weight=[1.0, -1.0])
