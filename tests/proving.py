"""Certificates of models that were broken on purpose, without a word about it."""

from __future__ import annotations

import warnings

import pytest

import pellucid


def quiet_proof(model, X, y=None, **options):
    """Return what verify finds, whether it holds or not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pellucid.UncertifiedWarning)
        return pellucid.verify(model, X, y, **options)


def assert_same_proof(one, other):
    """Assert that two verifications say the same; how a sum rounds may depend on where its numbers lie in memory."""
    assert (one.grade, one.reason) == (other.grade, other.reason)
    assert [(claim.name, claim.holds) for claim in one.claims] == [(claim.name, claim.holds) for claim in other.claims]
    for found, expected in zip(one.claims, other.claims, strict=True):
        assert found.value == pytest.approx(expected.value, rel=1e-9, abs=1e-13)
