r"""The unconstrained test problems of Moré, Garbow and Hillstrom (ACM TOMS 7, 1981): minimize :math:`\sum_i f_i(x)^2`.

Each function below is the list of its residuals :math:`f_i`, as published; values may be plain numbers or jets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import pi, sqrt
from typing import Any

import numpy as np

from pellucid.core.types import Array
from pellucid.optimize.problem import Problem

Residuals = Callable[[Sequence[Any]], list[Any]]


@dataclass(frozen=True)
class TestProblem:
    """A sum of squares with its standard start and the values of its known minima, the global one first."""

    __test__ = False  # the name is for readers, not for pytest

    name: str
    residuals: Residuals
    start: tuple[float, ...]
    minima: tuple[float, ...] = (0.0,)
    problem: Problem = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "problem", sum_of_squares(self.residuals))


def sum_of_squares(residuals: Residuals) -> Problem:
    r"""Return the problem of minimizing :math:`\sum_i f_i(x)^2`, with exact derivatives.

    Examples
    --------
    >>> sum_of_squares(rosenbrock).gradient(np.array([-1.2, 1.0]))
    array([-215.6,  -88. ])
    """

    def value_and_gradient(x: Array) -> tuple[float, Array]:
        f, J, _ = _jets(residuals, x, second=False)
        return float(f @ f), 2 * (J.T @ f)

    def hessian(x: Array) -> Array:
        f, J, H = _jets(residuals, x, second=True)
        return 2 * (J.T @ J + np.tensordot(f, H, 1))

    return Problem(
        value=lambda x: float(sum(np.sum(np.square(f)) for f in residuals(list(np.asarray(x, dtype=float))))),
        gradient=lambda x: value_and_gradient(x)[1],
        hessian=hessian,
        value_and_gradient=value_and_gradient,
        lower_bound=0.0,
    )


def _jets(residuals: Residuals, x: Array, *, second: bool) -> tuple[Array, Array, Array]:
    """Return all residuals with their Jacobian and Hessians."""
    n = len(x)
    jets = residuals(Jet.variables(np.asarray(x, dtype=float), second=second))
    f = np.concatenate([np.ravel(jet.value) for jet in jets])
    J = np.concatenate([np.reshape(jet.first, (-1, n)) for jet in jets])
    H = np.concatenate([np.reshape(jet.second, (-1, n, n)) for jet in jets]) if second else np.empty(0)
    return f, J, H


def _numbers(text: str) -> Array:
    return np.array(text.split(), dtype=float)


def _counted(last: int, first: int = 1) -> Array:
    return np.arange(first, last + 1, dtype=float)


def rosenbrock(x: Sequence[Any]) -> list[Any]:
    """1: a curved valley."""
    return [10 * (x[1] - x[0] ** 2), 1 - x[0]]


def freudenstein_roth(x: Sequence[Any]) -> list[Any]:
    """2: a second minimum traps many."""
    return [-13 + x[0] + ((5 - x[1]) * x[1] - 2) * x[1], -29 + x[0] + ((x[1] + 1) * x[1] - 14) * x[1]]


def powell_badly_scaled(x: Sequence[Any]) -> list[Any]:
    """3: the coordinates of the solution differ by six orders."""
    return [1e4 * x[0] * x[1] - 1, np.exp(-x[0]) + np.exp(-x[1]) - 1.0001]


def brown_badly_scaled(x: Sequence[Any]) -> list[Any]:
    """4: by twelve orders."""
    return [x[0] - 1e6, x[1] - 2e-6, x[0] * x[1] - 2]


def beale(x: Sequence[Any]) -> list[Any]:
    """5."""
    return [y - x[0] * (1 - x[1] ** power) for power, y in enumerate((1.5, 2.25, 2.625), start=1)]


def jennrich_sampson(x: Sequence[Any]) -> list[Any]:
    """6."""
    i = _counted(10)
    return [2 + 2 * i - (np.exp(i * x[0]) + np.exp(i * x[1]))]


def helical_valley(x: Sequence[Any]) -> list[Any]:
    """7: the valley winds around an axis."""
    behind = 0.5 if getattr(x[0], "value", x[0]) < 0 else 0.0
    turn = np.arctan(x[1] / x[0]) / (2 * pi) + behind
    return [10 * (x[2] - 10 * turn), 10 * (np.sqrt(x[0] ** 2 + x[1] ** 2) - 1), 1 * x[2]]


def bard(x: Sequence[Any]) -> list[Any]:
    """8."""
    y = np.array([0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39])
    u = _counted(15)
    v = 16 - u
    return [y - (x[0] + u / (v * x[1] + np.minimum(u, v) * x[2]))]


def gaussian(x: Sequence[Any]) -> list[Any]:
    """9."""
    half = [0.0009, 0.0044, 0.0175, 0.0540, 0.1295, 0.2420, 0.3521]
    y = np.array([*half, 0.3989, *half[::-1]])
    t = (8 - _counted(15)) / 2
    return [x[0] * np.exp(-0.5 * x[1] * (t - x[2]) ** 2) - y]


def meyer(x: Sequence[Any]) -> list[Any]:
    """10: values fall from 1e9 to 88."""
    y = _numbers("34780 28610 23650 19630 16370 13720 11540 9744 8261 7030 6005 5147 4427 3820 3307 2872.0")
    t = 45 + 5 * _counted(16)
    return [x[0] * np.exp(x[1] / (t + x[2])) - y]


def gulf(x: Sequence[Any]) -> list[Any]:
    """11: gulf research and development."""
    t = _counted(99) / 100
    y = 25 + (-50 * np.log(t)) ** (2 / 3)
    return [np.exp(-(np.abs(y - x[1]) ** x[2]) / x[0]) - t]


def box_three_dimensional(x: Sequence[Any]) -> list[Any]:
    """12."""
    t = 0.1 * _counted(10)
    return [np.exp(-t * x[0]) - np.exp(-t * x[1]) - x[2] * (np.exp(-t) - np.exp(-10 * t))]


def powell_singular(x: Sequence[Any]) -> list[Any]:
    """13 and, on more variables, 22: the Hessian is singular at the minimum."""
    residuals = []
    for a, b, c, d in zip(x[0::4], x[1::4], x[2::4], x[3::4], strict=True):
        residuals += [a + 10 * b, sqrt(5) * (c - d), (b - 2 * c) ** 2, sqrt(10) * (a - d) ** 2]
    return residuals


def wood(x: Sequence[Any]) -> list[Any]:
    """14."""
    return [
        *rosenbrock(x[:2]),
        sqrt(90) * (x[3] - x[2] ** 2),
        1 - x[2],
        sqrt(10) * (x[1] + x[3] - 2),
        (x[1] - x[3]) / sqrt(10),
    ]


def kowalik_osborne(x: Sequence[Any]) -> list[Any]:
    """15."""
    y = np.array([0.1957, 0.1947, 0.1735, 0.1600, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246])
    u = np.array([4.0, 2.0, 1.0, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625])
    return [y - x[0] * (u**2 + u * x[1]) / (u**2 + u * x[2] + x[3])]


def brown_dennis(x: Sequence[Any]) -> list[Any]:
    """16."""
    t = _counted(20) / 5
    return [(x[0] + t * x[1] - np.exp(t)) ** 2 + (x[2] + x[3] * np.sin(t) - np.cos(t)) ** 2]


def osborne_1(x: Sequence[Any]) -> list[Any]:
    """17."""
    y = _numbers(
        "0.844 0.908 0.932 0.936 0.925 0.908 0.881 0.850 0.818 0.784 0.751 0.718 0.685 0.658 0.628 0.603 "
        "0.580 0.558 0.538 0.522 0.506 0.490 0.478 0.467 0.457 0.448 0.438 0.431 0.424 0.420 0.414 0.411 "
        "0.406"
    )
    t = 10 * _counted(32, first=0)
    return [y - (x[0] + x[1] * np.exp(-t * x[3]) + x[2] * np.exp(-t * x[4]))]


def biggs_exp6(x: Sequence[Any]) -> list[Any]:
    """18."""
    t = 0.1 * _counted(13)
    y = np.exp(-t) - 5 * np.exp(-10 * t) + 3 * np.exp(-4 * t)
    return [x[2] * np.exp(-t * x[0]) - x[3] * np.exp(-t * x[1]) + x[5] * np.exp(-t * x[4]) - y]


def osborne_2(x: Sequence[Any]) -> list[Any]:
    """19."""
    y = _numbers(
        "1.366 1.191 1.112 1.013 0.991 0.885 0.831 0.847 0.786 0.725 0.746 0.679 0.608 0.655 0.616 0.606 "
        "0.602 0.626 0.651 0.724 0.649 0.649 0.694 0.644 0.624 0.661 0.612 0.558 0.533 0.495 0.500 0.423 "
        "0.395 0.375 0.372 0.391 0.396 0.405 0.428 0.429 0.523 0.562 0.607 0.653 0.672 0.708 0.633 0.668 "
        "0.645 0.632 0.591 0.559 0.597 0.625 0.739 0.710 0.729 0.720 0.636 0.581 0.428 0.292 0.162 0.098 "
        "0.054"
    )
    t = _counted(64, first=0) / 10
    peaks = [x[k] * np.exp(-((t - x[k + 7]) ** 2) * x[k + 4]) for k in (1, 2, 3)]
    return [y - (x[0] * np.exp(-t * x[4]) + peaks[0] + peaks[1] + peaks[2])]


def watson(x: Sequence[Any]) -> list[Any]:
    """20: nearly singular."""
    t = _counted(29) / 29
    value = sum(x[j] * t**j for j in range(len(x)))
    slope = sum(j * x[j] * t ** (j - 1) for j in range(1, len(x)))
    return [slope - value * value - 1, 1 * x[0], x[1] - x[0] ** 2 - 1]


def extended_rosenbrock(x: Sequence[Any]) -> list[Any]:
    """21."""
    return [f for a, b in zip(x[0::2], x[1::2], strict=True) for f in rosenbrock([a, b])]


def penalty_1(x: Sequence[Any]) -> list[Any]:
    """23."""
    return [*(sqrt(1e-5) * (v - 1) for v in x), sum(v * v for v in x) - 0.25]


def penalty_2(x: Sequence[Any]) -> list[Any]:
    """24."""
    n, a = len(x), sqrt(1e-5)
    near = [np.exp(v / 10) for v in x]
    y = [np.exp(i / 10) + np.exp((i - 1) / 10) for i in range(2, n + 1)]
    return [
        x[0] - 0.2,
        *(a * (near[i] + near[i - 1] - y[i - 1]) for i in range(1, n)),
        *(a * (near[i] - np.exp(-0.1)) for i in range(1, n)),
        sum((n - j) * x[j] * x[j] for j in range(n)) - 1,
    ]


def variably_dimensioned(x: Sequence[Any]) -> list[Any]:
    """25."""
    weighted = sum(j * (v - 1) for j, v in enumerate(x, start=1))
    return [*(v - 1 for v in x), weighted, weighted * weighted]


def trigonometric(x: Sequence[Any]) -> list[Any]:
    """26: many minima."""
    cosines = sum(np.cos(v) for v in x)
    return [len(x) - cosines + i * (1 - np.cos(v)) - np.sin(v) for i, v in enumerate(x, start=1)]


def brown_almost_linear(x: Sequence[Any]) -> list[Any]:
    """27."""
    n, total, product = len(x), sum(x), x[0]
    for v in x[1:]:
        product = product * v
    return [*(v + total - (n + 1) for v in x[:-1]), product - 1]


def discrete_boundary_value(x: Sequence[Any]) -> list[Any]:
    """28."""
    n = len(x)
    h, padded = 1 / (n + 1), [0.0, *x, 0.0]
    return [
        2 * padded[i] - padded[i - 1] - padded[i + 1] + h * h * (padded[i] + i * h + 1) ** 3 / 2
        for i in range(1, n + 1)
    ]


def discrete_integral_equation(x: Sequence[Any]) -> list[Any]:
    """29."""
    n = len(x)
    h = 1 / (n + 1)
    t = [j * h for j in range(1, n + 1)]
    cubes = [(v + s + 1) ** 3 for v, s in zip(x, t, strict=True)]
    return [
        x[i]
        + h
        * (
            (1 - t[i]) * sum(t[j] * cubes[j] for j in range(i + 1))
            + t[i] * sum((1 - t[j]) * cubes[j] for j in range(i + 1, n))
        )
        / 2
        for i in range(n)
    ]


def broyden_tridiagonal(x: Sequence[Any]) -> list[Any]:
    """30."""
    padded = [0.0, *x, 0.0]
    return [(3 - 2 * padded[i]) * padded[i] - padded[i - 1] - 2 * padded[i + 1] + 1 for i in range(1, len(x) + 1)]


def broyden_banded(x: Sequence[Any]) -> list[Any]:
    """31."""
    n = len(x)
    residuals = []
    for i in range(n):
        near = [j for j in range(max(0, i - 5), min(n, i + 2)) if j != i]
        residuals.append(x[i] * (2 + 5 * x[i] ** 2) + 1 - sum(x[j] * (1 + x[j]) for j in near))
    return residuals


def linear_full_rank(x: Sequence[Any]) -> list[Any]:
    """32, with twice as many residuals as variables."""
    n, m = len(x), 2 * len(x)
    shift = 2 * sum(x) / m + 1
    return [*(v - shift for v in x), *(-shift for _ in range(n, m))]


def linear_rank_one(x: Sequence[Any]) -> list[Any]:
    """33, with twice as many residuals as variables."""
    weighted = sum(j * v for j, v in enumerate(x, start=1))
    return [i * weighted - 1 for i in range(1, 2 * len(x) + 1)]


def linear_rank_one_with_zeros(x: Sequence[Any]) -> list[Any]:
    """34, with twice as many residuals as variables; the first and last column and row are zero."""
    n, m = len(x), 2 * len(x)
    weighted = sum(j * v for j, v in enumerate(x[1:-1], start=2))
    return [0 * x[0] - 1, *((i - 1) * weighted - 1 for i in range(2, m)), 0 * x[n - 1] - 1]


def chebyquad(x: Sequence[Any]) -> list[Any]:
    """35: points whose mean Chebyshev polynomials are those of the uniform distribution."""
    n = len(x)
    shifted = [2 * v - 1 for v in x]
    before, now = [1.0 for _ in x], shifted
    residuals = []
    for i in range(1, n + 1):
        integral = 0.0 if i % 2 else -1 / (i * i - 1)
        residuals.append(sum(now) / n - integral)
        before, now = now, [2 * u * b - a for u, a, b in zip(shifted, before, now, strict=True)]
    return residuals


def more_garbow_hillstrom() -> tuple[TestProblem, ...]:
    """Return the 35 problems, from the starts of the paper.

    Examples
    --------
    >>> problem = more_garbow_hillstrom()[0]
    >>> problem.name, problem.start, problem.problem.value(np.array(problem.start)).__round__(6)
    ('rosenbrock', (-1.2, 1.0), 24.2)
    """
    n, m = 10, 20
    grid = [(j + 1) / (n + 1) for j in range(n)]
    boundary = tuple(t * (t - 1) for t in grid)
    with_zeros = (m * m + 3 * m - 6) / (2 * (2 * m - 3))
    problems: list[tuple[Residuals, tuple[float, ...], tuple[float, ...]]] = [
        (rosenbrock, (-1.2, 1.0), (0.0,)),
        (freudenstein_roth, (0.5, -2.0), (0.0, 48.98425)),
        (powell_badly_scaled, (0.0, 1.0), (0.0,)),
        (brown_badly_scaled, (1.0, 1.0), (0.0,)),
        (beale, (1.0, 1.0), (0.0,)),
        (jennrich_sampson, (0.3, 0.4), (124.3622,)),
        (helical_valley, (-1.0, 0.0, 0.0), (0.0,)),
        (bard, (1.0, 1.0, 1.0), (8.214877e-3, 17.42869)),
        (gaussian, (0.4, 1.0, 0.0), (1.127933e-8,)),
        (meyer, (0.02, 4000.0, 250.0), (87.94586,)),
        (gulf, (5.0, 2.5, 0.15), (0.0,)),
        (box_three_dimensional, (0.0, 10.0, 20.0), (0.0,)),
        (powell_singular, (3.0, -1.0, 0.0, 1.0), (0.0,)),
        (wood, (-3.0, -1.0, -3.0, -1.0), (0.0,)),
        (kowalik_osborne, (0.25, 0.39, 0.415, 0.39), (3.075056e-4, 1.027348e-3)),
        (brown_dennis, (25.0, 5.0, -5.0, -1.0), (85822.20,)),
        (osborne_1, (0.5, 1.5, -1.0, 0.01, 0.02), (5.464895e-5,)),
        (biggs_exp6, (1.0, 2.0, 1.0, 1.0, 1.0, 1.0), (0.0, 5.655650e-3)),
        (osborne_2, (1.3, 0.65, 0.65, 0.7, 0.6, 3.0, 5.0, 7.0, 2.0, 4.5, 5.5), (4.013774e-2,)),
        (watson, (0.0,) * 6, (2.287670e-3,)),
        (extended_rosenbrock, (-1.2, 1.0) * 5, (0.0,)),
        (powell_singular, (3.0, -1.0, 0.0, 1.0) * 3, (0.0,)),
        (penalty_1, (1.0, 2.0, 3.0, 4.0), (2.249978e-5,)),
        (penalty_2, (0.5,) * 4, (9.376293e-6,)),
        (variably_dimensioned, tuple(1 - (j + 1) / n for j in range(n)), (0.0,)),
        (trigonometric, (1 / n,) * n, (0.0, 2.795056e-5)),
        (brown_almost_linear, (0.5,) * n, (0.0, 1.0)),
        (discrete_boundary_value, boundary, (0.0,)),
        (discrete_integral_equation, boundary, (0.0,)),
        (broyden_tridiagonal, (-1.0,) * n, (0.0,)),
        (broyden_banded, (-1.0,) * n, (0.0,)),
        (linear_full_rank, (1.0,) * n, (m - n + 0.0,)),
        (linear_rank_one, (1.0,) * n, (m * (m - 1) / (2 * (2 * m + 1)),)),
        (linear_rank_one_with_zeros, (1.0,) * n, (with_zeros,)),
        (chebyquad, tuple((j + 1) / 9 for j in range(8)), (3.516874e-3,)),
    ]
    return tuple(
        TestProblem(
            f"{residuals.__name__}{' extended' if residuals is powell_singular and len(start) > 4 else ''}",
            residuals,
            start,
            minima,
        )
        for residuals, start, minima in problems
    )


class Jet:
    """Values of some functions of ``x`` with their gradients and, if wanted, Hessians; NumPy's functions take it.

    The value may be an array: then its shape comes before that of the derivatives.

    Examples
    --------
    >>> x, y = Jet.variables(np.array([2.0, 3.0]))
    >>> product = x * x * y
    >>> product.value, product.first, product.second
    (array(12.), array([12.,  4.]), array([[6., 4.],
           [4., 0.]]))
    """

    def __init__(self, value: Any, first: Array, second: Array | None) -> None:
        self.value, self.first, self.second = np.asarray(value, dtype=float), first, second

    @classmethod
    def variables(cls, x: Array, *, second: bool = True) -> list[Jet]:
        """Return each coordinate of ``x`` as a jet."""
        n = len(x)
        return [cls(x[j], np.eye(n)[j], np.zeros((n, n)) if second else None) for j in range(n)]

    def _chain(self, value: Array, d1: Array, d2: Array) -> Jet:
        """Return a function of this jet from its value and two derivatives: the chain rule."""
        second = None
        if self.second is not None:
            outer = self.first[..., :, None] * self.first[..., None, :]
            second = d1[..., None, None] * self.second + d2[..., None, None] * outer
        return Jet(value, d1[..., None] * self.first, second)

    def __add__(self, other: Any) -> Jet:
        if not isinstance(other, Jet):
            return self._chain(self.value + other, *_constants(self.value + other, 1.0, 0.0))
        second = None if self.second is None else self.second + other.second
        return Jet(self.value + other.value, self.first + other.first, second)

    def __mul__(self, other: Any) -> Jet:
        if not isinstance(other, Jet):
            return self._chain(self.value * other, *_constants(self.value * other, other, 0.0))
        u, v = self.value[..., None], other.value[..., None]
        second = None
        if self.second is not None:
            cross = self.first[..., :, None] * other.first[..., None, :]
            second = u[..., None] * other.second + v[..., None] * self.second + cross + np.swapaxes(cross, -1, -2)
        return Jet(self.value * other.value, u * other.first + v * self.first, second)

    def __pow__(self, exponent: Any) -> Jet:
        if isinstance(exponent, Jet):
            return np.exp(exponent * np.log(self))
        u = self.value
        return self._chain(
            u**exponent, exponent * u ** (exponent - 1.0), exponent * (exponent - 1.0) * _power(u, exponent)
        )

    def __neg__(self) -> Jet:
        return self * -1.0

    def __sub__(self, other: Any) -> Jet:
        return self + (-other)

    def __rsub__(self, other: Any) -> Jet:
        return -self + other

    def __truediv__(self, other: Any) -> Jet:
        return self * other**-1.0 if isinstance(other, Jet) else self * (1.0 / other)

    def __rtruediv__(self, other: Any) -> Jet:
        return self**-1.0 * other

    __radd__, __rmul__ = __add__, __mul__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Let NumPy's functions and arrays work with jets."""
        if method != "__call__" or options:
            return NotImplemented
        if ufunc in _FUNCTIONS:
            u = self.value
            return self._chain(*(derivative(u) for derivative in _FUNCTIONS[ufunc]))
        if ufunc in _REFLECTED and isinstance(inputs[1], Jet):
            return _REFLECTED[ufunc](inputs[1], inputs[0])
        return NotImplemented


def _constants(like: Array, d1: Any, d2: float) -> tuple[Array, Array]:
    return np.broadcast_to(np.asarray(d1, dtype=float), np.shape(like)), np.full(np.shape(like), d2)


def _power(u: Array, exponent: Any) -> Array:
    """Return the power of the second derivative; of a linear function it is not asked for, which spares 0 / 0."""
    return np.zeros_like(u) if np.all(np.asarray(exponent) == 1) else u ** (exponent - 2.0)


_FUNCTIONS: dict[Any, tuple[Callable[[Array], Array], ...]] = {
    np.exp: (np.exp, np.exp, np.exp),
    np.log: (np.log, lambda u: 1 / u, lambda u: -1 / u**2),
    np.sqrt: (np.sqrt, lambda u: 0.5 / np.sqrt(u), lambda u: -0.25 * u**-1.5),
    np.sin: (np.sin, np.cos, lambda u: -np.sin(u)),
    np.cos: (np.cos, lambda u: -np.sin(u), lambda u: -np.cos(u)),
    np.arctan: (np.arctan, lambda u: 1 / (1 + u**2), lambda u: -2 * u / (1 + u**2) ** 2),
    np.abs: (np.abs, np.sign, lambda u: 0 * u),
}
"""A function with its first and second derivative."""

_REFLECTED: dict[Any, Callable[[Jet, Any], Jet]] = {
    np.add: Jet.__radd__,
    np.subtract: Jet.__rsub__,
    np.multiply: Jet.__rmul__,
    np.divide: Jet.__rtruediv__,
}
"""What an array on the left of a sign does with a jet on its right."""
