"""The density protocol: what naive Bayes, discriminant analysis, mixtures and the Bayes classifier ask of a density."""

from __future__ import annotations

from importlib import import_module
from inspect import isclass
from typing import Any, Protocol, Self, runtime_checkable

from pellucid.core.types import Array, Data

DENSITIES = {
    "bernoulli": "pellucid.probability.bernoulli:Bernoulli",
    "binomial": "pellucid.probability.binomial:Binomial",
    "categorical": "pellucid.probability.categorical:Categorical",
    "gaussian": "pellucid.probability.gaussian:Gaussian",
    "logistic": "pellucid.probability.logistic:Logistic",
    "multinomial": "pellucid.probability.multinomial:Multinomial",
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
    """

    def log_prob(self, X: Data) -> Array:
        """Return the log density, or log probability, of each row: shape (n_samples,)."""
        ...

    def sample(self, n: int, random_state: Any = None) -> Array:
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
