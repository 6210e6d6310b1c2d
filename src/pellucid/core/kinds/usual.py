"""Kinds that many methods share, and the attributes that every fitted estimator of ours has."""

# ruff: noqa: D102  (the four methods of a kind are described once, in Kind)

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pellucid.core.kinds.arrays import FLOATS, WHOLES, Numbers, Texts
from pellucid.core.kinds.collections import Lookup
from pellucid.core.kinds.pages import Json, ReadPage, SchemaError, WritePage, describe
from pellucid.core.kinds.plain import Flag, Kind, Live, Nothing, Number, OneOf, Optional, Real, Text, Whole, read_as
from pellucid.core.trace import FIRST_COLUMNS, Trace
from pellucid.proofs.certificate import Certificate, Claim

MAX_COLUMNS = 64
ROWS = Numbers((None, None), ("float64",), finite=False)
STATE = Numbers(None, ("bool", "int64", "int32", "float64", "float32"), finite=False)
CLAIM_FIELDS: dict[str, Kind] = {
    "name": Text(),
    "statement": Text(),
    "value": Real(finite=False),
    "bound": Real(finite=False),
    "remedy": Text(),
}


class TraceRecord(Kind):
    """The trace of a fit: one array with a column per name, and the recorded states, if there are any."""

    says = "a trace"

    def fits(self, value: Any) -> bool:
        return type(value) is Trace and all(STATE.fits(array) for state in value.states for array in state.values())

    def write(self, value: Trace, page: WritePage, path: str) -> Json:
        rows = np.column_stack([value[name] for name in value.columns])
        states = [
            {name: STATE.write(array, page, f"{path}.states.{i}.{name}") for name, array in state.items()}
            for i, state in enumerate(value.states)
        ]
        return {"columns": list(value.columns), "rows": ROWS.write(rows, page, f"{path}.rows"), "states": states}

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        return isinstance(node, dict) and set(node) == {"columns", "rows", "states"}

    def read(self, node: Json, page: ReadPage, path: str) -> Trace:
        columns = _checked_columns(node["columns"], path)
        rows = read_as(ROWS, node["rows"], page, f"{path}.rows")
        page.agree(f"{path}.rows", (None, len(columns)), rows.shape)
        trace = Trace()
        for row in rows.tolist():
            trace.add(**dict(zip(columns, row, strict=True)))
        if not isinstance(node["states"], list):
            raise SchemaError(f"{path}.states must be a list, got {describe(node['states'])}.")
        for i, state in enumerate(node["states"]):
            if not isinstance(state, dict):
                raise SchemaError(f"{path}.states.{i} must be an object, got {describe(state)}.")
            trace.states.append({k: read_as(STATE, v, page, f"{path}.states.{i}.{k}") for k, v in state.items()})
        return trace


class CertificateRecord(Kind):
    """A certificate with its claims."""

    says = "a certificate"

    def fits(self, value: Any) -> bool:
        return type(value) is Certificate

    def write(self, value: Certificate, page: WritePage, path: str) -> Json:
        claims = [_write_claim(claim, page, f"{path}.claims") for claim in value.claims]
        return {"grade": value.grade, "reason": value.reason, "claims": claims}

    def matches(self, node: Json, page: ReadPage, path: str) -> bool:
        return isinstance(node, dict) and set(node) == {"grade", "reason", "claims"}

    def read(self, node: Json, page: ReadPage, path: str) -> Certificate:
        grade = read_as(Text(), node["grade"], page, f"{path}.grade")
        reason = read_as(Text(), node["reason"], page, f"{path}.reason")
        if not isinstance(node["claims"], list):
            raise SchemaError(f"{path}.claims must be a list, got {describe(node['claims'])}.")
        claims = tuple(_read_claim(claim, page, f"{path}.claims.{i}") for i, claim in enumerate(node["claims"]))
        try:
            return Certificate(grade, claims, reason)
        except ValueError as error:
            raise SchemaError(f"{path}: {error}") from None


def _checked_columns(columns: Json, path: str) -> list[str]:
    named = isinstance(columns, list) and len(columns) <= MAX_COLUMNS and all(isinstance(name, str) for name in columns)
    if not named or tuple(columns[:1]) != FIRST_COLUMNS or len(set(columns)) < len(columns):
        raise SchemaError(
            f"{path}.columns must be distinct names that start with {FIRST_COLUMNS}, got {describe(columns)}."
        )
    return list(columns)


def _write_claim(claim: Claim, page: WritePage, path: str) -> Json:
    numbers: Mapping[str, Any] = {"value": float(claim.value), "bound": float(claim.bound)}
    return {
        name: kind.write(numbers.get(name, getattr(claim, name)), page, path) for name, kind in CLAIM_FIELDS.items()
    }


def _read_claim(node: Json, page: ReadPage, path: str) -> Claim:
    if not isinstance(node, dict) or set(node) != set(CLAIM_FIELDS):
        raise SchemaError(f"{path} must have the fields {tuple(CLAIM_FIELDS)}, got {describe(node)}.")
    return Claim(**{name: read_as(kind, node[name], page, f"{path}.{name}") for name, kind in CLAIM_FIELDS.items()})


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
