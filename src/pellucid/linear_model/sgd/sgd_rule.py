"""What one step of learning row by row depends on, apart from the row: loss, step size, penalty."""

from __future__ import annotations

from typing import NamedTuple

from pellucid.losses.named_losses import LOSS_NUMBERS

SCHEDULES = {"constant": 0, "adaptive": 0, "optimal": 1, "invscaling": 2, "pa1": 3, "pa2": 4}
"""The number by which the kernels know a step size; 'adaptive' is constant within an epoch."""

SPARSE_INTERCEPT_RATE = 0.01
"""On sparse rows the intercept, which every row moves, learns more slowly than the weights, as in scikit-learn."""


class Rule(NamedTuple):
    """Numbers only: it is passed to compiled code."""

    loss: int
    width: float
    """Where the hinge bends, or the epsilon of the losses that have one."""
    schedule: int
    eta0: float
    power_t: float
    alpha: float
    optimal_start: float
    shrink: float
    """Rate of the l2 penalty: ``alpha (1 - l1_ratio)``."""
    truncate: float
    """Rate of the l1 penalty: ``alpha l1_ratio``."""
    intercept_rate: float
    """What an update of the intercept is multiplied by; 0 without one."""
    average_from: float
    """The step from which the iterates are averaged; 0 for never."""


def make_rule(
    *,
    loss: str,
    epsilon: float = 0.1,
    learning_rate: str = "constant",
    eta0: float = 1.0,
    power_t: float = 0.5,
    penalty: str | None = None,
    alpha: float = 0.0001,
    l1_ratio: float | None = 0.15,
    intercept_rate: float = 1.0,
    average: int = 0,
) -> Rule:
    """Return the rule for parameters in scikit-learn's words."""
    width = {"hinge": 1.0, "squared_hinge": 1.0, "perceptron": 0.0}.get(loss, epsilon)
    mixture = {"l1": 1.0, "elasticnet": l1_ratio}.get(str(penalty), 0.0) or 0.0
    rate = 0.0 if penalty is None else alpha
    return Rule(
        loss=LOSS_NUMBERS[loss],
        width=float(width),
        schedule=SCHEDULES[learning_rate],
        eta0=float(eta0),
        power_t=float(power_t),
        alpha=float(alpha),
        # Bottou's rule: the first step is 1 / sqrt(sqrt(alpha)), the size that a weight typically has
        optimal_start=float(alpha) ** -0.75 if learning_rate == "optimal" else 0.0,
        shrink=float(rate * (1.0 - mixture)),
        truncate=float(rate * mixture),
        intercept_rate=float(intercept_rate),
        average_from=float(average),
    )
