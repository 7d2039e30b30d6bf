"""What both clients share: the operations, and how requests are sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import httpx

from ._version import __version__
from .errors import TallyhouseError, read_retry_after

QUERY: Final = "/v1/analytics/query"
VALUES: Final = "/v1/analytics/values"
RETENTION: Final = "/v1/analytics/retention"
FUNNEL: Final = "/v1/analytics/funnel"
BATCH: Final = "/v1/analytics/batch"
EXPLAIN: Final = "/v1/analytics/explain"
EXPLAIN_RETENTION: Final = "/v1/analytics/retention/explain"
EXPLAIN_FUNNEL: Final = "/v1/analytics/funnel/explain"
EXPORT: Final = "/v1/events/export"
PROJECT: Final = "/v1/project"

JSON: Final = "application/json"

DEFAULT_TIMEOUT: Final = 30.0
DEFAULT_RETRIES: Final = 3
DEFAULT_MAX_WAIT_SECONDS: Final = 60.0

TABLE_TIMEOUT: Final = 75.0
"""A table may begin after a minute only: its rows are sorted first."""

RETRIED: Final = frozenset({429, 503})
"""The statuses after which the same request may succeed: too many requests, and a service that is busy or restarts."""


def headers(api_key: str) -> dict[str, str]:
    """Returns the headers of all requests."""
    return {
        "Authorization": f"Bearer {api_key}",
        "Accept": JSON,
        "User-Agent": f"tallyhouse-python/{__version__}",
    }


def build_request(
    http: httpx.Client | httpx.AsyncClient,
    path: str,
    body: Mapping[str, Any] | None,
    accept: str = JSON,
) -> httpx.Request:
    """Builds the request for an operation. One for a table waits longer."""
    timeout = http.timeout
    if accept != JSON and timeout.read is not None:
        read = max(timeout.read, TABLE_TIMEOUT)
        timeout = httpx.Timeout(
            connect=timeout.connect, read=read, write=timeout.write, pool=timeout.pool
        )
    method = "GET" if body is None else "POST"
    return http.build_request(method, path, json=body, headers={"Accept": accept}, timeout=timeout)


def seconds_to_wait(response: httpx.Response, max_wait_seconds: float) -> float | None:
    """Returns the seconds after which to send the request again; None if that would not help, or take too long."""
    if response.status_code not in RETRIED:
        return None
    seconds = read_retry_after(response)
    seconds = 1 if seconds is None else seconds
    return seconds if seconds <= max_wait_seconds else None


def read_json(response: httpx.Response) -> Any:
    """Reads the body of a response, which is complete."""
    try:
        return response.json()
    except ValueError as error:
        raise TallyhouseError("The response is not JSON.", status=response.status_code) from error
