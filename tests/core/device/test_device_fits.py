"""The same estimator on a device: the answer of the host, as tensors, proved, saved, or refused in a sentence."""

from __future__ import annotations

import pickle
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pellucid
from pellucid.cluster import KMeans
from pellucid.core.arrays import is_foreign, on_host
from pellucid.core.cards import MethodCard, all_cards
from pellucid.core.device import column_products, device_moments, device_rows
from pellucid.core.device.column_products import MOST_COLUMNS, counts_of, put_together
from pellucid.core.device.device_moments import PIECE, moments_of
from pellucid.core.input_rules import NO_TARGET
from pellucid.decomposition import PCA, FactorAnalysis
from pellucid.discriminant_analysis import LinearDiscriminantAnalysis
from pellucid.kernel_ridge import KernelRidge
from pellucid.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge, RidgeCV
from pellucid.manifold import MDS
from pellucid.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from pellucid.neighbors import KNeighborsClassifier, KNeighborsRegressor
from pellucid.proofs.training_data import fingerprint
from pellucid.solvers.dense_design import DenseDesign
from tests.core.device.conftest import torch

There = Callable[[Any], Any]
CARDS = {card.name: card for card in all_cards()}
BY_BLOCKS = [name for name, card in CARDS.items() if card.device and ":" not in card.device]
ELSEWHERE = [name for name, card in CARDS.items() if not card.device and card.extra != "deep"]


def table(dtype: str = "float64", offset: float = 3.0) -> tuple[Any, Any, Any]:
    """Return rows, a target of numbers and one of three labels."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5)) + offset * np.arange(5)
    y = X @ rng.standard_normal(5) + 0.3 * rng.standard_normal(300)
    return X.astype(dtype), y.astype(dtype), np.digitize(y, np.quantile(y, [0.4, 0.7]))


def target_of(card: MethodCard, y: Any, labels: Any) -> tuple[Any, ...]:
    """Return the target that a method wants, as arguments of fit."""
    estimator = card.estimator()
    if card.rules_for(estimator).summed_target == NO_TARGET:
        return ()
    return (labels if is_classifier(estimator) else y,)


def rows_for(name: str, X: Any) -> Any:
    """Return rows that a method takes: counts are not below 0."""
    return np.abs(X) if name == "MultinomialNB" else X


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", BY_BLOCKS)
def test_answer_of_the_host(name: str, dtype: str, there: There) -> None:
    card = CARDS[name]
    X, y, labels = table(dtype)
    X, target = rows_for(name, X), target_of(card, y, labels)
    model = card.estimator().fit(there(X), *map(there, target))
    host = card.estimator().fit(X, *target)
    close = {"rtol": 1e-9, "atol": 1e-9} if dtype == "float64" else {"rtol": 2e-4, "atol": 2e-4}
    for attribute in card.attributes:
        ours, theirs = getattr(model, attribute, None), getattr(host, attribute, None)
        if isinstance(theirs, np.ndarray) and theirs.dtype.kind == "f" and attribute not in ("mse_path_",):
            assert is_foreign(ours), attribute
            assert on_host(ours).dtype == theirs.dtype, attribute
            np.testing.assert_allclose(on_host(ours), theirs, **close, err_msg=attribute)
    assert pellucid.verify(model, there(X), *map(there, target)).holds
    assert model.certificate_.holds
    assert "torch on" in model.backend_
    assert host.backend_ == "NumPy on the host"
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform"):
        if hasattr(model, method):
            said = getattr(model, method)(there(X))
            assert is_foreign(said), method
            np.testing.assert_allclose(
                on_host(said), getattr(host, method)(X), rtol=1e-3 if dtype == "float32" else 1e-8, atol=1e-3
            )
            np.testing.assert_allclose(getattr(model, method)(X), getattr(host, method)(X), rtol=1e-3, atol=1e-3)
    if is_classifier(model) or is_regressor(model):
        assert model.score(there(X), *map(there, target)) == pytest.approx(host.score(X, *target), abs=1e-5)


@pytest.mark.parametrize("name", BY_BLOCKS)
def test_forged_attributes(name: str, there: There) -> None:
    card = CARDS[name]
    X, y, labels = table()
    X, target = rows_for(name, X), target_of(card, y, labels)
    model = card.estimator().fit(there(X), *map(there, target))
    attribute = next(
        one for one in ("coef_", "components_", "theta_", "feature_log_prob_", "means_", "cluster_centers_")
        if hasattr(model, one)
    )  # fmt: skip
    setattr(model, attribute, getattr(model, attribute) * 1.01)
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(model, there(X), *map(there, target)).holds


@pytest.mark.parametrize("name", ELSEWHERE)
def test_others_refuse(name: str, there: There) -> None:
    X, y, labels = table()
    estimator = clone(CARDS[name].estimator()) if name not in ("Stacking", "Voting") else CARDS[name].estimator()
    with pytest.raises((ValueError, TypeError)) as refused:
        estimator.fit(there(np.abs(X)), *map(there, target_of(CARDS[name], y, labels)))
    if isinstance(refused.value, ValueError):
        assert "on a device" in str(refused.value)
    assert not [key for key in vars(estimator) if key.endswith("_") and not key.startswith("_")]


@pytest.mark.parametrize("weighted", [Ridge, Lasso, LinearRegression, GaussianNB, PCA])
def test_weights_are_repetitions(weighted: Any, there: There) -> None:
    X, y, labels = table()
    weight = np.arange(len(X)) % 3
    target = () if weighted is PCA else (labels if is_classifier(weighted()) else y,)
    one = weighted().fit(there(X), *map(there, target), sample_weight=there(weight))
    many = weighted().fit(there(np.repeat(X, weight, axis=0)), *(there(np.repeat(t, weight)) for t in target))
    for attribute in ("coef_", "theta_", "var_", "components_", "mean_"):
        if hasattr(one, attribute):
            np.testing.assert_allclose(on_host(getattr(one, attribute)), on_host(getattr(many, attribute)), atol=1e-9)
    given = there(X), *map(there, target)
    assert pellucid.verify(one, *given, sample_weight=there(weight)).holds


def test_bits_are_the_same_again(there: There) -> None:
    X, y, _ = table("float32")
    first, second = (Ridge().fit(there(X), there(y)) for _ in range(2))
    assert torch.equal(first.coef_, second.coef_)


def test_labels_in_words(there: There) -> None:
    X, _, labels = table()
    words = np.array(["low", "middle", "top"])[labels]
    model = LinearDiscriminantAnalysis().fit(there(X), words)
    said = model.predict(there(X))
    assert isinstance(said, np.ndarray)
    np.testing.assert_array_equal(said, LinearDiscriminantAnalysis().fit(X, words).predict(X))
    assert pellucid.verify(model, there(X), words).holds
    assert model.score(there(X), words) > 0.8


def test_host_model_asked_on_a_device(there: There) -> None:
    X, y, _ = table()
    model = Ridge().fit(X, y)
    np.testing.assert_allclose(on_host(model.predict(there(X))), model.predict(X))
    single = model.predict(there(X.astype(np.float32)))
    assert single.dtype == torch.float64  # as of NumPy arrays: the larger precision of both


def test_files_pickle_and_clone(there: There, tmp_path: Any) -> None:
    X, y, _ = table("float32")
    model = Ridge(alpha=2.0).fit(there(X), there(y))
    pellucid.save(model, tmp_path / "ridge.safetensors")
    again = pellucid.load(tmp_path / "ridge.safetensors")
    assert isinstance(again.coef_, np.ndarray)
    np.testing.assert_array_equal(again.coef_, on_host(model.coef_))
    assert pellucid.verify(again, X, y).holds
    assert torch.equal(pickle.loads(pickle.dumps(model)).coef_, model.coef_)
    assert clone(model).alpha == 2.0
    assert isinstance(pellucid.to_host(model).coef_, np.ndarray)


def test_rows_of_the_host_are_sent(there: There, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_rows, "STREAMED_BYTES", 4000)
    X, y, labels = table("float32")
    device = there(X).device
    with sklearn.config_context(array_api_dispatch=False), pellucid.on_device(device):
        model = Ridge().fit(X, y)
        classes = LinearDiscriminantAnalysis().fit(torch.as_tensor(X), torch.as_tensor(labels))
        said = model.predict(X)
    assert isinstance(model.coef_, np.ndarray)
    assert isinstance(said, np.ndarray)
    assert f"torch on {device}" in model.backend_
    np.testing.assert_allclose(model.coef_, Ridge().fit(X, y).coef_, rtol=1e-5)
    assert is_foreign(classes.coef_)
    assert classes.coef_.device.type == "cpu"
    np.testing.assert_allclose(on_host(classes.coef_), LinearDiscriminantAnalysis().fit(X, labels).coef_, rtol=1e-3)


def test_without_dispatch_a_tensor_of_the_processor_is_an_array(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.Tensor, "__array__", lambda tensor, *_: tensor.numpy())
    X, y, _ = table()
    with sklearn.config_context(array_api_dispatch=False):
        model = Ridge().fit(torch.as_tensor(X), torch.as_tensor(y))
    assert isinstance(model.coef_, np.ndarray)


def test_columns_that_depend_on_each_other(there: There) -> None:
    X, y, _ = table()
    X = np.column_stack([X, X[:, 0] + 1e-7 * X[:, 1]])
    ours, host = LinearRegression().fit(there(X), there(y)), LinearRegression().fit(X, y)
    np.testing.assert_allclose(on_host(ours.predict(there(X))), host.predict(X), atol=1e-6)


def test_columns_that_count_alone_take_one_pass(there: There, monkeypatch: pytest.MonkeyPatch) -> None:
    X, _, labels = table()
    X = np.column_stack([X, X[:, 0], 2.0 * X[:, 1]])
    monkeypatch.setattr(device_moments, "triangles_of_block", None)
    ours, host = GaussianNB().fit(there(X), there(labels)), GaussianNB().fit(X, labels)
    np.testing.assert_allclose(on_host(ours.var_), host.var_, rtol=1e-12)
    assert ours.certificate_.holds


@pytest.mark.parametrize(("n", "p"), [(700, 40), (260, 33), (60, 80)])
def test_variances_of_many_columns_lose_no_digits(n: int, p: int, there: There) -> None:
    X = np.random.default_rng(n).standard_normal((n, p)) * (1 + np.arange(p) % 5)
    ours = GaussianNB().fit(there(X), there((X[:, 0] > 0.0).astype(np.int64)))
    assert ours.certificate_["variances"].value <= 1e-14


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (np.array([[1.0, np.nan], [0.0, 1.0]]), np.zeros(2), "NaN or infinity, in row 0"),
        (np.array([[1.0, np.inf], [0.0, 1.0]]), np.zeros(2), "NaN or infinity, in row 0"),
        (np.eye(2), np.array([0.0, np.nan]), "y must be finite"),
        (np.eye(2), np.zeros(3), "inconsistent numbers of samples"),
        (np.zeros((0, 2)), np.zeros(0), "n_samples=0|0 sample"),
        (np.zeros(3), np.zeros(3), "2D"),
        (np.full((3, 2), 1e200), np.zeros(3), "squares are finite"),
    ],
)
def test_bad_input(X: Any, y: Any, words: str, there: There) -> None:
    model = Ridge()
    with pytest.raises(ValueError, match=words):
        model.fit(there(X), there(y))
    assert not hasattr(model, "coef_")


def test_bad_questions(there: There) -> None:
    X, y, _ = table()
    model = Ridge().fit(there(X), there(y))
    with pytest.raises(ValueError, match="expecting 5 features"):
        model.predict(there(X[:, :2]))
    with pytest.raises(ValueError, match="NaN or infinity"):
        model.predict(there(X * np.nan))
    with pytest.raises(ValueError, match="float32, float64"):
        Ridge().fit(there(X).to(torch.float16), there(y))
    with pytest.raises(ValueError, match="Negative values"):
        MultinomialNB().fit(there(-X), there(np.arange(300) % 2))
    with pytest.raises(ValueError, match="sample_weight must be finite numbers of at least 0"):
        Ridge().fit(there(X), there(y), sample_weight=there(np.full(300, -1.0)))


def test_logistic_without_a_penalty_and_with_words(there: There) -> None:
    X, _, labels = table()
    words = np.array(["low", "middle", "top"])[labels]
    for target, parameters in ((words, {}), (labels == 1, {"C": np.inf}), (labels, {"class_weight": "balanced"})):
        model = LogisticRegression(**parameters).fit(there(X), target if target is words else there(target))
        host = LogisticRegression(**parameters).fit(X, target)
        np.testing.assert_allclose(on_host(model.coef_), host.coef_, rtol=1e-4, atol=1e-4)
        np.testing.assert_array_equal(on_host(model.predict(there(X))), host.predict(X))
        assert model.certificate_.holds


@pytest.mark.parametrize("parameters", [{}, {"C": 100.0}, {"fit_intercept": False}], ids=str)
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_logistic_coefficients_are_judged_as_they_are_stored(load: Any, parameters: Any, there: There) -> None:
    X, labels = load(return_X_y=True)
    X = X.astype(np.float32)
    model = LogisticRegression(**parameters).fit(there(X), there(labels))
    gap, objective = model.dual_gap_, model.trace_["objective"][-1]
    assert pellucid.verify(model, there(X), there(labels)).holds
    again = LogisticRegression(**parameters).fit(there(X.astype(np.float64)), there(labels))
    assert model.coef_.dtype == torch.float32
    assert gap >= again.dual_gap_ - 1e-9 * objective


def test_bernoulli_impossible_rows(there: There) -> None:
    X, labels = np.array([[0, 1], [0, 1], [1, 0], [1, 0]]), np.array([0, 0, 1, 1])
    model = BernoulliNB(alpha=1e-300, force_alpha=True).fit(there(X), there(labels))
    host = BernoulliNB(alpha=1e-300, force_alpha=True).fit(X, labels)
    np.testing.assert_allclose(on_host(model.predict_proba(there(X))), host.predict_proba(X), atol=1e-12)


def test_the_page_names_the_methods() -> None:
    home = Path(__file__).parents[3]
    page, front = ((home / name).read_text(encoding="utf-8") for name in ("docs/device.md", "README.md"))
    rows = page.split("## How\n")[1].split("One mechanism")[0].splitlines()
    named = {name for row in rows if row.startswith("| ") for name in re.findall(r"[A-Z]\w+", row.split("|")[2])}
    assert named == {name for name, card in CARDS.items() if card.device}
    assert f"{len(named)} methods [on a GPU](docs/device.md)" in front


def test_what_a_device_does_not_take(there: There) -> None:
    X, _, _ = table()
    with pytest.raises(ValueError, match="init must be left out for arrays on a device"):
        MDS(n_init=1).fit(there(X), init=np.zeros((300, 2)))
    with pellucid.on_device(there(X).device), pytest.raises(ValueError):
        Ridge().fit(X, X[:, 0]).predict(None)


def test_a_class_of_numbers_is_no_array() -> None:
    assert not is_foreign(np.float64)
    assert not is_foreign(np.str_)
    assert not is_foreign([1.0])
    assert is_foreign(torch.zeros(1))


@pytest.mark.parametrize("n", [300, 2 * PIECE, 3 * PIECE + 7])
def test_moments_of_tall_tables(n: int, there: There) -> None:
    rng = np.random.default_rng(1)
    X, weight = rng.standard_normal((n, 3)) + 1e3, rng.integers(1, 4, n).astype(np.float64)
    for own in (None, weight):
        found = moments_of((there(X),), None if own is None else there(own))
        mean = np.average(X, axis=0, weights=own)
        apart = X - mean
        np.testing.assert_allclose(found.mean, mean, rtol=1e-14)
        np.testing.assert_allclose(found.scatter, (apart.T if own is None else apart.T * own) @ apart, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("p", "q"), [(1, 0), (7, 1), (30, 1), (31, 1), (32, 0), (60, 2), (100, 3), (124, 3), (127, 0), (300, 1)]
)
def test_moments_of_tables_side_by_side(
    p: int, q: int, dtype: Any, there: There, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(column_products, "WORTH_COMPILING", 0)
    rng = np.random.default_rng(p)
    X, y = (rng.standard_normal((5000, width)).astype(dtype) + width for width in (p, q))
    wide = there(np.concatenate([X, X], axis=1))[:, ::2]  # columns that do not lie side by side
    whole, weight = np.concatenate([X, X], axis=1)[:, ::2], rng.integers(1, 4, len(X)).astype(np.float64)
    for own in (None, weight):
        parts = (wide, there(y)) if q else (wide,)
        found = moments_of(parts, None if own is None else there(own))
        table = np.concatenate([whole, y], axis=1).astype(np.float64)
        mean = np.average(table, axis=0, weights=own)
        scatter = ((table - mean).T if own is None else (table - mean).T * own) @ (table - mean)
        assert found.weight == (len(X) if own is None else own.sum())
        np.testing.assert_allclose(found.mean, mean, rtol=1e-13)
        np.testing.assert_allclose(found.scatter, scatter, rtol=0, atol=1e-9)
    X[17, 0] = np.nan
    assert np.isnan(moments_of((there(X),), None).scatter[0, 0])


def test_logistic_weights_are_repetitions(there: There) -> None:
    X, _, labels = table()
    weight = np.arange(len(X)) % 3
    one = LogisticRegression(tol=1e-9).fit(there(X), there(labels), sample_weight=there(weight))
    many = LogisticRegression(tol=1e-9).fit(there(np.repeat(X, weight, axis=0)), there(np.repeat(labels, weight)))
    np.testing.assert_allclose(on_host(one.coef_), on_host(many.coef_), atol=1e-5)


def test_logistic_rows_that_are_sent(there: There, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_rows, "STREAMED_BYTES", 4000)
    X, _, labels = table()
    with pellucid.on_device(there(X).device):
        model = LogisticRegression(tol=1e-9).fit(X, labels)
    np.testing.assert_allclose(model.coef_, LogisticRegression(tol=1e-9).fit(X, labels).coef_, atol=1e-5)
    assert model.certificate_.holds


def test_a_row_that_has_the_fit_to_itself(there: There) -> None:
    X, y, _ = table()
    X = np.column_stack([X, np.eye(len(X))[:, 5]])
    parameters: dict[str, Any] = {"alphas": (1e-14,), "fit_intercept": False}
    model, host = RidgeCV(**parameters).fit(there(X), there(y)), RidgeCV(**parameters).fit(X, y)
    assert float(model.alpha_) == float(host.alpha_)
    assert float(model.best_score_) == pytest.approx(float(host.best_score_), rel=1e-6)


@pytest.mark.parametrize("kind", [BernoulliNB, MultinomialNB])
def test_what_never_occurs_rules_a_class_out(kind: Any, there: There) -> None:
    X, labels = np.array([[0, 1, 1], [0, 1, 0], [1, 0, 1], [1, 0, 0]]), np.array([0, 0, 1, 1])
    asked = np.array([[0, 1, 1], [1, 0, 0], [1, 1, 0], [0, 0, 1]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, host = (
            kind(alpha=0.0, force_alpha=True).fit(*part) for part in ((there(X), there(labels)), (X, labels))
        )
    np.testing.assert_allclose(on_host(model.predict_proba(there(asked))), host.predict_proba(asked), atol=1e-12)


def test_parts_are_fitted_on_the_host(there: There) -> None:
    X, _, labels = table()
    with pytest.raises(ValueError, match="must be a NumPy array for partial_fit of GaussianNB"):
        GaussianNB().partial_fit(there(X), there(labels), classes=[0, 1, 2])
    model = GaussianNB().fit(there(X[:200]), there(labels[:200])).partial_fit(X[200:], labels[200:])
    np.testing.assert_allclose(model.theta_, GaussianNB().fit(X, labels).theta_, rtol=1e-12)
    assert model.backend_ == "NumPy on the host"


def test_products_of_a_card_put_together() -> None:
    rng = np.random.default_rng(2)
    for p, q in ((1, 0), (30, 1), (32, 2), (70, 4), (MOST_COLUMNS - 5, 4)):
        X, y, ones = rng.standard_normal((200, p)), rng.standard_normal((200, q)), np.ones((200, 1))
        strips, pairs, groups = counts_of(p + 1 + q)
        assert 2 * pairs >= strips >= groups / 2
        assert 8 * groups > p + q
        table = np.column_stack([X, ones, y])
        sums = np.full((16 * strips, 8 * groups), np.nan)  # as a card leaves what is below the strips of the diagonal
        for column in range(p + 1 + q):
            products = table[:, column] @ table
            first = column // 16 * 16
            sums[column, first : p + 1 + q] = products[first:]
        sums[p, p] += 8.0  # ones of rows that fill up a step
        table = np.column_stack([X, y, ones])
        np.testing.assert_allclose(put_together(sums, 200, p, q), table.T @ table, rtol=0, atol=1e-11)


@pytest.mark.parametrize("kind", [PCA, Ridge, LinearRegression])
def test_small_tables_are_not_summed_again(kind: Any, there: There, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = table()
    target = () if kind is PCA else (y,)
    host = kind().fit(X, *target)

    def refuse(*_: Any) -> Any:
        raise AssertionError("the scatter is known from the rows")

    monkeypatch.setattr(DenseDesign, "_products", refuse)
    monkeypatch.setattr(DenseDesign, "_column_means", refuse)
    model = kind().fit(there(X), *map(there, target))
    name = "components_" if kind is PCA else "coef_"
    np.testing.assert_allclose(on_host(getattr(model, name)), getattr(host, name), rtol=1e-9, atol=1e-12)
    assert model.certificate_.holds


def test_fingerprints_take_no_list_of_places_there(there: There, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = table()
    here = fingerprint(X, y), fingerprint(X[:, ::2])
    wide = there(X)[:, ::2]
    assert fingerprint(wide) == here[1]
    monkeypatch.setattr(np, "unravel_index", None)
    assert fingerprint(there(X), there(y)) == here[0]


@pytest.mark.parametrize("kind", [Ridge, PCA, GaussianNB, LogisticRegression, KMeans])
def test_truth_values_derivatives_and_views_are_rows(kind: Any, there: There) -> None:
    X, y, labels = table()
    is_above = X.mean(axis=0) < X
    target = () if kind in (PCA, KMeans) else (labels if is_classifier(kind()) else y,)
    options = {"n_clusters": 2, "random_state": 0} if kind is KMeans else {}
    for given, plain in (
        (there(is_above), is_above.astype(np.float64)),
        (there(X).requires_grad_(), X),
        (there(np.ascontiguousarray(X.T)).T, X),
        (there(np.rint(X).astype(np.int64)), np.rint(X)),
    ):
        model, host = (kind(**options).fit(rows, *targets) for rows, targets in (
            (given, map(there, target)), (there(plain), map(there, target)),
        ))  # fmt: skip
        method = "transform" if kind is PCA else "predict"
        said, same = (getattr(one, method)(rows) for one, rows in ((model, given), (host, there(plain))))
        np.testing.assert_allclose(on_host(said).astype(np.float64), on_host(same).astype(np.float64), atol=1e-6)
        assert pellucid.verify(model, given, *map(there, target)).holds


def test_targets_of_other_kinds(there: There) -> None:
    X, y, labels = table()
    small = np.where(labels == 0, 125, 127).astype(np.int8)  # whose range has no 128
    model = GaussianNB().fit(there(X), there(small))
    np.testing.assert_array_equal(on_host(model.predict(there(X))), GaussianNB().fit(X, small).predict(X))
    np.testing.assert_array_equal(on_host(GaussianNB().fit(there(X), labels.astype(np.uint16)).classes_), [0, 1, 2])
    is_large = Ridge().fit(there(X), there(y > 0.0))
    np.testing.assert_allclose(on_host(is_large.coef_), Ridge().fit(X, (y > 0.0) * 1.0).coef_, rtol=1e-9)
    backwards, only_read = y[::-1], y.copy()
    only_read.flags.writeable = False
    np.testing.assert_allclose(
        on_host(Ridge().fit(there(X), backwards).coef_), Ridge().fit(X, backwards).coef_, rtol=1e-9
    )
    assert torch.equal(Ridge().fit(there(X), only_read).coef_, Ridge().fit(there(X), there(y)).coef_)


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [
        (GaussianNB, {"y": lambda y: np.where(np.arange(300) == 3, np.nan, y)}, "y must hold a label for each row"),
        (GaussianNB, {"y": lambda y: np.stack([y, y], axis=1)}, "y must be one column, got .* for each row"),
        (LogisticRegression, {"y": lambda y: np.stack([y, y], axis=1)}, "y must be one column, got .* for each row"),
        (Ridge, {"y": lambda y: y + 1j}, "y must hold real numbers or labels, got torch.complex128"),
        (Ridge, {"sample_weight": lambda _: ["a"] * 300}, "sample_weight must hold numbers"),
        (Ridge, {"sample_weight": lambda y: 0.0 * y}, "sample_weight must be above 0 for some row, got all 0"),
        (PCA, {"sample_weight": lambda y: 0.0 * y}, "sample_weight must be above 0 for some row, got all 0"),
        (
            MultinomialNB,
            {"sample_weight": lambda y: 0.0 * y, "X": np.abs},
            "sample_weight must be above 0 for some row",
        ),
        (FactorAnalysis, {"sample_weight": lambda y: 0.0 * y}, "sample_weight must be above 0 for some row"),
        (KernelRidge, {"y": lambda y: y.astype(str).tolist()}, "y must be numbers"),
        (KNeighborsRegressor, {"y": lambda y: y.astype(str).tolist()}, "y must be numbers"),
        (KNeighborsClassifier, {"y": lambda y: y * np.nan}, "y must be finite"),
        (KMeans, {"X": lambda X: X * 1e200}, "squares are finite"),
        (LogisticRegression, {"X": lambda X: X * 1e200}, "squares are finite"),
        (PCA, {"X": lambda X: X * 1e200}, "squares are finite"),
        (Ridge, {"X": lambda X: X + 1j}, "X must hold float32, float64 or whole numbers"),
    ],
)
def test_what_is_refused_leaves_nothing(kind: Any, change: Any, words: str, there: There) -> None:
    X, _, labels = table()
    given: dict[str, Any] = {"X": X, "y": labels.astype(np.float64)}
    for name, make in change.items():
        given[name] = make(given["X"] if name == "X" else given["y"])
    model = kind()
    with pytest.raises(ValueError, match=words):
        model.fit(**{name: part if isinstance(part, list) else there(part) for name, part in given.items()})
    assert not [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]


def test_questions_in_other_kinds(there: There) -> None:
    X, y, _ = table()
    model = Ridge().fit(there(X), there(y))
    for asked in (there(X).to(torch.float16), there(X).to(torch.complex128)):
        with pytest.raises(ValueError, match="X must hold float32, float64 or whole numbers"):
            model.predict(asked)
    with pytest.raises(ValueError, match="n_samples|0 sample"):
        model.predict(there(X[:0]))
    said: Any = model.predict(there(X).requires_grad_())
    assert not said.requires_grad
    neighbors = KNeighborsRegressor(3).fit(there(X), there(y))
    distances, indices = neighbors.kneighbors(X[:20])
    assert isinstance(distances, np.ndarray)
    np.testing.assert_array_equal(indices, on_host(neighbors.kneighbors(there(X[:20]))[1]))


def test_what_shows_a_model_shows_one_of_a_device(there: There) -> None:
    X, y, _ = table()
    model = Lasso(alpha=0.1).fit(there(X), there(y))
    assert "Lasso" in model._repr_html_()
    np.testing.assert_array_equal(model.sparse_coef_.toarray()[0], on_host(model.coef_))


def test_bool_targets_are_left_out_one_by_one(there: There) -> None:
    X, y, _ = table()
    model, host = RidgeCV().fit(there(X), there(y > 0.0)), RidgeCV().fit(X, (y > 0.0) * 1.0)
    assert float(model.best_score_) == pytest.approx(float(host.best_score_), rel=1e-9)


def test_rows_so_small_that_their_squares_vanish_are_no_error(there: There) -> None:
    X = np.random.default_rng(0).standard_normal((60, 4)) * 1e-200
    for rows in (there(X), X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # to their precision all rows may be one
            model = KMeans(2, random_state=0, n_init=1).fit(rows)
        assert bool(np.isfinite(on_host(model.cluster_centers_)).all())


def test_frames_backward_and_read_only_rows_are_sent(there: There) -> None:
    X, y, _ = table()
    frame = pd.DataFrame(X, columns=list("abcde"))
    only_read = X.copy()
    only_read.flags.writeable = False
    with pellucid.on_device(there(X).device):
        model = Ridge().fit(frame, pd.Series(y))
        assert list(model.feature_names_in_) == list("abcde")
        np.testing.assert_allclose(model.predict(frame), Ridge().fit(X, y).predict(X))
        with pytest.raises(ValueError, match="X must have the columns.*Put them in order"):
            model.predict(frame[list("edcba")])
        backwards = Ridge().fit(X[::-1], y[::-1])
        np.testing.assert_array_equal(Ridge().fit(only_read, y).coef_, Ridge().fit(X, y).coef_)
        with pytest.raises(ValueError, match="X must hold numbers to be sent to a device, got <U"):
            Ridge().fit(X.astype(str), y)
    np.testing.assert_allclose(backwards.coef_, model.coef_, rtol=1e-9)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_pipelines_are_verified(dtype: str, there: There) -> None:
    X, y, _ = table(dtype)
    whole = make_pipeline(StandardScaler(), PCA(3), Ridge()).fit(there(X), there(y))
    assert pellucid.verify(whole, there(X), there(y)).holds
    whole[0].mean_ = whole[0].mean_ + 0.1
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(whole, there(X), there(y)).holds
