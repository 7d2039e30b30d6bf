"""The clients of management: what they send, and what a service answers."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import Service

from tallyhouse import AsyncManagementClient, ManagementClient, TallyhouseError
from tallyhouse._wire import Upload
from tallyhouse.models import Operation

Respond = Callable[[httpx.Request], httpx.Response]


class Sent:
    """The requests that a client sent, which `respond` answered."""

    def __init__(self, respond: Respond) -> None:
        self.requests: list[httpx.Request] = []
        self._respond = respond

    def connect(self) -> ManagementClient:
        return ManagementClient(
            "https://stats.example", "tallyadmin_x", transport=httpx.MockTransport(self._answer)
        )

    def connect_async(self) -> AsyncManagementClient:
        return AsyncManagementClient(
            "https://stats.example", "tallyadmin_x", transport=httpx.MockTransport(self._answer)
        )

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return self._respond(request)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits in seconds. They pass at once."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("time.sleep", waits.append)
    monkeypatch.setattr("asyncio.sleep", sleep)
    return waits


SHOP: Any = {"name": "Shop", "domain": "shop.example"}


@pytest.mark.parametrize(
    ("call", "target", "headers", "body"),
    [
        pytest.param(
            lambda c: c.delete_user("shop", "a/b?c %"),
            "DELETE /v1/projects/shop/users/a%2Fb%3Fc%20%25",
            {},
            b"",
            id="places in a path are encoded",
        ),
        pytest.param(
            lambda c: c.put_project("shop", SHOP, confirm=True, if_match='"1"', if_none_match="*"),
            "PUT /v1/projects/shop?confirm=true",
            {"If-Match": '"1"', "If-None-Match": "*", "Content-Type": "application/json"},
            SHOP,
            id="parameters beside a body",
        ),
        pytest.param(
            lambda c: c.get_usage(from_="2026-01-01", org="a&b", interval="day"),
            "GET /v1/usage?from=2026-01-01&interval=day&org=a%26b",
            {"Authorization": "Bearer tallyadmin_x"},
            b"",
            id="a parameter whose name is a keyword, and none that is None",
        ),
        pytest.param(
            lambda c: c.create_note("shop", {"text": "x"}, idempotency_key="deploy-7"),
            "POST /v1/projects/shop/notes",
            {"Idempotency-Key": "deploy-7"},
            {"text": "x"},
            id="an idempotency key of the caller",
        ),
    ],
)
def test_what_is_sent(
    call: Callable[[Any], Any], target: str, headers: dict[str, str], body: object
) -> None:
    async def run(sent: Sent) -> None:
        async with sent.connect_async() as client:
            await call(client)

    plain, asynchronous = (Sent(lambda _: httpx.Response(200, json={})) for _ in range(2))
    with plain.connect() as client:
        call(client)
    asyncio.run(run(asynchronous))
    for sent in (plain, asynchronous):
        (request,) = sent.requests
        assert f"{request.method} {request.url.raw_path.decode()}" == target
        assert {name: request.headers[name] for name in headers} == headers
        assert (json.loads(request.content) if request.content else b"") == body


def test_a_request_that_creates_is_sent_again_with_the_same_key(waits: list[float]) -> None:
    def create() -> Sent:
        answers: Iterator[int] = iter([503, 500, 201] * 2)
        return Sent(lambda _: httpx.Response(next(answers), json={"id": "p"}))

    async def run(sent: Sent) -> None:
        async with sent.connect_async() as client:
            await client.create_project(SHOP)
            await client.create_project(SHOP)

    plain, asynchronous = create(), create()
    with plain.connect() as client:
        client.create_project(SHOP)
        client.create_project(SHOP)
    asyncio.run(run(asynchronous))
    for sent in (plain, asynchronous):
        keys = [request.headers["Idempotency-Key"] for request in sent.requests]
        assert [len(set(keys[:3])), len(set(keys[3:])), len(set(keys))] == [1, 1, 2]
    assert len(waits) == 8


def test_an_operation_is_awaited(waits: list[float]) -> None:
    def create() -> Sent:
        states = iter(["waiting", "running", "running", "done"])
        return Sent(lambda _: httpx.Response(200, json={"id": "op", "state": next(states)}))

    async def run() -> Any:
        async with create().connect_async() as client:
            return await client.wait_for_operation("op")

    with create().connect() as client:
        done = client.wait_for_operation("op")
    assert done == asyncio.run(run()) == {"id": "op", "state": "done"}
    assert waits == [0.25, 0.5, 1] * 2


def test_an_operation_that_takes_too_long(waits: list[float]) -> None:
    sent = Sent(lambda _: httpx.Response(200, json={"id": "op", "state": "waiting"}))
    message = "The operation op is waiting after 20 seconds."
    with sent.connect() as client, pytest.raises(TimeoutError, match=message):
        client.wait_for_operation("op", max_wait_seconds=20)
    assert waits == [0.25, 0.5, 1, 2, 4, 5, 5]


def test_an_empty_response_and_a_response_that_is_no_csv() -> None:
    with Sent(lambda _: httpx.Response(204)).connect() as client:
        assert client.delete_note("shop", "note_1") is None
    with Sent(lambda _: httpx.Response(200, json={})).connect() as client:
        with pytest.raises(TallyhouseError, match="not CSV"):
            client.usage_csv()


def test_a_service(managed: Service) -> None:
    with ManagementClient(*managed) as client:
        created = client.create_project({**SHOP, "org": "py"})
        project, tag = client.get_tagged_project(created["id"])
        assert project == created
        changed = client.update_project(project["id"], {"keepDays": 30}, if_match=tag)
        assert changed["keepDays"] == 30
        with pytest.raises(TallyhouseError) as refused:
            client.update_project(project["id"], {"keepDays": 31}, if_match=tag)
        assert (refused.value.status, refused.value.code) == (412, "PRECONDITION_FAILED")
        others = [client.create_project({**SHOP, "org": "py"})["id"] for _ in range(2)]
        listed = [one["id"] for one in client.projects(org="py", limit=2)]
        assert listed == sorted([project["id"], *others])
        issued = client.issue_key(project["id"], {"name": "dashboard"})
        assert client.list_keys(project["id"])["keys"] == [issued["key"]]
        note = client.create_note(project["id"], {"text": "Deployed"})
        assert client.delete_note(project["id"], note["id"]) is None
        deletion = client.delete_users(project["id"], {"userIds": ["u1", "u2"]})
        assert client.wait_for_operation(deletion["id"])["state"] == "done"
        assert client.get_project_status(project["id"])["waiting"] == 0
        answer = client.query_projects({"org": "py", "date_range": "7days"})
        assert len(answer["data"]) == 3
        assert len(list(client.changes(project=project["id"]))) > 3


def test_usage_of_a_service(managed: Service) -> None:
    """The project to which the tests of the tracker send has some, or the one with the traffic of all tests."""

    async def run() -> tuple[list[str], str]:
        async with AsyncManagementClient(*managed) as client:
            rows = [row["project"] async for row in client.usage(from_="2026-01-01", limit=1)]
            return rows, await client.usage_csv(from_="2026-01-01", limit=1)

    with ManagementClient(*managed) as client:
        projects = [row["project"] for row in client.usage(from_="2026-01-01", limit=1)]
        csv = client.usage_csv(from_="2026-01-01", limit=1)
    header, *lines = csv.split("\r\n")
    assert header.startswith("project,start,accepted,")
    assert [line.split(",")[0] for line in lines] == [*projects, ""]
    assert len(projects) > 0
    assert asyncio.run(run()) == (projects, csv)


CONTENT = bytes(range(256)) * 5000
"""More than one chunk."""


def upload(file: Upload, is_async: bool, sent: list[tuple[bytes, str | None]]) -> Operation:
    """Uploads to a service that is busy at first."""
    answers = iter([httpx.Response(503), httpx.Response(202, json={"id": "op_1"})])

    def respond(request: httpx.Request) -> httpx.Response:
        sent.append((request.content, request.headers.get("Content-Length")))
        return next(answers)

    if is_async:
        return asyncio.run(Sent(respond).connect_async().import_events("prj_1", file, format="csv"))
    return Sent(respond).connect().import_events("prj_1", file, format="csv")


@pytest.mark.usefixtures("waits")
@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    ("kind", "start"), [("path", 0), ("bytes", 0), ("file", 0), ("file", 2), ("BytesIO", 0)]
)
def test_a_file_is_sent_whole_each_time(
    is_async: bool, kind: str, start: int, tmp_path: Path
) -> None:
    path = tmp_path / "events.bin"
    path.write_bytes(CONTENT)
    sent: list[tuple[bytes, str | None]] = []
    with path.open("rb") as file:
        file.seek(start)
        files: dict[str, Upload] = {
            "path": path,
            "bytes": CONTENT,
            "file": file,
            "BytesIO": io.BytesIO(CONTENT),
        }
        assert upload(files[kind], is_async, sent) == {"id": "op_1"}
    content = CONTENT[start:]
    assert sent == [(content, str(len(content)))] * 2


class Pipe(io.BytesIO):
    def seekable(self) -> bool:
        return False


async def produce() -> AsyncIterator[bytes]:
    yield b"a\n"
    yield b"b\n"


@pytest.mark.usefixtures("waits")
@pytest.mark.parametrize(
    ("is_async", "kind"),
    [(False, "list"), (True, "list"), (False, "pipe"), (True, "pipe"), (True, "async")],
)
def test_parts_are_sent_as_they_come_and_once(is_async: bool, kind: str) -> None:
    files: dict[str, Upload] = {
        "list": iter([b"a\n", b"b\n"]),
        "pipe": Pipe(b"a\nb\n"),
        "async": produce(),
    }
    sent: list[tuple[bytes, str | None]] = []
    with pytest.raises(TallyhouseError) as raised:
        upload(files[kind], is_async, sent)
    assert raised.value.status == 503
    assert sent == [(b"a\nb\n", None)]
