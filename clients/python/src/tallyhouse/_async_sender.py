"""How requests are sent from asyncio, and responses received."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any

import httpx

from . import _wire
from .errors import describe_error, describe_failure

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

    async def _ask(self, path: str, body: Mapping[str, Any] | None) -> Any:
        async with self._send(path, body, _wire.JSON) as response:
            await response.aread()
            return _wire.read_json(response)

    @asynccontextmanager
    async def _send(
        self, path: str, body: Mapping[str, Any] | None, accept: str
    ) -> AsyncGenerator[httpx.Response, None]:
        """Sends a request, again where that may help; yields the response, whose body has not been read."""
        request = _wire.build_request(self._http, path, body, accept)
        left = self._retries
        try:
            while True:
                response = await self._http.send(request, stream=True)
                try:
                    seconds = _wire.seconds_to_wait(response, self._max_wait_seconds)
                    if left == 0 or seconds is None:
                        if not response.is_success:
                            await response.aread()
                            raise describe_error(response)
                        yield response
                        return
                finally:
                    await response.aclose()
                left -= 1
                await asyncio.sleep(seconds)
        except httpx.HTTPError as error:
            raise describe_failure(error) from error
