"""Tables that are in memory already: pandas as they are, polars and its lazy frames as pandas."""

from __future__ import annotations

from typing import Any

import pandas as pd

from pellucid.tables.reading import TableError


def as_frame(table: Any) -> pd.DataFrame:
    """Return a table as a pandas data frame; a lazy one is computed.

    Examples
    --------
    >>> as_frame(pd.DataFrame({"size": [1, 2]})).shape
    (2, 1)
    """
    if isinstance(table, pd.DataFrame):
        return table
    if type(table).__module__.partition(".")[0] != "polars":
        raise TypeError(f"table must be a data frame of pandas or polars, got {type(table).__name__}.")
    whole = table.collect() if hasattr(table, "collect") else table
    try:
        found: pd.DataFrame = whole.to_pandas()
    except ImportError as error:
        raise TableError("table of polars needs pyarrow to be read. Install it: pip install pyarrow.") from error
    return found
