"""Steps of SGD, momentum and Adam on the loss of a small network, from the workings of the methods themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sympy import Matrix, Rational

from pellucid.core.checks import check_whole
from pellucid.core.types import Data
from pellucid.neural_network.workings.exact_network import exactly
from pellucid.optimize.formula import Formula
from pellucid.optimize.methods import Adam, GradientDescent, Momentum
from pellucid.optimize.workings.adaptive_workings import adam_workings
from pellucid.optimize.workings.exact_function import ExactFunction
from pellucid.optimize.workings.gradient_descent_workings import gradient_descent_workings, momentum_workings
from pellucid.optimize.workings.walk import Walk, comparison_step, opening
from pellucid.show.comparison import CUT_REMARK, has_cut_numbers
from pellucid.show.document import Block, Document, Step, formula, sentence, step, table
from pellucid.show.notation import Script, fenced, math, over

MOST_STEPS = 5
VARIABLES = ("b", "c", "u", "w")
ONE_ROW = sentence(
    "SGD looks at one row at a time, so this is all that it sees in one step. The other two use the same "
    "gradients, and "
    "remember more."
)


def show_training_step(
    x: float = 2,
    y: float = 3,
    *,
    start: Data = (0, 0, 1, 1),
    step_size: float = 0.1,
    momentum: float = 0.9,
    steps: int = 2,
) -> Document:
    """Return the first steps of SGD, momentum and Adam on a network of one hidden unit, for one row.

    The network gives ``u max(0, w x + b) + c``, and the loss is half its squared error.

    Parameters
    ----------
    x, y : number, default=2, 3
        The row.
    start : sequence of four numbers, default=(0, 0, 1, 1)
        First values of ``b``, ``c``, ``u`` and ``w``.
    step_size : float, default=0.1
        Of all three methods.
    momentum : float, default=0.9
        Share of the velocity that momentum keeps.
    steps : int, default=2
        Of each method, at most 5. The first steps of SGD and momentum are the same.

    Returns
    -------
    Document
        ``answer`` has the points, start included, under ``SGD``, ``Momentum`` and ``Adam``.

    Examples
    --------
    >>> work = show_training_step(steps=1)
    >>> work.answer["SGD"]
    [[0, 0, 1, 1], [1/10, 1/10, 6/5, 6/5]]
    """
    check_whole(steps=steps)
    if steps > MOST_STEPS:
        raise ValueError(f"steps must be at most {MOST_STEPS} to be worked by hand, got {steps}.")
    if len(start) != len(VARIABLES):
        raise ValueError(f"start must have a number for each of {', '.join(VARIABLES)}, got {len(start)}.")
    point = Matrix([exactly(value, "start") for value in start])
    row, target = exactly(x, "x"), exactly(y, "y")
    loss = Formula(f"(u*Max(0, w*({row}) + b) + c - ({target}))**2/2", VARIABLES)
    f = ExactFunction(loss)
    methods: dict[str, tuple[Any, Callable[..., Walk]]] = {
        "SGD": (GradientDescent(step_size=step_size), gradient_descent_workings),
        "Momentum": (Momentum(step_size=step_size, momentum=momentum), momentum_workings),
        "Adam": (Adam(step_size=step_size), adam_workings),
    }
    walks = {name: works(method, f, point, steps) for name, (method, works) in methods.items()}
    shown = (
        *(part for name, walk in walks.items() for part in _method_steps(name, walk, f, methods[name][0])),
        _end_step(f, walks),
    )
    rounded = f.pencil.remark() or ([CUT_REMARK] if has_cut_numbers(shown) else [])
    introduction = (*_network_blocks(row, target), *opening(f, point), ONE_ROW, *rounded)
    answer = {name: [list(visited) for visited in walk.path] for name, walk in walks.items()}
    return Document("One network, three ways to take a step", introduction, shown, answer)


def _network_blocks(row: Rational, target: Rational) -> list[Block]:
    network = math("ŷ = u max", fenced("0 , w x + b"), "+ c")
    numbers = math("x =", row, ", y =", target)
    return [
        sentence("A network of one hidden unit, ", network, ", and one row, ", numbers, ". Half the squared error is"),
        formula("f =", over(1, 2), Script(fenced("ŷ − y"), above=math(2))),
    ]


def _method_steps(name: str, walk: Walk, f: ExactFunction, method: Any) -> list[Step]:
    compared = comparison_step(method, f.formula.problem(), walk, f.variables)
    return [
        step(f"{name}: the rule", *walk.rule),
        *(step(f"{name}: {part.heading.lower()}", *part.blocks) for part in (*walk.steps, compared)),
    ]


def _end_step(f: ExactFunction, walks: dict[str, Walk]) -> Step:
    rows: list[list[Any]] = [[name, *walk.path[-1]] for name, walk in walks.items()]
    count = len(next(iter(walks.values())).path)
    losses = [[math(k), *(f.value(walk.path[k]) for walk in walks.values())] for k in range(count)]
    return step(
        "Where they are now",
        table(["method", *f.variables], rows, caption="The weights after the last step"),
        table([math("k"), *walks], losses, caption="The loss after k steps"),
    )
