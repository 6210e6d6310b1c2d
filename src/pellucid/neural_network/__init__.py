"""Neural networks: graphs by hand, layers a student can read, one trainer. The networks themselves run on PyTorch."""

from typing import TYPE_CHECKING

from pellucid.core.extras import names_without
from pellucid.core.public_names import name_finder
from pellucid.neural_network.architecture import Architecture
from pellucid.neural_network.dense_network import DenseNetwork
from pellucid.neural_network.mlp.mlp_classifier import MLPClassifier
from pellucid.neural_network.mlp.mlp_regressor import MLPRegressor
from pellucid.neural_network.network.network_classifier import NetworkClassifier
from pellucid.neural_network.network.network_regressor import NetworkRegressor

if TYPE_CHECKING:
    from pellucid.neural_network.convolution import (
        average_pool,
        convolution_layer,
        convolve,
        correlate,
        max_pool,
        max_pool_with_places,
        transposed_convolution,
        unit_sample_response,
        unpool_bed_of_nails,
        unpool_max,
        unpool_nearest,
    )
    from pellucid.neural_network.graph import Graph, variable
    from pellucid.neural_network.modules.fusing import fuse
    from pellucid.neural_network.modules.maxout import Maxout
    from pellucid.neural_network.robustness.attack import attack, attacked_accuracy
    from pellucid.neural_network.robustness.certified_radius import CertifiedRadii, certified_radius, verify_radius
    from pellucid.neural_network.training.module_gradient_check import ModuleGradientCheck, check_module_gradient
    from pellucid.neural_network.uncertainty.dropout_sampling import DropoutPrediction, predict_with_dropout
    from pellucid.neural_network.workings.batch_norm_workings import show_batch_norm
    from pellucid.neural_network.workings.convolution_layer_workings import show_convolution_layer
    from pellucid.neural_network.workings.convolution_workings import show_convolution
    from pellucid.neural_network.workings.dropout_workings import show_dropout
    from pellucid.neural_network.workings.graph_workings import show_graph
    from pellucid.neural_network.workings.network_workings import show_network
    from pellucid.neural_network.workings.parameter_count_workings import CountedLayer, show_parameter_counts
    from pellucid.neural_network.workings.pooling_workings import show_pooling
    from pellucid.neural_network.workings.softmax_workings import show_softmax
    from pellucid.neural_network.workings.training_step_workings import show_training_step
    from pellucid.neural_network.workings.transposed_convolution_workings import show_transposed_convolution
    from pellucid.neural_network.workings.zero_initialization_workings import show_zero_initialization

__all__ = [
    "Architecture",
    "CertifiedRadii",
    "CountedLayer",
    "DenseNetwork",
    "DropoutPrediction",
    "Graph",
    "MLPClassifier",
    "MLPRegressor",
    "Maxout",
    "ModuleGradientCheck",
    "NetworkClassifier",
    "NetworkRegressor",
    "attack",
    "attacked_accuracy",
    "average_pool",
    "certified_radius",
    "check_module_gradient",
    "convolution_layer",
    "convolve",
    "correlate",
    "fuse",
    "max_pool",
    "max_pool_with_places",
    "predict_with_dropout",
    "show_batch_norm",
    "show_convolution",
    "show_convolution_layer",
    "show_dropout",
    "show_graph",
    "show_network",
    "show_parameter_counts",
    "show_pooling",
    "show_softmax",
    "show_training_step",
    "show_transposed_convolution",
    "show_zero_initialization",
    "transposed_convolution",
    "unit_sample_response",
    "unpool_bed_of_nails",
    "unpool_max",
    "unpool_nearest",
    "variable",
    "verify_radius",
]

# what imports torch or SymPy is imported on first use
HOMES: dict[str, str] = {
    "CertifiedRadii": "pellucid.neural_network.robustness.certified_radius",
    "CountedLayer": "pellucid.neural_network.workings.parameter_count_workings",
    "DropoutPrediction": "pellucid.neural_network.uncertainty.dropout_sampling",
    "Graph": "pellucid.neural_network.graph",
    "Maxout": "pellucid.neural_network.modules.maxout",
    "ModuleGradientCheck": "pellucid.neural_network.training.module_gradient_check",
    "attack": "pellucid.neural_network.robustness.attack",
    "attacked_accuracy": "pellucid.neural_network.robustness.attack",
    "average_pool": "pellucid.neural_network.convolution",
    "certified_radius": "pellucid.neural_network.robustness.certified_radius",
    "check_module_gradient": "pellucid.neural_network.training.module_gradient_check",
    "convolution_layer": "pellucid.neural_network.convolution",
    "convolve": "pellucid.neural_network.convolution",
    "correlate": "pellucid.neural_network.convolution",
    "fuse": "pellucid.neural_network.modules.fusing",
    "max_pool": "pellucid.neural_network.convolution",
    "max_pool_with_places": "pellucid.neural_network.convolution",
    "predict_with_dropout": "pellucid.neural_network.uncertainty.dropout_sampling",
    "show_batch_norm": "pellucid.neural_network.workings.batch_norm_workings",
    "show_convolution": "pellucid.neural_network.workings.convolution_workings",
    "show_convolution_layer": "pellucid.neural_network.workings.convolution_layer_workings",
    "show_dropout": "pellucid.neural_network.workings.dropout_workings",
    "show_graph": "pellucid.neural_network.workings.graph_workings",
    "show_network": "pellucid.neural_network.workings.network_workings",
    "show_parameter_counts": "pellucid.neural_network.workings.parameter_count_workings",
    "show_pooling": "pellucid.neural_network.workings.pooling_workings",
    "show_softmax": "pellucid.neural_network.workings.softmax_workings",
    "show_training_step": "pellucid.neural_network.workings.training_step_workings",
    "show_transposed_convolution": "pellucid.neural_network.workings.transposed_convolution_workings",
    "show_zero_initialization": "pellucid.neural_network.workings.zero_initialization_workings",
    "transposed_convolution": "pellucid.neural_network.convolution",
    "unit_sample_response": "pellucid.neural_network.convolution",
    "unpool_bed_of_nails": "pellucid.neural_network.convolution",
    "unpool_max": "pellucid.neural_network.convolution",
    "unpool_nearest": "pellucid.neural_network.convolution",
    "variable": "pellucid.neural_network.graph",
    "verify_radius": "pellucid.neural_network.robustness.certified_radius",
}
__getattr__ = name_finder(__name__, HOMES)

TORCH_ROOMS = ("modules", "robustness", "training", "uncertainty")
__all__ = names_without("torch", __all__, [name for name, home in HOMES.items() if home.split(".")[2] in TORCH_ROOMS])
