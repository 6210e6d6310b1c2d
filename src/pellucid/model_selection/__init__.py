"""Model selection and evaluation: recipes, the vault, scores with intervals, bias and variance, error curves."""

from pellucid.core.public_names import name_finder
from pellucid.model_selection.bias_variance import BiasVariance, bias_variance_bootstrap, bias_variance_simulation
from pellucid.model_selection.corrected_t_test import (
    Comparison,
    NestedScore,
    compare_methods,
    corrected_t_test,
    nested_cross_validation,
)
from pellucid.model_selection.error_curves import ErrorCurve, error_against_capacity, error_against_size
from pellucid.model_selection.recipes import (
    Choice,
    CrossValidationTest,
    Recipe,
    ResamplingTest,
    TrainValidationTest,
)
from pellucid.model_selection.score_interval import SCORES, ScoreInterval, score_interval
from pellucid.model_selection.vault import Opening, TestVault, VaultEstimate

__all__ = [
    "SCORES",
    "BiasVariance",
    "Choice",
    "Comparison",
    "CrossValidationTest",
    "ErrorCurve",
    "NestedScore",
    "Opening",
    "Recipe",
    "ResamplingTest",
    "ScoreInterval",
    "TestVault",
    "TrainValidationTest",
    "VaultEstimate",
    "bias_variance_bootstrap",
    "bias_variance_simulation",
    "compare_methods",
    "corrected_t_test",
    "error_against_capacity",
    "error_against_size",
    "nested_cross_validation",
    "score_interval",
]

__getattr__ = name_finder(__name__)
