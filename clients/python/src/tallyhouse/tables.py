"""Answers as tables: their formats, and what the service says beside the rows."""

from __future__ import annotations

import json
import os
import sys
import uuid
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

import httpx

from . import _wire
from .errors import TallyhouseError
from .models import (
    AnalyticsQueryRequest,
    Comparison,
    FunnelRequest,
    JourneysRequest,
    Period,
    QueryMetadata,
    RetentionRequest,
    Totals,
    ValuesRequest,
)

if sys.version_info >= (3, 11):
    from typing import NotRequired, TypedDict
else:
    from typing_extensions import NotRequired, TypedDict

Format: TypeAlias = Literal["csv", "ndjson", "arrow", "parquet"]

MEDIA_TYPES: dict[Format, str] = {
    "csv": "text/csv",
    "ndjson": "application/x-ndjson",
    "arrow": "application/vnd.apache.arrow.stream",
    "parquet": "application/vnd.apache.parquet",
}

TableOperation: TypeAlias = Literal["query", "values", "retention", "funnel", "journeys"]
"""The operations whose answers are tables."""

TableRequest: TypeAlias = (
    AnalyticsQueryRequest | ValuesRequest | RetentionRequest | FunnelRequest | JourneysRequest
)
"""The body of such an operation."""

_PATHS: dict[TableOperation, str] = {
    "query": _wire.QUERY,
    "values": _wire.VALUES,
    "retention": _wire.RETENTION,
    "funnel": _wire.FUNNEL,
    "journeys": _wire.JOURNEYS,
}

_MAX_LIMITS: dict[TableOperation, int | Literal["all"]] = {"query": "all", "values": 1_000}
"""The largest `limit` of the operations that have one."""


class TableInfo(TypedDict):
    """What the service says beside the rows of a table."""

    period: Period
    total: int
    """The number of rows before `limit` and `offset` were applied."""

    limit: NotRequired[int | Literal["all"]]
    """The `limit` of a query and of values."""

    offset: NotRequired[int]
    comparison: NotRequired[Comparison]
    totals: NotRequired[Totals]
    metadata: NotRequired[QueryMetadata]


class ExportInfo(TypedDict):
    """What the service says beside the events of an export."""

    period: Period


def ask_for_all(operation: TableOperation, body: TableRequest) -> tuple[str, Mapping[str, Any]]:
    """Returns the path of an operation, and its body for as many rows as it allows, unless the body says how many."""
    asked: dict[str, Any] = {**body}
    if operation in _MAX_LIMITS:
        asked.setdefault("limit", _MAX_LIMITS[operation])
    return _PATHS[operation], asked


def choose_format(file: str | os.PathLike[str], format: Format | None) -> Format:
    """Returns the format of a file: the one that is given, or that of its suffix."""
    if format is not None:
        return format
    suffix = Path(file).suffix.lower().lstrip(".")
    for known in MEDIA_TYPES:
        if suffix == known:
            return known
    raise ValueError(f"{file}: no known suffix; give the format, one of {', '.join(MEDIA_TYPES)}")


def check_response(response: httpx.Response, media_type: str) -> None:
    """
    Refuses a response of another type, and one that could end too early unnoticed: of HTTP/1 only one with a length, or in
    chunks, has an end. A proxy may have changed it. The body need not have been read.
    """
    headers = response.headers
    if not headers.get("Content-Type", "").startswith(media_type):
        raise TallyhouseError(f"The response is not {media_type}.", status=response.status_code)
    if "Tally-Period" not in headers:
        raise TallyhouseError("The response has no period.", status=response.status_code)
    is_framed = "Content-Length" in headers or "Transfer-Encoding" in headers
    if not is_framed and response.http_version.startswith("HTTP/1"):
        raise TallyhouseError("The response does not say where it ends, so it may be incomplete.")


def read_info(headers: httpx.Headers) -> TableInfo:
    """Reads what the headers of a table say."""
    info: TableInfo = {
        "period": _read_period(headers["Tally-Period"]),
        "total": int(headers["Tally-Total"]),
    }
    if "Tally-Limit" in headers:
        limit: str = headers["Tally-Limit"]
        info["limit"] = "all" if limit == "all" else int(limit)
    if "Tally-Offset" in headers:
        info["offset"] = int(headers["Tally-Offset"])
    if "Tally-Comparison" in headers:
        info["comparison"] = {"period": _read_period(headers["Tally-Comparison"])}
    if "Tally-Totals" in headers:
        info["totals"] = json.loads(headers["Tally-Totals"])
    if "Tally-Metadata" in headers:
        info["metadata"] = json.loads(headers["Tally-Metadata"])
    return info


def read_export_info(headers: httpx.Headers) -> ExportInfo:
    """Reads what the headers of an export say."""
    return {"period": _read_period(headers["Tally-Period"])}


def _read_period(text: str) -> Period:
    start, end = text.split("/")
    return {"from": start, "to": end}


class Lines:
    """Reads the objects of NDJSON, whose lines begin in one part and end in another."""

    def __init__(self) -> None:
        self._rest = b""

    def read(self, part: bytes) -> Iterator[object]:
        """Yields the objects that end in a part."""
        *lines, self._rest = (self._rest + part).split(b"\n")
        for line in lines:
            try:
                yield json.loads(line)
            except ValueError as error:
                raise TallyhouseError("A line of the response is not JSON.") from error

    def end(self) -> None:
        """Refuses a response that ends within a line."""
        if self._rest:
            raise TallyhouseError("The response ends within a line.")


@contextmanager
def replace_file(file: str | os.PathLike[str]) -> Generator[BinaryIO, None, None]:
    """Opens a new file. It takes the place of another when all has been written, and is removed if something fails."""
    target = Path(file)
    part = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    try:
        with part.open("xb") as out:
            yield out
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
