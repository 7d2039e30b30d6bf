"""How requests are sent from asyncio, and responses received."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
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


class AsyncSender:
    """What a client has beside its operations: connections, retries and errors."""

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        timeout: float = _wire.DEFAULT_TIMEOUT,
        retries: int = _wire.DEFAULT_RETRIES,
        max_wait_seconds: float = _wire.DEFAULT_MAX_WAIT_SECONDS,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._retries = retries
        self._max_wait_seconds = max_wait_seconds
        self._http = httpx.AsyncClient(
            base_url=url, headers=_wire.headers(api_key), timeout=timeout, transport=transport
        )

    async def close(self) -> None:
        """Closes the connections. `async with` does it, too."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def _ask(
        self,
        path: str,
        body: _wire.Body,
        options: _wire.Options | None = None,
    ) -> Any:
        accept = _wire.JSON if options is None else options.accept
        async with self._send(path, body, accept, options) as response:
            await response.aread()
            return _wire.read_body(response, accept)

    async def _ask_batch(self, body: BatchRequest) -> BatchResponse:
        """Asks a batch; asks those queries again that failed for now. If that fails as a whole, they keep their failures."""
        retries = _wire.Retries(self._retries, self._max_wait_seconds)
        response = cast("BatchResponse", await self._ask(_wire.BATCH, body))
        while True:
            ids, seconds = _batch.plan_retry(response, retries)
            if seconds is None:
                return response
            await asyncio.sleep(seconds)
            try:
                later = await self._ask(_wire.BATCH, _batch.select_queries(body, ids))
            except TallyhouseError:
                return response
            response = _batch.replace_results(response, later)

    @asynccontextmanager
    async def _send(
        self,
        path: str,
        body: _wire.Body,
        accept: str,
        options: _wire.Options | None = None,
    ) -> AsyncGenerator[httpx.Response, None]:
        """
        Sends a request, again where that may help; yields the response. JSON has arrived as a whole. The body of another
        format has not been read, because what was read of a stream cannot be taken back.
        """
        request = _wire.build_request(self._http, path, body, accept, options)
        try:
            response = await self._receive(request, is_stream=accept != _wire.JSON)
            try:
                if not response.is_success:
                    await response.aread()
                    raise describe_error(response)
                yield response
            finally:
                await response.aclose()
        except httpx.HTTPError as error:
            raise describe_failure(error) from error

    async def _receive(self, request: httpx.Request, *, is_stream: bool) -> httpx.Response:
        """Sends a request until there is no use in sending it again; returns the last response."""
        most = 0 if _wire.SENT_ONCE in request.extensions else self._retries
        retries = _wire.Retries(most, self._max_wait_seconds)
        while True:
            try:
                response = await self._http.send(request, stream=is_stream)
            except httpx.TransportError as error:
                seconds = retries.seconds_to_wait(_wire.describe_outcome(error))
                if seconds is None:
                    raise
            else:
                seconds = retries.seconds_to_wait(_wire.describe_outcome(response))
                if seconds is None:
                    return response
                await response.aclose()
            await asyncio.sleep(seconds)
