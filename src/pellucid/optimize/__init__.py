"""Optimization: problems, methods, one driver, certificates, constraints, races."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder
from pellucid.optimize.certifying import certify
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
from pellucid.optimize.problem import FiniteSum, Penalty, Point, Problem, quadratic
from pellucid.optimize.race import Race, race
from pellucid.optimize.schedules import (
    ConstantStep,
    CosineDecay,
    InverseRoot,
    InverseTime,
    LinearDecay,
    Schedule,
    StepDecay,
)
from pellucid.optimize.stopping import Stopping

if TYPE_CHECKING:  # imported on first use: they need SymPy or SciPy's solvers
    from pellucid.optimize.checks import check_convexity, check_gradient, check_hessian, classify
    from pellucid.optimize.checks.stationary_point_workings import stationary_point_workings
    from pellucid.optimize.constrained import (
        ConstrainedProblem,
        Lagrangian,
        LassoDuality,
        LinearConstraint,
        SmoothConstraint,
        SoftMarginSVM,
        bounds,
        dual_function,
        duality_gap,
        kkt_certificate,
        quadratic_program,
        slater_point,
        solve_cvxpy,
        solve_scipy,
    )
    from pellucid.optimize.constrained.kkt_workings import kkt_workings
    from pellucid.optimize.constrained.svm_dual_workings import svm_dual_workings
    from pellucid.optimize.formula import Formula
    from pellucid.optimize.workings import show_steps

__getattr__ = name_finder(__name__)

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
    "ConstantStep",
    "ConstrainedProblem",
    "CoordinateDescent",
    "CosineDecay",
    "ExactStep",
    "FiniteSum",
    "FixedStep",
    "Formula",
    "GradientDescent",
    "InverseRoot",
    "InverseTime",
    "Lagrangian",
    "LassoDuality",
    "LineSearch",
    "LinearConstraint",
    "LinearDecay",
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
    "SmoothConstraint",
    "SoftMarginSVM",
    "SquaredL2",
    "StepDecay",
    "StochasticGradient",
    "Stopping",
    "StrongWolfe",
    "Subgradient",
    "bounds",
    "certify",
    "check_convexity",
    "check_gradient",
    "check_hessian",
    "classify",
    "descend",
    "dual_function",
    "duality_gap",
    "kkt_certificate",
    "kkt_workings",
    "minimize",
    "more_garbow_hillstrom",
    "quadratic",
    "quadratic_program",
    "race",
    "show_steps",
    "slater_point",
    "solve_cvxpy",
    "solve_scipy",
    "stationary_point_workings",
    "svm_dual_workings",
]
