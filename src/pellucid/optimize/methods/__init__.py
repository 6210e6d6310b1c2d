"""The methods, one rule per file."""

from __future__ import annotations

from pellucid.core.checks import check_one_of
from pellucid.optimize.method import Method
from pellucid.optimize.methods.adagrad import AdaGrad, RMSProp
from pellucid.optimize.methods.adam import Adam
from pellucid.optimize.methods.conjugate_gradient import ConjugateGradient
from pellucid.optimize.methods.coordinate_descent import AlternatingMinimization, CoordinateDescent
from pellucid.optimize.methods.gradient_descent import GradientDescent, StochasticGradient, Subgradient
from pellucid.optimize.methods.lbfgs import LBFGS
from pellucid.optimize.methods.momentum import Momentum, Nesterov
from pellucid.optimize.methods.newton import Newton
from pellucid.optimize.methods.proximal import FISTA, AcceleratedGradient, ProximalGradient
from pellucid.optimize.methods.quasi_newton import BFGS, DFP

METHODS: dict[str, type[Method]] = {
    "gradient descent": GradientDescent,
    "stochastic gradient": StochasticGradient,
    "momentum": Momentum,
    "nesterov": Nesterov,
    "accelerated gradient": AcceleratedGradient,
    "proximal gradient": ProximalGradient,
    "fista": FISTA,
    "adagrad": AdaGrad,
    "rmsprop": RMSProp,
    "adam": Adam,
    "newton": Newton,
    "dfp": DFP,
    "bfgs": BFGS,
    "l-bfgs": LBFGS,
    "conjugate gradient": ConjugateGradient,
    "coordinate descent": CoordinateDescent,
    "subgradient": Subgradient,
}
"""Names of the methods that need no settings."""


def find_method(method: str | Method) -> Method:
    """Return the method itself, or the one of that name with its default settings.

    Parameters
    ----------
    method : str or Method
        One of the names in ``METHODS``, or any object with ``start`` and ``step``.

    Examples
    --------
    >>> find_method("bfgs")
    BFGS(line_search=StrongWolfe(decrease=0.0001, curvature=0.9))
    """
    if isinstance(method, str):
        check_one_of(METHODS, method=method)
        return METHODS[method]()
    if isinstance(method, type) or not (hasattr(method, "start") and hasattr(method, "step")):
        raise TypeError(f"method must be a name or an object with start and step, got {method!r}. Try 'bfgs'.")
    return method


__all__ = [
    "BFGS",
    "DFP",
    "FISTA",
    "LBFGS",
    "METHODS",
    "AcceleratedGradient",
    "AdaGrad",
    "Adam",
    "AlternatingMinimization",
    "ConjugateGradient",
    "CoordinateDescent",
    "GradientDescent",
    "Momentum",
    "Nesterov",
    "Newton",
    "ProximalGradient",
    "RMSProp",
    "StochasticGradient",
    "Subgradient",
    "find_method",
]
