"""Neural networks: graphs by hand, layers a student can read, one trainer. The networks themselves run on PyTorch."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import homes_of, name_finder, names_without

if TYPE_CHECKING:
    from pellucid.neural_network.architecture import Architecture
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
    from pellucid.neural_network.dense_network import DenseNetwork
    from pellucid.neural_network.graph import Graph, variable
    from pellucid.neural_network.mlp.mlp_classifier import MLPClassifier
    from pellucid.neural_network.mlp.mlp_regressor import MLPRegressor
    from pellucid.neural_network.modules.dense_layers import Maxout
    from pellucid.neural_network.modules.fusing import fuse
    from pellucid.neural_network.network.network_classifier import NetworkClassifier
    from pellucid.neural_network.network.network_regressor import NetworkRegressor
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

__getattr__ = name_finder(__name__)

TORCH_ROOMS = ("modules", "robustness", "training", "uncertainty")
NEED_TORCH = [name for name, home in homes_of(__name__).items() if home.split(".")[2] in TORCH_ROOMS]
__all__ = names_without("torch", __all__, NEED_TORCH)
