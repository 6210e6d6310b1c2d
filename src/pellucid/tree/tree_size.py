"""How large a fitted tree is: what all estimators that are one tree answer."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted


class TreeSize:
    """Depth and leaves of ``tree_``."""

    tree_: Any

    def get_depth(self) -> int:
        """Return the number of splits on the longest way."""
        check_is_fitted(self)
        return int(self.tree_.max_depth)

    def get_n_leaves(self) -> int:
        """Return the number of leaves, branches without training rows among them."""
        check_is_fitted(self)
        return int(self.tree_.n_leaves)
