"""The examples of the README print what it says they print."""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
EXAMPLE = re.compile(r"```python\n(.*?)```\s+```\n(.*?)```", re.DOTALL)
ROUNDING = re.compile(r"(?<![\w.])(0|\d+(\.\d+)?e-\d+)(?= <=)")  # what rounding leaves differs between machines
EXAMPLES = EXAMPLE.findall(README.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("code", "output"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_example_prints_what_the_readme_says(code, output):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("default")
        exec(compile(code, str(README), "exec"), {})
    assert ROUNDING.sub("#", printed.getvalue()) == ROUNDING.sub("#", output)


def test_there_are_examples():
    assert len(EXAMPLES) >= 3


def test_every_link_leads_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / target).exists(), target
