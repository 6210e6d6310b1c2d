import numpy as np
from sklearn.datasets import load_breast_cancer as load_peer_tumors
from sklearn.datasets import load_diabetes as load_peer

from pellucid.data import load_breast_cancer, load_cars_by_hand, load_diabetes


def test_the_toy_table_is_small_whole_numbers():
    cars = load_cars_by_hand()
    assert len(cars) <= 8
    assert all(dtype == np.int64 for dtype in cars.dtypes)


def test_diabetes_holds_the_published_numbers():
    np.testing.assert_array_equal(load_diabetes(), load_peer(scaled=False, as_frame=True).frame)


def test_diabetes_ends_with_the_target():
    assert load_diabetes().columns[-1] == "progression"


def test_breast_cancer_holds_the_published_numbers_and_words_for_the_target():
    ours, peer = load_breast_cancer(), load_peer_tumors()
    np.testing.assert_array_equal(ours.drop(columns="diagnosis"), peer.data)
    np.testing.assert_array_equal(ours["diagnosis"], peer.target_names[peer.target])
