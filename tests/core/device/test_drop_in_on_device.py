"""Drop-in on a device: scikit-learn's checks of estimators, and every other question that a model can be asked."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from inspect import Parameter, getattr_static, signature
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import pellucid
from pellucid.core.arrays import is_foreign, on_host
from pellucid.core.cards import MethodCard, all_cards
from pellucid.core.device.device_fits import device_module
from pellucid.core.scale.lazy_answers import ANSWERS, NO_QUESTIONS, PROTOCOL
from pellucid.decomposition import NMF, PCA
from pellucid.linear_model import BridgeRegression, LassoCV, LogisticRegression, Ridge
from pellucid.naive_bayes import GaussianNB
from pellucid.svm import SVC
from tests.core.device.conftest import DEVICE
from tests.core.device.test_device_fits import rows_for, table, target_of
from tests.false_alarms import ALARMS, Case, cases, judge

There = Callable[[Any], Any]
CARDS = {card.name: card for card in all_cards() if card.device}

FOR_CHECKS = {
    "QuadraticDiscriminantAnalysis": {"reg_param": 0.1},  # classes of the checks lie in a plane, without a density
    "MLPClassifier": {"max_iter": 30},  # as many as the checks need
    "MLPRegressor": {"max_iter": 30},
}

REFUSALS = (
    "on a device",  # sparse rows, partial_fit, missing values, several labels for a row, new rows for MDS
    "for rows in blocks",  # the same, and splitters
    "leave out rows of blocks",
    "Estimator MDS doesn't check .* in transform",  # what the checks make of such a sentence
    r"MDS.transform\(\)` does not check",
    "raised an exception. The tag self.input_tags.sparse=True",
)


@pytest.mark.parametrize("name", CARDS)
def test_passes_the_checks_of_scikit_learn_or_refuses_in_a_sentence(name: str) -> None:
    estimator = CARDS[name].estimator(**FOR_CHECKS.get(name, {}))
    with warnings.catch_warnings(), pellucid.on_device(DEVICE):
        warnings.simplefilter("ignore")
        found = check_estimator(estimator, on_skip=None, on_fail=None)
    assert sum(one["status"] == "passed" for one in found) > 28
    wrong = {one["check_name"]: str(one["exception"]) for one in found if one["status"] == "failed"}
    assert {check: said for check, said in wrong.items() if not re.search("|".join(REFUSALS), said)} == {}


@pytest.mark.parametrize(
    "case", [case for case in cases(quick=True, device=DEVICE) if case.preparation == "float32"], ids=str
)
def test_ordinary_sets_raise_no_alarm(case: Case) -> None:
    verdict = judge(case)
    assert verdict.kind not in ALARMS, verdict


def seeded(card: MethodCard) -> Any:
    """Return an estimator that gives the same answer again, and grows no tree, as there is none on a device."""
    options, known = {"random_state": 0, "algorithm": "brute"}, card.estimator().get_params()
    return card.estimator(**{name: value for name, value in options.items() if known.get(name, "") in (None, "auto")})


def questions(model: Any) -> list[str]:
    """Return the public methods of ours that neither change a model nor answer row by row."""
    known = {*ANSWERS, *NO_QUESTIONS, "score"}
    found = [name for name in dir(model) if name not in known and not name.startswith(PROTOCOL)]
    members = {name: getattr_static(type(model), name, None) for name in found}
    return [n for n, own in members.items() if isinstance(own, FunctionType) and own.__module__.startswith("pellucid.")]


def has_form(card: MethodCard, question: str) -> bool:
    """Return whether a question about rows on a device has an answer there."""
    return question in ("aic", "bic", "predict_joint_log_proba") or hasattr(device_module(card), question)


def needed(method: Any) -> list[str]:
    """Return the arguments without a default."""
    return [name for name, one in signature(method).parameters.items() if one.default is Parameter.empty]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::pellucid.UncertifiedWarning")
@pytest.mark.parametrize("name", CARDS)
def test_other_questions_have_the_answer_of_the_host(name: str, there: There) -> None:
    X, y, labels = (part[:100] for part in table())
    X, target = np.abs(rows_for(name, X)), target_of(CARDS[name], y, labels)
    model, host = seeded(CARDS[name]).fit(there(X), *map(there, target)), seeded(CARDS[name]).fit(X, *target)
    for question in questions(host):
        ours, theirs = getattr(model, question), getattr(host, question)
        if needed(theirs) == ["X"]:
            try:
                said = theirs(X)
            except ValueError:  # not with these parameters
                continue
            same(ours(X), said, question)  # rows of the host
            if has_form(CARDS[name], question):
                same(ours(there(X)), said, question)
                continue
            with pytest.raises(ValueError, match=rf"for {name}.{question}, got an array on a device, where it has no"):
                ours(there(X))
        elif not needed(theirs) and (question, name) != ("summary", "RidgeClassifier"):  # of one target
            same(ours(), theirs(), question)


def same(ours: Any, theirs: Any, what: str) -> None:
    """Assert that two answers are the same, arrays and tables of them."""
    if isinstance(theirs, tuple) and not hasattr(theirs, "_fields"):
        for one, other in zip(ours, theirs, strict=True):
            same(one, other, what)
    elif isinstance(theirs, np.ndarray) and theirs.dtype.kind in "iuf":
        np.testing.assert_allclose(on_host(ours), theirs, rtol=1e-5, atol=1e-6, err_msg=what)
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=1e-5), what
    elif sparse.issparse(theirs):
        assert abs(ours - theirs).max() < 1e-6, what
    else:
        assert type(ours) is type(theirs), what


def test_arrays_without_rows_are_tensors(there: There) -> None:
    X, _, labels = table()
    pca = CARDS["PCA"].estimator().fit(there(X))
    assert is_foreign(pca.get_covariance())
    assert isinstance(pca.count_for_share(0.5), int)
    machine = SVC().fit(there(X), there(labels))
    assert is_foreign(machine.alphas_)
    np.testing.assert_allclose(on_host(machine.alphas_), SVC().fit(X, labels).alphas_, atol=0.05)


@pytest.mark.parametrize(
    ("search", "is_class"),
    [
        (GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}), False),
        (GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, scoring="neg_mean_squared_error"), False),
        (GridSearchCV(make_pipeline(StandardScaler(), PCA(), Ridge()), {"pca__n_components": [2, 3]}), False),
        (GridSearchCV(SVC(), {"C": [0.1, 1.0]}, cv=3), True),
        (GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=3, scoring="neg_log_loss"), True),
    ],
    ids=str,
)
def test_searches_of_scikit_learn_find_the_same(search: Any, is_class: bool, there: There) -> None:
    X, y, labels = table()
    target = labels if is_class else y
    found, host = clone(search).fit(there(X), there(target)), clone(search).fit(X, target)
    assert found.best_params_ == host.best_params_
    assert found.best_score_ == pytest.approx(host.best_score_, rel=1e-4)
    assert is_foreign(found.predict(there(X)))


def test_sparse_coefficients_answer_there(there: There) -> None:
    X, _, labels = table()
    model = LogisticRegression().fit(there(X), there(labels))
    said = on_host(model.predict(there(X)))
    assert sparse.issparse(model.sparsify().coef_)
    np.testing.assert_array_equal(on_host(model.predict(there(X))), said)
    assert is_foreign(model.densify().coef_)
    np.testing.assert_array_equal(on_host(model.predict(there(X))), said)


@pytest.mark.parametrize("kind", [BridgeRegression, LogisticRegression, GaussianNB, SVC])
def test_target_of_one_column_is_a_vector(kind: Any, there: There) -> None:
    X, y, labels = table()
    target = labels if is_classifier(kind()) else y
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        model = kind().fit(there(X), there(target[:, None]))
    assert on_host(model.predict(there(X))).shape == (300,)
    np.testing.assert_array_equal(
        on_host(model.predict(there(X))), on_host(kind().fit(there(X), there(target)).predict(there(X)))
    )


def test_what_is_wrong_is_said_in_a_sentence(there: There) -> None:
    X, y, _ = table()
    with pytest.raises(ValueError, match=r"y must be one column, got .*: y should be a 1d array"):
        BridgeRegression().fit(there(X), there(np.stack([y, y], axis=1)))
    with pytest.raises(ValueError, match="cv must be at most the number of rows, got 5 for n_samples=3"):
        LassoCV().fit(there(X[:3]), there(y[:3]))
    holes = np.abs(X)
    holes[3, 1] = np.nan
    with pytest.raises(ValueError, match="X must be complete for NMF on a device, got NaN. Fit on the host"):
        NMF(2).fit(there(holes))
    with pellucid.on_device(DEVICE):
        with pytest.raises(ValueError, match="X must hold real numbers, got complex128: Complex data not supported"):
            BridgeRegression().fit(X + 1j, y)
        assert BridgeRegression().fit(X.astype(object), y).coef_.shape == (5,)
