"""Errors by name: as scikit-learn computes them, weights as repetitions, costs and thresholds by hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.linear_model import LogisticRegression

from pellucid.app.bake_off.measures import Answers, Measure, answers_of, measure_for
from pellucid.app.tables.reading import TableError
from pellucid.svm import LinearSVC

LABELS = np.array(["no", "yes"], dtype=object)


def said(n=80, n_classes=2, seed=0):
    """Return labels, answers that are better than chance, and whole weights."""
    rng = np.random.default_rng(seed)
    classes = np.array(["no", "yes", "perhaps"], dtype=object)[:n_classes]
    classes.sort()
    codes = rng.integers(0, n_classes, n)
    chances = rng.dirichlet(np.ones(n_classes), n) + 0.5 * np.eye(n_classes)[codes]
    chances /= chances.sum(axis=1, keepdims=True)
    return classes[codes], Answers(classes[chances.argmax(axis=1)], chances), rng.integers(1, 4, n)


def measure(name, y, *, weighted=False):
    return measure_for(name, y, is_classification=y.dtype.kind != "f", weighted=weighted)


def test_the_usual_errors_by_hand():
    numbers = np.array([1.0, 2.0, 4.0])
    assert measure(None, numbers).error(numbers, Answers(np.array([1.0, 2.0, 7.0]))) == pytest.approx(np.sqrt(3.0))
    labels = LABELS[[0, 1, 1, 1]]
    assert measure(None, labels).error(labels, Answers(LABELS[[0, 0, 1, 1]])) == 0.25


@pytest.mark.parametrize("name", ["roc_auc", "f1", "neg_log_loss", "balanced_accuracy", "average_precision"])
def test_two_classes_are_scored_as_scikit_learn_does(name):
    y, answers, _ = said()
    truth = (y == "yes").astype(int)
    functions = {
        "roc_auc": lambda: 1 - metrics.roc_auc_score(truth, answers.probabilities[:, 1]),
        "f1": lambda: 1 - metrics.f1_score(truth, answers.predicted == "yes"),
        "neg_log_loss": lambda: metrics.log_loss(truth, answers.probabilities),
        "balanced_accuracy": lambda: 1 - metrics.balanced_accuracy_score(y, answers.predicted),
        "average_precision": lambda: 1 - metrics.average_precision_score(truth, answers.probabilities[:, 1]),
    }
    assert measure(name, y).error(y, answers) == pytest.approx(functions[name](), rel=1e-12)


@pytest.mark.parametrize("name", [None, "roc_auc", "f1", "neg_log_loss", "neg_brier_score"])
def test_weights_are_repetitions(name):
    y, answers, weights = said()
    found = measure(name, y, weighted=True)
    again = np.repeat(np.arange(len(y)), weights)
    assert found.error(y, answers, weights) == pytest.approx(found.error(y[again], answers.of(again)), rel=1e-12)


def test_what_is_shown_of_a_score_is_the_score_and_of_an_error_the_error():
    y, _, _ = said()
    assert measure("roc_auc", y).shown(0.2) == 0.8
    assert measure("neg_log_loss", y).shown(0.2) == 0.2
    assert measure("roc_auc", y).title == "ROC AUC"


def test_costs_decide_by_the_least_expected_one():
    # a missed yes costs 9, a false alarm 1: yes is called from 1 / 10 on
    costs = pd.DataFrame([[0, 1], [9, 0]], index=["no", "yes"], columns=["no", "yes"])
    y = LABELS[[0, 0, 1, 1]]
    found = measure_for(costs, y, is_classification=True, weighted=False)
    chances = np.array([0.05, 0.2, 0.2, 0.08])
    answers = Answers(LABELS[[0, 0, 0, 0]], np.column_stack([1 - chances, chances]))
    assert found.decided(answers).tolist() == ["no", "yes", "yes", "no"]
    assert found.error(y, answers) == (0 + 1 + 0 + 9) / 4


def test_the_threshold_of_the_best_score_is_found():
    y = LABELS[[0, 0, 0, 1, 1]]
    found = measure("f1", y)
    assert found.is_of_labels
    threshold = found.best_threshold(y, np.array([0.05, 0.1, 0.15, 0.25, 0.4]))
    assert 0.15 < threshold <= 0.25
    assert not measure("roc_auc", y).is_of_labels


def test_a_method_that_has_seen_fewer_classes_gives_the_others_no_chance():
    X = np.arange(6.0)[:, None]
    method = LogisticRegression().fit(X, np.array(["a", "c"])[[0, 0, 0, 1, 1, 1]])
    answers = answers_of(method, X, np.array(["a", "b", "c"], dtype=object))
    assert answers.probabilities.shape == (6, 3)
    assert (answers.probabilities[:, 1] == 0).all()


def test_a_method_without_probabilities_still_ranks_two_classes():
    y, _, _ = said()
    X = (y == "yes")[:, None] + 0.3 * np.random.default_rng(0).standard_normal((80, 2))
    answers = answers_of(LinearSVC().fit(X, y), X, LABELS)
    assert measure("roc_auc", y).error(y, answers) < 0.1
    with pytest.raises(ValueError, match="it gives no probabilities, which neg_log_loss asks for"):
        measure("neg_log_loss", y).error(y, answers)


@pytest.mark.parametrize(("n_classes", "expected"), [(2, 2), (3, 3)])
def test_a_fold_knows_auc_and_log_loss(n_classes, expected):
    y, answers, _ = said(n_classes=n_classes)
    score = measure(None, y).fold_score(y, answers)
    assert score.log_loss == pytest.approx(metrics.log_loss(y, answers.probabilities))
    assert 0.5 < score.auc < 1
    assert answers.probabilities.shape[1] == expected


def test_the_spread_of_any_score_is_about_that_of_resampling():
    y, answers, _ = said(400)
    rng = np.random.default_rng(1)
    found = measure("roc_auc", y)
    again = [found.error(y[rows], answers.of(rows)) for rows in rng.integers(0, 400, (200, 400))]
    assert found.spread(y, answers) == pytest.approx(np.std(again), rel=0.8)


@pytest.mark.parametrize(
    ("name", "y", "message"),
    [
        ("best", LABELS[[0, 1]], "metric must be a CSV file of costs or one of accuracy.*got 'best'"),
        ("r2", LABELS[[0, 1]], "metric must be a score of classes for this target, got 'r2'"),
        ("f1", np.array(["a", "b", "c"], dtype=object), "metric must suit a target of 3 classes, got 'f1'"),
        ("accuracy", np.array([0.5, 1.5, 2.0]), "metric must suit a target of numbers, got 'accuracy'"),
        ("rand_score", LABELS[[0, 1]], "metric must be .* got 'rand_score'"),
    ],
)
def test_a_metric_that_does_not_suit_is_refused_in_a_sentence(name, y, message):
    with pytest.raises(TableError, match=message):
        measure(name, y)


def test_costs_of_other_classes_are_refused():
    costs = pd.DataFrame([[0, 1], [9, 0]], index=["no", "maybe"], columns=["no", "maybe"])
    with pytest.raises(TableError, match=r"a row and a column for each of \['no', 'yes'\]"):
        measure_for(costs, LABELS, is_classification=True, weighted=False)
    with pytest.raises(TableError, match="name of a score for a target of numbers"):
        measure_for(costs, np.array([1.0, 2.0]), is_classification=False, weighted=False)


def test_a_metric_without_weights_is_refused_with_them():
    with pytest.raises(TableError, match="metric must take weights"):
        measure("neg_max_error", np.array([1.0, 2.0, 3.0]), weighted=True)


def test_the_usual_measure_says_so():
    assert Measure("accuracy", LABELS).is_default
    assert not Measure("f1", LABELS).is_default
