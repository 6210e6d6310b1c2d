"""show_maximum_margin: the lecture's support vector machine, worked by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pellucid.core.types import Data

if TYPE_CHECKING:
    from pellucid.workings.document import Document


def show_maximum_margin(X: Data, y: Data, C: float | None = None) -> Document:
    r"""Return the workings of the machine with a free intercept, in exact fractions.

    .. math:: \min_{w,\,b}\ \tfrac12\|w\|^2\ [+\ C\sum_i\xi_i],\qquad t_i(w'x_i + b) \ge 1\ [-\ \xi_i]

    ``pellucid.show_work(LinearSVC(...), X, y)`` shows the machine that ``LinearSVC`` fits: its intercept is penalized.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        At most 6 points of at most 4 features.
    y : array-like of shape (n_samples,)
        Their classes, two of any kind.
    C : float, default=None
        Price of slack; None for a hard margin.

    Returns
    -------
    Document
        ``answer`` has ``w``, ``b``, ``alpha``, ``support``, ``width`` and ``objective``, all exact.

    Examples
    --------
    Two points at distance 2: the plane stands in the middle, and the margin is as wide as they are apart.

    >>> work = show_maximum_margin([[0], [2]], ["a", "b"])
    >>> work.answer["w"], work.answer["b"], work.answer["width"]
    ([1], -1, 2)
    """
    from pellucid.svm.maximum_margin_workings import maximum_margin_workings

    return maximum_margin_workings(X, y, C)
