"""The client for asyncio."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from . import _wire, frames, paging, tables
from ._async_sender import AsyncSender
from .models import (
    AnalyticsQueryRequest,
    AnalyticsQueryResponse,
    BatchRequest,
    BatchResponse,
    ExplainResponse,
    ExportedEvent,
    ExportRequest,
    FunnelExplainResponse,
    FunnelRequest,
    FunnelResponse,
    JourneysExplainResponse,
    JourneysRequest,
    JourneysResponse,
    Project,
    RetentionExplainResponse,
    RetentionRequest,
    RetentionResponse,
    QueryRow,
    ValuesRequest,
    ValuesResponse,
)

if TYPE_CHECKING:
    import httpx
    import pandas
    import pyarrow  # pyright: ignore[reportMissingImports]


class AsyncClient(AsyncSender):
    """
    Asks the service from asyncio. All methods raise `TallyhouseError` if there is no answer.

    :param url: The URL of the service, such as `https://stats.example`.
    :param api_key: The API key. It belongs on servers only.
    :param timeout: The seconds to wait for a connection, and for each further part of a response.
    :param retries: How often a request is sent again at most; 0 for never. After some failures it is less, see the README.
    :param max_wait_seconds: The seconds that all waits of a request take at most. Instead of a wait beyond, the error is raised.
    :param transport: Sends the requests; that of httpx if left out.
    """

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

    async def rows(self, body: AnalyticsQueryRequest) -> AsyncIterator[QueryRow]:
        """The rows of all pages of a query. `limit` is the size of a page."""
        async for page in self.pages(body):
            for row in page["data"]:
                yield row

    async def frame(
        self, body: tables.TableRequest, operation: tables.TableOperation = "query"
    ) -> pandas.DataFrame:
        """The answer to an operation as a DataFrame of pandas: all rows, unless the body has a `limit`."""
        frames.load_pandas()
        content, info = await self._read_table(operation, body, "csv")
        return frames.read_frame(content, operation, body, info)

    async def arrow(  # pyright: ignore[reportUnknownParameterType]
        self, body: tables.TableRequest, operation: tables.TableOperation = "query"
    ) -> pyarrow.Table:  # pyright: ignore[reportUnknownMemberType]
        """The answer to an operation as a table of Arrow: all rows, unless the body has a `limit`."""
        frames.load_pyarrow()
        content, _ = await self._read_table(operation, body, "arrow")
        return frames.read_arrow(content)

    async def download(
        self,
        body: tables.TableRequest,
        file: str | os.PathLike[str],
        format: tables.Format | None = None,
        operation: tables.TableOperation = "query",
    ) -> tables.TableInfo:
        """
        Writes the answer to an operation to a file while it arrives: all rows, unless the body has a `limit`. The suffix
        of the file is its format, unless that is given. A file is there, or replaced, only when it is complete.
        """
        path, asked = tables.ask_for_all(operation, body)
        return tables.read_info(await self._write_file(path, asked, file, format))

    async def export(
        self,
        body: ExportRequest,
        file: str | os.PathLike[str],
        format: tables.Format | None = None,
    ) -> tables.ExportInfo:
        """
        POST /v1/events/export. Writes single events to a file, as `download` does. The API key needs the scope `export`.
        """
        return tables.read_export_info(await self._write_file(_wire.EXPORT, body, file, format))

    async def events(self, body: ExportRequest) -> AsyncIterator[ExportedEvent]:
        """The exported events, one after the other as they arrive."""
        media_type = tables.MEDIA_TYPES["ndjson"]
        lines = tables.Lines()
        async with self._send(_wire.EXPORT, body, media_type) as response:
            tables.check_response(response, media_type)
            async for part in response.aiter_bytes():
                for event in lines.read(part):
                    yield cast("ExportedEvent", event)
        lines.end()

    async def values(self, body: ValuesRequest) -> ValuesResponse:
        """POST /v1/analytics/values"""
        return cast("ValuesResponse", await self._ask(_wire.VALUES, body))

    async def batch(self, body: BatchRequest) -> BatchResponse:
        """POST /v1/analytics/batch. Queries that failed for now are sent again; a result that is still an error is no exception."""
        return await self._ask_batch(body)

    async def retention(self, body: RetentionRequest) -> RetentionResponse:
        """POST /v1/analytics/retention"""
        return cast("RetentionResponse", await self._ask(_wire.RETENTION, body))

    async def funnel(self, body: FunnelRequest) -> FunnelResponse:
        """POST /v1/analytics/funnel"""
        return cast("FunnelResponse", await self._ask(_wire.FUNNEL, body))

    async def journeys(self, body: JourneysRequest) -> JourneysResponse:
        """POST /v1/analytics/journeys"""
        return cast("JourneysResponse", await self._ask(_wire.JOURNEYS, body))

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

    async def explain_journeys(self, body: JourneysRequest) -> JourneysExplainResponse:
        """POST /v1/analytics/journeys/explain"""
        return cast("JourneysExplainResponse", await self._ask(_wire.EXPLAIN_JOURNEYS, body))

    async def project(self) -> Project:
        """GET /v1/project"""
        return cast("Project", (await self._ask(_wire.PROJECT, None))["project"])

    async def _read_table(
        self, operation: tables.TableOperation, body: tables.TableRequest, format: tables.Format
    ) -> tuple[bytes, tables.TableInfo]:
        media_type = tables.MEDIA_TYPES[format]
        path, asked = tables.ask_for_all(operation, body)
        async with self._send(path, asked, media_type) as response:
            tables.check_response(response, media_type)
            return await response.aread(), tables.read_info(response.headers)

    async def _write_file(
        self,
        path: str,
        body: Mapping[str, Any],
        file: str | os.PathLike[str],
        format: tables.Format | None,
    ) -> httpx.Headers:
        """Writes a response to a file; returns its headers."""
        media_type = tables.MEDIA_TYPES[tables.choose_format(file, format)]
        async with self._send(path, body, media_type) as response:
            tables.check_response(response, media_type)
            with tables.replace_file(file) as out:
                async for part in response.aiter_bytes():
                    out.write(part)
            return response.headers
