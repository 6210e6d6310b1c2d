"""The graph and its metadata: what is in a file, what is read back, what is refused."""

from __future__ import annotations

import sys

import numpy as np
import onnx
import pandas as pd
import pytest
from onnx import numpy_helper
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)

import pellucid
from pellucid.cluster import KMeans, KMedians, KMedoids
from pellucid.core.kinds.pages import DamagedFileError, NotAModelFileError
from pellucid.core.onnx.graph import Graph
from pellucid.decomposition import PCA
from pellucid.export import NotExportableError, from_onnx
from pellucid.export.measuring import difference, run
from pellucid.linear_model import LogisticRegression, Ridge, RidgeClassifier
from pellucid.neighbors import KNeighborsClassifier, NearestCentroid
from pellucid.svm import SVC

X = np.random.default_rng(0).standard_normal((60, 3))
y = X @ [1.0, -2.0, 0.5] + 3.0


def result(value, **feeds):
    return run(value.graph.finish({"out": value}, {}, "by hand"), feeds)["out"]


def saved(model, path):
    proto = pellucid.to_onnx(model, path=path)
    return proto


def test_arithmetic_is_written_as_it_is_read():  # by hand
    x = Graph().input("x", n_columns=2)
    found = 3.0 - (2.0 * x + np.array([1.0, 0.0])) / 4.0
    np.testing.assert_array_equal(result(found, x=np.array([[2.0, 4.0]])), [[1.75, 1.0]])


def test_a_product_keeps_its_digits_when_it_is_multiplied_by_a_number():
    x = Graph().input("x", n_columns=3)
    for value, expected in ((0.1 * (x @ X[:3]), 0.1 * (X @ X[:3])), ((0.1 * x) @ X[:3], (0.1 * X) @ X[:3])):
        np.testing.assert_allclose(result(value, x=X), expected, rtol=1e-13, atol=1e-14)


def test_equal_constants_are_one_and_what_is_not_used_is_left_out():
    x = Graph().input("x", n_columns=2)
    kept, _ = x + np.array([1.0, 2.0]), x * np.array([7.0, 7.0])
    proto = x.graph.finish({"out": kept + np.array([1.0, 2.0])}, {}, "by hand")
    assert len(proto.graph.initializer) == 1
    assert [node.op_type for node in proto.graph.node] == ["Add", "Add", "Identity"]


def test_every_graph_passes_the_check_of_onnx():
    onnx.checker.check_model(pellucid.to_onnx(LogisticRegression().fit(X, y > 3)), full_check=True)


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [3, 7], [0.0, 1.0]])
def test_labels_of_every_kind_come_out_as_they_went_in(labels):
    model = LogisticRegression().fit(X, np.array(labels)[(y > 3).astype(int)])
    assert difference(pellucid.to_onnx(model), model, X).n_labels == 0


def test_several_targets_and_sets_of_labels():
    many = Ridge().fit(X, np.column_stack([y, -y]))
    several = RidgeClassifier().fit(X, np.column_stack([y > 3, X[:, 0] > 0]).astype(int))
    for model in (many, several):
        found = difference(pellucid.to_onnx(model), model, X)
        assert (found.n_labels, found.largest <= 1e-12) == (0, True)


@pytest.mark.parametrize(
    "steps",
    [
        (StandardScaler(), PCA(2)),
        (StandardScaler(), PCA(1, whiten=True)),
        (PolynomialFeatures(3), StandardScaler()),
        ("passthrough",),
    ],
)
def test_pipelines_of_transformers_that_files_know(steps):
    model = make_pipeline(*steps, Ridge()).fit(X, y)
    assert difference(pellucid.to_onnx(model), model, X).largest <= 1e-12


@pytest.mark.parametrize(
    "encoder",
    [
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
    ],
)
def test_encoders_of_numbers_know_what_they_have_not_seen(encoder):
    codes = np.random.default_rng(1).integers(0, 4, (60, 2)).astype(float)
    model = make_pipeline(encoder, Ridge()).fit(codes, y)
    assert difference(pellucid.to_onnx(model), model, np.vstack([codes, [[9.0, 1.0]]])).largest <= 1e-12


def test_the_numbers_of_the_graph_are_those_of_the_model_and_stand_in_the_file_once(tmp_path):
    model = Ridge().fit(X, y)
    proto = saved(model, tmp_path / "ridge.onnx")
    held = [numpy_helper.to_array(one) for one in proto.graph.initializer]
    assert any(np.array_equal(one.ravel(), model.coef_) for one in held)
    proto.graph.initializer[0].CopyFrom(numpy_helper.from_array(held[0] * 2, proto.graph.initializer[0].name))
    path = tmp_path / "changed.onnx"
    path.write_bytes(proto.SerializeToString())
    changed = from_onnx(path)  # the coefficients are read out of the graph: the model is another, and the proof objects
    np.testing.assert_array_equal(changed.coef_, 2 * model.coef_)
    with pytest.warns(pellucid.UncertifiedWarning):
        assert not pellucid.verify(changed, X, y).holds


def test_a_graph_that_is_not_the_models_is_refused(tmp_path):
    path = tmp_path / "model.onnx"
    proto = saved(make_pipeline(StandardScaler(), Ridge()).fit(X, y), path)
    next(node for node in proto.graph.node if node.op_type == "Sub").op_type = "Add"
    path.write_bytes(proto.SerializeToString())
    with pytest.raises(DamagedFileError, match="graph must be that of the model in the file, but it is another"):
        from_onnx(path)


def test_files_of_others_and_no_files_at_all_are_refused_in_a_sentence(tmp_path):
    path = tmp_path / "other.onnx"
    x = Graph().input("x")
    path.write_bytes(x.graph.finish({"out": x + 1.0}, {}, "theirs").SerializeToString())
    with pytest.raises(NotAModelFileError, match="file must be written by pellucid.to_onnx"):
        from_onnx(path)
    path.write_bytes(b"\xff\xff not a graph")
    with pytest.raises(NotAModelFileError, match="other.onnx, which is no ONNX file"):
        from_onnx(path)


def test_damaged_metadata_are_refused(tmp_path):
    path = tmp_path / "model.onnx"
    for key, wrong in (
        ("pellucid_model", "{}"),
        ("pellucid_model", '{"format":1,"model":1,"arrays":{"a":1}}'),
        ("pellucid_arrays", "AAAA"),
    ):
        proto = saved(Ridge().fit(X, y), path)
        next(pair for pair in proto.metadata_props if pair.key == key).value = wrong
        path.write_bytes(proto.SerializeToString())
        with pytest.raises(ValueError, match="must"):
            from_onnx(path)


def test_a_model_that_no_file_can_hold_is_exported_and_says_that_it_cannot_be_read_back(tmp_path):
    from sklearn.model_selection import KFold

    from pellucid.linear_model import RidgeCV

    path = tmp_path / "model.onnx"
    saved(
        RidgeCV(cv=KFold(3), scoring=lambda model, rows, target: -abs(model.predict(rows) - target).sum()).fit(X, y),
        path,
    )
    with pytest.raises(NotAModelFileError, match="scoring of RidgeCV must be"):
        from_onnx(path)


def test_what_was_measured_stands_in_the_metadata_and_another_label_is_refused(monkeypatch):
    model = LogisticRegression().fit(X, y > 3)
    facts = {pair.key: pair.value for pair in pellucid.to_onnx(model).metadata_props}
    assert facts["difference"] == "not measured: no rows were given"
    assert facts["certificate"] == model.certificate_.verdict
    facts = {pair.key: pair.value for pair in pellucid.to_onnx(model, X).metadata_props}
    assert facts["difference"].startswith("labels: 0 of 60 rows")
    monkeypatch.setattr(type(model), "predict", lambda self, rows: np.zeros(len(rows), bool))
    with pytest.raises(NotExportableError, match="labels of the graph must be those of the model, got others in"):
        pellucid.to_onnx(model, X)


def test_refuses_strangers_unfitted_models_and_steps_that_do_not_transform():
    from sklearn.exceptions import NotFittedError
    from sklearn.linear_model import Ridge as Stranger

    from pellucid.discriminant_analysis import LinearDiscriminantAnalysis

    with pytest.raises(NotExportableError, match="model must be an estimator of pellucid, .* got sklearn"):
        pellucid.to_onnx(Stranger().fit(X, y))
    with pytest.raises(NotExportableError, match="got sklearn.*MinMaxScaler"):
        pellucid.to_onnx(make_pipeline(MinMaxScaler(), Ridge()).fit(X, y))
    with pytest.raises(NotFittedError):
        pellucid.to_onnx(Ridge())
    projected = make_pipeline(LinearDiscriminantAnalysis(), LogisticRegression()).fit(X, np.digitize(y, [2.0, 4.0]))
    with pytest.raises(NotExportableError, match="LinearDiscriminantAnalysis must be the last step"):
        pellucid.to_onnx(projected)


def test_without_the_extra_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.setitem(sys.modules, "onnx.helper", None)
    with pytest.raises(ImportError, match=r"pellucid.to_onnx needs onnx, .* pip install 'pellucid\[onnx\]'"):
        pellucid.to_onnx(Ridge().fit(X, y))


def test_labels_that_no_graph_can_hold_are_refused():
    labels = np.array([0, 2**63 + 5], dtype=np.uint64)[(y > 3).astype(int)]
    with pytest.raises(NotExportableError, match="whole numbers must be at most 9,223,372,036,854,775,807"):
        pellucid.to_onnx(LogisticRegression().fit(X, labels))


@pytest.mark.parametrize(
    "columns",
    [
        ColumnTransformer([("scaled", StandardScaler(), [0])], remainder="passthrough"),
        ColumnTransformer([("scaled", StandardScaler(), [-1]), ("gone", "drop", [0]), ("kept", "passthrough", [1])]),
        ColumnTransformer([("scaled", StandardScaler(), slice(0, 2)), ("kept", "passthrough", [0])]),
        ColumnTransformer(
            [("scaled", StandardScaler(), [0, 1])], remainder="drop", transformer_weights={"scaled": 3.0}
        ),
    ],
)
def test_columns_that_pass_are_dropped_or_are_weighed(columns):
    for model in (make_pipeline(columns, Ridge()).fit(X, y), clone(columns).fit(X)):
        assert difference(pellucid.to_onnx(model), model, X).largest <= 1e-12


def test_a_pipeline_may_end_with_a_step_that_lets_pass():
    model = Pipeline([("scaled", StandardScaler()), ("as it is", "passthrough")]).fit(X)
    assert difference(pellucid.to_onnx(model), model, X).largest <= 1e-12


def test_gaps_have_a_code_of_their_own():
    codes = np.random.default_rng(2).integers(0, 3, (60, 2)).astype(float)
    codes[::5, 0] = np.nan
    for code in (-1, np.nan):
        model = OrdinalEncoder(encoded_missing_value=code).fit(codes)
        assert difference(pellucid.to_onnx(model), model, codes).largest == 0.0


def test_words_in_a_matrix_and_functions_are_refused():
    table = pd.DataFrame({"size": X[:, 0], "town": np.where(y > 3, "Bern", "Łódź")})
    encoded = ColumnTransformer([("town", OneHotEncoder(), ["town"])], remainder="passthrough")
    with pytest.raises(NotExportableError, match="words must stand in columns of their own .* 'pellucid fit'"):
        pellucid.to_onnx(make_pipeline(encoded, Ridge()).fit(table, y))
    with pytest.raises(NotExportableError, match="FunctionTransformer must have no function"):
        pellucid.to_onnx(make_pipeline(FunctionTransformer(np.abs), Ridge()).fit(X, y))


def test_sparse_rows_are_measured_and_wrong_ones_refused_by_the_model():
    model = Ridge().fit(csr_array(X), y)
    facts = {pair.key: pair.value for pair in pellucid.to_onnx(model, csr_array(X)).metadata_props}
    assert facts["difference"].startswith("labels: 0 of 60 rows")
    with pytest.raises(ValueError, match="X has 2 features, but Ridge is expecting 3"):
        pellucid.to_onnx(model, X[:, :2])


def test_a_kernel_of_ones_own_is_refused():
    model = SVC(kernel=lambda one, other: one @ other.T).fit(X, y > 3)
    with pytest.raises(NotExportableError, match="SVC must have a kernel with a name to be exported, got a function"):
        pellucid.to_onnx(model)


def test_a_search_is_refused_with_what_to_export():
    search = GridSearchCV(Ridge(), {"alpha": [1.0, 2.0]}, cv=2).fit(X, y)
    with pytest.raises(NotExportableError, match="got sklearn.*GridSearchCV. Of a search export best_estimator_"):
        pellucid.to_onnx(search)
    assert difference(pellucid.to_onnx(search.best_estimator_), search.best_estimator_, X).largest <= 1e-12


def test_pairs_of_many_classes_take_little_place():
    many = np.arange(200) % 20
    rows = np.random.default_rng(0).standard_normal((200, 2)) + many[:, None]
    proto = pellucid.to_onnx(SVC(probability=True, random_state=0).fit(rows, many))
    assert max(len(one.raw_data) for one in proto.graph.initializer) <= 8 * 200 * 190  # rows and pairs of classes


def test_what_would_grow_without_bound_is_refused_before_it_does(monkeypatch):
    wide = PolynomialFeatures(6).fit(np.zeros((2, 300)))
    with pytest.raises(NotExportableError, match="PolynomialFeatures must make at most 10,000 columns"):
        pellucid.to_onnx(wide)
    monkeypatch.setattr("pellucid.svm.machines_in_onnx.MOST_NUMBERS", 100)
    model = SVC().fit(X, np.arange(60) % 5)
    with pytest.raises(NotExportableError, match="must hold at most 100 numbers to be exported, got"):
        pellucid.to_onnx(model)


@pytest.mark.parametrize(
    "model",
    [
        KNeighborsClassifier(4),
        KNeighborsClassifier(5, weights="distance"),
        KNeighborsClassifier(3, metric="manhattan"),
        KNeighborsClassifier(3, algorithm="brute"),
        KNeighborsClassifier(3, p=3),
        NearestCentroid(metric="manhattan"),
        KMedoids(4),
        KMedoids(4, metric="manhattan"),
        KMedians(4, random_state=0),
        KMeans(4, random_state=0),
    ],
    ids=str,
)
@pytest.mark.parametrize("step", [0.1, 1 / 3])
def test_of_equally_near_points_a_graph_takes_the_one_that_the_model_takes(model, step):
    rng = np.random.default_rng(0)
    rows, asked = step * rng.integers(-6, 7, (120, 3)), step / 2 * rng.integers(-12, 13, (4000, 3))
    model = clone(model).fit(rows, rng.integers(0, 3, 120))
    assert difference(pellucid.to_onnx(model), model, asked).n_labels == 0
