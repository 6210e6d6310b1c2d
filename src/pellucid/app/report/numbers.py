"""Numbers as a person writes them."""

from __future__ import annotations

import re
from typing import Any

from pellucid.app.bake_off import BakeOffResult
from pellucid.app.bake_off.measures import Measure
from pellucid.proofs.certificate import GRADES, Certificate
from pellucid.proofs.sampling import CONFIDENCE, in_percent

SHARE_LEFT = re.compile(r"at most (\d[\d.e-]*)\s?(%?)")
"""How a claim about a sample says what it leaves open."""


def left_open(certificate: Certificate) -> float:
    """Return the largest share that claims about samples leave open, as their statements say it; 0 if there are none.

    Examples
    --------
    >>> from pellucid.proofs.certificate import Claim
    >>> left_open(Certificate("bounded", (Claim("rows", "of 5 of 9 rows (at most 60 % wrong, at 99 %)", 0.0, 0.0),)))
    0.6
    """
    shares = [0.0]
    for claim in certificate.claims:
        said = SHARE_LEFT.search(claim.statement) if CONFIDENCE in claim.statement else None
        if said is not None:
            shares.append(float(said[1]) / (100.0 if said[2] else 1.0))
    return max(shares)


def format_number(value: float, digits: int = 4) -> str:
    """Return a number with four figures, no needless exponent and a true minus sign.

    Examples
    --------
    >>> format_number(3.14159), format_number(12345.6), format_number(1e-7)
    ('3.142', '12,346', '1e−07')
    """
    if value != value:
        return "unknown"
    if value != 0 and not 1e-3 <= abs(value) < 1e6:
        text = f"{value:.{digits - 1}g}"
    else:
        text = f"{value:,.{max(0, digits - 1 - _exponent(value))}f}"
    return text.replace("-", "\N{MINUS SIGN}")


def format_share(value: float) -> str:
    """Return a share in percent.

    Examples
    --------
    >>> format_share(0.8703)
    '87.0 %'
    """
    return "unknown" if value != value else f"{100 * value:.1f} %".replace("-", "\N{MINUS SIGN}")


def format_measure(error: float, measure: Measure) -> str:
    """Return an error as its measure is shown: a share of rows in percent, a score or an error as a number."""
    shown = measure.shown(error)
    return format_share(shown) if measure.is_share else format_number(shown)


def format_spread(standard_error: float, measure: Measure) -> str:
    """Return the standard error of what ``format_measure`` shows."""
    return format_share(standard_error) if measure.is_share else format_number(standard_error, 2)


def format_seconds(seconds: float) -> str:
    """Return a short time.

    Examples
    --------
    >>> format_seconds(0.0042), format_seconds(1.34), format_seconds(81.2), format_seconds(2e-5)
    ('0.004', '1.3', '81', '< 0.001')
    """
    if seconds != seconds:
        return "-"
    if seconds < 0.001:
        return "< 0.001"
    return f"{seconds:.0f}" if seconds >= 10 else f"{seconds:.1f}" if seconds >= 1 else f"{seconds:.1g}"


def _exponent(value: float) -> int:
    return int(f"{value:e}".split("e")[1]) if value else 0


MEANINGS = {
    "Blend": "what is proved of each member holds, and the answer is their weighted mean; that the weights are good "
    "was seen on rows held out, not proved",
    "KNeighbors": "the rows were stored as they are, and the search finds the nearest ones; nothing is learned beyond "
    "that, so it says nothing about how good their answers are",
    "HistGradientBoosting": "each question of each tree was the best at its place, given all before it; that is no "
    "promise that the trees together are the best possible",
    "RandomForest": "each question of the trees checked was the best at its place for the rows its tree drew; that is "
    "no promise about the forest as a whole",
    "DecisionTree": "each question was the best at its place; another tree as a whole may still fit better",
    "KMeans": "every row is with the nearest of the centers, and every center is the mean of its rows; how much better "
    "the best clustering of all could be is bounded below, where a claim says so",
    "KMedoids": "every row is with the nearest of the medoids, and no swap of a medoid with another row that was tried "
    "makes the sum of distances smaller",
    "GaussianMixture": "one more step of the method changes nothing worth mentioning; another start may still end in a "
    "likelier mixture",
    "TSNE": "what draws rows together and what drives them apart are in balance, up to the share that the gradient is; "
    "another start may still end in another map as good",
    "LinearRegression": "no other coefficients fit these rows better, up to rounding",
    "Ridge": "no other coefficients make squared error plus penalty smaller on these rows, up to rounding",
    "Lasso": "no other coefficients make error plus penalty smaller on these rows by more than the gap shown",
    "Logistic": "no other coefficients make loss plus penalty smaller on these rows by more than the gap shown",
    "LinearSVC": "no other line makes loss plus penalty smaller on these rows by more than the gap shown",
    "NB": "the shares, means and spreads are those of these rows; whether the columns are independent, as the method "
    "supposes, is another question",
    "LinearDiscriminant": "the means and spreads are those of these rows; whether the classes are Gaussian clouds, as "
    "the method supposes, is another question",
}
"""By a part of the name of an estimator: what its certificate means."""


MOST_LEFT_OPEN = 0.2
"""Share that samples may leave open in a certificate that is shown in green."""


def meaning_of(certificate: Certificate, method: Any) -> str:
    """Return what the grade of a certificate means for the user of a method, as the end of a sentence."""
    if not certificate.holds:
        return GRADES[certificate.grade]
    name = type(method).__name__
    return next((meaning for part, meaning in MEANINGS.items() if part in name), GRADES[certificate.grade])


def standing_of(result: BakeOffResult) -> tuple[str, str]:
    """Return how far the certificate of a result was looked into, in words, and the style it is shown in.

    What a fit claims of itself is often a sample of three questions out of thousands: only what was verified is green.
    """
    certificate = result.certificate
    if certificate.failed:
        return "a claim does not hold", "does-not-hold"
    if not certificate.holds:
        return "proves nothing", "proves-nothing"
    if isinstance(result.verified, Certificate):
        share = left_open(certificate)
        rest = f" on samples: at {CONFIDENCE} confidence, at most {in_percent(share)} is otherwise" if share else ""
        return f"verified by other code than the fit's{rest}", "holds" if share <= MOST_LEFT_OPEN else "proves-nothing"
    why = result.verified.removesuffix(".").lower() or "nobody asked for it"
    return f"claimed by the fit, not verified ({why})", "proves-nothing"
