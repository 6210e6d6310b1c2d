"""Checks that end in a number or a counterexample: derivatives, stationary points, convexity."""

from pellucid.optimize.checks.convexity import ConvexityCheck, check_convexity
from pellucid.optimize.checks.gradient_check import GradientCheck, check_gradient
from pellucid.optimize.checks.hessian_check import HessianCheck, check_hessian
from pellucid.optimize.checks.stationary_point import StationaryPoint, classify

__all__ = [
    "ConvexityCheck",
    "GradientCheck",
    "HessianCheck",
    "StationaryPoint",
    "check_convexity",
    "check_gradient",
    "check_hessian",
    "classify",
]
