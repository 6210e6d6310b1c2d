"""Kinds that many methods share, and the attributes that every fitted estimator of ours has."""

from __future__ import annotations

import numpy as np

from pellucid.kinds.arrays import FLOATS, WHOLES, Numbers, Texts
from pellucid.kinds.collections import Lookup
from pellucid.kinds.evidence import CertificateRecord, TraceRecord
from pellucid.kinds.plain import Flag, Kind, Live, Nothing, Number, OneOf, Optional, Real, Text, Whole

NUMBER = Whole() | Real()
MAYBE_NUMBER = Nothing() | NUMBER
MAYBE_WHOLE = Nothing() | Whole()
FLAG = Flag()
COUNT = Whole(low=0)
POSITIVE = Number(above=0)
NONNEGATIVE = Number(low=0)
VERBOSE = FLAG | COUNT
SEED = Nothing() | Whole(low=0)
"""A generator has a state that moves with every use: only a seed gives the same bits again."""

RANDOM_STATE = SEED | Live("a random generator", lambda value: isinstance(value, np.random.RandomState))
CLASS_WEIGHT = Nothing() | OneOf(("balanced",)) | Lookup(NUMBER)

A_LIST = Live("a list of numbers", lambda value: np.iterable(value) and not isinstance(value, str), holds_many=True)
"""Whatever NumPy makes an array of; a file takes lists, tuples and arrays of numbers."""

FOLDS = MAYBE_WHOLE | Live("folds", lambda value: hasattr(value, "split") or np.iterable(value))

LABEL_DTYPES = ("bool", "int8", "int16", *WHOLES, "uint8", "uint16", "uint32", "uint64", *FLOATS)
"""What numbers the user may have for labels: codes of categories are bytes."""

LABELS = Numbers(("n_classes",), LABEL_DTYPES) | Texts("n_classes")

INPUTS: dict[str, Kind | Optional] = {
    "n_features_in_": Whole(low=1, size="n_features"),
    "feature_names_in_": Optional(Texts("n_features")),
}

EVIDENCE: dict[str, Kind | Optional] = {
    "trace_": TraceRecord(),
    "certificate_": CertificateRecord(),
    "data_fingerprint_": Text(),
    "fit_parameters_": Lookup(Text(), key=Text()),
}
