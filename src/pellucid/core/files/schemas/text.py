"""Schemas of scikit-learn's transformers of texts."""

from __future__ import annotations

from typing import Any

from pellucid.core.files.registry import Model
from pellucid.core.files.schema import Schema
from pellucid.core.files.schemas.transformers import ScalarType
from pellucid.core.kinds.arrays import Numbers
from pellucid.core.kinds.collections import Lookup, Row
from pellucid.core.kinds.pages import SchemaError
from pellucid.core.kinds.plain import Nothing, OneOf, Only, Text, Whole
from pellucid.core.kinds.usual import FLAG, INPUTS, MAYBE_WHOLE, NUMBER

LENGTH = Whole(low=1, high=16)
WORD_PATTERN = r"(?u)\b\w\w+\b"
"""Scikit-learn's own: a pattern from a file could take forever to match."""
WEIGHTS = {
    "norm": Nothing() | OneOf(("l1", "l2")),
    "use_idf": Only(True),
    "smooth_idf": FLAG,
    "sublinear_tf": FLAG,
}


def _rebuild_vectorizer(model: Any) -> None:
    model._stop_words_id = id(model.stop_words)
    model.fixed_vocabulary_ = False
    if type(model._tfidf).__name__ != "TfidfTransformer" or not hasattr(model._tfidf, "idf_"):
        raise SchemaError("_tfidf of TfidfVectorizer must be a fitted TfidfTransformer.")
    if sorted(model.vocabulary_.values()) != list(range(len(model._tfidf.idf_))):
        raise SchemaError("vocabulary_ of TfidfVectorizer must number its terms, each with a weight.")


SCHEMAS = (
    Schema(
        "TfidfTransformer",
        "sklearn.feature_extraction.text",
        parameters=WEIGHTS,
        attributes=INPUTS | {"idf_": Numbers(("n_features",))},
    ),
    Schema(
        "TfidfVectorizer",
        "sklearn.feature_extraction.text",
        parameters={
            "input": OneOf(("content",)),
            "encoding": OneOf(("utf-8",)),
            "decode_error": OneOf(("strict", "ignore", "replace")),
            "strip_accents": Nothing() | OneOf(("ascii", "unicode")),
            "lowercase": FLAG,
            "preprocessor": Nothing(),
            "tokenizer": Nothing(),
            "analyzer": OneOf(("word", "char", "char_wb")),
            "stop_words": Nothing(),
            "token_pattern": OneOf((WORD_PATTERN,)),
            "ngram_range": Row((LENGTH, LENGTH)),
            "max_df": NUMBER,
            "min_df": NUMBER,
            "max_features": MAYBE_WHOLE,
            "vocabulary": Nothing(),
            "binary": FLAG,
            "dtype": ScalarType(),
            **WEIGHTS,
        },
        attributes={"vocabulary_": Lookup(Whole(low=0), key=Text()), "_tfidf": Model()},
        rebuilt=frozenset({"_stop_words_id", "fixed_vocabulary_"}),
        rebuild=_rebuild_vectorizer,
    ),
)
