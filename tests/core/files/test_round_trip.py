"""What is loaded is what was saved: parameters, attributes, evidence and every bit of the predictions."""

from __future__ import annotations

import numpy as np
import pytest
from safetensors import safe_open
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.pipeline import make_pipeline

import pellucid
from pellucid.core.files import NotSaveableError
from pellucid.core.files.registry import registry
from pellucid.naive_bayes import GaussianNB
from pellucid.neighbors import KNeighborsClassifier
from tests.core.files.sample_models import (
    fitted,
    fitted_estimator,
    fitted_transformers,
    numbers,
    preparation,
    public_estimators,
    table,
)
from tests.kept_fits import assert_same, assert_same_state
from tests.public_estimators import usual

ESTIMATORS = public_estimators()
REGRESSORS = {name: kind for name, kind in ESTIMATORS.items() if hasattr(kind, "predict") and not is_classifier(kind())}


def again(model, tmp_path):
    path = tmp_path / "model.safetensors"
    pellucid.save(model, path)
    return pellucid.load(path)


@pytest.mark.parametrize("name", sorted(fitted_transformers()))
def test_every_transformer_comes_back_whole(name, tmp_path):
    model, X = fitted_transformers()[name]
    loaded = again(model, tmp_path)
    assert_same_state(model, loaded)
    one, other = model.transform(X), loaded.transform(X)
    np.testing.assert_array_equal(*(a.toarray() if sparse.issparse(a) else a for a in (one, other)))


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_kept(name, dtype, tmp_path):
    X, y = (array.astype(dtype) for array in numbers())
    model = fitted(usual(REGRESSORS[name]), X, y)
    assert_same_state(model, again(model, tmp_path))
    assert again(model, tmp_path).predict(X).dtype == model.predict(X).dtype


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "f4"]
)
def test_labels_of_every_kind_of_number_come_back_whole(dtype, tmp_path):
    X, y = numbers()
    labels = (y > np.median(y)).astype(dtype)  # as codes of a pandas category are: int8
    for kind in (GaussianNB, KNeighborsClassifier):
        model = kind().fit(X, labels)
        assert_same_state(model, again(model, tmp_path))
        assert again(model, tmp_path).predict(X).dtype == labels.dtype
    several = KNeighborsClassifier().fit(X, np.column_stack([labels, labels]))
    assert_same_state(several, again(several, tmp_path))


@pytest.mark.parametrize("name", REGRESSORS)
def test_several_targets_come_back_whole(name, tmp_path):
    X, y = numbers()
    try:
        model = fitted(usual(REGRESSORS[name]), X, np.column_stack([y, -y, X[:, 0]]))
    except ValueError:  # one target only, as its scikit-learn namesake
        return
    assert_same_state(model, again(model, tmp_path))


@pytest.mark.parametrize("name", REGRESSORS)
def test_a_pipeline_from_a_table_comes_back_whole(name, tmp_path):
    frame, y = table()
    model = fitted(make_pipeline(preparation(), usual(REGRESSORS[name])), frame, y)
    loaded = again(model, tmp_path)
    np.testing.assert_array_equal(model.predict(frame), loaded.predict(frame))
    assert pellucid.verify(loaded, frame, y).holds == pellucid.verify(model, frame, y).holds
    assert_same_state(model, loaded)


def test_recorded_states_are_kept(tmp_path):
    X, y = numbers()
    with pellucid.record():
        model = ESTIMATORS["Lasso"](alpha=0.1).fit(X, y)
    assert len(model.trace_.states) > 0
    assert_same(
        [list(state.values()) for state in model.trace_.states],
        [list(state.values()) for state in again(model, tmp_path).trace_.states],
    )


@pytest.mark.parametrize("layout", ["C", "F"])
def test_the_layout_in_memory_is_kept(layout, tmp_path):
    X, y = numbers()
    model = ESTIMATORS["Ridge"]().fit(X, np.column_stack([y, -y]))
    model.coef_ = np.asarray(model.coef_, order=layout)
    loaded = again(model, tmp_path).coef_
    np.testing.assert_array_equal(loaded, model.coef_)
    assert loaded.flags[f"{layout}_CONTIGUOUS"]


def test_the_output_container_is_kept(tmp_path):
    frame, _ = table()
    model = preparation().set_output(transform="pandas").fit(frame)
    assert again(model, tmp_path).transform(frame).equals(model.transform(frame))


def test_saving_twice_gives_the_same_bytes(tmp_path):
    model = fitted_estimator(ESTIMATORS["Ridge"])
    pellucid.save(model, tmp_path / "one")
    pellucid.save(pellucid.load(tmp_path / "one"), tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_the_file_opens_with_the_safetensors_library(tmp_path):
    model = fitted_estimator(ESTIMATORS["Ridge"])
    pellucid.save(model, tmp_path / "ridge.safetensors")
    with safe_open(tmp_path / "ridge.safetensors", "numpy") as file:
        np.testing.assert_array_equal(file.get_tensor("coef_"), model.coef_)


def test_every_public_estimator_is_registered():  # the last ones: see table_model, neural_network, vision in tests
    others = {"TableModel", "Network", "Segmenter", "Detector"}
    assert set(registry()) == set(ESTIMATORS) | set(fitted_transformers()) | others


def test_functions_are_refused_with_the_reason(tmp_path):
    X, _ = numbers()
    model = ESTIMATORS["BasisExpansion"](functions=[np.sin]).fit(X)
    with pytest.raises(NotSaveableError, match=r"functions of BasisExpansion must be None.*cannot run code"):
        pellucid.save(model, tmp_path / "model.safetensors")


def test_a_coefficient_that_is_no_number_is_refused(tmp_path):
    model = fitted_estimator(ESTIMATORS["Ridge"])
    model.coef_[1] = np.nan
    with pytest.raises(NotSaveableError, match="coef_ of Ridge must be a finite array"):
        pellucid.save(model, tmp_path / "model.safetensors")


def test_a_generator_is_refused_with_the_remedy(tmp_path):
    X, y = numbers()
    model = ESTIMATORS["Ridge"](random_state=np.random.RandomState(0)).fit(X, y)
    with pytest.raises(
        NotSaveableError, match=r"random_state of Ridge must be None or a whole number.*got RandomState"
    ):
        pellucid.save(model, tmp_path / "model.safetensors")


def test_an_unfitted_model_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        pellucid.save(ESTIMATORS["Ridge"](), tmp_path / "model.safetensors")
