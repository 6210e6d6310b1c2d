"""certified_radius: how far each input may change, at least, before the network changes its class."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from pellucid.core.checks import check_between, check_one_of
from pellucid.core.random_state import generator
from pellucid.core.types import Array, Data, RandomState
from pellucid.core.user_warnings import warn_unless_holds
from pellucid.neural_network.modules.model_input import checked_rows, class_names, norm_of, one_class_module, scores_of
from pellucid.neural_network.robustness.attack import attack, random_points
from pellucid.neural_network.robustness.linear_bounds import MarginSearch
from pellucid.neural_network.robustness.radius_solvers import LARGEST, largest_radii
from pellucid.neural_network.robustness.reading import read_network
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.neural_network.network_steps import Network
from pellucid.proofs.neural_network.robustness import (
    ARITHMETICS,
    Trials,
    least_margins,
    prove_radii,
    radii_certificate,
)
from pellucid.proofs.rounding import EPSILON
from pellucid.proofs.sampling import drawing, draws

SINGLE = 1e-4
"""Coarser searches than this compute in float32."""
SHARES = (1 / 16, 1 / 4, 1.0, 1.0, 1.0)
"""How far a radius that was not proved is moved towards the one that was: bounds of a smaller ball are better."""
STEPS, RESTARTS = 20, 3
"""Of the attack that must fail before a radius is claimed."""
ROWS = 128
"""Inputs searched together."""


@dataclass(frozen=True, repr=False)
class CertifiedRadii:
    """Radii within which no change of an input changes its class, with their proof."""

    radii: Array
    """(n,): in units of the inputs, measured by ``norm``; 0 where nothing could be proved."""
    classes: Array
    """(n,): the class predicted for each row."""
    norm: float
    """inf, for the largest change of a single number, or 2, for the root of the sum of squares."""
    certificate: Certificate = field(repr=False)
    """The proof, of grade "bounded"."""

    def certified_accuracy(self, y: Data, epsilons: Data) -> Array:
        """Return for each epsilon the share of rows that are right, and stay right within epsilon."""
        is_right = self.classes == np.asarray(y)
        return np.array([np.mean(is_right & (self.radii >= epsilon)) for epsilon in np.atleast_1d(epsilons)])

    def __repr__(self) -> str:
        low, middle, high = np.quantile(self.radii, (0, 0.5, 1)) if len(self.radii) else (np.nan,) * 3
        return (
            f"CertifiedRadii({len(self.radii)} rows, norm {self.norm:g}: least {low:.3g}, median {middle:.3g}, "
            f"largest {high:.3g}; {self.certificate.verdict})"
        )


def certified_radius(
    model: Any,
    X: Data,
    *,
    norm: Any = "inf",
    method: str = "linear",
    arithmetic: str = "module",
    tol: float = 0.01,
) -> CertifiedRadii:
    """Return for each row a radius such that no smaller or equal change of the input changes the predicted class.

    A search guesses the radii; a proof by other code, in float64 with all rounding accounted for, decides. The true
    radius may be larger, as bounds of rectifiers are not exact; an :func:`attack` bounds it from above. Before anything
    is claimed, the module's own scores within the radii are compared with what was read of it, and it is attacked.

    Parameters
    ----------
    model : torch module or fitted network
        Any graph of linear maps, convolutions, ReLU, leaky ReLU, maxima, averages, batch normalization, sums and new
        shapes, residual networks among them, all as when predicting. One output tells two classes apart by its sign.
        What else a module does is refused: other operations, parts of tensors changed in place, hooks, random numbers,
        decisions by the input's values, changes of the module itself.
    X : array of shape (n_samples, ...)
        Inputs, which are rounded to the module's precision first.
    norm : "inf" or 2, default="inf"
        How changes are measured: the largest change of a single number, or the root of the sum of squares.
    method : {"linear", "interval"}, default="linear"
        Ranges of hidden values by linear functions pulled back through the network, or by intervals only, which is
        weaker, and for deep networks of large images the only way that is fast enough.
    arithmetic : {"module", "exact"}, default="module"
        Whether the statement also covers what the module's own rounding can change, or is about exact arithmetic.
    tol : float, default=0.01
        How precisely the largest radius that can be proved is searched, as a share of it.

    Returns
    -------
    CertifiedRadii
        ``radii``, ``classes`` and a ``certificate`` of grade "bounded".

    Examples
    --------
    >>> line = torch.nn.Linear(2, 2, bias=False)
    >>> line.weight.data = torch.tensor([[1.0, 0.0], [0.0, 1.0]])  # the larger of two numbers wins
    >>> found = certified_radius(line, [[3.0, 1.0]], tol=1e-6)
    >>> found.classes, bool(0.999 < found.radii[0] < 1)  # 3 - 1 = 2 is lost if each number moves by 1
    (array([0]), True)
    """
    check_one_of(("linear", "interval"), method=method)
    check_one_of(ARITHMETICS, arithmetic=arithmetic)
    check_between(1e-9, 0.5, tol=tol)
    length = norm_of(norm)
    network, rows, scores = _read(model, X)
    classes = scores.argmax(1)
    asked: dict[str, Any] = {"norm": length, "arithmetic": arithmetic, "intervals_only": method == "interval"}
    radii = _searched(network, rows, classes, tol, asked)
    radii, margins = _proved(network, rows, classes, radii, tol, asked)
    trials = _tried(model, X, radii, length)
    certificate = radii_certificate(
        network, rows, scores, margins[radii > 0], trials, norm=length, arithmetic=arithmetic
    )
    if certificate.failed and (radii > 0).any():
        raise ValueError(f"module must do what was read of it, or no radius is claimed, got {certificate.failed[0]}.")
    names = class_names(model, network.classes)
    return CertifiedRadii(radii, names[classes], length, certificate)


def verify_radius(
    model: Any, X: Data, radii: Data, *, norm: Any = "inf", arithmetic: str = "module", random_state: RandomState = None
) -> Certificate:
    """Prove again, or refute, that no change within its radius changes the class of any row.

    Warns with :class:`~pellucid.UncertifiedWarning` for a claim that does not hold.

    Parameters
    ----------
    model, X : torch module or fitted network, array of shape (n_samples, ...)
        The network and its inputs.
    radii : array of shape (n_samples,)
        The radii to prove; 0 claims nothing.
    norm : "inf" or 2, default="inf"
        How changes are measured: the largest change of a single number, or the root of the sum of squares.
    arithmetic : {"module", "exact"}, default="module"
        Whether the statement also covers what the module's own rounding can change, or is about exact arithmetic.
    random_state : int, Generator or None, default=None
        Where the module is tried within the radii: None draws other points each time.

    Examples
    --------
    >>> line = torch.nn.Linear(2, 2, bias=False)
    >>> line.weight.data = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> verify_radius(line, [[3.0, 1.0]], [0.9]).holds
    True
    """
    certificate = _proof_again(model, X, radii, norm, arithmetic, random_state)
    warn_unless_holds(certificate, "verify_radius")
    return certificate


def prove_again(
    found: CertifiedRadii, X: Data, model: Any, *, arithmetic: str = "module", random_state: Any = None
) -> Certificate:
    """Return the proof of radii that were certified before: what :func:`pellucid.verify` asks for."""
    return _proof_again(model, X, found.radii, found.norm, arithmetic, random_state)


def _proof_again(model: Any, X: Data, radii: Data, norm: Any, arithmetic: str, random_state: Any) -> Certificate:
    check_one_of(ARITHMETICS, arithmetic=arithmetic)
    network, rows, scores = _read(model, X)
    claimed = np.array(radii, dtype=np.float64)
    if claimed.shape != (len(rows),):
        raise ValueError(f"radii must be one number for each of {len(rows)} rows, got shape {tuple(claimed.shape)}.")
    length = norm_of(norm)
    with drawing(generator(random_state)):
        trials = _tried(model, X, claimed, length)
        return prove_radii(network, rows, scores, claimed, trials, norm=length, arithmetic=arithmetic)


def _read(model: Any, X: Data) -> tuple[Network, Array, Array]:
    """Return the network's steps, the checked rows, ``(n, inputs)``, and the module's scores, in float64."""
    module = one_class_module(model)
    rows = checked_rows(module, X)
    scores = scores_of(module, rows)
    network = read_network(module, tuple(rows.shape[1:]))
    values, found = (numbers.flatten(1).cpu().double().numpy() for numbers in (rows, scores))
    return network, values, found


def _tried(model: Any, X: Data, radii: Array, norm: float) -> Trials:
    """Return points within the radii, at random and by an attack, with what the module makes of them."""
    module = one_class_module(model)
    some = np.flatnonzero((radii > 0) & (radii < np.inf))
    rows, radius = checked_rows(module, X)[torch.as_tensor(some)], np.minimum(radii[some], LARGEST)
    if not len(some):
        return Trials(np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0, dtype=np.int64))
    classes = scores_of(module, rows).argmax(1).cpu().numpy()
    seeds = draws().integers(2**31, size=2)
    try:
        worst = attack(
            module, rows, None, radius, norm=norm, steps=STEPS, restarts=RESTARTS, random_state=int(seeds[0])
        )
    except RuntimeError as error:
        raise ValueError(f"module must let torch differentiate its scores, to be attacked first: {error}") from error
    points = checked_rows(module, np.concatenate([worst, *random_points(module, rows, radius, norm, int(seeds[1]))]))
    scores = scores_of(module, points)
    values, found = (numbers.flatten(1).cpu().double().numpy() for numbers in (points, scores))
    return Trials(values, found, np.tile(classes, len(points) // len(some)))


def _searched(network: Network, rows: Array, classes: Array, tol: float, asked: dict[str, Any]) -> Array:
    """Return the largest radii that bounds without rounding prove, a little smaller."""
    dtype = torch.float32 if tol >= SINGLE else torch.float64
    found = []
    for start in range(0, len(rows), ROWS):
        some = slice(start, start + ROWS)
        center = torch.as_tensor(np.ascontiguousarray(rows[some].T), dtype=dtype)
        search = MarginSearch(network, center, torch.as_tensor(classes[some]), **asked)
        found.append(largest_radii(search, center.shape[1], tol / 2).numpy())
    return np.concatenate(found) * (1 - tol / 16) if found else np.zeros(0)


def _proved(
    network: Network, rows: Array, classes: Array, radii: Array, tol: float, asked: dict[str, Any]
) -> tuple[Array, Array]:
    """Return radii made smaller until they are proved, or 0, with the margins of the proof.

    Twice the allowance for rounding is asked for here, so that the same proof holds on other machines too.
    """
    radii, margins = radii.copy(), np.zeros_like(radii)
    for share in SHARES:
        left = np.flatnonzero((margins <= 0) & (radii > 0))
        margins[left], proved = least_margins(
            network, rows[left], classes[left], radii[left], unit=2 * EPSILON, **asked
        )
        smaller = radii[left] - np.maximum(share * (radii[left] - proved), tol / 8 * radii[left])
        radii[left] = np.where(margins[left] > 0, radii[left], smaller)
    return np.where(margins > 0, radii, 0.0), margins
