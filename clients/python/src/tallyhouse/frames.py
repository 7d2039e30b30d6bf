"""Answers as tables of pandas and Arrow. Both libraries are optional, and loaded when they are first needed."""

from __future__ import annotations

import csv
import importlib
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from .tables import TableInfo, TableOperation, TableRequest

if TYPE_CHECKING:
    import pandas

COUNTS = frozenset({"users", "pageviews", "events", "visits", "new_users"})
"""The metrics that are integers."""

POSITIONS = frozenset({"size", "interval", "step"})
"""The other integers of tables: of cohorts and of steps."""

DATES = frozenset({"date", "cohort"})
"""The columns that are moments."""


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


def read_frame(
    content: bytes, operation: TableOperation, body: TableRequest, info: TableInfo
) -> pandas.DataFrame:
    """
    Reads CSV: texts as strings, `date` and `cohort` as the start of the bucket in the time zone of the query, counts as
    `Int64`, other numbers as `float64`. What the service says beside the rows is in `attrs`.
    """
    pd = load_pandas()
    asked = cast("Mapping[str, Any]", body)
    texts = _list_texts(operation, asked)
    header = next(csv.reader(io.TextIOWrapper(io.BytesIO(content), "utf-8", newline="")))
    counts = _list_counts(asked)
    numbers = [name for index, name in enumerate(header) if index >= len(texts)]
    frame = pd.read_csv(
        io.BytesIO(content),
        dtype={
            **{name: "string" for name in texts},
            **{name: "Int64" if _is_count(name, counts) else "float64" for name in numbers},
        },
        # The country NA is no missing value, nor is the empty text: only numbers have these.
        na_values={name: [""] for name in numbers},
        keep_default_na=False,
        skip_blank_lines=False,
        float_precision="round_trip",
    )
    for name in DATES.intersection(texts):
        dates = pd.to_datetime(frame[name], utc=True)
        frame[name] = dates.dt.tz_convert(asked.get("time_zone", "UTC"))
    frame.attrs.update(info)
    return frame


def _list_texts(operation: TableOperation, body: Mapping[str, Any]) -> list[str]:
    """Returns the first columns of a table, which are no numbers."""
    if operation == "query":
        groups = [*body.get("group_by", []), *body.get("then_by", [])]
        return ["date" if name.startswith("interval:") else name for name in groups]
    texts: dict[str, list[str]] = {
        "values": ["value"],
        "retention": ["cohort"],
        "funnel": [],
        "journeys": ["kind", "value"],
    }
    return texts[operation]


def _list_counts(body: Mapping[str, Any]) -> frozenset[str]:
    """Returns the columns that are integers: counts of numbers among them, which have names of their own."""
    metrics = [metric for metric in body.get("metrics", []) if not isinstance(metric, str)]
    named = frozenset(metric["as"] for metric in metrics if metric["metric"] == "count")
    return COUNTS | POSITIONS | named


def _is_count(column: str, counts: frozenset[str]) -> bool:
    return column.removeprefix("comparison_") in counts


def read_arrow(content: bytes) -> Any:
    """Reads a stream of Arrow. The metadata of the schema has what the service says beside the rows."""
    return load_pyarrow().ipc.open_stream(content).read_all()
