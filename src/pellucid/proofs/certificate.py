"""Certificate: graded claims about a fitted model, each with the number that backs it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from html import escape

GRADES = {
    "optimal": "a gap bounds the distance to the global optimum",
    "exact": "closed form, residual at rounding level",
    "stationary": "a fixed-point or KKT residual vanishes, the objective never rose",
    "replayed": "each greedy step was the best under the stated tie rule",
    "bounded": "a theorem's bound holds",
    "none": "nothing is claimed",
}
"""Strength of a certificate, strongest first, and what it means."""

HTML_STYLE = """<style>
.pellucid-certificate { display: inline-block; margin: 0.5em 0; padding: 0.5em 0.8em; font: 0.9em/1.45 sans-serif;
  border: 1px solid #8888; border-left: 4px solid #0072b2; border-radius: 3px; }
.pellucid-certificate table { border-collapse: collapse; margin-top: 0.4em; }
.pellucid-certificate td { padding: 0.1em 1em 0.1em 0; text-align: left; vertical-align: baseline; }
.pellucid-certificate td.number { text-align: right; font-variant-numeric: tabular-nums; padding-right: 0.4em; }
.pellucid-certificate .holds { color: #16803c; }
.pellucid-certificate .does-not-hold { color: #c22f2f; }
.pellucid-certificate .proves-nothing { color: #9a6700; }
</style>"""


@dataclass(frozen=True)
class Claim:
    """``value <= bound``, and what that says about the model."""

    name: str
    """By which ``certificate[name]`` finds it."""
    statement: str
    """What the value measures, or what is known of the model if it holds, in words."""
    value: float
    """The number measured; infinity and NaN never hold."""
    bound: float
    """The largest value with which the claim holds."""
    remedy: str = ""
    """What to do if it does not hold; empty if there is no advice."""

    @property
    def holds(self) -> bool:
        """Whether the value is a finite number no larger than the bound: infinity and NaN prove nothing."""
        return math.isfinite(self.value) and self.value <= self.bound

    def __str__(self) -> str:
        sign = "<=" if self.holds else "> "
        return f"{self.name}: {self.value:.3g} {sign} {self.bound:.3g} ({self.statement})"


def gap_claim(
    name: str, statement: str, objective: float, below: float, bound: float, *, rounding: float, remedy: str = ""
) -> Claim:
    """Return the claim that an objective is near a lower bound of all objectives.

    A lower bound above the objective, by more than both may be rounded, is an error of the lower bound: the claim says
    so, and fails.

    Examples
    --------
    >>> gap_claim("gap", "distance to the optimum", 2.0, 3.0, 1.0, rounding=1e-9).holds
    False
    """
    if below - objective > rounding:
        wrong = f"the lower bound {below:.6g} is above the objective {objective:.6g}, so that one of them is wrong"
        return Claim(name, wrong, below - objective, rounding, "Please report this: no choice of data should do it.")
    return Claim(name, statement, max(objective - below, 0.0) if math.isfinite(below) else math.inf, bound, remedy)


def worst_claim(claims: Iterable[Claim]) -> Claim:
    """Return of several claims about the same thing the one that is farthest from holding, or nearest to failing."""
    return max(claims, key=_excess)


def _excess(claim: Claim) -> float:
    """Return the value in units of the bound; infinite for NaN."""
    if math.isnan(claim.value):
        return math.inf
    return claim.value / claim.bound if claim.bound > 0 else math.inf if claim.value > 0 else 0.0


@dataclass(frozen=True)
class Certificate:
    """What is known about how far from right an answer is.

    Examples
    --------
    >>> gap = Claim("duality gap", "the objective is at most this far above its minimum", 2e-7, 1e-6)
    >>> Certificate("optimal", (gap,))
    Certificate(optimal, holds)
      duality gap: 2e-07 <= 1e-06 (the objective is at most this far above its minimum)
    """

    grade: str
    """One of ``GRADES``, from ``optimal``, the strongest, to ``none``."""
    claims: tuple[Claim, ...] = field(default=())
    """What is claimed, each with the number that backs it."""
    reason: str = ""
    """Why nothing is claimed, required for the grade ``none``; else a remark, such as how a solver stopped."""

    def __post_init__(self) -> None:
        if self.grade not in GRADES:
            raise ValueError(f"grade must be one of {tuple(GRADES)}, got {self.grade!r}.")
        if self.grade == "none" and not self.reason:
            raise ValueError("reason must say why nothing is claimed when grade is 'none', got ''.")

    @property
    def holds(self) -> bool:
        """Whether something is claimed and every claim holds: nothing claimed is nothing proved."""
        return self.grade != "none" and bool(self.claims) and not self.failed

    @property
    def verdict(self) -> str:
        """What to say of it: ``holds``, ``does not hold`` or ``proves nothing``."""
        return "holds" if self.holds else "does not hold" if self.failed else "proves nothing"

    @property
    def failed(self) -> tuple[Claim, ...]:
        """The claims that do not hold."""
        return tuple(claim for claim in self.claims if not claim.holds)

    def __getitem__(self, name: str) -> Claim:
        for claim in self.claims:
            if claim.name == name:
                return claim
        raise KeyError(f"claim must be one of {[claim.name for claim in self.claims]}, got {name!r}.")

    def with_claims(self, *claims: Claim) -> Certificate:
        """Return this certificate with more claims."""
        return replace(self, claims=self.claims + claims)

    def __repr__(self) -> str:
        head = f"Certificate({self.grade}, {self.verdict.upper() if self.failed else self.verdict})"
        reason = [f"  {self.reason}"] if self.reason else []
        return "\n".join([head, *reason, *(f"  {claim}" for claim in self.claims)])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(claim.name)}</td><td class='number'>{claim.value:.3g}</td>"
            f"<td>{'&le;' if claim.holds else '&gt;'}</td><td class='number'>{claim.bound:.3g}</td>"
            f"<td>{escape(claim.statement)}</td></tr>"
            for claim in self.claims
        )
        mark = f"<b class='{self.verdict.replace(' ', '-')}'>{self.verdict}</b>"
        reason = f"<p>{escape(self.reason)}</p>" if self.reason else ""
        return (
            f"<div class='pellucid-certificate'>{HTML_STYLE}<div><b>Certificate: {self.grade}</b> {mark}"
            f"<br>{escape(GRADES[self.grade])}</div>{reason}<table>{rows}</table></div>"
        )


def worst_of(certificates: Sequence[Certificate]) -> Certificate:
    """Return, claim by claim, the one closest to failing or furthest past its bound, of models that stand for one."""
    claims = zip(*(certificate.claims for certificate in certificates), strict=True)
    return Certificate(certificates[0].grade, tuple(map(worst_claim, claims)))
