"""What the certificate of a model fitted in parts must say."""

from __future__ import annotations


def parts_remark(n_parts: int) -> str:
    """Return what a certificate must say about a model that saw its data in several parts."""
    if n_parts == 1:
        return ""
    return f"Fitted in {n_parts} parts: verify needs all the data seen, in one piece."
