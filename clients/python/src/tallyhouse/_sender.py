"""How requests are sent, and responses received."""

from __future__ import annotations

import time
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, cast

import httpx

from . import _batch, _wire
from .errors import TallyhouseError, describe_error, describe_failure
from .models import BatchRequest, BatchResponse

if sys.version_info >= (3, 11):
    from typing import Self
else:
    from typing_extensions import Self


class Sender:
    """What a client has beside its operations: connections, retries and errors."""

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        timeout: float = _wire.DEFAULT_TIMEOUT,
        retries: int = _wire.DEFAULT_RETRIES,
        max_wait_seconds: float = _wire.DEFAULT_MAX_WAIT_SECONDS,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._retries = retries
        self._max_wait_seconds = max_wait_seconds
        self._http = httpx.Client(
            base_url=url, headers=_wire.headers(api_key), timeout=timeout, transport=transport
        )

    def close(self) -> None:
        """Closes the connections. `with` does it, too."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _ask(
        self,
        path: str,
        body: _wire.Body,
        options: _wire.Options | None = None,
    ) -> Any:
        accept = _wire.JSON if options is None else options.accept
        with self._send(path, body, accept, options) as response:
            response.read()
            return _wire.read_body(response, accept)

    def _ask_batch(self, body: BatchRequest) -> BatchResponse:
        """Asks a batch; asks those queries again that failed for now. If that fails as a whole, they keep their failures."""
        retries = _wire.Retries(self._retries, self._max_wait_seconds)
        response = cast("BatchResponse", self._ask(_wire.BATCH, body))
        while True:
            ids, seconds = _batch.plan_retry(response, retries)
            if seconds is None:
                return response
            time.sleep(seconds)
            try:
                later = self._ask(_wire.BATCH, _batch.select_queries(body, ids))
            except TallyhouseError:
                return response
            response = _batch.replace_results(response, later)

    @contextmanager
    def _send(
        self,
        path: str,
        body: _wire.Body,
        accept: str,
        options: _wire.Options | None = None,
    ) -> Generator[httpx.Response, None, None]:
        """
        Sends a request, again where that may help; yields the response. JSON has arrived as a whole. The body of another
        format has not been read, because what was read of a stream cannot be taken back.
        """
        request = _wire.build_request(self._http, path, body, accept, options)
        try:
            response = self._receive(request, is_stream=accept != _wire.JSON)
            try:
                if not response.is_success:
                    response.read()
                    raise describe_error(response)
                yield response
            finally:
                response.close()
        except httpx.HTTPError as error:
            raise describe_failure(error) from error

    def _receive(self, request: httpx.Request, *, is_stream: bool) -> httpx.Response:
        """Sends a request until there is no use in sending it again; returns the last response."""
        most = 0 if _wire.SENT_ONCE in request.extensions else self._retries
        retries = _wire.Retries(most, self._max_wait_seconds)
        while True:
            try:
                response = self._http.send(request, stream=is_stream)
            except httpx.TransportError as error:
                seconds = retries.seconds_to_wait(_wire.describe_outcome(error))
                if seconds is None:
                    raise
            else:
                seconds = retries.seconds_to_wait(_wire.describe_outcome(response))
                if seconds is None:
                    return response
                response.close()
            time.sleep(seconds)
