"""Small tables that come with the library (``load_...``), and large sets that one downloads (``read_...``)."""

from pellucid.data.bundled_tables import (
    load_adult_sample,
    load_breast_cancer,
    load_capitals_of_europe,
    load_cars_by_hand,
    load_diabetes,
    load_digits,
    load_distances_by_hand,
    load_documents,
    load_energy,
    load_iris,
    load_play_tennis,
    load_watermelons,
)
from pellucid.data.downloaded_sets import read_cbcl_faces, read_mnist, read_rcv1

__all__ = [
    "load_adult_sample",
    "load_breast_cancer",
    "load_capitals_of_europe",
    "load_cars_by_hand",
    "load_diabetes",
    "load_digits",
    "load_distances_by_hand",
    "load_documents",
    "load_energy",
    "load_iris",
    "load_play_tennis",
    "load_watermelons",
    "read_cbcl_faces",
    "read_mnist",
    "read_rcv1",
]
