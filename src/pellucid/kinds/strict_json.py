"""JSON as it should be: no duplicate keys, no NaN, no endless nesting or numbers."""

from __future__ import annotations

import json
import re
from typing import Any, TypeAlias

from pellucid.kinds.errors import NotAModelFileError

Json: TypeAlias = Any
"""None, bool, int, float, str, or lists and dicts of them."""

_HALF_CHARACTER = re.compile(r"(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]")
"""An escaped surrogate: half of a character, which no file of ours contains and no UTF-8 text can."""


def dump_json(value: Json) -> str:
    """Return the value as compact JSON; a value that JSON cannot hold is a ValueError."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def parse_json(text: str, what: str) -> Json:
    """Return the value that the text describes; ``what`` names it in the error."""
    if _HALF_CHARACTER.search(text):
        raise NotAModelFileError(f"{what} must be plain JSON, but it escapes half a character.")
    try:
        return json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        cause = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise NotAModelFileError(f"{what} must be plain JSON, but {cause}.") from None


def describe(value: Json) -> str:
    """Return a short text for messages; it never walks into the value, which may be huge or deep."""
    if isinstance(value, (list, dict)):
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)} items"
    return repr(value if not isinstance(value, str) else value[:80])


def _unique_keys(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has the same key twice")
    return found


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")
