"""Warnings that point at the user's line, however deep in the library they arise."""

from __future__ import annotations

import inspect
import warnings

from sklearn.exceptions import ConvergenceWarning

from pellucid.proofs.certificate import Certificate


class UncertifiedWarning(ConvergenceWarning):
    """A claim of a certificate does not hold. Also scikit-learn's ConvergenceWarning, so filters carry over."""


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called the library.

    Python shows a warning once per line: one that points into a library would hide all later ones.
    """
    warnings.warn(message, category, stacklevel=depth_of_caller())


def warn_unless_holds(certificate: Certificate, subject: str) -> None:
    """Warn with the number, the bound and the remedy of every claim that does not hold."""
    for claim in certificate.failed:
        warn_user(
            f"{subject}: {claim.name} is {claim.value:.3g}, above its bound {claim.bound:.3g}. {claim.remedy}".rstrip(),
            UncertifiedWarning,
        )


def depth_of_caller() -> int:
    """Return the ``stacklevel`` that makes our caller's warning point outside this package and its wrappers."""
    frame, depth = inspect.currentframe(), 0
    while frame is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame, depth = frame.f_back, depth + 1
    return depth


def _is_ours(module: str) -> bool:
    return module.split(".")[0] == "pellucid" or module.startswith("sklearn.callback")
