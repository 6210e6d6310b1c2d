"""Certificates of models that were broken on purpose, without a word about it."""

from __future__ import annotations

import warnings

import pellucid


def quiet_proof(model, X, y=None, **options):
    """Return what verify finds, whether it holds or not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pellucid.UncertifiedWarning)
        return pellucid.verify(model, X, y, **options)
