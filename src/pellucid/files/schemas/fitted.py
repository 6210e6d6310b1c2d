"""Attributes that every fitted estimator of ours has, and kinds that many share."""

from __future__ import annotations

from pellucid.files.array_kinds import FLOATS, WHOLES, Numbers, Texts
from pellucid.files.evidence_kinds import CertificateRecord, TraceRecord
from pellucid.files.kinds import Flag, Kind, Nothing, Real, Text, Whole
from pellucid.files.schema import Optional

NUMBER = Whole() | Real()
MAYBE_NUMBER = Nothing() | NUMBER
MAYBE_WHOLE = Nothing() | Whole()
FLAG = Flag()
SEED = Nothing() | Whole(low=0)
"""A generator has a state that moves with every use: only a seed gives the same bits again."""

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
}
