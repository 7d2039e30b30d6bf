"""Answers as tables of pandas and Arrow. Both libraries are optional, and loaded when they are first needed."""

from __future__ import annotations

import csv
import importlib
import io
from typing import TYPE_CHECKING, Any

from .models import AnalyticsQueryRequest
from .tables import TableInfo

if TYPE_CHECKING:
    import pandas

COUNTS = frozenset({"users", "pageviews", "events", "visits", "new_users"})
"""The metrics that are integers."""


def load_pandas() -> Any:
    return _load("pandas", "pandas")


def load_pyarrow() -> Any:
    return _load("pyarrow", "arrow")


def _load(name: str, extra: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        install = f"pip install 'tallyhouse-client[{extra}]'"
        raise ImportError(f"This needs {name}: {install}", name=name) from error


def read_frame(content: bytes, body: AnalyticsQueryRequest, info: TableInfo) -> pandas.DataFrame:
    """
    Reads CSV: groups as strings, `date` as the start of the bucket in the time zone of the query, counts as `Int64`,
    other metrics as `float64`. What the service says beside the rows is in `attrs`.
    """
    pd = load_pandas()
    # The country NA is no missing value, nor is the empty group: only metrics have these.
    groups = [
        "date" if name.startswith("interval:") else name
        for name in [*body.get("group_by", []), *body.get("then_by", [])]
    ]
    header = next(csv.reader(io.TextIOWrapper(io.BytesIO(content), "utf-8", newline="")))
    metrics = header[len(groups) :]
    frame = pd.read_csv(
        io.BytesIO(content),
        dtype={
            **{name: "string" for name in groups},
            **{name: "Int64" if _is_count(name) else "float64" for name in metrics},
        },
        na_values={name: [""] for name in metrics},
        keep_default_na=False,
        skip_blank_lines=False,
        float_precision="round_trip",
    )
    if "date" in groups:
        dates = pd.to_datetime(frame["date"], utc=True)
        frame["date"] = dates.dt.tz_convert(body.get("time_zone", "UTC"))
    frame.attrs.update(info)
    return frame


def _is_count(column: str) -> bool:
    return column.removeprefix("comparison_") in COUNTS


def read_arrow(content: bytes) -> Any:
    """Reads a stream of Arrow. The metadata of the schema has what the service says beside the rows."""
    return load_pyarrow().ipc.open_stream(content).read_all()
