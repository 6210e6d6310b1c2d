"""Why a model says what it says: which columns matter, how, which act together, and one row step by step."""

from pellucid.app.explaining.answer import Contribution, Interaction, Waterfall
from pellucid.app.explaining.dependence import Crossed, Dependence
from pellucid.app.explaining.explained_model import ExplainedModel, ImportanceInterval, explain_model

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
