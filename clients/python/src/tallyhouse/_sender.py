"""How requests are sent, and responses received."""

from __future__ import annotations

import time
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import httpx

from . import _wire
from .errors import describe_error, describe_failure

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

    def _ask(self, path: str, body: Mapping[str, Any] | None) -> Any:
        with self._send(path, body, _wire.JSON) as response:
            response.read()
            return _wire.read_json(response)

    @contextmanager
    def _send(
        self, path: str, body: Mapping[str, Any] | None, accept: str
    ) -> Generator[httpx.Response, None, None]:
        """Sends a request, again where that may help; yields the response, whose body has not been read."""
        request = _wire.build_request(self._http, path, body, accept)
        left = self._retries
        try:
            while True:
                response = self._http.send(request, stream=True)
                try:
                    seconds = _wire.seconds_to_wait(response, self._max_wait_seconds)
                    if left == 0 or seconds is None:
                        if not response.is_success:
                            response.read()
                            raise describe_error(response)
                        yield response
                        return
                finally:
                    response.close()
                left -= 1
                time.sleep(seconds)
        except httpx.HTTPError as error:
            raise describe_failure(error) from error
