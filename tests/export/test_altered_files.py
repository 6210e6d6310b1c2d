"""Files that somebody altered: each is refused in a sentence, and takes no more memory than its size allows."""

from __future__ import annotations

import base64
import json
import tracemalloc
import zlib

import numpy as np
import onnx
import pytest

import pellucid
from pellucid.core.kinds.pages import DamagedFileError, ModelFileError, NotAModelFileError
from pellucid.discriminant_analysis import LinearDiscriminantAnalysis
from pellucid.ensemble import AdaBoostClassifier, BaggingClassifier
from pellucid.export import from_onnx
from pellucid.linear_model import Ridge
from pellucid.naive_bayes import GaussianNB
from pellucid.tree import DecisionTreeClassifier

X = np.random.default_rng(0).standard_normal((60, 3))
y = X @ [1.0, -2.0, 0.5] + 3.0
WORDS = np.array(["low", "high"])[(y > 3).astype(int)]


def fact(proto, key):
    return next(pair for pair in proto.metadata_props if pair.key == key)


def read(proto, folder):
    (folder / "altered.onnx").write_bytes(proto.SerializeToString())
    return from_onnx(folder / "altered.onnx")


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (BaggingClassifier(GaussianNB(), n_estimators=2, random_state=0), WORDS),
        (DecisionTreeClassifier(), np.zeros(60, dtype=int)),
        (LinearDiscriminantAnalysis(), np.zeros(60, dtype=int)),
        (AdaBoostClassifier(n_estimators=2, random_state=0), np.array(["alone"] * 60)),
    ],
    ids=lambda one: type(one).__name__,
)
def test_arrays_of_equal_bytes_and_constants_that_were_left_out_are_read_back(model, target, tmp_path):
    model.fit(X, target)
    again = read(pellucid.to_onnx(model), tmp_path)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.classes_.dtype == model.classes_.dtype


def other_version(proto):
    proto.opset_import[0].version = 17


def other_name(proto):
    proto.graph.name = "Lasso"


def other_operator(proto):
    body = [onnx.helper.make_node("Sub", ["a", "b"], ["c"])]
    operators = [onnx.helper.make_opsetid("", 21)]
    proto.functions.append(onnx.helper.make_function("", "Add", ["a", "b"], ["c"], body, operators))


@pytest.mark.parametrize("alter", [other_version, other_name, other_operator])
def test_what_changes_the_meaning_of_operators_is_found(alter, tmp_path):
    proto = pellucid.to_onnx(Ridge().fit(X, y))
    alter(proto)
    with pytest.raises(DamagedFileError, match="it was altered"):
        read(proto, tmp_path)


@pytest.mark.parametrize("key", ["fingerprint", "certificate"])
def test_evidence_that_is_not_the_models_is_refused(key, tmp_path):
    proto = pellucid.to_onnx(Ridge().fit(X, y))
    fact(proto, key).value = "another"
    with pytest.raises(DamagedFileError, match=f"{key} in the metadata must be that of the model"):
        read(proto, tmp_path)


def test_numbers_in_another_file_are_not_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    proto = pellucid.to_onnx(Ridge().fit(X, y))
    constant = proto.graph.initializer[0]
    (tmp_path / "secret").write_bytes(constant.raw_data)
    constant.ClearField("raw_data")
    constant.data_location = onnx.TensorProto.EXTERNAL
    constant.external_data.add(key="location", value="secret")
    with pytest.raises(DamagedFileError, match="array coef_ must have 3 entries of float64, but it has not"):
        read(proto, tmp_path)


def test_bytes_that_unpack_to_very_many_are_refused_before_they_are_unpacked(tmp_path):
    proto = pellucid.to_onnx(Ridge().fit(X, y))
    fact(proto, "pellucid_arrays").value = base64.b64encode(zlib.compress(bytes(10**8))).decode()
    tracemalloc.start()
    with pytest.raises(DamagedFileError, match="arrays in the metadata must be packed as they were written"):
        read(proto, tmp_path)
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()


def test_arrays_of_zeros_are_written_so_that_they_can_be_read(tmp_path):
    rows = np.zeros((40, 3000))
    rows[0, 0] = 1.0
    model = GaussianNB().fit(rows, np.arange(40) % 2)
    np.testing.assert_array_equal(read(pellucid.to_onnx(model), tmp_path).var_, model.var_)


@pytest.mark.parametrize("shape", [[-1, -3], [2**32, 2**32], [0, 2**40], "3", [1] * 20 + [3], [3.0], None])
def test_sizes_that_no_array_has_are_refused(shape, tmp_path):
    proto = pellucid.to_onnx(Ridge().fit(X, y))
    stored = fact(proto, "pellucid_model")
    document = json.loads(stored.value)
    for row in document["arrays"].values():
        row["shape"] = shape
    stored.value = json.dumps(document)
    with pytest.raises(ModelFileError, match="must"):
        read(proto, tmp_path)


def test_a_constant_stands_for_one_array_so_that_a_small_file_is_a_small_model(tmp_path):
    proto = pellucid.to_onnx(Ridge().fit(X, y))
    stored = fact(proto, "pellucid_model")
    document = json.loads(stored.value)
    row = next(row for row in document["arrays"].values() if "constant" in row or "transposed" in row)
    document["arrays"]["intercept_"] = row
    stored.value = json.dumps(document)
    with pytest.raises(DamagedFileError, match="a constant of its own"):
        read(proto, tmp_path)


def test_a_model_without_fitted_attributes_and_a_document_of_brackets_are_refused(tmp_path):
    proto = pellucid.to_onnx(Ridge().fit(X, y))
    stored = fact(proto, "pellucid_model")
    document = json.loads(stored.value)
    document["model"]["attributes"], document["arrays"] = None, {}
    stored.value = json.dumps(document)
    with pytest.raises(ModelFileError, match="model must be fitted"):
        read(proto, tmp_path)
    stored.value = "[" * 300_000
    with pytest.raises(NotAModelFileError, match="at most 262144 opening brackets"):
        read(proto, tmp_path)


def test_changed_bytes_anywhere_are_refused_in_a_sentence_or_are_another_model(tmp_path):
    content = pellucid.to_onnx(GaussianNB().fit(X, y > 3)).SerializeToString()
    for place in range(0, len(content), 61):
        altered = bytearray(content)
        altered[place] ^= 0x15
        (tmp_path / "altered.onnx").write_bytes(altered)
        try:
            again = from_onnx(tmp_path / "altered.onnx")
        except ModelFileError as refusal:
            assert str(refusal).endswith(".")  # noqa: PT017  (which of two outcomes it is does not matter)
        else:
            assert type(again) is GaussianNB
