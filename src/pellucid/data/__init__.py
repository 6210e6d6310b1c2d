"""Small data sets that come with the library."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["load_breast_cancer", "load_capitals_of_europe", "load_cars_by_hand", "load_diabetes"]


def load_diabetes() -> pd.DataFrame:
    """Return 442 patients: ten measurements and ``progression``, how far the disease had gone a year later.

    Examples
    --------
    >>> from pellucid.data import load_diabetes
    >>> load_diabetes().shape
    (442, 11)
    """
    return _read("diabetes.csv")


def load_breast_cancer() -> pd.DataFrame:
    """Return 569 tumors: thirty measurements of their cells and the ``diagnosis``, malignant or benign.

    Examples
    --------
    >>> from pellucid.data import load_breast_cancer
    >>> load_breast_cancer()["diagnosis"].value_counts().to_dict()
    {'benign': 357, 'malignant': 212}
    """
    return _read("breast_cancer.csv")


def load_capitals_of_europe() -> pd.DataFrame:
    """Return the distances of 29 capitals in km, as the crow flies, after their ``latitude`` and ``longitude``.

    Examples
    --------
    >>> from pellucid.data import load_capitals_of_europe
    >>> capitals = load_capitals_of_europe().set_index("capital")
    >>> int(capitals.loc["Paris", "London"]), capitals.iloc[:, 2:].shape
    (343, (29, 29))
    """
    return _read("capitals_of_europe.csv")


def load_cars_by_hand() -> pd.DataFrame:
    """Return six made-up used cars: age, distance and price, small enough to work by hand.

    Examples
    --------
    >>> from pellucid.data import load_cars_by_hand
    >>> load_cars_by_hand().iloc[0].to_dict()
    {'age': 1, 'distance': 2, 'price': 19}
    """
    return _read("cars_by_hand.csv")


def _read(name: str) -> pd.DataFrame:
    import pandas as pd

    with as_file(files(__name__) / name) as path:
        return pd.read_csv(path)
