"""The queries of a batch that failed for now are sent again, by both clients."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tallyhouse import AsyncClient, BatchRequest, BatchResponse, Client

Script = dict[str, list[int]]
"""The statuses of each query, in the order of the requests that have it; 200 after the last."""

LOST = 0
"""The status of a request whose connection breaks: that of all its queries."""


def answer(script: Script, asked: list[str]) -> Callable[[httpx.Request], httpx.Response]:
    """Answers batches as a script says, and notes the ids of the queries of each."""

    def respond(request: httpx.Request) -> httpx.Response:
        ids = [query["id"] for query in json.loads(request.content)["queries"]]
        asked.append("".join(ids))
        statuses = [script[id].pop(0) if script[id] else 200 for id in ids]
        if LOST in statuses:
            raise httpx.ReadError("broken")
        return httpx.Response(200, json={"results": [result(*one) for one in zip(ids, statuses)]})

    return respond


def result(id: str, status: int) -> dict[str, Any]:
    again = {"retry_after": {"a": 2, "b": 5}.get(id, 1)} if status in (429, 503) else {}
    return {"id": id, "status": status, "body": {}, **again}


BODY: BatchRequest = {
    "queries": [{"id": id, "body": {"date_range": "all"}} for id in "abc"],
    "include": {"timing": True},
}

Ask = Callable[..., BatchResponse]


def ask(transport: httpx.MockTransport, **options: Any) -> BatchResponse:
    with Client("http://stats.example", "key", transport=transport, **options) as client:
        return client.batch(BODY)


def ask_from_asyncio(transport: httpx.MockTransport, **options: Any) -> BatchResponse:
    async def run() -> BatchResponse:
        async with AsyncClient("http://stats.example", "key", transport=transport, **options) as client:
            return await client.batch(BODY)

    return asyncio.run(run())


@pytest.mark.parametrize("ask", [ask, ask_from_asyncio])
@pytest.mark.parametrize(
    ("script", "options", "want_asked", "want_waits", "want"),
    [
        pytest.param({}, {}, ["abc"], [], [200, 200, 200], id="all are answered"),
        pytest.param({"b": [429]}, {}, ["abc", "b"], [5], [200, 200, 200], id="only what failed"),
        pytest.param(
            {"a": [429, 503], "b": [503]},
            {},
            ["abc", "ab", "a"],
            [5, 2],
            [200, 200, 200],
            id="after the longest wait of those that failed",
        ),
        pytest.param({"a": [400], "b": [504]}, {}, ["abc"], [], [400, 504, 200], id="400, 504: never"),
        pytest.param(
            {"a": [503] * 9}, {}, ["abc", "a", "a", "a"], [2, 2, 2], [503, 200, 200], id="at most three times"
        ),
        pytest.param(
            {"a": [503] * 9}, {"retries": 0}, ["abc"], [], [503, 200, 200], id="as seldom as wanted"
        ),
        pytest.param(
            {"a": [503] * 9, "c": [503]},
            {"max_wait_seconds": 3},
            ["abc", "ac"],
            [2],
            [503, 200, 200],
            id="not longer than wanted",
        ),
        pytest.param(
            {"a": [429, LOST, LOST, LOST], "b": [200]},
            {"retries": 1},
            ["abc", "a", "a"],
            [2, None],
            [429, 200, 200],
            id="what was answered is kept when a later request fails",
        ),
    ],
)
def test_queries_are_sent_again(
    monkeypatch: pytest.MonkeyPatch,
    ask: Ask,
    script: Script,
    options: dict[str, Any],
    want_asked: list[str],
    want_waits: list[float | None],
    want: list[int],
) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("time.sleep", waits.append)
    monkeypatch.setattr("asyncio.sleep", sleep)
    asked: list[str] = []
    statuses = {id: list(script.get(id, [])) for id in "abc"}
    response = ask(httpx.MockTransport(answer(statuses, asked)), **options)
    assert asked == want_asked
    assert len(waits) == len(want_waits)
    assert [given for given, wanted in zip(waits, want_waits) if wanted is not None] == [
        wanted for wanted in want_waits if wanted is not None
    ]
    assert response["results"] == [result(*one) for one in zip("abc", want)]


def test_500_of_a_query_is_tried_three_times(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    asked: list[str] = []
    statuses: Script = {"a": [500] * 9, "b": [], "c": []}
    response = ask(httpx.MockTransport(answer(statuses, asked)))
    assert asked == ["abc", "a", "a"]
    assert [0.5 <= wait / 2**i <= 1 for i, wait in enumerate(waits)] == [True, True]
    assert [one["status"] for one in response["results"]] == [500, 200, 200]
