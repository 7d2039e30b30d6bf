"""The client for asyncio."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

import httpx

from . import _wire, frames, paging, tables
from .errors import describe_error, describe_failure
from .models import (
    AnalyticsQueryRequest,
    AnalyticsQueryResponse,
    BatchRequest,
    BatchResponse,
    ExplainResponse,
    FunnelExplainResponse,
    FunnelRequest,
    FunnelResponse,
    Project,
    RetentionExplainResponse,
    RetentionRequest,
    RetentionResponse,
    Row,
    ValuesRequest,
    ValuesResponse,
)

if TYPE_CHECKING:
    import pandas
    import pyarrow  # pyright: ignore[reportMissingImports]


class AsyncClient:
    """
    Asks the service from asyncio. All methods raise `TallyhouseError` if there is no answer.

    :param url: The URL of the service, such as `https://stats.example`.
    :param api_key: The API key. It belongs on servers only.
    :param timeout: The seconds to wait for a connection, and for each further part of a response.
    :param retries: How often a request is sent again after 429 or 503; 0 for never.
    :param max_wait_seconds: A longer Retry-After is not waited for: the error is raised.
    :param transport: Sends the requests; that of httpx if left out.
    """

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

    async def query(self, body: AnalyticsQueryRequest) -> AnalyticsQueryResponse:
        """POST /v1/analytics/query"""
        return cast("AnalyticsQueryResponse", await self._ask(_wire.QUERY, body))

    async def pages(self, body: AnalyticsQueryRequest) -> AsyncIterator[AnalyticsQueryResponse]:
        """All pages of a query, as they come, from its `offset` on. The period is that of the first page."""
        asked: AnalyticsQueryRequest | None = paging.first_page(body)
        while asked is not None:
            page = await self.query(asked)
            yield page
            asked = paging.next_page(asked, page)

    async def rows(self, body: AnalyticsQueryRequest) -> AsyncIterator[Row]:
        """The rows of all pages of a query. `limit` is the size of a page."""
        async for page in self.pages(body):
            for row in page["data"]:
                yield row

    async def frame(self, body: AnalyticsQueryRequest) -> pandas.DataFrame:
        """The answer to a query as a DataFrame of pandas: all rows, unless the body has a `limit`."""
        frames.load_pandas()
        content, info = await self._read_table(body, "csv")
        return frames.read_frame(content, body, info)

    async def arrow(  # pyright: ignore[reportUnknownParameterType]
        self, body: AnalyticsQueryRequest
    ) -> pyarrow.Table:  # pyright: ignore[reportUnknownMemberType]
        """The answer to a query as a table of Arrow: all rows, unless the body has a `limit`."""
        frames.load_pyarrow()
        return frames.read_arrow((await self._read_table(body, "arrow"))[0])

    async def download(
        self,
        body: AnalyticsQueryRequest,
        file: str | os.PathLike[str],
        format: tables.Format | None = None,
    ) -> tables.TableInfo:
        """
        Writes the answer to a query to a file while it arrives: all rows, unless the body has a `limit`. The suffix of
        the file is its format, unless that is given. A file is there, or replaced, only when it is complete.
        """
        media_type = tables.MEDIA_TYPES[tables.choose_format(file, format)]
        async with self._send(_wire.QUERY, tables.ask_for_all(body), media_type) as response:
            info = tables.read_info(response, media_type)
            with tables.replace_file(file) as out:
                async for chunk in response.aiter_bytes():
                    out.write(chunk)
            return info

    async def values(self, body: ValuesRequest) -> ValuesResponse:
        """POST /v1/analytics/values"""
        return cast("ValuesResponse", await self._ask(_wire.VALUES, body))

    async def batch(self, body: BatchRequest) -> BatchResponse:
        """POST /v1/analytics/batch"""
        return cast("BatchResponse", await self._ask(_wire.BATCH, body))

    async def retention(self, body: RetentionRequest) -> RetentionResponse:
        """POST /v1/analytics/retention"""
        return cast("RetentionResponse", await self._ask(_wire.RETENTION, body))

    async def funnel(self, body: FunnelRequest) -> FunnelResponse:
        """POST /v1/analytics/funnel"""
        return cast("FunnelResponse", await self._ask(_wire.FUNNEL, body))

    async def explain(self, body: AnalyticsQueryRequest) -> ExplainResponse:
        """POST /v1/analytics/explain"""
        return cast("ExplainResponse", await self._ask(_wire.EXPLAIN, body))

    async def explain_retention(self, body: RetentionRequest) -> RetentionExplainResponse:
        """POST /v1/analytics/retention/explain"""
        path = _wire.EXPLAIN_RETENTION
        return cast("RetentionExplainResponse", await self._ask(path, body))

    async def explain_funnel(self, body: FunnelRequest) -> FunnelExplainResponse:
        """POST /v1/analytics/funnel/explain"""
        return cast("FunnelExplainResponse", await self._ask(_wire.EXPLAIN_FUNNEL, body))

    async def project(self) -> Project:
        """GET /v1/project"""
        return cast("Project", (await self._ask(_wire.PROJECT, None))["project"])

    async def close(self) -> None:
        """Closes the connections. `async with` does it, too."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
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

    async def _read_table(
        self, body: AnalyticsQueryRequest, format: tables.Format
    ) -> tuple[bytes, tables.TableInfo]:
        media_type = tables.MEDIA_TYPES[format]
        async with self._send(_wire.QUERY, tables.ask_for_all(body), media_type) as response:
            info = tables.read_info(response, media_type)
            return await response.aread(), info

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
