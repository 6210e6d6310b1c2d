"""Ranking: order rows from comparisons."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder

if TYPE_CHECKING:  # what is named here is imported on first use
    from pellucid.ranking.pair_sums import ranking_error
    from pellucid.ranking.ranking_svm import RankingSVM

__all__ = ["RankingSVM", "ranking_error"]

__getattr__ = name_finder(__name__)
