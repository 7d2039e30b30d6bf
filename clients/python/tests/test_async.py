"""The client for asyncio gets what the other client gets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Service
from world import BY_NOTE, BY_PATH, DAY, EVENTS, FUNNEL, PATHS, TABLES

from tallyhouse import AsyncClient, Client, QueryRequest, RetentionRequest

ON_DAY: QueryRequest = {**BY_PATH, "date_range": DAY}

PAST: RetentionRequest = {"interval": "day", "date_range": ["2026-06-01", "2026-06-10"], "intervals": 1}
"""A plan that does not depend on the second of the request."""

Ask = tuple[Callable[[Client], Any], Callable[[AsyncClient], Awaitable[Any]]]

OPERATIONS: dict[str, Ask] = {
    "query": (lambda c: c.query(ON_DAY), lambda c: c.query(ON_DAY)),
    "values": (
        lambda c: c.values({"field": "country", "date_range": DAY}),
        lambda c: c.values({"field": "country", "date_range": DAY}),
    ),
    "batch": (
        lambda c: c.batch({"queries": [{"id": "a", "body": ON_DAY}]}),
        lambda c: c.batch({"queries": [{"id": "a", "body": ON_DAY}]}),
    ),
    "retention": (
        lambda c: c.retention({"interval": "day", "date_range": DAY}),
        lambda c: c.retention({"interval": "day", "date_range": DAY}),
    ),
    "funnel": (lambda c: c.funnel(FUNNEL), lambda c: c.funnel(FUNNEL)),
    "explain_funnel": (lambda c: c.explain_funnel(FUNNEL), lambda c: c.explain_funnel(FUNNEL)),
    "explain_retention": (lambda c: c.explain_retention(PAST), lambda c: c.explain_retention(PAST)),
    "explain": (lambda c: c.explain(ON_DAY), lambda c: c.explain(ON_DAY)),
    "project": (lambda c: c.project(), lambda c: c.project()),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_each_operation_is_answered(client: Client, service: Service, name: str) -> None:
    ask, ask_async = OPERATIONS[name]

    async def run() -> Any:
        async with AsyncClient(*service) as other:
            return await ask_async(other)

    assert asyncio.run(run()) == ask(client)


def test_rows_and_tables(client: Client, service: Service, tmp_path: Path) -> None:
    pytest.importorskip("pandas")

    async def run() -> None:
        async with AsyncClient(*service) as other:
            rows = [row async for row in other.rows({**BY_PATH, "limit": 3})]
            assert [row["group"]["page:path"] for row in rows] == PATHS
            assert (await other.frame(BY_NOTE)).equals(client.frame(BY_NOTE))
            await other.download(BY_NOTE, tmp_path / "async.csv")
            for operation, body in TABLES.items():
                frame = await other.frame(body, operation)
                assert frame.equals(client.frame(body, operation))
            events = [event async for event in other.events(EVENTS)]
            assert events == list(client.events(EVENTS))
            info = await other.export(EVENTS, tmp_path / "async.ndjson")
            assert info == client.export(EVENTS, tmp_path / "sync.ndjson")

    asyncio.run(run())
    assert (tmp_path / "async.ndjson").read_bytes() == (tmp_path / "sync.ndjson").read_bytes()
    client.download(BY_NOTE, tmp_path / "sync.csv")
    assert (tmp_path / "async.csv").read_bytes() == (tmp_path / "sync.csv").read_bytes()


def test_an_arrow_table(client: Client, service: Service) -> None:
    pytest.importorskip("pyarrow")

    async def run() -> Any:
        async with AsyncClient(*service) as other:
            return await other.arrow(BY_NOTE)

    assert asyncio.run(run()).equals(client.arrow(BY_NOTE))
