"""Weights of classes, read as scikit-learn reads them."""

import numpy as np
import pytest

from pellucid.core import linear_classifier
from pellucid.proofs import classes
from pellucid.proofs.training_data import TrainingData

LABELS = {"numbers": np.array([3, 7, 9]), "names": np.array(["a", "b", "c"]), "digits": np.array(["1", "2", "3"])}


@pytest.mark.parametrize("kind", sorted(LABELS))
@pytest.mark.parametrize("weight", [None, np.array([1.0, 2.0, 0.5, 1.0, 3.0])])
def test_the_same_weights_as_in_a_fit(kind, weight):
    data = TrainingData(np.zeros((5, 1)), np.array([0, 1, 1, 2, 0]), weight, LABELS[kind])
    own = {7: 2.0} if kind == "numbers" else {"b": 2.0} if kind == "names" else {2: 2.0}
    for given in (None, "balanced", own):
        np.testing.assert_allclose(
            classes.class_weights(given, data), linear_classifier.class_weights(given, data), rtol=1e-15
        )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_same_machines_as_in_a_fit(n_classes):
    rng = np.random.default_rng(0)
    codes, weight, by_class = rng.integers(0, n_classes, 20), rng.random(20), rng.random(n_classes)
    signs = classes.machine_signs(codes, n_classes)
    np.testing.assert_array_equal(signs, linear_classifier.machine_signs(codes, n_classes))
    np.testing.assert_array_equal(
        classes.machine_costs(signs, weight, by_class),
        np.atleast_2d(linear_classifier.machine_costs(signs, weight, by_class)),
    )
