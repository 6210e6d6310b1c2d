"""Boosted trees on files in blocks: ours beside the Dask interfaces of XGBoost and LightGBM, at the same settings.

100 rounds of 31 leaves, 255 bins, rows of the regression in ``benchmarks.scale``. The loss is the mean squared error on
the rows of the first file. Peers that are not installed are left out. Beside the time on the clock stands that of the
processors, here and in the workers, which others on the machine change less. ``PELLUCID_TREES`` and ``PELLUCID_TURNS``
set other rounds of boosting, and how often each fits.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

LEAVES, RATE, BINS, SMALLEST = 31, 0.1, 255, 20
ROUNDS = int(os.environ.get("PELLUCID_TREES", "100"))
TURNS = int(os.environ.get("PELLUCID_TURNS", "2"))
"""Each fits so many times, in turns; the better time counts."""


def report(console: Console, client: Any, files: list[str], names: list[str]) -> None:
    """Print seconds and loss of each."""
    first = pd.read_parquet(files[0])
    makers = {"pellucid": _ours, "xgboost": _xgboost, "lightgbm": _lightgbm}
    seconds: dict[str, list[float]] = {}
    busy: dict[str, list[float]] = {}
    losses: dict[str, float] = {}
    for _ in range(TURNS):
        for name, make in makers.items():
            if find_spec(name) is None:
                continue
            start, busy_before = time.perf_counter(), _busy(client)
            predict = make(client, files, names)
            seconds.setdefault(name, []).append(time.perf_counter() - start)
            busy.setdefault(name, []).append(_busy(client) - busy_before)
            losses[name] = float(np.mean((predict(first[names]) - first["y"]) ** 2))
    table = Table(title=f"boosting, {ROUNDS} rounds of {LEAVES} leaves")
    for heading in ("fit", "seconds", "of processors", "mean squared error"):
        table.add_column(heading, justify="left" if heading == "fit" else "right")
    for name, own in seconds.items():
        table.add_row(name, f"{min(own):.1f}", f"{min(busy[name]):.1f}", f"{losses[name]:.5f}")
    console.print(table)


def _busy(client: Any) -> float:
    """Return the seconds that processors have worked for this process and for the workers."""
    return time.process_time() + sum(client.run(time.process_time).values())


def _ours(_client: Any, files: list[str], names: list[str]) -> Callable[..., Any]:
    import dask.dataframe as dd

    from pellucid.ensemble import HistGradientBoostingRegressor

    table = dd.read_parquet(files)
    settings: dict[str, Any] = {"max_iter": ROUNDS, "max_leaf_nodes": LEAVES, "learning_rate": RATE, "max_bins": BINS}
    model = HistGradientBoostingRegressor(**settings, min_samples_leaf=SMALLEST, early_stopping=False)
    return model.fit(table[names], table["y"]).predict


def _xgboost(client: Any, files: list[str], names: list[str]) -> Callable[..., Any]:
    from xgboost import dask as xgboost

    rows = xgboost.DaskQuantileDMatrix(client, *_parts(files, names), max_bin=BINS)
    settings = {"max_leaves": LEAVES, "max_depth": 0, "grow_policy": "lossguide", "eta": RATE, "lambda": 0.0}
    own = {"tree_method": "hist", "max_bin": BINS, "min_child_weight": SMALLEST}
    booster = xgboost.train(client, settings | own, rows, num_boost_round=ROUNDS)["booster"]
    return booster.inplace_predict


def _lightgbm(client: Any, files: list[str], names: list[str]) -> Callable[..., Any]:
    import lightgbm

    settings: dict[str, Any] = {"n_estimators": ROUNDS, "num_leaves": LEAVES, "learning_rate": RATE, "verbose": -1}
    model = lightgbm.DaskLGBMRegressor(**settings, max_bin=BINS, min_child_samples=SMALLEST, client=client)
    return model.fit(*_parts(files, names)).to_local().predict


def _parts(files: list[str], names: list[str]) -> tuple[Any, Any]:
    """Return rows and target in the same blocks: read by itself, the target would come in fewer, which peers refuse."""
    import dask.dataframe as dd

    table = dd.read_parquet(files)
    rows = table.map_partitions(lambda part: part[names], meta=dict.fromkeys(names, "float32"))
    return rows, table.map_partitions(lambda part: part["y"], meta=("y", "float32"))
