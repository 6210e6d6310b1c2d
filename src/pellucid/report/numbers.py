"""Numbers as a person writes them."""

from __future__ import annotations

from pellucid.bake_off.measures import Measure


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
