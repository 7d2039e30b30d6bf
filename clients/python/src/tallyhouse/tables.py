"""Answers as tables: their formats, and what the service says beside the rows."""

from __future__ import annotations

import json
import os
import sys
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias

import httpx

from .errors import TallyhouseError
from .models import AnalyticsQueryRequest, Comparison, Period, Totals

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


class TableInfo(TypedDict):
    """What the service says beside the rows of a table."""

    period: Period
    total: int
    """The number of rows before `limit` and `offset` were applied."""

    limit: int | Literal["all"]
    offset: int
    comparison: NotRequired[Comparison]
    totals: NotRequired[Totals]


def ask_for_all(body: AnalyticsQueryRequest) -> AnalyticsQueryRequest:
    """Returns a query for all rows, unless the body says how many."""
    return {**body, "limit": body.get("limit", "all")}


def choose_format(file: str | os.PathLike[str], format: Format | None) -> Format:
    """Returns the format of a file: the one that is given, or that of its suffix."""
    if format is not None:
        return format
    suffix = Path(file).suffix.lower().lstrip(".")
    for known in MEDIA_TYPES:
        if suffix == known:
            return known
    raise ValueError(f"{file}: no known suffix; give the format, one of {', '.join(MEDIA_TYPES)}")


def read_info(response: httpx.Response, media_type: str) -> TableInfo:
    """Reads what the headers of a table say. Its body need not have been read."""
    headers = response.headers
    if not headers.get("Content-Type", "").startswith(media_type):
        raise TallyhouseError(f"The response is not {media_type}.", status=response.status_code)
    _check_end(response)
    limit: str = headers["Tally-Limit"]
    info: TableInfo = {
        "period": _read_period(headers["Tally-Period"]),
        "total": int(headers["Tally-Total"]),
        "limit": "all" if limit == "all" else int(limit),
        "offset": int(headers["Tally-Offset"]),
    }
    if "Tally-Comparison" in headers:
        info["comparison"] = {"period": _read_period(headers["Tally-Comparison"])}
    if "Tally-Totals" in headers:
        info["totals"] = json.loads(headers["Tally-Totals"])
    return info


def _read_period(text: str) -> Period:
    start, end = text.split("/")
    return {"from": start, "to": end}


def _check_end(response: httpx.Response) -> None:
    """
    Refuses a response that could end too early unnoticed: of HTTP/1 only one with a length, or in chunks, has an end.
    A proxy may have changed it.
    """
    is_framed = "Content-Length" in response.headers or "Transfer-Encoding" in response.headers
    if not is_framed and response.http_version.startswith("HTTP/1"):
        raise TallyhouseError("The response does not say where it ends, so it may be incomplete.")


@contextmanager
def replace_file(file: str | os.PathLike[str]) -> Generator[BinaryIO, None, None]:
    """Opens a new file that takes the place of another when all has been written, and is removed if something fails."""
    target = Path(file)
    part = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    try:
        with part.open("xb") as out:
            yield out
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
