"""Constrained problems: Lagrangian, duality, Slater points, KKT proofs; SciPy and CVXPY solve them."""

from pellucid.optimize.constrained.constrained_problem import (
    ConstrainedProblem,
    ConstrainedSolution,
    LinearConstraint,
    SmoothConstraint,
    bounds,
)
from pellucid.optimize.constrained.cvxpy_solver import solve_cvxpy
from pellucid.optimize.constrained.duality import DualValue, Lagrangian, dual_function, duality_gap
from pellucid.optimize.constrained.kkt_certificate import estimate_multipliers, kkt_certificate
from pellucid.optimize.constrained.lasso_duality import LassoDuality
from pellucid.optimize.constrained.quadratic_program import quadratic_program
from pellucid.optimize.constrained.scipy_solver import solve_scipy
from pellucid.optimize.constrained.slater import SlaterPoint, slater_point
from pellucid.optimize.constrained.soft_margin_svm import SoftMarginSVM, SVMAnswer
from pellucid.proofs.optimize.conic import ConicProgram, conic_certificate

__all__ = [
    "ConicProgram",
    "ConstrainedProblem",
    "ConstrainedSolution",
    "DualValue",
    "Lagrangian",
    "LassoDuality",
    "LinearConstraint",
    "SVMAnswer",
    "SlaterPoint",
    "SmoothConstraint",
    "SoftMarginSVM",
    "bounds",
    "conic_certificate",
    "dual_function",
    "duality_gap",
    "estimate_multipliers",
    "kkt_certificate",
    "quadratic_program",
    "slater_point",
    "solve_cvxpy",
    "solve_scipy",
]
