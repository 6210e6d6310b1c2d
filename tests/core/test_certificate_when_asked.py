"""The certificate is made when somebody first asks for it, and is a fitted attribute for everybody else."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

import pellucid
from pellucid.core.user_warnings import UncertifiedWarning
from pellucid.discriminant_analysis import LinearDiscriminantAnalysis
from pellucid.ensemble import BaggingClassifier
from pellucid.linear_model import LinearRegression
from pellucid.neural_network import MLPClassifier
from pellucid.svm import LinearSVC
from pellucid.tree import DecisionTreeClassifier


def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    return X, (X.sum(axis=1) > 0).astype(int)


def fitted(kind=DecisionTreeClassifier, **settings):
    X, y = problem()
    return kind(**settings).fit(X, y), X, y


def is_waiting(model):
    return "certificate_" not in vars(model)


def test_nobody_asked_and_yet_it_is_an_attribute():
    model, X, y = fitted()
    assert is_waiting(model)
    check_is_fitted(model, ["certificate_", "data_fingerprint_"])
    assert {"certificate_", "data_fingerprint_"} <= set(dir(fitted()[0]))
    assert model.certificate_.holds
    assert pellucid.verify(model, X, y).holds
    assert not hasattr(clone(model), "certificate_")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_hold_the_certificate_and_no_rows(copied):
    model, X, _ = fitted()
    twin = copied(model)
    assert vars(twin)["certificate_"] == model.certificate_
    assert not any(np.shares_memory(value, X) for value in vars(twin).values() if isinstance(value, np.ndarray))
    assert "_later" not in vars(twin) or not {"certificate_", "data_fingerprint_"} & set(vars(twin)["_later"])


def test_a_file_holds_it(tmp_path):
    model, _, _ = fitted()
    pellucid.save(model, tmp_path / "model.pellucid")
    assert pellucid.load(tmp_path / "model.pellucid").certificate_ == model.certificate_


def test_the_html_page_shows_it():
    assert "Certificate: replayed" in fitted()[0]._repr_html_()


@pytest.mark.parametrize("written", ["rows", "target"])
def test_says_nothing_of_rows_that_were_written_to(written):
    model, X, y = fitted()
    if written == "rows":
        X[7, 1] += 1.0
    else:
        y[7] = 1 - y[7]
    assert model.certificate_.grade == "none"
    assert "written to" in model.certificate_.reason


def test_the_fingerprint_is_that_of_the_rows_at_the_fit():
    model, X, y = fitted()
    first = X.copy()
    X += 1.0
    assert model.data_fingerprint_ == DecisionTreeClassifier().fit(first, y).data_fingerprint_
    assert pellucid.verify(model, first, y).holds


def test_says_nothing_after_a_parameter_was_changed():
    model, _, _ = fitted(max_depth=2)
    model.set_params(max_depth=1)
    assert "max_depth was 2 and is 1" in model.certificate_.reason
    assert model.certificate_.grade == "none"


def test_it_judges_what_is_stored_when_it_is_made_and_warns_then():
    model, _, _ = fitted(LinearDiscriminantAnalysis)
    model.coef_ = model.coef_ + 0.5
    with pytest.warns(UncertifiedWarning, match="LinearDiscriminantAnalysis"):
        assert not model.certificate_.holds
    assert model.certificate_.failed  # and does not warn again


def test_once_made_the_rows_are_let_go():
    X, y = problem()
    rows = weakref.ref(X)
    model = DecisionTreeClassifier().fit(X, y)
    del X
    gc.collect()
    assert rows() is not None
    assert model.certificate_.holds
    gc.collect()
    assert rows() is None


def test_a_model_that_nobody_keeps_lets_go_of_its_rows_at_once():
    gc.disable()
    try:
        X, y = problem()
        rows = weakref.ref(X)
        DecisionTreeClassifier().fit(X, y)
        del X
        assert rows() is None
    finally:
        gc.enable()


def test_many_rows_are_proved_at_the_fit():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5 << 17, 8))  # 40 MB
    model = DecisionTreeClassifier(max_depth=1).fit(X, X[:, 0] > 0)
    assert not is_waiting(model)


def test_members_of_another_model_are_proved_at_once():
    model, _, _ = fitted(BaggingClassifier, estimator=DecisionTreeClassifier(), n_estimators=3, random_state=0)
    assert not any(map(is_waiting, model.estimators_))


def test_a_solver_that_used_up_its_iterations_is_proved_and_warns_at_the_fit():
    X, y = problem()
    with pytest.warns(UncertifiedWarning):
        model = LinearSVC(max_iter=1, tol=1e-12).fit(X, y)
    assert not is_waiting(model)
    with pytest.warns(ConvergenceWarning):
        assert not is_waiting(MLPClassifier(hidden_layer_sizes=(2,), max_iter=2, random_state=0).fit(X, y))


def test_what_the_solver_measured_is_claimed_at_the_fit():
    assert not is_waiting(fitted(LinearRegression)[0])


def test_another_fit_forgets_the_rows_of_the_first():
    model, X, y = fitted()
    model.fit(X[:40], y[:40])
    assert model.certificate_ == DecisionTreeClassifier().fit(X[:40].copy(), y[:40]).certificate_


def test_weighted_sparse_and_short_rows_wait_too():
    from scipy import sparse

    X, y = problem()
    for rows in (sparse.csr_array(X), X.astype(np.float32), X.tolist()):
        model = DecisionTreeClassifier().fit(rows, y, sample_weight=np.arange(60.0))
        assert is_waiting(model)
        assert model.certificate_.holds


def test_a_subclass_of_a_user_has_it_too():
    class Mine(DecisionTreeClassifier):
        def fit(self, X, y):
            super().fit(X, y)
            self.asked_ = self.certificate_.holds
            return self

    assert fitted(Mine)[0].asked_


def test_a_fit_in_another_thread_is_asked_here():
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(2) as pool:
        models = list(pool.map(lambda _: fitted()[0], range(4)))
    assert all(model.certificate_.holds for model in models)
