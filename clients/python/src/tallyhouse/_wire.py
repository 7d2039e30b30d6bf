"""What both clients share: the operations, and how requests are sent."""

from __future__ import annotations

import asyncio
import math
import os
import random
import urllib.parse
import uuid
from collections.abc import AsyncIterable, AsyncIterator, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, NamedTuple, cast

import httpx

from ._version import __version__
from .errors import TallyhouseError, read_retry_after

QUERY: Final = "/v1/analytics/query"
VALUES: Final = "/v1/analytics/values"
RETENTION: Final = "/v1/analytics/retention"
FUNNEL: Final = "/v1/analytics/funnel"
JOURNEYS: Final = "/v1/analytics/journeys"
BATCH: Final = "/v1/analytics/batch"
EXPLAIN: Final = "/v1/analytics/explain"
EXPLAIN_RETENTION: Final = "/v1/analytics/retention/explain"
EXPLAIN_FUNNEL: Final = "/v1/analytics/funnel/explain"
EXPLAIN_JOURNEYS: Final = "/v1/analytics/journeys/explain"
EXPORT: Final = "/v1/events/export"
PROJECT: Final = "/v1/project"

USAGE: Final = "/v1/usage"

JSON: Final = "application/json"
CSV: Final = "text/csv"

DEFAULT_TIMEOUT: Final = 30.0
DEFAULT_RETRIES: Final = 3
DEFAULT_MAX_WAIT_SECONDS: Final = 60.0

TABLE_TIMEOUT: Final = 75.0
"""A table may begin after a minute only: its rows are sorted first."""

NO_CONTENT: Final = 204

LOST_CONNECTION: Final = 0
"""The failure without a complete response; all others have the status of theirs."""

RETRIED: Final[Mapping[int, float]] = {
    LOST_CONNECTION: 2,
    429: math.inf,
    500: 2,
    502: 2,
    503: math.inf,
}
"""
The failures after which the same request may succeed, and how often it is sent again at most, as docs/errors.md promises. 502
is that of a proxy that does not reach the service. 504 is not here: the same query would take as long again.
"""


def headers(api_key: str) -> dict[str, str]:
    """Returns the headers of all requests."""
    return {
        "Authorization": f"Bearer {api_key}",
        "Accept": JSON,
        "User-Agent": f"tallyhouse-python/{__version__}",
    }


class Options(NamedTuple):
    """What a request of management has beside its path and its body. Parameters that are None are not sent."""

    method: str
    query: Mapping[str, Any] = {}
    headers: Mapping[str, str | None] = {}
    media_type: str = JSON
    """The type of the body: JSON, or that of a file."""

    accept: str = JSON
    """The type of the response: JSON, or that of a text."""


def quote(part: str) -> str:
    """Returns a part of a path."""
    return urllib.parse.quote(part, safe="")


def new_key() -> str:
    """Returns an idempotency key: the service answers a repeated request with it like the first."""
    return str(uuid.uuid4())


Upload = bytes | os.PathLike[str] | BinaryIO | Iterable[bytes] | AsyncIterable[bytes]
"""
What is uploaded: the bytes of a file, its path, a file that is open, or parts as they come. Only bytes are in memory as a whole. A path
and a file that can seek are read again for each attempt; a file from where it stands. Other parts can be sent once, so such a request
is not sent again. Only the client for asyncio takes an asynchronous iterable.
"""

Body = Mapping[str, Any] | Upload | None

CHUNK_BYTES: Final = 1024 * 1024


SENT_ONCE: Final = "tallyhouse_sent_once"
"""The extension of a request whose body cannot be read again."""


class _File:
    """The content of a file, from the same place each time it is sent."""

    def __init__(self, file: os.PathLike[str] | BinaryIO) -> None:
        self._file = file
        self._start = 0 if isinstance(file, os.PathLike) else file.tell()

    @contextmanager
    def _open(self) -> Generator[BinaryIO, None, None]:
        if isinstance(self._file, os.PathLike):
            with open(self._file, "rb") as file:
                yield file
        else:
            self._file.seek(self._start)
            yield self._file

    def size(self) -> int:
        with self._open() as file:
            return file.seek(0, os.SEEK_END) - self._start

    def __iter__(self) -> Iterator[bytes]:
        with self._open() as file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk


class _AsyncParts:
    """Parts for asyncio, each of which is read without blocking the loop."""

    def __init__(self, parts: Iterable[bytes]) -> None:
        self._parts = parts

    async def __aiter__(self) -> AsyncIterator[bytes]:
        parts = await asyncio.to_thread(iter, self._parts)
        while (part := await asyncio.to_thread(next, parts, None)) is not None:
            yield part


def _read_parts(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(CHUNK_BYTES):
        yield chunk


def _open_upload(upload: Upload) -> bytes | _File | Iterable[bytes] | AsyncIterable[bytes]:
    if isinstance(upload, (bytes, AsyncIterable)):
        return upload
    if isinstance(upload, os.PathLike):
        return _File(upload)
    if hasattr(upload, "read"):
        file = cast("BinaryIO", upload)
        return _File(file) if file.seekable() else _read_parts(file)
    return upload


def build_request(
    http: httpx.Client | httpx.AsyncClient,
    path: str,
    body: Body,
    accept: str = JSON,
    options: Options | None = None,
) -> httpx.Request:
    """Builds the request for an operation: GET without a body, and POST with one, unless there are options. One for a table waits longer."""
    timeout = http.timeout
    if accept != JSON and timeout.read is not None:
        read = max(timeout.read, TABLE_TIMEOUT)
        timeout = httpx.Timeout(
            connect=timeout.connect, read=read, write=timeout.write, pool=timeout.pool
        )
    method, query, more, media_type, _ = options or Options("GET" if body is None else "POST")
    headers = {"Accept": accept, **_omit_none(more)}
    json = body if body is None or isinstance(body, Mapping) else None
    content = None if body is None or isinstance(body, Mapping) else _open_upload(body)
    if isinstance(content, _File):
        headers["Content-Length"] = str(content.size())
    if content is not None:
        headers["Content-Type"] = media_type
    is_sent_once = content is not None and not isinstance(content, (bytes, _File))
    is_async = isinstance(http, httpx.AsyncClient)
    if is_async and not isinstance(content, (bytes, AsyncIterable, type(None))):
        content = _AsyncParts(content)
    request = http.build_request(
        method,
        path,
        json=json,
        content=content,
        params=_omit_none(query) or None,
        headers=headers,
        timeout=timeout,
    )
    if is_sent_once:
        request.extensions[SENT_ONCE] = True
    return request


def _omit_none(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


class Failure(NamedTuple):
    """Why a request or a query of a batch has no response."""

    status: int | None
    """The HTTP status, or LOST_CONNECTION; None for what no retry helps."""

    retry_after: int | None = None
    """The seconds of Retry-After."""


class Retries:
    """
    The retries of one request: how many there were, and how long they waited. They are safe: queries only read, and what creates
    something has an idempotency key.
    """

    def __init__(self, retries: int, max_wait_seconds: float) -> None:
        self._retries = retries
        self._max_wait_seconds = max_wait_seconds
        self._resent = 0
        self._waited = 0.0

    def may_help(self, failure: Failure) -> bool:
        """Returns whether to send the request once more after a failure."""
        most = 0 if failure.status is None else RETRIED.get(failure.status, 0)
        return self._resent < min(self._retries, most)

    def seconds_to_wait(self, *failures: Failure) -> float | None:
        """
        Returns the seconds after which to send the request again, and counts them; None if that would not help, or take too
        long. They are the most of Retry-After; without it 1, 2, 4, …, less up to half of it by chance, so that many clients do not
        return at once.
        """
        some = [failure for failure in failures if self.may_help(failure)]
        given = [one.retry_after for one in some if one.retry_after is not None]
        seconds = max(given) if given else 2.0**self._resent * random.uniform(0.5, 1)
        if not some or self._waited + seconds > self._max_wait_seconds:
            return None
        self._resent += 1
        self._waited += seconds
        return seconds


def describe_outcome(outcome: httpx.Response | httpx.TransportError) -> Failure:
    """Describes a response, or why there is none. A timeout is not retried: the same query would take as long again."""
    if isinstance(outcome, httpx.Response):
        return Failure(outcome.status_code, read_retry_after(outcome))
    is_lost = isinstance(outcome, (httpx.NetworkError, httpx.RemoteProtocolError))
    return Failure(LOST_CONNECTION if is_lost else None)


def read_body(response: httpx.Response, accept: str) -> Any:
    """Reads a response that is complete: an object, or a text of another type."""
    if accept == JSON:
        return read_json(response)
    if not response.headers.get("Content-Type", "").startswith(accept):
        raise TallyhouseError(f"The response is not {accept}.", status=response.status_code)
    return response.text


def read_json(response: httpx.Response) -> Any:
    """
    Reads the object of a response, which is complete; None if it is an empty one. A proxy may have sent something else, such as
    a page of HTML.
    """
    if response.status_code == NO_CONTENT:
        return None
    try:
        content: object = response.json()
    except ValueError:
        content = None
    if isinstance(content, dict):
        return cast("dict[str, Any]", content)
    kind = response.headers.get("Content-Type", "of no type")
    raise TallyhouseError(
        f"The response is not a JSON object but {kind}, and begins with {response.text[:80]!r}."
        " Is the URL that of the service, or does a proxy answer for it?",
        status=response.status_code,
        request_id=response.headers.get("X-Request-Id"),
    )
