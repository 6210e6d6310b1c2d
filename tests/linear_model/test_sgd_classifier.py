"""SGDClassifier: by hand, properties, against scikit-learn, refusals."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
import sklearn.linear_model as peer
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedShuffleSplit, train_test_split

import pellucid
from pellucid.linear_model import SGDClassifier
from pellucid.linear_model.sgd.sgd_problem import Descended, machine_gaps
from pellucid.losses.named_losses import LOSS_NUMBERS, named_loss

FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
FEW = settings(max_examples=15, deadline=None)


def problem(seed=0, n=60, p=5, classes=2):
    rng = np.random.default_rng(seed)
    X = 0.3 * rng.standard_normal((n, p))
    score = 3 * X @ rng.standard_normal(p) + 0.2 + 0.3 * rng.standard_normal(n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


def both(X, y, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return SGDClassifier(**how).fit(X, y), peer.SGDClassifier(**how).fit(X, y)


def assert_same_line(ours, theirs, rtol=1e-9):
    size = np.abs(theirs.coef_).max() + np.abs(theirs.intercept_).max()
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=rtol * size)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=rtol * size)


@pytest.mark.by_hand
def test_two_steps_by_hand():
    # hinge, eta 1/2, no penalty: row 1 (loss 1 at 0): w = 1/2, b = 1/2. Row 2 has the score 0, short of -1:
    # w = 1/2 - 1/2 (-1) = 1, b = 0
    model = SGDClassifier(penalty=None, learning_rate="constant", eta0=0.5, shuffle=False, max_iter=1, tol=None)
    model.fit([[1.0], [-1.0]], ["yes", "no"])
    assert (model.coef_[0, 0], model.intercept_[0], model.t_) == (1.0, 0.0, 3.0)
    assert model.dual_coef_.toarray().tolist() == [[0.5, -0.5]]
    assert model.objective_.tolist() == [0.0]


def test_the_gap_of_a_minimum_is_0():
    # hinge with w = 1 at the points -1 and 1: P = alpha / 2; the slopes -alpha, +alpha bound it by alpha - alpha / 2
    X, signs, alpha = np.array([[-1.0], [1.0]]), np.array([[-1.0, 1.0]]), 0.2
    dual = sparse.csr_array(np.array([[-0.5, 0.5]]))
    model = Descended(np.ones((1, 1)), np.zeros(1), dual, named_loss("hinge"), alpha, 0.0, fit_intercept=True)
    objective, gap = machine_gaps(X, signs, np.ones((1, 2)), 2.0, model)
    assert objective[0] == pytest.approx(alpha / 2)
    assert gap[0] == pytest.approx(0.0, abs=1e-15)


def test_the_gap_of_a_free_intercept_by_hand():
    # features of 0, three rows of +1 and one of -1: P(b = 0) = 1, and the least is P(b = 1) = 2 / 4
    X, signs = np.zeros((4, 1)), np.array([[1.0, 1.0, 1.0, -1.0]])
    model = Descended(np.zeros((1, 1)), np.zeros(1), None, named_loss("hinge"), 0.1, 0.0, fit_intercept=True)
    objective, gap = machine_gaps(X, signs, np.ones((1, 4)), 4.0, model)
    assert (objective[0], gap[0]) == (1.0, pytest.approx(0.5))


@FEW
@given(st.integers(0, 1000), st.sampled_from(sorted(LOSS_NUMBERS)), st.sampled_from(["l2", "l1", "elasticnet", None]))
def test_the_gap_is_never_too_small(seed, loss, penalty):
    X, y = problem(seed)
    how = {"loss": loss, "penalty": penalty, "alpha": 0.01, "random_state": 0, "tol": None}
    few, many = (SGDClassifier(max_iter=n, **how, average=n > 1).fit(X, y) for n in (1, 400))
    assert few.objective_[0] - many.objective_[0] <= few.dual_gap_[0] + 1e-12


@pytest.mark.property
@FEW
@given(st.integers(0, 1000))
def test_weights_are_repetitions_and_order_does_not_matter(seed):
    X, y = problem(seed, classes=3)
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 3, len(y))
    weight[:3] = 1
    again = rng.permutation(np.repeat(np.arange(len(y)), weight))
    once = SGDClassifier(random_state=0, class_weight="balanced").fit(X, y, sample_weight=weight)
    repeated = SGDClassifier(random_state=0, class_weight="balanced").fit(X[again], y[again])
    np.testing.assert_array_equal(once.coef_, repeated.coef_)
    np.testing.assert_array_equal(once.intercept_, repeated.intercept_)
    np.testing.assert_allclose(once.objective_, repeated.objective_)


@FORMS
def test_float32_gives_the_same_line_in_float32(form):
    X, y = problem()
    X = X.astype(np.float32)
    narrow, wide = (SGDClassifier(random_state=0).fit(form(X.astype(kind)), y) for kind in (np.float32, np.float64))
    assert narrow.coef_.dtype == np.float32
    np.testing.assert_allclose(narrow.coef_, wide.coef_, rtol=1e-5)
    assert not pellucid.verify(narrow, form(X), y).failed


def test_many_rows_on_threads_give_the_same_bits():
    X, y = problem(n=9000, classes=3)
    one, other = (SGDClassifier(random_state=3, max_iter=3, tol=None).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.score(X, y) > 0.6


@pytest.mark.parametrize("attribute", ["coef_", "intercept_", "objective_", "dual_gap_"])
@pytest.mark.parametrize("how", [{}, {"penalty": "l1", "alpha": 0.001}, {"average": True}], ids=str)
def test_verify_objects_to_a_broken_model(attribute, how):
    X, y = problem()
    weight = np.random.default_rng(0).random(len(y)) + 0.5  # of equal rows the hinge may be flat along the intercept
    model = SGDClassifier(random_state=0, **how).fit(X, y, sample_weight=weight)
    assert not pellucid.verify(model, X, y, sample_weight=weight).failed
    broken = copy.deepcopy(model)
    values = getattr(broken, attribute)
    values.flat[np.abs(values).argmax()] *= 0.99  # with an l1 penalty others may be 0
    with pytest.warns(pellucid.UncertifiedWarning, match="above its bound"):
        pellucid.verify(broken, X, y, sample_weight=weight)


def test_the_certificate_names_the_gap():
    X, y = problem(n=400)
    model = SGDClassifier(random_state=0, alpha=0.01).fit(X, y)
    assert model.certificate_.grade == "bounded"
    assert model.certificate_["duality gap"].value == pytest.approx(model.dual_gap_[0] / model.objective_[0])
    assert model.dual_gap_[0] < 0.3 * model.objective_[0]


@pytest.mark.parametrize("seed", range(4))
def test_rows_held_out_are_scored_by_the_weights_of_the_epoch(seed):
    X, y = problem(seed, n=200)
    how = {"alpha": 0.03, "shuffle": False, "early_stopping": True, "validation_fraction": 0.4, "random_state": seed}
    model = SGDClassifier(**how).fit(X, y)
    _, held_out = next(StratifiedShuffleSplit(test_size=0.4, random_state=seed).split(X, y))
    best, waited, epoch = -np.inf, 0, 0
    while waited < model.n_iter_no_change:
        epoch += 1
        score = SGDClassifier(**how, max_iter=epoch, tol=None).fit(X, y).score(X[held_out], y[held_out])
        waited = 0 if score >= best + model.tol else waited + 1
        best = max(best, score)
    assert model.n_iter_ == epoch


def test_parts_go_on_where_the_last_one_stopped():
    X, y = problem(classes=3)
    how = {"shuffle": False, "learning_rate": "invscaling", "eta0": 0.1}
    whole = SGDClassifier(max_iter=1, tol=None, **how).fit(X, y)
    parts = SGDClassifier(**how)
    for part in (slice(0, 20), slice(20, None)):
        parts.partial_fit(X[part], y[part], classes=[0, 1, 2])
    np.testing.assert_allclose(parts.coef_, whole.coef_)
    assert (parts.t_, len(parts.trace_)) == (whole.t_, 2)
    assert parts.certificate_.grade == pellucid.verify(parts, X, y).grade == "none"
    assert not hasattr(parts, "dual_coef_")


@pytest.mark.bad_input
def test_a_refused_part_leaves_the_model_as_it_was():
    X, y = problem()
    model = SGDClassifier(random_state=0).partial_fit(X, y, classes=[0, 1])
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="only the labels"):
        model.partial_fit(X, y + 1)
    np.testing.assert_array_equal(model.coef_, before)
    assert model.t_ == len(X) + 1


def test_files_keep_the_averages_of_parts(tmp_path):
    X, y = problem()
    model = SGDClassifier(average=10, random_state=0).partial_fit(X[:30], y[:30], classes=[0, 1])
    pellucid.save(model.sparsify(), tmp_path / "m.safetensors")
    again = pellucid.load(tmp_path / "m.safetensors")
    one, other = (m.densify().partial_fit(X[30:], y[30:]) for m in (model, again))
    np.testing.assert_array_equal(one.coef_, other.coef_)


@pytest.mark.peer
@FORMS
@pytest.mark.parametrize("loss", LOSS_NUMBERS)
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet", None])
def test_same_steps_as_scikit_learn(form, loss, penalty):
    X, y = problem()
    rates = ["constant", "optimal", "invscaling", "adaptive"] + (["pa1", "pa2"] if loss == "hinge" else [])
    for rate in rates:
        how = {"loss": loss, "penalty": penalty, "learning_rate": rate, "eta0": 0.02, "class_weight": {0: 2.0}}
        how |= {"shuffle": False, "max_iter": 6, "tol": None, "alpha": 0.4 if rate == "optimal" else 0.01}
        assert_same_line(*both(form(X), y, **how))
        if penalty in (None, "l2"):  # with an l1 penalty scikit-learn's average is not that of the iterates
            assert_same_line(*both(form(X), y, **how, average=50))


@pytest.mark.parametrize("how", [{}, {"early_stopping": True, "penalty": None}, {"learning_rate": "adaptive"}], ids=str)
def test_stops_where_scikit_learn_stops(how):
    X, y = problem(n=200, classes=3)
    ours, theirs = both(X, y, shuffle=False, random_state=1, alpha=0.01, eta0=0.1, **how)
    assert ours.n_iter_ == theirs.n_iter_ > 5
    assert ours.t_ == theirs.t_
    assert_same_line(ours, theirs)


@pytest.mark.parametrize("loss", ["log_loss", "modified_huber"])
@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_are_those_of_scikit_learn(loss, classes):
    X, y = problem(classes=classes)
    ours, theirs = both(X, y, loss=loss, shuffle=False, alpha=0.1)
    far = np.vstack([X, 100 * X])
    np.testing.assert_allclose(ours.predict_proba(far), theirs.predict_proba(far), atol=1e-8)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(ours.predict_log_proba(X), np.log(theirs.predict_proba(X)), atol=1e-6)


def test_warm_start_and_given_weights_start_there():
    X, y = problem()
    how = {"shuffle": False, "max_iter": 2, "tol": None, "warm_start": True, "alpha": 0.1}
    ours, theirs = both(X, y, **how)
    assert_same_line(ours.fit(X, y), theirs.fit(X, y))
    start = {"coef_init": [1.0, 0.0, 0.0, 0.0, 0.0], "intercept_init": 0.5}
    ours, theirs = SGDClassifier(**how).fit(X, y, **start), peer.SGDClassifier(**how).fit(X, y, **start)
    assert_same_line(ours, theirs)
    assert not hasattr(ours, "dual_coef_")
    assert not pellucid.verify(ours, X, y).failed


def test_answers_as_well_as_scikit_learn_on_rows_not_seen():
    X, y = problem(n=2000)
    train, test, y_train, y_test = train_test_split(X, y, random_state=0)
    ours, theirs = both(train, y_train, random_state=0, alpha=0.01)
    assert ours.score(test, y_test) > theirs.score(test, y_test) - 0.03


def test_warns_of_a_negative_power_as_scikit_learn_does():
    X, y = problem()
    with pytest.warns(FutureWarning, match="power_t should be at least 0, got -1"):
        SGDClassifier(power_t=-1).fit(X, y)


def test_warns_at_the_limit_of_epochs():
    X, y = problem()
    with pytest.warns(ConvergenceWarning, match="n_iter_ is 2, all that max_iter allows"):
        SGDClassifier(max_iter=2, random_state=0).fit(X, y)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"loss": "squared"}, "loss must be one of .* got 'squared'"),
        ({"alpha": -1.0}, "alpha must be at least 0, got -1.0"),
        ({"alpha": 0.0}, "alpha must be above 0 with learning_rate='optimal'"),
        ({"eta0": 0.0}, "eta0 must be above 0, got 0.0"),
        ({"l1_ratio": None, "penalty": "elasticnet"}, "l1_ratio must be a number"),
        ({"learning_rate": "pa1", "loss": "log_loss"}, "loss must be 'hinge' with learning_rate='pa1'"),
        ({"validation_fraction": 1.0}, "validation_fraction must be above 0 and below 1, got 1.0"),
        ({"max_iter": 0}, "max_iter must be at least 1, got 0"),
        ({"tol": -1.0}, "tol must be at least 0, got -1.0. To stop"),
        ({"average": 0}, "average must be at least 1, got 0"),
        ({"verbose": -1}, "verbose must be at least 0, got -1"),
    ],
)
def test_refuses_parameters_with_a_sentence(how, words):
    with pytest.raises(ValueError, match=words):
        SGDClassifier(**how).fit(*problem())


def test_refuses_data_with_a_sentence():
    X, y = problem()
    with pytest.raises(ValueError, match="at least 2 classes, got one class: 0"):
        SGDClassifier().fit(X, np.zeros(len(y), int))
    with pytest.raises(ValueError, match=r"coef_init must have shape \(1, 5\), got \(3,\)"):
        SGDClassifier().fit(X, y, coef_init=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"intercept_init must have shape \(1,\), got \(2,\)"):
        SGDClassifier().fit(X, y, intercept_init=[1.0, 2.0])
    with pytest.raises(ValueError, match="got an overflow in epoch 1"):
        SGDClassifier("squared_error", learning_rate="constant", eta0=1e100).fit(1e100 * X, y)
    with pytest.raises(ValueError, match="early_stopping must be False with partial_fit"):
        SGDClassifier(early_stopping=True).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="class_weight must not be 'balanced' with partial_fit"):
        SGDClassifier(class_weight="balanced").partial_fit(X, y, classes=[0, 1])
    with pytest.raises(AttributeError, match="has no attribute 'predict_proba'"):
        _ = SGDClassifier().fit(X, y).predict_proba
