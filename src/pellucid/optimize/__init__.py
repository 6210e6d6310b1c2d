"""Optimization: problems, methods, one driver, certificates, constraints, races."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pellucid.optimize.line_searches import Backtracking, ExactStep, FixedStep, LineSearch, StrongWolfe
from pellucid.optimize.method import Method
from pellucid.optimize.methods import (
    BFGS,
    DFP,
    FISTA,
    LBFGS,
    METHODS,
    AcceleratedGradient,
    AdaGrad,
    Adam,
    AlternatingMinimization,
    ConjugateGradient,
    CoordinateDescent,
    GradientDescent,
    Momentum,
    Nesterov,
    Newton,
    ProximalGradient,
    RMSProp,
    StochasticGradient,
    Subgradient,
)
from pellucid.optimize.minimize import descend, minimize
from pellucid.optimize.more_garbow_hillstrom import more_garbow_hillstrom
from pellucid.optimize.penalties import L1, Box, SquaredL2
from pellucid.optimize.problem import FiniteSum, Penalty, Point, Problem
from pellucid.optimize.quadratic import quadratic
from pellucid.optimize.race import race
from pellucid.optimize.race_outcome import Race
from pellucid.optimize.schedules import Constant, Cosine, InverseRoot, InverseTime, Linear, Schedule, StepDecay
from pellucid.optimize.stationarity_proof import certify
from pellucid.optimize.stopping import Stopping

_HOMES = {"Formula": "pellucid.optimize.formula", "show_steps": "pellucid.optimize.workings"}
"""Names that are imported on first use: they need SymPy."""


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'pellucid.optimize' has no attribute {name!r}")


__all__ = [
    "BFGS",
    "DFP",
    "FISTA",
    "L1",
    "LBFGS",
    "METHODS",
    "AcceleratedGradient",
    "AdaGrad",
    "Adam",
    "AlternatingMinimization",
    "Backtracking",
    "Box",
    "ConjugateGradient",
    "Constant",
    "CoordinateDescent",
    "Cosine",
    "ExactStep",
    "FiniteSum",
    "FixedStep",
    "Formula",
    "GradientDescent",
    "InverseRoot",
    "InverseTime",
    "LineSearch",
    "Linear",
    "Method",
    "Momentum",
    "Nesterov",
    "Newton",
    "Penalty",
    "Point",
    "Problem",
    "ProximalGradient",
    "RMSProp",
    "Race",
    "Schedule",
    "SquaredL2",
    "StepDecay",
    "StochasticGradient",
    "Stopping",
    "StrongWolfe",
    "Subgradient",
    "certify",
    "descend",
    "minimize",
    "more_garbow_hillstrom",
    "quadratic",
    "race",
    "show_steps",
]
