"""A few hundred mutated files; ``python -m tests.core.files.fuzz`` makes as many as you like."""

import json
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import StandardScaler

from pellucid.core.files import ModelFileError, NotAModelFileError, load
from pellucid.core.files.container import UNSEALED
from pellucid.core.files.saving import model_bytes
from pellucid.core.kinds.pages import parse_json
from tests.core.files.fuzz import fuzz, join, split

CONTENT = model_bytes(StandardScaler().fit([[0.0, 1.0], [2.0, 5.0], [4.0, 0.0]]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def load_bytes(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        path.write_bytes(content)
        return load(path)


def test_mutated_files_are_refused_or_valid():
    counts = fuzz(400, seed=1)
    assert sum(counts.values()) == 400
    assert {outcome.split(": ")[1] for outcome in counts} >= {"SchemaError", "DamagedFileError", "NotAModelFileError"}


@given(st.binary(max_size=400))
def test_any_bytes_are_refused(content):
    with pytest.raises(ModelFileError):
        load_bytes(content)


@given(st.sampled_from(["mean_", "n_features_in_", "n_samples_seen_"]), JSON)
def test_any_json_in_place_of_an_attribute_is_refused_or_valid(name, node):
    header, data = split(CONTENT)
    document = json.loads(header["__metadata__"]["pellucid"]) | {"sha256": UNSEALED}
    document["model"]["attributes"][name] = node
    header["__metadata__"]["pellucid"] = json.dumps(document, separators=(",", ":"))
    with suppress(ModelFileError):
        model_bytes(load_bytes(join(header, data)))


@given(st.text(max_size=200) | st.text(alphabet='{}[]",:0123456789eE-+.nulltrefas', max_size=200))
def test_any_text_is_json_or_refused(text):
    with suppress(NotAModelFileError):
        parse_json(text, "text")
