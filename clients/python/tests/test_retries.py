"""Requests are sent again where that may help, as docs/errors.md says: by both clients, to a server that fails."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Union

import httpx
import pytest
from world import BY_PATH

from tallyhouse import AsyncClient, Client, TallyhouseError

Answer = Union[int, Literal["breaks", "breaks off", "is silent"]]
"""A status, or the server breaks the connection before or within its answer, or says nothing."""

OK = 200
LOST = 0


class Server(ThreadingHTTPServer):
    """Answers the first requests as `script` says, and all others with 200."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.script: list[Answer] = []
        self.retry_after: str | None = None
        self.bodies: list[bytes] = []
        self.stopped = threading.Event()


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        script, bodies = self.server.script, self.server.bodies
        answer = script[len(bodies)] if len(bodies) < len(script) else OK
        bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.close_connection = True
        if answer == "is silent":
            self.server.stopped.wait()
        elif isinstance(answer, int):
            self.respond(answer, b'{"data": []}' if answer == OK else ERROR)
        elif answer == "breaks off":
            self.respond(OK, b'{"da', length=100)

    def respond(self, status: int, body: bytes, length: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", self.headers["Accept"])
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.send_header("Tally-Period", "2026-06-15T00:00:00Z/2026-06-15T12:00:00Z")
        if self.server.retry_after is not None:
            self.send_header("Retry-After", self.server.retry_after)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


ERROR = b'{"error": {"code": "SOME_CODE", "message": "no"}}'


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.stopped.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits between requests in seconds. They pass at once."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("time.sleep", waits.append)
    monkeypatch.setattr("asyncio.sleep", sleep)
    return waits


Query = Callable[..., Any]


def query(url: str, **options: Any) -> Any:
    with Client(url, "key", **options) as client:
        return client.query(BY_PATH)


def query_from_asyncio(url: str, **options: Any) -> Any:
    async def run() -> Any:
        async with AsyncClient(url, "key", **options) as client:
            return await client.query(BY_PATH)

    return asyncio.run(run())


@pytest.fixture(params=[query, query_from_asyncio])
def ask(request: pytest.FixtureRequest, waits: list[float]) -> Query:
    """Queries with one of the clients."""
    return request.param


def ask_status(ask: Query, url: str, **options: Any) -> int:
    """Queries; returns the status of the error, or 200."""
    try:
        assert ask(url, **options) == {"data": []}
    except TallyhouseError as error:
        assert error.code == ("NO_RESPONSE" if error.status == LOST else "SOME_CODE")
        return error.status
    return OK


@pytest.mark.parametrize(
    ("script", "retries", "requests", "status"),
    [
        pytest.param([429, 503, 429], 3, 4, OK, id="429 and 503, until it is answered"),
        pytest.param([503] * 9, 3, 4, 503, id="503, three times at most"),
        pytest.param([503] * 9, 5, 6, 503, id="503, as often as wanted"),
        pytest.param([500, 500], 3, 3, OK, id="500, until it is answered"),
        pytest.param([500] * 9, 5, 3, 500, id="500, twice at most"),
        pytest.param([500] * 9, 1, 2, 500, id="500, as seldom as wanted"),
        pytest.param([502] * 9, 3, 3, 502, id="502, twice at most"),
        pytest.param(["breaks"] * 2, 3, 3, OK, id="a lost connection, until it is answered"),
        pytest.param(["breaks"] * 9, 5, 3, LOST, id="a lost connection, twice at most"),
        pytest.param(["breaks off"] * 2, 3, 3, OK, id="an answer that breaks off"),
        pytest.param(["breaks", 500, 503], 3, 4, OK, id="different failures"),
        pytest.param([429, 429, 500], 3, 3, 500, id="two retries of others: not after 500"),
        pytest.param([429], 0, 1, 429, id="no retries"),
        pytest.param([400], 3, 1, 400, id="400: never"),
        pytest.param([504], 3, 1, 504, id="504: never"),
    ],
)
def test_a_request_is_sent_again(
    ask: Query, server: Server, script: list[Answer], retries: int, requests: int, status: int
) -> None:
    server.script = script
    assert ask_status(ask, server.url, retries=retries) == status
    assert (len(server.bodies), len(set(server.bodies))) == (requests, 1)


@pytest.mark.parametrize(
    ("script", "retry_after", "max_wait_seconds", "want"),
    [
        pytest.param([429, 500], "7", 60, [7, 7], id="the seconds of Retry-After"),
        pytest.param([429, 429], "61", 60, [], id="not longer than wanted"),
        pytest.param([503, 503, 503], "40", 60, [40], id="all together not longer than wanted"),
        pytest.param([429, 429], "90", 200, [90, 90], id="as long as wanted"),
    ],
)
def test_waits(
    ask: Query,
    server: Server,
    waits: list[float],
    script: list[Answer],
    retry_after: str,
    max_wait_seconds: float,
    want: list[float],
) -> None:
    server.script, server.retry_after = script, retry_after
    status = ask_status(ask, server.url, max_wait_seconds=max_wait_seconds)
    assert waits == want
    assert (status == OK) == (len(want) == len(script))


@pytest.mark.parametrize("retry_after", [None, "", "soon", "-1", "1.5", "²", "9999999999"])
def test_without_seconds_the_wait_doubles_each_time_and_is_a_little_random(
    ask: Query, server: Server, waits: list[float], retry_after: str | None
) -> None:
    server.script, server.retry_after = [503] * 9, retry_after
    for _ in range(2):
        assert ask_status(ask, server.url) == 503
    first, second = waits[:3], waits[3:]
    for some in (first, second):
        assert [0.5 <= wait / 2**i <= 1 for i, wait in enumerate(some)] == [True] * 3
    assert first != second


def test_a_service_that_is_not_reached_is_tried_three_times(
    ask: Query, waits: list[float]
) -> None:
    with pytest.raises(TallyhouseError) as refused:
        ask("http://127.0.0.1:1")
    assert (refused.value.status, refused.value.code) == (LOST, "NO_RESPONSE")
    assert isinstance(refused.value.__cause__, httpx.ConnectError)
    assert len(waits) == 2


def test_a_request_that_took_too_long_is_not_sent_again(
    ask: Query, server: Server, waits: list[float]
) -> None:
    server.script = ["is silent"]
    assert ask_status(ask, server.url, timeout=0.1) == LOST
    assert waits == []


def test_an_export_is_sent_again_until_it_begins_and_not_once_it_has_begun(
    server: Server, waits: list[float]
) -> None:
    async def read_from_asyncio() -> list[Any]:
        async with AsyncClient(server.url, "key") as client:
            return [event async for event in client.events({"date_range": "today"})]

    def read() -> list[Any]:
        with Client(server.url, "key") as client:
            return list(client.events({"date_range": "today"}))

    for events in (read, lambda: asyncio.run(read_from_asyncio())):
        server.bodies.clear()
        server.script = ["breaks", 503, "breaks off"]
        with pytest.raises(TallyhouseError) as broken:
            events()
        assert broken.value.code == "NO_RESPONSE"
        assert len(server.bodies) == 3
