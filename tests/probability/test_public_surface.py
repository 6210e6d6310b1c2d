import subprocess
import sys

import numpy as np
import pytest

import pellucid.probability as probability
from pellucid.probability import Gaussian, MultivariateGaussian, channel_capacity


def test_every_public_name_exists_and_is_explained():
    for name in probability.__all__:
        assert getattr(probability, name).__doc__


@pytest.mark.parametrize("statement", ["import pellucid.probability", "from pellucid.probability import Gaussian"])
def test_importing_densities_loads_no_compiler_and_no_algebra(statement):
    code = f"import sys; {statement}; print(' '.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numba", "torch", "sympy", "matplotlib", "cvxpy", "rich"} & set(loaded)


def test_parameters_cannot_be_changed():
    density = MultivariateGaussian([0.0, 0.0], np.eye(2))
    with pytest.raises(ValueError, match="read-only"):
        density.covariance[0, 0] = 2.0
    with pytest.raises(AttributeError):
        Gaussian(0, 1).mean = 1.0


def test_the_users_arrays_are_not_touched():
    mean, covariance = np.zeros(2), np.eye(2)
    MultivariateGaussian(mean, covariance)
    mean[0] = covariance[0, 0] = 5.0


def test_results_have_a_readable_repr():
    assert repr(channel_capacity([[1.0, 0.0], [0.0, 1.0]])).startswith("ChannelCapacity(capacity=1.0")
    assert repr(Gaussian(np.float32(0.5), np.int64(2))) == "Gaussian(mean=0.5, variance=2.0)"
