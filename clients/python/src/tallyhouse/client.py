"""The client."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from . import _wire, frames, paging, tables
from ._sender import Sender
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


class Client(Sender):
    """
    Asks the service. All methods raise `TallyhouseError` if there is no answer.

    :param url: The URL of the service, such as `https://stats.example`.
    :param api_key: The API key. It belongs on servers only.
    :param timeout: The seconds to wait for a connection, and for each further part of a response.
    :param retries: How often a request is sent again at most; 0 for never. After some failures it is less, see the README.
    :param max_wait_seconds: The seconds that all waits of a request take at most. Instead of a wait beyond, the error is raised.
    :param transport: Sends the requests; that of httpx if left out.
    """

    def query(self, body: AnalyticsQueryRequest) -> AnalyticsQueryResponse:
        """POST /v1/analytics/query"""
        return cast("AnalyticsQueryResponse", self._ask(_wire.QUERY, body))

    def pages(self, body: AnalyticsQueryRequest) -> Iterator[AnalyticsQueryResponse]:
        """All pages of a query, as they come, from its `offset` on. The period is that of the first page."""
        asked: AnalyticsQueryRequest | None = paging.first_page(body)
        while asked is not None:
            page = self.query(asked)
            yield page
            asked = paging.next_page(asked, page)

    def rows(self, body: AnalyticsQueryRequest) -> Iterator[QueryRow]:
        """The rows of all pages of a query. `limit` is the size of a page."""
        for page in self.pages(body):
            yield from page["data"]

    def frame(
        self, body: tables.TableRequest, operation: tables.TableOperation = "query"
    ) -> pandas.DataFrame:
        """The answer to an operation as a DataFrame of pandas: all rows, unless the body has a `limit`."""
        frames.load_pandas()
        content, info = self._read_table(operation, body, "csv")
        return frames.read_frame(content, operation, body, info)

    def arrow(  # pyright: ignore[reportUnknownParameterType]
        self, body: tables.TableRequest, operation: tables.TableOperation = "query"
    ) -> pyarrow.Table:  # pyright: ignore[reportUnknownMemberType]
        """The answer to an operation as a table of Arrow: all rows, unless the body has a `limit`."""
        frames.load_pyarrow()
        content, _ = self._read_table(operation, body, "arrow")
        return frames.read_arrow(content)

    def download(
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
        return tables.read_info(self._write_file(path, asked, file, format))

    def export(
        self,
        body: ExportRequest,
        file: str | os.PathLike[str],
        format: tables.Format | None = None,
    ) -> tables.ExportInfo:
        """
        POST /v1/events/export. Writes single events to a file, as `download` does. The API key needs the scope `export`.
        """
        return tables.read_export_info(self._write_file(_wire.EXPORT, body, file, format))

    def events(self, body: ExportRequest) -> Iterator[ExportedEvent]:
        """The exported events, one after the other as they arrive."""
        media_type = tables.MEDIA_TYPES["ndjson"]
        lines = tables.Lines()
        with self._send(_wire.EXPORT, body, media_type) as response:
            tables.check_response(response, media_type)
            for part in response.iter_bytes():
                for event in lines.read(part):
                    yield cast("ExportedEvent", event)
        lines.end()

    def values(self, body: ValuesRequest) -> ValuesResponse:
        """POST /v1/analytics/values"""
        return cast("ValuesResponse", self._ask(_wire.VALUES, body))

    def batch(self, body: BatchRequest) -> BatchResponse:
        """POST /v1/analytics/batch. Queries that failed for now are sent again; a result that is still an error is no exception."""
        return self._ask_batch(body)

    def retention(self, body: RetentionRequest) -> RetentionResponse:
        """POST /v1/analytics/retention"""
        return cast("RetentionResponse", self._ask(_wire.RETENTION, body))

    def funnel(self, body: FunnelRequest) -> FunnelResponse:
        """POST /v1/analytics/funnel"""
        return cast("FunnelResponse", self._ask(_wire.FUNNEL, body))

    def journeys(self, body: JourneysRequest) -> JourneysResponse:
        """POST /v1/analytics/journeys"""
        return cast("JourneysResponse", self._ask(_wire.JOURNEYS, body))

    def explain(self, body: AnalyticsQueryRequest) -> ExplainResponse:
        """POST /v1/analytics/explain"""
        return cast("ExplainResponse", self._ask(_wire.EXPLAIN, body))

    def explain_retention(self, body: RetentionRequest) -> RetentionExplainResponse:
        """POST /v1/analytics/retention/explain"""
        path = _wire.EXPLAIN_RETENTION
        return cast("RetentionExplainResponse", self._ask(path, body))

    def explain_funnel(self, body: FunnelRequest) -> FunnelExplainResponse:
        """POST /v1/analytics/funnel/explain"""
        return cast("FunnelExplainResponse", self._ask(_wire.EXPLAIN_FUNNEL, body))

    def explain_journeys(self, body: JourneysRequest) -> JourneysExplainResponse:
        """POST /v1/analytics/journeys/explain"""
        return cast("JourneysExplainResponse", self._ask(_wire.EXPLAIN_JOURNEYS, body))

    def project(self) -> Project:
        """GET /v1/project"""
        return cast("Project", self._ask(_wire.PROJECT, None)["project"])

    def _read_table(
        self, operation: tables.TableOperation, body: tables.TableRequest, format: tables.Format
    ) -> tuple[bytes, tables.TableInfo]:
        media_type = tables.MEDIA_TYPES[format]
        path, asked = tables.ask_for_all(operation, body)
        with self._send(path, asked, media_type) as response:
            tables.check_response(response, media_type)
            return response.read(), tables.read_info(response.headers)

    def _write_file(
        self,
        path: str,
        body: Mapping[str, Any],
        file: str | os.PathLike[str],
        format: tables.Format | None,
    ) -> httpx.Headers:
        """Writes a response to a file; returns its headers."""
        media_type = tables.MEDIA_TYPES[tables.choose_format(file, format)]
        with self._send(path, body, media_type) as response:
            tables.check_response(response, media_type)
            with tables.replace_file(file) as out:
                for part in response.iter_bytes():
                    out.write(part)
            return response.headers
