"""Line searches: how far to go along a direction."""

from pellucid.optimize.line_searches.backtracking import Backtracking
from pellucid.optimize.line_searches.exact_step import ExactStep
from pellucid.optimize.line_searches.fixed_step import FixedStep
from pellucid.optimize.line_searches.line_search import LineSearch, slope_along
from pellucid.optimize.line_searches.strong_wolfe import StrongWolfe

__all__ = ["Backtracking", "ExactStep", "FixedStep", "LineSearch", "StrongWolfe", "slope_along"]
