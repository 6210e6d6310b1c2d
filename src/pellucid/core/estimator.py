"""The base that joins scikit-learn's BaseEstimator with traces, certificates and callbacks."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin, with_callbacks

from pellucid.core.certificate import Certificate
from pellucid.core.fingerprint import fingerprint
from pellucid.core.threads import own_threads
from pellucid.core.trace import Trace
from pellucid.core.types import Data
from pellucid.core.watching import Watch, finish_watch, make_watch

F = TypeVar("F", bound=Callable[..., Any])


def fit_method(fit: F) -> F:
    """Wrap ``fit``: it runs on our threads, with callbacks, and when it fails leaves nothing that looks fitted."""

    @functools.wraps(fit)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            with own_threads():
                return with_callbacks(fit)(self, *args, **kwargs)
        except BaseException:
            forget_fit(self)
            raise

    return wrapped  # type: ignore[return-value]  # same signature, by wraps


def forget_fit(estimator: Any) -> None:
    """Remove every fitted attribute."""
    for name in [name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")]:
        delattr(estimator, name)


class CertifiedEstimator(CallbackSupportMixin, BaseEstimator):
    """Base of all estimators. A subclass decorates ``fit`` with ``fit_method`` and implements ``_prove``.

    ``fit`` ends with ``self._conclude(certificate, trace, X, y)``; ``_prove`` recomputes the certificate
    from the data and the fitted attributes alone.
    """

    trace_: Trace
    certificate_: Certificate
    data_fingerprint_: str

    def _prove(self, X: Data, y: Data, sample_weight: Data | None = None) -> Certificate:
        raise NotImplementedError(f"{type(self).__name__} has no proof.")

    def _conclude(self, certificate: Certificate, trace: Trace, *data: Any) -> None:
        """Store what the fit proved about itself; warn if a claim does not hold."""
        self.trace_ = trace
        self.data_fingerprint_ = fingerprint(*data)
        self.certificate_ = certificate
        finish_watch(self, *data[:2])
        certificate.warn_unless_holds(type(self).__name__)

    def _watch(
        self,
        X: Data,
        y: Data,
        *,
        attributes: Callable[..., dict[str, Any]],
        max_iter: int | None = None,
    ) -> Watch:
        """Return what a solver calls after each iteration; it answers whether to stop.

        ``attributes`` turns the solver's iterate into fitted attributes, so that callbacks can score it.
        """
        return make_watch(self, X, y, attributes=attributes, max_iter=max_iter)

    def _html_repr(self) -> str:
        page = super()._html_repr()
        certificate = getattr(self, "certificate_", None)
        return page if certificate is None else page + certificate._repr_html_()
