"""Numbers as a person writes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pellucid.core.cards import find_card
from pellucid.proofs.certificate import GRADES, Certificate
from pellucid.proofs.sampling import CONFIDENCE, in_percent

if TYPE_CHECKING:
    from pellucid.app.bake_off import BakeOffResult
    from pellucid.app.bake_off.measures import Measure

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
    """Return a number with few figures, no needless exponent and a true minus sign.

    Parameters
    ----------
    value : float
        Any number; NaN is "unknown".
    digits : int, default=4
        Figures that count, at least 1. Below a million, those before the point are all written.

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

    Parameters
    ----------
    value : float
        The share, usually from 0 to 1; NaN is "unknown".

    Examples
    --------
    >>> format_share(0.8703)
    '87.0 %'
    """
    return "unknown" if value != value else f"{100 * value:.1f} %".replace("-", "\N{MINUS SIGN}")


def format_measure(error: float, measure: Measure) -> str:
    """Return an error as its measure is shown: a share of rows in percent, a score or an error as a number.

    Parameters
    ----------
    error : float
        As the methods are compared by it: the smaller the better.
    measure : Measure
        What the error is; it says what to show: an accuracy for the share of mistakes.
    """
    shown = measure.shown(error)
    return format_share(shown) if measure.is_share else format_number(shown)


def format_spread(standard_error: float, measure: Measure) -> str:
    """Return the standard error of what ``format_measure`` shows.

    Parameters
    ----------
    standard_error : float
        Of the error; the score that is shown has the same.
    measure : Measure
        What the error is.
    """
    return format_share(standard_error) if measure.is_share else format_number(standard_error, 2)


def format_seconds(seconds: float) -> str:
    """Return a short time.

    Parameters
    ----------
    seconds : float
        At least 0; NaN is "-".

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


MOST_LEFT_OPEN = 0.2
"""Share that samples may leave open in a certificate that is shown in green."""


def meaning_of(certificate: Certificate, method: Any) -> str:
    """Return what the grade of a certificate means for the user of a method, as the end of a sentence.

    Parameters
    ----------
    certificate : Certificate
        What is proved; of one that does not hold, the grade alone is explained.
    method : estimator
        Fitted; its card may say more than the grade does.
    """
    card = find_card(type(method).__name__) if certificate.holds else None
    return card.meaning if card and card.meaning else GRADES[certificate.grade]


def standing_of(result: BakeOffResult) -> tuple[str, str]:
    """Return how far the certificate of a result was looked into, in words, and the style it is shown in.

    What a fit claims of itself is often a sample of three questions out of thousands: only what was verified is green.

    Parameters
    ----------
    result : BakeOffResult
        Its ``certificate`` is told, and whether it was ``verified``.
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
