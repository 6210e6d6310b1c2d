"""non_negative_factorization: both factors of a matrix, or the best first one for a given second, as arrays."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import validate_data

from pellucid.core.cards import card_of
from pellucid.core.input_rules import FLOATS
from pellucid.core.threads import own_threads
from pellucid.core.types import Array, Data
from pellucid.core.user_warnings import warn_user
from pellucid.decomposition.nmf.nmf import NMF
from pellucid.decomposition.nmf.nmf_fits import check_nonnegative, check_start, weights_for


def non_negative_factorization(
    X: Data,
    W: Data = None,
    H: Data = None,
    n_components: Any = "auto",
    *,
    init: str | None = None,
    update_H: bool = True,
    **settings: Any,
) -> tuple[Array, Array, int]:
    """Return ``W``, ``H`` and the number of rounds of :class:`NMF`, whose parameters these are.

    With ``update_H=False`` the given ``H`` stays as it is.

    Examples
    --------
    >>> W, H, _ = non_negative_factorization([[1.0, 2.0], [2.0, 4.0]], H=[[1.0, 2.0]], update_H=False)
    >>> W.round(6)
    array([[1.],
           [2.]])
    """
    model = NMF(n_components, init=init, **settings)
    if update_H:
        model.fit(X, W=W, H=H)
        return model.weights_, model.components_, model.n_iter_
    if W is not None:
        warn_user("When update_H=False, the provided initial W is not used.", RuntimeWarning)
    card_of(NMF).check_parameters(model)
    X = validate_data(model, X, accept_sparse="csr", dtype=FLOATS, ensure_all_finite="allow-nan")
    check_nonnegative(X)
    H = check_start(H, (n_components, X.shape[1]), "H", X.dtype, may_be_zero=True)
    with own_threads():
        weights, n_iter = weights_for(model, X, H)
    return weights, H.astype(X.dtype), n_iter
