"""Ranking: order rows from comparisons."""

from pellucid.ranking.ranking_error import ranking_error
from pellucid.ranking.ranking_svm import RankingSVM

__all__ = ["RankingSVM", "ranking_error"]
