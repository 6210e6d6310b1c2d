"""Line searches: how far to go along a direction."""

from pellucid.optimize.line_searches.line_search import Backtracking, ExactStep, FixedStep, LineSearch, slope_along
from pellucid.optimize.line_searches.strong_wolfe import StrongWolfe

__all__ = ["Backtracking", "ExactStep", "FixedStep", "LineSearch", "StrongWolfe", "slope_along"]
