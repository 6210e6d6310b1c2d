"""Convolution, pooling and unpooling as plain functions of arrays."""

from pellucid.neural_network.convolution.convolution_layer import convolution_layer, transposed_convolution
from pellucid.neural_network.convolution.convolve import convolve, correlate, unit_sample_response
from pellucid.neural_network.convolution.pooling import (
    average_pool,
    max_pool,
    max_pool_with_places,
    unpool_bed_of_nails,
    unpool_max,
    unpool_nearest,
)

__all__ = [
    "average_pool",
    "convolution_layer",
    "convolve",
    "correlate",
    "max_pool",
    "max_pool_with_places",
    "transposed_convolution",
    "unit_sample_response",
    "unpool_bed_of_nails",
    "unpool_max",
    "unpool_nearest",
]
