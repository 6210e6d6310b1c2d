"""Numbers as a person writes them."""

from __future__ import annotations


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


def _exponent(value: float) -> int:
    return int(f"{value:e}".split("e")[1]) if value else 0
