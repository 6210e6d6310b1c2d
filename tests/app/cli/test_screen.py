"""The live line: on a terminal only, one line, with the method, the best so far and the time left."""

import io

import numpy as np
import pytest
from rich.console import Console

from pellucid.app.bake_off.comparison import Stage
from pellucid.app.bake_off.contestants import Contestant
from pellucid.app.bake_off.scores import MethodScore, Pace
from pellucid.app.bake_off.so_far import best_so_far
from pellucid.app.cli.errors import CommandError
from pellucid.app.cli.fit import parse_duration
from pellucid.app.cli.screen import live_line

RIDGE = Contestant("ridge with steps", "", list)
BEST = MethodScore(RIDGE, np.array([0.25]), np.array([0.7]), 3, Pace(100, 0.1), 0.0)
BEST_OF_NUMBERS = MethodScore(RIDGE, np.array([0.25]), None, 3, Pace(100, 0.1), 0.0)
STAGE = Stage("nearest neighbors", 3, 10, BEST, 75.0)


def shown(console, stage=STAGE):
    with live_line(console) as show:
        show(stage)
    return console.file.getvalue()


def test_a_terminal_shows_method_best_and_time_left():
    line = shown(Console(file=io.StringIO(), force_terminal=True, width=120))
    for words in ("nearest neighbors", "3/10", "best: ridge with steps, 75.0 % right", "1:15 left"):
        assert words in line


def test_a_narrow_terminal_has_one_line_too():
    line = shown(Console(file=io.StringIO(), force_terminal=True, width=60))
    assert "1:15 left" in line
    assert "…" in line


def test_a_file_gets_nothing():
    assert shown(Console(file=io.StringIO(), force_terminal=False)).strip() == ""


def test_an_error_is_shown_as_a_number():
    assert best_so_far(Stage("nearest neighbors", 3, 10, BEST_OF_NUMBERS, 75.0)) == "best: ridge with steps, error 0.25"


def test_an_interruption_is_answered_at_once():
    stage = Stage("the final fit", 1, 1, BEST, 75.0, interrupted=True)
    assert "Ctrl-C again to abort" in best_so_far(stage)


def test_before_anything_is_known_there_is_no_best():
    assert best_so_far(Stage("mean", 0, 10, None, 75.0)) == ""


@pytest.mark.parametrize("text", ["", "soon", "-5s", "0", "5 weeks", "1e9h", "999999999"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(CommandError, match="time must be a duration above 0 such as 90s, 5m or 1h"):
        parse_duration(text)
