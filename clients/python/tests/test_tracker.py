"""The tracker sends each event until it is stored, and says which are not."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Union

import pytest

from tallyhouse import Accepted, Event, QueueFullError, TallyhouseError, Tracker

Answer = Union[int, str, dict[str, Any], threading.Event]
"""A status, a page of HTML, the body of a 202, or when to answer 202. `breaks` breaks the connection."""

HOUR = 3_600.0


class Collector(ThreadingHTTPServer):
    """Answers the first requests as `script` says, and all others with 202."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.script: list[Answer] = []
        self.batches: list[list[dict[str, Any]]] = []
        self.sizes: list[int] = []
        self.received = threading.Semaphore(0)

    def names(self) -> list[str]:
        """The names of the events of each request."""
        return ["".join(event["name"] for event in batch) for batch in self.batches]


class Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        collector = self.server
        answer = collector.script.pop(0) if collector.script else {}
        content = self.rfile.read(int(self.headers["Content-Length"]))
        collector.sizes.append(len(content))
        collector.batches.append(json.loads(content))
        collector.received.release()
        self.close_connection = True
        assert (self.path, self.headers["Authorization"]) == ("/v1/events", "Bearer tallypub_x")
        if isinstance(answer, threading.Event):
            answer.wait(60)
            answer = {}
        if answer == "breaks":
            return
        if isinstance(answer, str):
            self.respond(200, answer.encode(), "text/html")
        elif isinstance(answer, int):
            error = {"code": "SOME_CODE", "message": "no"}
            self.respond(answer, json.dumps({"error": error}).encode())
        elif "error" in answer:
            self.respond(400, json.dumps(answer).encode())
        else:
            accepted = {"accepted": len(collector.batches[-1]), **answer}
            self.respond(202, json.dumps(accepted).encode())

    def respond(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as collector:
        thread = threading.Thread(target=collector.serve_forever, args=(0.01,))
        thread.start()
        yield collector
        collector.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.uniform", lambda *_: 0.0)


class Lost:
    """The errors and the names of the events that are lost by them."""

    def __init__(self) -> None:
        self.errors: list[tuple[int, str, str]] = []
        self.fields: list[list[str]] = []

    def __call__(self, error: TallyhouseError, events: list[Event]) -> None:
        names = "".join(str(event.get("name")) for event in events)
        self.errors.append((error.status, error.code, names))
        self.fields.append([detail["field"] for detail in error.details])


def track(tracker: Tracker, names: str) -> None:
    for name in names:
        tracker.track({"name": name, "user_id": "u"})


def test_events_have_an_id_and_a_time(collector: Collector) -> None:
    with Tracker(collector.url, "tallypub_x", flush_interval=HOUR) as tracker:
        track(tracker, "ab")
        tracker.track({"ip": "203.0.113.7", "user_agent": None, "event_id": "", "properties": {"ü": 1}})
        tracker.track({"user_id": "u", "event_id": "e", "timestamp": "2026-01-31T10:00:00Z"})
        assert tracker.flush()
        assert len(collector.batches) == 1
    a, b, c, d = collector.batches[0]
    assert d == {"user_id": "u", "event_id": "e", "timestamp": "2026-01-31T10:00:00Z"}
    ids = {event.pop("event_id") for event in (a, b, c)}
    assert [len(id) for id in ids] == [32, 32, 32]
    times = [event.pop("timestamp") for event in (a, b, c)]
    assert times == sorted(times) and times[0].endswith("+00:00")
    assert a == {"name": "a", "user_id": "u"}
    assert c == {"ip": "203.0.113.7", "user_agent": None, "properties": {"ü": 1}}


def test_events_are_sent_without_a_flush(collector: Collector) -> None:
    with Tracker(collector.url, "tallypub_x", flush_interval=0) as tracker:
        track(tracker, "a")
        assert collector.received.acquire(timeout=60)
        track(tracker, "b")
        assert collector.received.acquire(timeout=60)
    assert collector.names() == ["a", "b"]


def test_full_batches_are_sent_without_a_flush(collector: Collector) -> None:
    with Tracker(collector.url, "tallypub_x", flush_interval=HOUR) as tracker:
        track(tracker, "a" * 1_000)
        assert collector.received.acquire(timeout=60)
    assert [len(batch) for batch in collector.batches] == [1_000]


def test_batches_are_not_larger_than_they_may_be(collector: Collector) -> None:
    held = threading.Event()
    collector.script = [held]
    with Tracker(collector.url, "tallypub_x", flush_interval=0) as tracker:
        track(tracker, "0")
        assert collector.received.acquire(timeout=60)
        track(tracker, "a" * 2_500)
        for _ in range(40):
            tracker.track({"name": "b", "user_id": "u", "properties": {"text": "x" * 30_000}})
        held.set()
    assert collector.names()[:3] == ["0", "a" * 1_000, "a" * 1_000]
    assert "".join(collector.names()[3:]) == "a" * 500 + "b" * 40
    assert max(collector.sizes) <= 500_002


def test_events_are_sent_again_until_they_are_stored(
    collector: Collector, caplog: pytest.LogCaptureFixture
) -> None:
    failures: list[Answer] = [503, "breaks", 429, 502, 504, 500, 503, 500, 503]
    collector.script = list(failures)
    lost = Lost()
    with Tracker(collector.url, "tallypub_x", flush_interval=HOUR, on_error=lost) as tracker:
        track(tracker, "ab")
        assert tracker.flush()
    assert len(collector.batches) == len(failures) + 1
    assert all(batch == collector.batches[0] for batch in collector.batches)
    assert lost.errors == []
    assert len(caplog.records) == len(failures)
    assert caplog.messages[0] == "Sending 2 events again in 0.0 s. SOME_CODE: no"


@pytest.mark.parametrize(
    ("script", "want"),
    [
        pytest.param([500] * 3, (500, "SOME_CODE"), id="500, after three times"),
        pytest.param([401], (401, "SOME_CODE"), id="a wrong token"),
        pytest.param([400], (400, "SOME_CODE"), id="a request that is not valid"),
        pytest.param([404], (404, "SOME_CODE"), id="a wrong path"),
        pytest.param(["<html>"], (200, "NO_RESPONSE"), id="a page of a proxy"),
        pytest.param([200], (200, "NO_RESPONSE"), id="another service"),
    ],
)
def test_events_that_no_retry_helps_are_lost_by_an_error(
    collector: Collector, script: list[Answer], want: tuple[int, str]
) -> None:
    collector.script = list(script)
    lost = Lost()
    with Tracker(collector.url, "tallypub_x", flush_interval=HOUR, on_error=lost) as tracker:
        track(tracker, "ab")
        assert tracker.flush()
        track(tracker, "c")
    assert lost.errors == [(*want, "ab")]
    assert collector.names() == ["ab"] * len(script) + ["c"]


def invalid(*fields: str) -> Answer:
    details = [{"field": field, "message": "is wrong"} for field in fields]
    return {"error": {"code": "VALIDATION_ERROR", "message": "x", "details": details}}


def test_only_invalid_events_are_lost(collector: Collector) -> None:
    collector.script = [invalid("1.url", "3", "1.ip"), invalid("0.properties.a.b")]
    lost = Lost()
    with Tracker(collector.url, "tallypub_x", flush_interval=HOUR, on_error=lost) as tracker:
        track(tracker, "abcde")
        assert tracker.flush()
    assert collector.names() == ["abcde", "ace", "ce"]
    assert lost.errors == [(400, "VALIDATION_ERROR", "bd"), (400, "VALIDATION_ERROR", "a")]
    assert lost.fields == [["0.url", "1", "0.ip"], ["0.properties.a.b"]]


def test_an_invalid_body_is_lost(collector: Collector) -> None:
    collector.script = [invalid("body")]
    lost = Lost()
    with Tracker(collector.url, "tallypub_x", flush_interval=HOUR, on_error=lost) as tracker:
        track(tracker, "ab")
    assert lost.errors == [(400, "VALIDATION_ERROR", "ab")]


def test_excluded_events_are_told(collector: Collector, caplog: pytest.LogCaptureFixture) -> None:
    warnings = [{"field": "1.user_agent", "message": "is missing"}]
    collector.script = [{"excluded": {"bots": 1}, "warnings": warnings}, {"excluded": {"bots": 2}}]
    told: list[tuple[Accepted, list[Any]]] = []

    def fail(response: Accepted, events: list[Event]) -> None:
        told.append((response, [event.get("name") for event in events]))
        raise RuntimeError("a callback may fail")

    with Tracker(collector.url, "tallypub_x", flush_interval=HOUR, on_excluded=fail) as tracker:
        for names in ("ab", "cd", "e"):
            track(tracker, names)
            assert tracker.flush()
    first = {"accepted": 2, "excluded": {"bots": 1}, "warnings": warnings}
    assert told == [(first, ["a", "b"]), ({"accepted": 2, "excluded": {"bots": 2}}, ["c", "d"])]
    assert caplog.messages == ["A callback of the tracker failed."] * 2


def test_what_nobody_asked_to_be_told_is_logged(
    collector: Collector, caplog: pytest.LogCaptureFixture
) -> None:
    collector.script = [{"excluded": {"bots": 1}}, 401]
    with Tracker(collector.url, "tallypub_x", flush_interval=HOUR) as tracker:
        for name in "ab":
            track(tracker, name)
            assert tracker.flush()
    assert [(record.levelno, record.name) for record in caplog.records] == [
        (logging.WARNING, "tallyhouse"),
        (logging.ERROR, "tallyhouse"),
    ]
    assert "'bots': 1" in caplog.messages[0]
    assert caplog.messages[1] == "1 events are lost. SOME_CODE: no"


def test_a_full_queue_is_an_error_and_loses_nothing_that_was_taken(collector: Collector) -> None:
    held = threading.Event()
    collector.script = [held]
    taken = 0
    with Tracker(collector.url, "tallypub_x", flush_interval=0, max_queue_bytes=10_000) as tracker:
        with pytest.raises(QueueFullError, match=r"\d+ events wait.*max_queue_bytes is 10000"):
            while True:
                track(tracker, "a")
                taken += 1
        assert 10 < taken < 100
        assert not tracker.flush(timeout=0)
        held.set()
        assert tracker.flush()
        track(tracker, "b")
    assert "".join(collector.names()) == "a" * taken + "b"


def test_what_waits_when_the_time_to_close_is_over_is_told() -> None:
    lost = Lost()
    tracker = Tracker("http://127.0.0.1:1", "tallypub_x", flush_interval=HOUR, on_error=lost)
    track(tracker, "abc")
    tracker.close(timeout=0)
    tracker.close()
    assert lost.errors == [(0, "NO_RESPONSE", "abc")]
    with pytest.raises(RuntimeError, match="closed"):
        track(tracker, "d")


@pytest.mark.parametrize(
    ("event", "error"),
    [
        pytest.param({"name": "a"}, ValueError, id="nobody's"),
        pytest.param({"user_id": "", "ip": None}, ValueError, id="nobody's, with empty fields"),
        pytest.param({"user_id": "u", "properties": {"n": float("nan")}}, ValueError, id="no number"),
        pytest.param({"user_id": "u", "properties": {"o": object()}}, TypeError, id="no JSON"),
        pytest.param({"user_id": "\ud800"}, ValueError, id="no text"),
    ],
)
def test_events_that_cannot_be_sent_are_refused_at_once(event: Any, error: type[Exception]) -> None:
    with Tracker("http://127.0.0.1:1", "tallypub_x") as tracker:
        with pytest.raises(error):
            tracker.track(event)


AT_EXIT = """
import os, sys
from tallyhouse import Tracker
tracker = Tracker(sys.argv[1], "tallypub_x", flush_interval=3600)
tracker.track({"name": "a", "user_id": "u"})
if sys.argv[2] == "forks" and os.fork() == 0:
    tracker.track({"name": "b", "user_id": "u"})
    sys.exit()
elif sys.argv[2] == "forks":
    os.wait()
"""


@pytest.mark.parametrize(("kind", "want"), [("ends", ["a"]), ("forks", ["a", "b"])])
def test_the_end_of_a_process_flushes(collector: Collector, kind: str, want: list[str]) -> None:
    subprocess.run(
        [sys.executable, "-c", AT_EXIT, collector.url, kind],
        check=True,
        env={"PYTHONPATH": "src", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert sorted(collector.names()) == want
