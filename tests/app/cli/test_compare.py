"""Two models on the same rows: by hand, properties, the command, bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel

import pellucid
from pellucid.app.cli.application import run
from pellucid.app.table_model.comparing import compare_models, paired_difference
from pellucid.linear_model import LinearRegression, LogisticRegression


def test_an_interval_by_hand():
    # the differences are -1, -0.5 and -1.5: mean -1, deviation 0.5, Student's 97.5 % point of 2 degrees 4.3027
    found = paired_difference("error", np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.5, 1.5]))
    assert (found.first, found.second) == (2.0, 1.0)
    assert (found.low, found.high) == pytest.approx(
        (-1.0 - 4.3027 * 0.5 / 3**0.5, -1.0 + 4.3027 * 0.5 / 3**0.5), abs=1e-4
    )
    assert found.better == 0


@pytest.mark.parametrize("seed", range(5))
def test_intervals_are_those_of_the_paired_t_test(seed):  # peer
    rng = np.random.default_rng(seed)
    first, second = rng.exponential(1.0, 40), rng.exponential(1.3, 40)
    found, peer = paired_difference("error", first, second), ttest_rel(second, first).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((peer.low, peer.high))


def test_the_difference_of_a_model_to_itself_is_nothing():
    X, y = np.random.default_rng(0).standard_normal((30, 2)), np.arange(30.0)
    model = LinearRegression().fit(X, y)
    assert all(
        one.difference == one.low == one.high == 0.0
        for one in compare_models((model, X), (model, X), y, is_class=False)
    )


def test_a_class_that_a_model_never_saw_costs_it_dearly():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    model = LogisticRegression().fit(X, ["a", "a", "b", "b"])
    mistakes, loss = compare_models((model, X), (model, X), np.array(["a", "a", "b", "new"]), is_class=True)
    assert mistakes.first == 0.25
    assert loss.first > 5.0


def saved(folder, seed=0, n=200):
    """Save a good and a poor model of numbers, and new rows."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    y = X @ [2.0, 1.0] + 0.1 * rng.standard_normal(n)
    frame = pd.DataFrame(X, columns=["a", "b"])
    pellucid.save(LinearRegression().fit(frame[:100], y[:100]), folder / "good.safetensors")
    pellucid.save(LinearRegression().fit(frame[:100], rng.permutation(y[:100])), folder / "poor.safetensors")
    frame.assign(y=y)[100:].to_csv(folder / "new.csv", index=False)
    frame.assign(y=y)[:100].to_csv(folder / "old.csv", index=False)
    return [str(folder / name) for name in ("good.safetensors", "poor.safetensors", "new.csv", "old.csv")]


def test_the_command_says_which_is_better(tmp_path, capsys):
    good, poor, new, old = saved(tmp_path)
    assert run(["compare", good, poor, new, "--target", "y"]) == 0
    said = capsys.readouterr()
    assert "By squared error good.safetensors is better" in " ".join(said.out.split())
    assert said.err == ""
    assert run(["compare", good, good, old, "--target", "y"]) == 0
    said = capsys.readouterr()
    assert "cannot be told apart" in said.out
    assert "learned from these very rows" in said.err


def test_bad_input_gets_one_sentence(tmp_path, capsys):
    good, poor, new, _ = saved(tmp_path)
    assert run(["compare", good, poor, new]) == 2
    assert "target must be one column that both models predict" in capsys.readouterr().err
    frame = pd.read_csv(new)
    pellucid.save(LogisticRegression().fit(frame[["a", "b"]], frame["y"] > 0), tmp_path / "classes.safetensors")
    assert run(["compare", good, str(tmp_path / "classes.safetensors"), new, "--target", "y"]) == 2
    assert "got one of each" in capsys.readouterr().err
    assert run(["compare", good, str(tmp_path / "nothing.safetensors"), new, "--target", "y"]) == 2
    assert "nothing.safetensors" in capsys.readouterr().err
