"""A few hundred mutated files; ``python -m tests.files.fuzz`` makes as many as you like."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from pellucid.files.errors import NotAModelFileError
from pellucid.files.strict_json import parse_json
from tests.files.fuzz import fuzz


def test_mutated_files_are_refused_or_valid():
    counts = fuzz(400, seed=1)
    assert sum(counts.values()) == 400
    assert {outcome.split(": ")[1] for outcome in counts} >= {"SchemaError", "DamagedFileError", "NotAModelFileError"}


@given(st.text(max_size=200) | st.text(alphabet='{}[]",:0123456789eE-+.nulltrefas', max_size=200))
def test_any_text_is_json_or_refused(text):
    with suppress(NotAModelFileError):
        parse_json(text, "text")
