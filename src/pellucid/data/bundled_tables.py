"""Tables that come with the library, each as a data frame whose last column is the target where there is one."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

MELONS_TO_LEARN = (1, 2, 3, 6, 7, 10, 14, 15, 16, 17)
"""Numbers of the melons from which the book's example of pruning learns; it validates on the other seven."""


def load_adult_sample() -> pd.DataFrame:
    """Return 1,000 of the 32,561 people of the Adult census table: age, work, education and ``income``.

    From: Barry Becker and Ronny Kohavi, UCI Machine Learning Repository, 1996, CC BY 4.0. Missing values are empty.

    Examples
    --------
    >>> from pellucid.data import load_adult_sample
    >>> load_adult_sample()["income"].value_counts().to_dict()
    {'<=50K': 754, '>50K': 246}
    """
    return _read("adult_sample.csv")


def load_breast_cancer() -> pd.DataFrame:
    """Return 569 tumors: thirty measurements of their cells and the ``diagnosis``, malignant or benign.

    From: William Wolberg, Nick Street and Olvi Mangasarian, UCI Machine Learning Repository, 1995, CC BY 4.0.

    Examples
    --------
    >>> from pellucid.data import load_breast_cancer
    >>> load_breast_cancer()["diagnosis"].value_counts().to_dict()
    {'benign': 357, 'malignant': 212}
    """
    return _read("breast_cancer.csv")


def load_capitals_of_europe() -> pd.DataFrame:
    """Return the distances of 29 capitals in km, as the crow flies, after their ``latitude`` and ``longitude``.

    From: computed for this library.

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

    From: invented for this library.

    Examples
    --------
    >>> from pellucid.data import load_cars_by_hand
    >>> load_cars_by_hand().iloc[0].to_dict()
    {'age': 1, 'distance': 2, 'price': 19}
    """
    return _read("cars_by_hand.csv")


def load_diabetes() -> pd.DataFrame:
    """Return 442 patients: ten measurements and ``progression``, how far the disease had gone a year later.

    From: Efron, Hastie, Johnstone and Tibshirani, "Least Angle Regression", 2004.

    Examples
    --------
    >>> from pellucid.data import load_diabetes
    >>> load_diabetes().shape
    (442, 11)
    """
    return _read("diabetes.csv")


def load_digits() -> pd.DataFrame:
    """Return 1,797 handwritten digits of 8 x 8 pixels, 0 (white) to 16 (black), and which ``digit`` each is.

    From: E. Alpaydin and C. Kaynak, UCI Machine Learning Repository, 1998, CC BY 4.0; read from scikit-learn.

    Examples
    --------
    >>> from pellucid.data import load_digits
    >>> load_digits().shape
    (1797, 65)
    """
    from sklearn.datasets import load_digits as bundled

    return bundled(as_frame=True).frame.rename(columns={"target": "digit"})


def load_distances_by_hand() -> pd.DataFrame:
    """Return the distances of five bacteria, a to e, that lectures on hierarchical clustering merge by hand.

    From: Wikipedia, "Hierarchical clustering" and "UPGMA", after Erdmann and Wolters, 1986.

    Examples
    --------
    >>> from pellucid.data import load_distances_by_hand
    >>> int(load_distances_by_hand().loc["a", "b"])
    17
    """
    return _read("distances_by_hand.csv", index="name")


def load_documents() -> pd.DataFrame:
    """Return five short documents about China (``c``) or Japan (``j``); the class of the last is asked for.

    From: Manning, Raghavan and Schuetze, "Introduction to Information Retrieval", 2008, table 13.1.

    Examples
    --------
    >>> from pellucid.data import load_documents
    >>> load_documents()["class"].tolist()
    ['c', 'c', 'c', 'j', nan]
    """
    return _read("documents.csv", index="document")


def load_energy() -> pd.DataFrame:
    """Return 768 buildings: eight properties, then what they need, ``heating_load`` and ``cooling_load``.

    From: Angeliki Xifara and Athanasios Tsanas, UCI Machine Learning Repository, 2012, CC BY 4.0.

    Examples
    --------
    >>> from pellucid.data import load_energy
    >>> load_energy().shape
    (768, 10)
    """
    return _read("energy.csv")


def load_iris() -> pd.DataFrame:
    """Return 150 irises: lengths and widths of sepals and petals in cm, and the ``species``.

    From: R. A. Fisher, 1936, UCI Machine Learning Repository, CC BY 4.0; read from scikit-learn.

    Examples
    --------
    >>> from pellucid.data import load_iris
    >>> load_iris()["sepal_length"].agg(["min", "max", "mean"]).round(2).tolist()
    [4.3, 7.9, 5.84]
    """
    from sklearn.datasets import load_iris as bundled

    found = bundled(as_frame=True)
    names = [name.removesuffix(" (cm)").replace(" ", "_") for name in found.feature_names]
    return found.data.set_axis(names, axis=1).assign(species=found.target_names[found.target])


def load_play_tennis() -> pd.DataFrame:
    """Return fourteen days: outlook, temperature, humidity and wind in words, and whether to ``play``.

    From: J. R. Quinlan, "Induction of Decision Trees", 1986, as days of tennis by Tom Mitchell, 1997.

    Examples
    --------
    >>> from pellucid.data import load_play_tennis
    >>> load_play_tennis()["play"].value_counts().to_dict()
    {'yes': 9, 'no': 5}
    """
    return _read("play_tennis.csv", index="day")


def load_watermelons(part: str | None = None, *, numbers: bool = False) -> pd.DataFrame:
    """Return seventeen watermelons: six properties in words, and whether the melon is ``good``.

    From: Zhou Zhihua, "Machine Learning", table 4.3; the English words are ours.

    Parameters
    ----------
    part : {"learn", "validate"}, default=None
        The ten melons to learn from in the book's example of pruning, or the seven to validate on; None for all. With a
        part ``navel`` stands first: of equally good columns ID3 asks for the first, and the book for that one.
    numbers : bool, default=False
        Whether to keep ``density`` and ``sugar``, two columns of numbers.

    Examples
    --------
    >>> from pellucid.data import load_watermelons
    >>> load_watermelons("validate")["good"].tolist()
    ['yes', 'yes', 'yes', 'no', 'no', 'no', 'no']
    """
    melons = _read("watermelons.csv", index="melon")
    if part not in (None, "learn", "validate"):
        raise ValueError(f'part must be "learn", "validate" or None, got {part!r}.')
    if part is not None:
        melons = melons[melons.index.isin(MELONS_TO_LEARN) == (part == "learn")]
        melons = melons[["navel", *melons.columns.drop("navel")]]
    return melons if numbers else melons.drop(columns=["density", "sugar"])


BUNDLED: dict[str, Callable[[], pd.DataFrame]] = {
    "adult_sample": load_adult_sample,
    "breast_cancer": load_breast_cancer,
    "capitals_of_europe": load_capitals_of_europe,
    "cars_by_hand": load_cars_by_hand,
    "diabetes": load_diabetes,
    "digits": load_digits,
    "distances_by_hand": load_distances_by_hand,
    "documents": load_documents,
    "energy": load_energy,
    "iris": load_iris,
    "play_tennis": load_play_tennis,
    "watermelons": load_watermelons,
}
"""Tables by the names that the command takes in the place of a file."""


def _read(name: str, index: str | None = None) -> pd.DataFrame:
    import pandas as pd

    with as_file(files("pellucid.data") / name) as path:
        return pd.read_csv(path, index_col=index)
