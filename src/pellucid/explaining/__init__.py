"""Why a model says what it says: which columns matter, how, which act together, and one row step by step."""

from pellucid.explaining.dependence import Crossed, Dependence
from pellucid.explaining.explained_model import ExplainedModel, ImportanceInterval, explain_model
from pellucid.explaining.interactions import Interaction
from pellucid.explaining.waterfall import Contribution, Waterfall

__all__ = [
    "Contribution",
    "Crossed",
    "Dependence",
    "ExplainedModel",
    "ImportanceInterval",
    "Interaction",
    "Waterfall",
    "explain_model",
]
