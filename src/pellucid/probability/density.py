"""The density protocol: what classifiers and mixtures ask of a density, and which density suits a column."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from inspect import isclass
from typing import Any, Protocol, Self, runtime_checkable

from pellucid.core.checks import column_values
from pellucid.core.types import Array, Data, RandomState

DENSITIES = {
    "bernoulli": "pellucid.probability.bernoulli:Bernoulli",
    "binomial": "pellucid.probability.bernoulli:Binomial",
    "categorical": "pellucid.probability.categorical:Categorical",
    "gaussian": "pellucid.probability.gaussian:Gaussian",
    "logistic": "pellucid.probability.logistic:Logistic",
    "multinomial": "pellucid.probability.categorical:Multinomial",
    "multivariate_gaussian": "pellucid.probability.multivariate_gaussian:MultivariateGaussian",
}
"""Name -> ``"module:class"``, imported on first use."""

METHODS = ("log_prob", "sample", "fit", "entropy")
PROPERTIES = ("mean", "variance")


@runtime_checkable
class Density(Protocol):
    """A probability distribution with parameters that can be fitted to weighted data.

    Values are float64 and probabilities are logarithms, so that nothing underflows far in the tails. A value that
    cannot occur has ``log_prob`` ``-inf``, a missing one (NaN) ``nan``.

    Parameters
    ----------
    *args, **kwargs
        Those of a class of this kind: a protocol says what it must have, and is not made itself.
    """

    def log_prob(self, X: Data) -> Array:
        """Return the log density, or log probability, of each row: shape (n_samples,)."""
        ...

    def sample(self, n: int, random_state: RandomState = None) -> Array:
        """Return ``n`` independent draws; the same seed gives the same bits."""
        ...

    @classmethod
    def fit(cls, X: Data, sample_weight: Data | None = None, *, prior: Any = None) -> Self:
        """Return the density of largest weighted likelihood, or with a conjugate prior of largest posterior.

        A weight of ``w`` means that the row stands there ``w`` times.
        """
        ...

    @property
    def mean(self) -> Any:
        """Expected value."""
        ...

    @property
    def variance(self) -> Any:
        """Variance, of each coordinate if there are several."""
        ...

    def entropy(self) -> float:
        """Return the entropy in nats; differential entropy if values are continuous."""
        ...


def find_density(density: str | type) -> type[Density]:
    """Return the density class of this name, or the user's own class if it has what the protocol asks for.

    Parameters
    ----------
    density : str or class
        One of the names in ``DENSITIES`` or a class with the members of :class:`Density`.

    Examples
    --------
    >>> find_density("gaussian").__name__
    'Gaussian'
    """
    if isinstance(density, str):
        if density not in DENSITIES:
            raise ValueError(
                f"density must be one of {tuple(DENSITIES)}, got {density!r}. Pass a class to use your own density."
            )
        module, name = DENSITIES[density].split(":")
        found: type[Density] = getattr(import_module(module), name)
        return found
    if not isclass(density):
        raise TypeError(f"density must be a name or a class, got {density!r}. Pass type(density) of an object.")
    _refuse_incomplete(density)
    return density  # type: ignore[return-value]  # checked member by member


def _refuse_incomplete(kind: type) -> None:
    # a dataclass field without a default is no attribute of the class, only an annotation
    fields = getattr(kind, "__dataclass_fields__", {})
    missing = [name for name in METHODS if not callable(getattr(kind, name, None))]
    missing += [name for name in PROPERTIES if not hasattr(kind, name) and name not in fields]
    if missing:
        raise TypeError(
            f"density must have {', '.join((*METHODS, *PROPERTIES))}, got {kind.__name__} without "
            f"{' and '.join(missing)}. Define what is missing; see pellucid.probability.Density."
        )


AUTO = "auto"


def declared_categories(X: Data) -> list[bool]:
    """Return for each column whether a data frame calls it categorical; an array says nothing."""
    dtypes = list(X.dtypes) if hasattr(X, "columns") and hasattr(X, "dtypes") else []
    return ["categ" in str(dtype).lower() for dtype in dtypes]


def choose_densities(wanted: Any, X: Array, names: list[str] | None, declared: list[bool]) -> list[type[Density]]:
    """Return the density class of every column, as asked for or guessed.

    Texts and what a data frame calls categorical are categorical, zeros and ones are bernoulli, other numbers gaussian.
    """
    return [
        find_density(guess_density(column_values(X, j), bool(declared) and declared[j]) if entry is None else entry)
        for j, entry in enumerate(wanted_densities(wanted, X.shape[1], names))
    ]


def wanted_densities(wanted: Any, n_columns: int, names: list[str] | None) -> list[Any]:
    """Return what is asked for each column; None means that it is to be guessed."""
    if isinstance(wanted, Mapping):
        known = {name: j for j, name in enumerate(names or [])} | {j: j for j in range(n_columns)}
        unknown = [key for key in wanted if key not in known]
        if unknown:
            raise ValueError(f"densities must name columns of X, got {unknown[0]!r}. Columns are {list(known)}.")
        entries: list[Any] = [AUTO] * n_columns
        for key, entry in wanted.items():
            entries[known[key]] = entry
    elif isinstance(wanted, str | type):
        entries = [wanted] * n_columns
    else:
        entries = list(wanted)
        if len(entries) != n_columns:
            raise ValueError(
                f"densities must have an entry for each of the {n_columns} columns, got {len(entries)}. "
                "Give a dict to name some columns only."
            )
    return [None if isinstance(entry, str) and entry == AUTO else entry for entry in entries]


def guess_density(values: Array, is_declared: bool = False) -> str:
    """Return the name of the density that suits a column; a declared one holds categories."""
    if values.dtype.kind == "U" or is_declared:
        return "categorical"
    return "bernoulli" if ((values == 0.0) | (values == 1.0)).all() else "gaussian"
