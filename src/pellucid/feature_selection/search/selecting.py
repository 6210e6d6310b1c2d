"""What both searches are: a selector of columns that keeps every set it has scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin, is_classifier
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator
from pellucid.core.fit import Fit
from pellucid.core.input_rules import UNCHECKED, InputRules
from pellucid.core.types import Array, Data
from pellucid.core.watching import Watch
from pellucid.feature_selection.search.feature_search import FeatureSearch, run_search
from pellucid.feature_selection.search.fold_scores import FoldScores, LeastSquaresSets, asked_estimator
from pellucid.feature_selection.search.search_rules import mean_scores, standard_errors, starts_from_all
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

if TYPE_CHECKING:
    import pandas as pd


class SearchingSelector(SelectorMixin, MetaEstimatorMixin, CertifiedEstimator):
    """Base of the searches: what a fit leaves, and how it reads."""

    estimator: Any
    cv: Any
    scoring: Any
    support_: Array
    n_features_to_select_: int
    visited_: Array
    fold_scores_: Array
    path_: Array
    n_iter_: int

    def search_table(self) -> pd.DataFrame:
        """Return the steps as a table: what was added or removed, the size reached, mean score and standard error."""
        import pandas as pd

        check_is_fitted(self)
        names = self.feature_names_in_ if hasattr(self, "feature_names_in_") else np.arange(self.n_features_in_)
        sets, scores = self.visited_[self.path_], self.fold_scores_[self.path_]
        before = np.vstack([np.full((1, sets.shape[1]), starts_from_all(self)), sets[:-1]])
        moved = np.argmax(sets != before, axis=1)
        return pd.DataFrame(
            {
                "move": np.where(sets[np.arange(len(sets)), moved], "add", "remove"),
                "feature": names[moved],
                "size": sets.sum(axis=1),
                "score": mean_scores(scores),
                "standard_error": standard_errors(scores),
            }
        )

    def _searched(self, data: TrainingData, watch: Watch, params: Any = None) -> Self:
        """Search, and store what was seen; lines are scored by moments, other estimators by fits.

        Steps are replayed from the scores, and where these come from moments one set is scored by fits.
        """
        plain = FoldScores(asked_estimator(self.estimator, data.y), data.X, data.y, self, params)
        by_moments = LeastSquaresSets.of(plain)
        search = FeatureSearch(by_moments or plain, data.X.shape[1], from_all=starts_from_all(self), watch=watch)
        support = run_search(search, self)
        attributes = {
            "support_": support,
            "n_features_to_select_": int(support.sum()),
            "visited_": search.visited,
            "fold_scores_": np.array(search.fold_scores).reshape(len(search.sets), -1 if search.sets else 0),
            "path_": np.array(search.path, dtype=np.int64),
            "n_iter_": len(search.path),
        }
        checked = search.path[-1:] if by_moments else []
        scored_again = {place: plain.of_set(search.sets[place]) for place in checked}
        # asked for here: a proof of the model itself would score many sets again
        seen = Seen(**attributes, scored_again=scored_again, cannot_score="")
        certificate = card_of(type(self)).prove(seen, self, data)
        return self._adopt(Fit(attributes, search.trace, "searched", certificate), data)

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is None:
            tags.target_tags.required = True
            tags.input_tags.sparse = True
        else:
            inner = get_tags(self.estimator)
            tags.input_tags.allow_nan = inner.input_tags.allow_nan
            tags.input_tags.sparse = inner.input_tags.sparse
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which parameters of ``fit`` go to the estimator, the splitter and the scorer."""
        router, to_fit = MetadataRouter(owner=self), MethodMapping().add(caller="fit", callee="fit")
        if self.estimator is None:
            return router
        splitter = check_cv(self.cv, classifier=is_classifier(self.estimator))
        scorer = check_scoring(self.estimator, scoring=self.scoring)
        router.add(estimator=self.estimator, method_mapping=to_fit)
        router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        router.add(scorer=scorer, method_mapping=MethodMapping().add(caller="fit", callee="score"))
        return router


@dataclass(frozen=True)
class SearchInput(InputRules):
    """Rows of numbers; targets of any kind, or none: the estimator decides what they mean."""

    target: str = UNCHECKED
    sparse: tuple[str, ...] = ("csc",)
    dtypes: Any = "numeric"
    weights: bool = False

    def check(
        self, estimator: Any, X: Data, y: Data = None, sample_weight: Data | None = None, **options: Any
    ) -> TrainingData:
        """Return the training data; the target as an array, not looked at."""
        if sample_weight is not None:
            raise ValueError(
                f"sample_weight must be None for {type(estimator).__name__}, got weights. Repeat the rows, or ask for "
                "them by metadata routing."
            )
        reset = options.get("reset", True)
        X = validate_data(estimator, X, **self._options(reset=reset) | {"ensure_min_features": 2})
        X = self._settled(estimator, X, look_for_nan=not self.missing)
        if y is not None:
            y = np.asarray(y)
            if y.ndim == 0:
                raise ValueError(f"y must hold a target for each row, got {y!r}.")
        return TrainingData(X, y, given=(X, y, None))


def search_input(selector: Any) -> SearchInput:
    """Return the rules for a selector: NaN goes through where its estimator takes it."""
    return SearchInput(missing=selector.estimator is not None and get_tags(selector.estimator).input_tags.allow_nan)
