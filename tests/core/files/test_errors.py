"""Every way a file can be wrong has its own error, drawn in the tree at the top of errors.py."""

import json

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import pellucid
from pellucid.core.files import (
    DamagedFileError,
    ModelFileError,
    NewerFormatError,
    NotAModelFileError,
    NotSaveableError,
    SchemaError,
)
from pellucid.core.files.container import UNSEALED
from pellucid.core.files.saving import model_bytes
from pellucid.linear_model import LinearRegression
from pellucid.naive_bayes import BayesClassifier
from tests.core.files.fuzz import join, split


@pytest.fixture
def content():
    return model_bytes(StandardScaler().fit([[0.0, 1.0], [2.0, 5.0], [4.0, 0.0]]))


def load_bytes(tmp_path, content, **options):
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    return pellucid.load(path, **options)


def forged(content, change):
    """Return the file with a changed header and document, its checksum right again."""
    header, data = split(content)
    document = json.loads(header["__metadata__"]["pellucid"])
    changed_data = change(header, document, data)
    document["sha256"] = UNSEALED
    header["__metadata__"]["pellucid"] = json.dumps(document, separators=(",", ":"))
    return join(header, data if changed_data is None else changed_data)


def test_an_untouched_forgery_still_loads(tmp_path, content):
    assert load_bytes(tmp_path, forged(content, lambda *_: None)).mean_ == pytest.approx([2.0, 2.0])


def test_an_empty_file_is_no_model_file(tmp_path):
    with pytest.raises(NotAModelFileError, match="a safetensors file, got model.safetensors, 0 bytes"):
        load_bytes(tmp_path, b"")


def test_a_pickle_is_no_model_file(tmp_path, content):
    import pickle

    with pytest.raises(NotAModelFileError):
        load_bytes(tmp_path, pickle.dumps({"a": 1}))


def test_a_safetensors_file_of_someone_else_is_no_model_file(tmp_path):
    from safetensors.numpy import save

    with pytest.raises(NotAModelFileError, match=r"Only files of pellucid\.save load"):
        load_bytes(tmp_path, save({"weight": np.zeros(3)}, metadata={"format": "pt"}))


def test_every_truncation_is_refused(tmp_path, content):
    for length in range(0, len(content), 7):
        with pytest.raises(ModelFileError):
            load_bytes(tmp_path, content[:length])


def test_a_truncated_file_is_damaged(tmp_path, content):
    with pytest.raises(DamagedFileError, match="Copy it again"):
        load_bytes(tmp_path, content[:-1])


def test_a_longer_file_is_damaged(tmp_path, content):
    with pytest.raises(DamagedFileError, match="must end at byte"):
        load_bytes(tmp_path, content + b"\x00")


def test_every_flipped_bit_is_noticed(tmp_path, content):
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << (place % 8)
        with pytest.raises(ModelFileError):
            load_bytes(tmp_path, bytes(changed))


def test_a_flipped_bit_of_an_array_is_named_an_alteration(tmp_path, content):
    with pytest.raises(DamagedFileError, match="checksum must match"):
        load_bytes(tmp_path, content[:-1] + bytes([content[-1] ^ 1]))


def test_a_file_above_the_limit_is_not_opened(tmp_path, content):
    with pytest.raises(NotAModelFileError, match=r"at most 100 bytes, got \d+\. Pass a larger max_bytes"):
        load_bytes(tmp_path, content, max_bytes=100)


def test_a_sparse_file_of_many_gigabytes_is_refused_at_once(tmp_path):
    path = tmp_path / "huge.safetensors"
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(NotAModelFileError, match="at most"):
        pellucid.load(path)


def test_a_giant_header_is_refused_unread(tmp_path):
    with pytest.raises(NotAModelFileError, match="file must be a model of pellucid, a safetensors file, got"):
        load_bytes(tmp_path, b"\xff" * 100)


def test_a_header_of_a_million_objects_is_refused_unparsed(tmp_path):
    header = b'{"a":[' + b"[]," * 1_000_000 + b"0]}"
    with pytest.raises(NotAModelFileError, match="at most 262144 opening brackets, got 1000002"):
        load_bytes(tmp_path, len(header).to_bytes(8, "little") + header)


def test_a_model_with_endless_names_is_not_saved(tmp_path):
    model = StandardScaler().fit([[0.0], [1.0]])
    model.feature_names_in_ = np.array(["x" * 9_000_000], dtype=object)
    with pytest.raises(NotSaveableError, match="names and settings must take at most 8388608 bytes"):
        pellucid.save(model, tmp_path / "model.safetensors")


def test_half_a_character_in_a_name_is_not_saved(tmp_path):
    model = StandardScaler().fit([[0.0], [1.0]])
    model.feature_names_in_ = np.array(["x\ud800"], dtype=object)
    with pytest.raises(NotSaveableError, match="names must be valid Unicode"):
        pellucid.save(model, tmp_path / "model.safetensors")


def test_a_name_that_looks_like_an_escape_is_kept(tmp_path):
    model = StandardScaler().fit([[0.0], [1.0]])
    model.feature_names_in_ = np.array([r"C:\udata \\ud800 \\\ud800 😀"], dtype=object)
    assert load_bytes(tmp_path, model_bytes(model)).feature_names_in_ == model.feature_names_in_


def test_endless_nesting_is_refused(tmp_path):
    header = b"[" * 200_000
    with pytest.raises(NotAModelFileError, match="nested too deeply"):
        load_bytes(tmp_path, len(header).to_bytes(8, "little") + header)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('{"a":1,"a":2}', "same key twice"),
        ('{"a":NaN}', "NaN is not a JSON number"),
        ('{"a":' + "9" * 5000 + "}", "digits"),
        ('{"a":', "Expecting value"),
        ('{"a":"\\ud800"}', "escapes half a character"),
    ],
)
def test_loose_json_is_refused(tmp_path, text, cause):
    with pytest.raises(NotAModelFileError, match=f"header must be plain JSON.*{cause}"):
        load_bytes(tmp_path, len(text).to_bytes(8, "little") + text.encode())


def test_a_later_format_asks_for_an_update(tmp_path, content):
    with pytest.raises(NewerFormatError, match=r"format must be at most 1, got 2\. Update pellucid"):
        load_bytes(tmp_path, forged(content, lambda header, document, data: document.update(format=2)))


@pytest.mark.parametrize("name", ["os.system", "builtins.eval", "DBSCAN", "StandardScaler\x00", ""])
def test_a_class_outside_the_registry_is_refused(tmp_path, content, name):
    with pytest.raises(SchemaError, match="class must be one of"):
        load_bytes(tmp_path, forged(content, lambda header, document, data: document["model"].update({"class": name})))


def test_an_unknown_field_is_refused(tmp_path, content):
    def add(header, document, data):
        document["model"]["parameters"]["more"] = 1

    with pytest.raises(SchemaError, match="parameters of StandardScaler must be known, got 'more'"):
        load_bytes(tmp_path, forged(content, add))


def test_a_missing_field_is_refused(tmp_path, content):
    def drop(header, document, data):
        del document["model"]["parameters"]["copy"]

    with pytest.raises(SchemaError, match="must include 'copy', but it is missing"):
        load_bytes(tmp_path, forged(content, drop))


def test_a_missing_attribute_is_refused(tmp_path, content):
    def drop(header, document, data):
        del document["model"]["attributes"]["mean_"]

    with pytest.raises(SchemaError, match="must include 'mean_'"):
        load_bytes(tmp_path, forged(content, drop))


def test_an_unfitted_model_is_refused(tmp_path, content):
    def forget(header, document, data):
        document["model"]["attributes"] = None
        for name in set(header) - {"__metadata__"}:
            del header[name]
        return b""

    with pytest.raises(SchemaError, match="must be fitted"):
        load_bytes(tmp_path, forged(content, forget))


def test_sizes_must_agree_between_attributes(tmp_path, content):
    def widen(header, document, data):
        document["model"]["attributes"]["n_features_in_"] = 3

    with pytest.raises(SchemaError, match=r"must have n_features = 3, got \(2,\)"):
        load_bytes(tmp_path, forged(content, widen))


def test_a_wrong_dtype_is_refused(tmp_path, content):
    with pytest.raises(SchemaError, match="mean_ must be"):
        load_bytes(tmp_path, forged(content, lambda header, document, data: header["mean_"].update(dtype="I64")))


def test_an_array_that_no_attribute_asks_for_is_refused(tmp_path, content):
    def smuggle(header, document, data):
        header["extra"] = {"dtype": "F64", "shape": [1], "data_offsets": [len(data), len(data) + 8]}
        return data + b"\x00" * 8

    with pytest.raises(SchemaError, match="arrays must all be part of the model, got 'extra'"):
        load_bytes(tmp_path, forged(content, smuggle))


@pytest.mark.parametrize("shape", [[2**62, 4], [2**31, 2**31, 2**31], [-2], [2.0], [True, 2], "22"])
def test_impossible_shapes_are_refused(tmp_path, content, shape):
    with pytest.raises(NotAModelFileError):
        load_bytes(tmp_path, forged(content, lambda header, document, data: header["mean_"].update(shape=shape)))


def test_overlapping_arrays_are_refused(tmp_path, content):
    def overlap(header, document, data):
        header["mean_"]["data_offsets"] = header["var_"]["data_offsets"]

    with pytest.raises(NotAModelFileError, match="must start at byte"):
        load_bytes(tmp_path, forged(content, overlap))


def test_a_coefficient_that_is_no_number_is_refused(tmp_path):
    content = model_bytes(LinearRegression().fit([[0.0], [1.0], [3.0]], [0.0, 1.0, 2.0]))

    def poison(header, document, data):
        start, stop = header["coef_"]["data_offsets"]
        return data[:start] + np.array([np.nan]).tobytes() + data[stop:]

    with pytest.raises(SchemaError, match="coef_ must be a finite array"):
        load_bytes(tmp_path, forged(content, poison))


def test_padding_cannot_fill_the_memory(tmp_path):
    content = model_bytes(OneHotEncoder().fit(np.array([["a"], ["b"]], dtype=object)))

    def pad(header, document, data):
        document["model"]["attributes"]["categories_"]["list"][0] = {"str": ["x" * 100_000] + [""] * 100_000}

    with pytest.raises(SchemaError, match="padded characters"):
        load_bytes(tmp_path, forged(content, pad))


def test_pipelines_cannot_nest_without_end(tmp_path):
    content = model_bytes(make_pipeline(StandardScaler()).fit([[0.0], [1.0]]))

    def nest(header, document, data):
        for _ in range(20):
            inner = document["model"]
            document["model"] = json.loads(json.dumps(inner))
            document["model"]["parameters"]["steps"]["list"][0][1] = inner

    with pytest.raises(SchemaError, match="nested at most 8 deep"):
        load_bytes(tmp_path, forged(content, nest))


def test_an_unregistered_class_cannot_be_saved(tmp_path):
    model = KMeans(2, n_init=1).fit([[0.0], [1.0], [5.0]])
    with pytest.raises(
        NotSaveableError, match=r"model must be of a class in the registry.*got sklearn\.cluster.*KMeans"
    ):
        pellucid.save(model, tmp_path / "model.safetensors")


def test_a_subclass_is_another_class(tmp_path):
    class Mine(StandardScaler):
        pass

    Mine.__name__ = "StandardScaler"
    with pytest.raises(NotSaveableError, match="model must be of a class in the registry"):
        pellucid.save(Mine().fit([[0.0], [1.0]]), tmp_path / "model.safetensors")


def test_a_step_that_holds_a_function_cannot_be_saved(tmp_path):
    model = make_pipeline(FunctionTransformer(np.log1p), StandardScaler()).fit([[0.0], [1.0]])
    with pytest.raises(NotSaveableError, match="FunctionTransformer"):
        pellucid.save(model, tmp_path / "model.safetensors")
    assert not list(tmp_path.iterdir())


def test_an_attribute_outside_the_schema_is_not_lost_in_silence(tmp_path):
    model = StandardScaler().fit([[0.0], [1.0]])
    model.note_ = "mine"
    with pytest.raises(NotSaveableError, match="attribute note_ of StandardScaler must be in the registry"):
        pellucid.save(model, tmp_path / "model.safetensors")


def test_a_failed_save_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.safetensors"
    pellucid.save(StandardScaler().fit([[0.0], [1.0]]), path)
    before = path.read_bytes()
    monkeypatch.setattr("pellucid.core.atomic.os.fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        pellucid.save(StandardScaler().fit([[5.0], [9.0]]), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_list_of_the_wrong_length_is_refused(tmp_path):
    X, y = [[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]
    content = model_bytes(BayesClassifier("multivariate_gaussian").fit(X, y))

    def lengthen(header, document, data):
        document["model"]["attributes"]["densities_"]["list"].append(
            document["model"]["attributes"]["densities_"]["list"][0]
        )

    with pytest.raises(SchemaError, match="densities_"):
        load_bytes(tmp_path, forged(content, lengthen))
