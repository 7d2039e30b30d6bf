"""Why a request has no answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import httpx

from .models import FieldError

NO_RESPONSE: Final = "NO_RESPONSE"
"""The code of an error without a response, or with one that is not of the service."""


class TallyhouseError(Exception):
    """A request that was refused, or that got no complete response. `__cause__` is what went wrong in the network."""

    status: int
    """The HTTP status; 0 if there was no complete response."""

    code: str
    """A code of the contract, see `ErrorCode`, or `NO_RESPONSE`. A later version of the service may add codes."""

    message: str

    details: list[FieldError]
    """The invalid fields, with the code `VALIDATION_ERROR`."""

    request_id: str | None
    """The id of the request in the log of the service."""

    retry_after: int | None
    """The seconds after which to try again, if the service said so."""

    docs: str | None
    """The path of the page that says what to do, such as `/docs/errors#query_timeout`, if the service named it."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        code: str = NO_RESPONSE,
        details: Sequence[FieldError] = (),
        request_id: str | None = None,
        retry_after: int | None = None,
        docs: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.details = list(details)
        self.request_id = request_id
        self.retry_after = retry_after
        self.docs = docs

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


def describe_error(response: httpx.Response) -> TallyhouseError:
    """Returns the error of a response that was read and has none of the statuses of success."""
    error = _find_error(response)
    return TallyhouseError(
        str(error.get("message", response.reason_phrase)),
        status=response.status_code,
        code=str(error.get("code", NO_RESPONSE)),
        details=error.get("details", ()),
        request_id=response.headers.get("X-Request-Id"),
        retry_after=read_retry_after(response),
        docs=error.get("docs"),
    )


def describe_failure(cause: Exception) -> TallyhouseError:
    """Returns the error of a request that got no complete response. Raise it from its cause."""
    return TallyhouseError(str(cause) or type(cause).__name__)


def read_retry_after(response: httpx.Response) -> int | None:
    """Returns the seconds of Retry-After; None if there are none."""
    text = response.headers.get("Retry-After", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _find_error(response: httpx.Response) -> Mapping[str, Any]:
    try:
        body: object = response.json()
    except ValueError:
        return {}
    error = cast("dict[str, object]", body).get("error") if isinstance(body, dict) else None
    return cast("dict[str, Any]", error) if isinstance(error, dict) and "code" in error else {}
