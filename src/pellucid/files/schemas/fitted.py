"""Attributes that every fitted estimator of ours has, and kinds that many share."""

from __future__ import annotations

from pellucid.files.array_kinds import WHOLES, Numbers, Texts
from pellucid.files.evidence_kinds import CertificateRecord, TraceRecord
from pellucid.files.kinds import Flag, Kind, Nothing, Real, Text, Whole
from pellucid.files.schema import Optional

NUMBER = Whole() | Real()
MAYBE_NUMBER = Nothing() | NUMBER
MAYBE_WHOLE = Nothing() | Whole()
FLAG = Flag()
SEED = Nothing() | Whole(low=0)
"""A generator has a state that moves with every use: only a seed gives the same bits again."""

LABELS = Numbers(("n_classes",), ("bool", *WHOLES, "float64")) | Texts("n_classes")

INPUTS: dict[str, Kind | Optional] = {
    "n_features_in_": Whole(low=1, size="n_features"),
    "feature_names_in_": Optional(Texts("n_features")),
}

EVIDENCE: dict[str, Kind | Optional] = {
    "trace_": TraceRecord(),
    "certificate_": CertificateRecord(),
    "data_fingerprint_": Text(),
}
