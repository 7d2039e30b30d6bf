"""Sends events: a thread collects them, sends them in batches, and again until the service has stored them."""

from __future__ import annotations

import atexit
import json
import logging
import os
import random
import sys
import threading
import time
import uuid
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from functools import partial
from types import TracebackType
from typing import Any, Final, TypeAlias, cast, overload

import httpx

from . import _wire
from .errors import TallyhouseError, describe_error, describe_failure
from .models import Accepted, EventFields, FieldError

if sys.version_info >= (3, 11):
    from typing import NotRequired, Self
else:
    from typing_extensions import NotRequired, Self

EVENTS: Final = "/v1/events"
MAX_BATCH_EVENTS: Final = 1_000
MAX_BATCH_BYTES: Final = 500_000
"""The service takes 1 MB; some proxies in front of it take less."""

MAX_BACKOFF_SECONDS: Final = 30.0
MAX_FAULTS: Final = 3
"""How often a batch is sent at most that gets 500: the fault may be in its events."""

UNAVAILABLE: Final = frozenset({429, 502, 503, 504})
"""The statuses after which the same events are sent again until they are stored."""

LOST: Final = (
    httpx.NetworkError,
    httpx.ProxyError,
    httpx.RemoteProtocolError,
    httpx.TimeoutException,
)
"""The failures of a connection after which they are sent again, too. They may be stored already; their ids make them count once."""

logger = logging.getLogger("tallyhouse")


class UserEvent(EventFields):
    """What a user did whose id you know."""

    user_id: str
    ip: NotRequired[str | None]
    user_agent: NotRequired[str | None]


class VisitorEvent(EventFields):
    """What a visitor did whose id you do not know, told apart by the `ip` and `user_agent` of the request to your server."""

    ip: str
    user_agent: str | None
    user_id: NotRequired[None]


Event: TypeAlias = UserEvent | VisitorEvent


class QueueFullError(Exception):
    """More events wait than may: the service does not accept any, or they are tracked faster than it accepts them."""


class Tracker:
    """
    Sends events. `track` only puts them into a queue: a thread sends what waits in batches, and sends it again while the service
    is not reached, is busy or limits the rate. Each event gets an `event_id`, so it counts once however often it is sent, and the
    `timestamp` of `track`. Threads and coroutines may share a tracker.

    :param url: The URL of the service, such as `https://stats.example`.
    :param token: The public token of the project, `tallypub_…`. API keys do not send events.
    :param flush_interval: The seconds that an event waits at most for others to be sent with it.
    :param max_queue_bytes: The memory in bytes that events take at most until they are stored.
    :param timeout: The seconds to wait for a connection, and for each further part of a response.
    :param on_excluded: Called with the response and the events of a batch of which some are stored but never counted:
        `excluded` says how many and why, and `warnings` what to send instead, `0.user_agent` for the first event.
        Without it a warning is logged.
    :param on_error: Called with the error and the events that are lost by it: the service refused them, or the tracker was
        closed before they were sent. `details` has `0.url` for the first of them. Without it an error is logged.
    :param transport: Sends the requests; that of httpx if left out.
    :raises httpx.InvalidURL: if the URL is not one
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        flush_interval: float = 1.0,
        max_queue_bytes: int = 64 * 1024 * 1024,
        timeout: float = _wire.DEFAULT_TIMEOUT,
        on_excluded: Callable[[Accepted, list[Event]], None] | None = None,
        on_error: Callable[[TallyhouseError, list[Event]], None] | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._flush_interval = flush_interval
        self._max_queue_bytes = max_queue_bytes
        self._on_excluded = on_excluded or _log_excluded
        self._on_error = on_error or _log_error
        self._connect = partial(
            httpx.Client,
            base_url=httpx.URL(url),
            headers=httpx.Headers(_wire.headers(token)),
            timeout=timeout,
            transport=transport,
        )
        self._is_closed = False
        self._start_over()
        if hasattr(os, "register_at_fork"):
            tracker = weakref.ref(self)
            os.register_at_fork(after_in_child=lambda: _start_over(tracker()))
        atexit.register(self.close)

    def _start_over(self) -> None:
        """Begins with an empty queue. A forked process has no thread; its parent sends what was in the queue."""
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._waiting: deque[bytes] = deque()
        self._sending: list[bytes] = []
        self._bytes = 0  # of the events that are not settled
        self._tracked = 0
        self._settled = 0  # how many of the tracked events are stored or lost
        self._flushed = 0  # how many of them are to be settled without delay
        self._due = 0.0  # when the first event has waited long enough

    @overload
    def track(self, event: UserEvent) -> None: ...
    @overload
    def track(self, event: VisitorEvent) -> None: ...
    def track(self, event: Event) -> None:
        """
        Takes an event to be sent, and returns at once.

        :raises ValueError: if the event does not say whose it is, or has a number that JSON does not have
        :raises TypeError: if it has a value that JSON does not have
        :raises QueueFullError: if as many events wait as may; the event is not taken
        :raises RuntimeError: if the tracker is closed
        """
        line = _encode(event)
        size = sys.getsizeof(line)
        with self._changed:
            if self._is_closed:
                raise RuntimeError("The tracker is closed.")
            if self._bytes + size > self._max_queue_bytes:
                count = len(self._waiting) + len(self._sending)
                raise QueueFullError(
                    f"The queue is full: {count} events wait, of {self._bytes} bytes; max_queue_bytes is {self._max_queue_bytes}."
                )
            if self._thread is None:
                # Created here, because httpx loads modules then: a process that is forked meanwhile could never load them.
                http = self._connect()
                self._thread = threading.Thread(
                    target=self._run, args=(http,), name="tallyhouse", daemon=True
                )
                self._thread.start()
            if not self._waiting:
                self._due = time.monotonic() + self._flush_interval
            self._waiting.append(line)
            self._bytes += size
            self._tracked += 1
            if len(self._waiting) in (1, MAX_BATCH_EVENTS):
                self._changed.notify_all()

    def flush(self, timeout: float | None = None) -> bool:
        """
        Sends what was tracked so far, and waits until it is stored or lost. Returns False if that takes more than `timeout`
        seconds. From asyncio: `await asyncio.to_thread(tracker.flush)`.
        """
        with self._changed:
            wanted = self._flushed = self._tracked
            self._changed.notify_all()
            return self._changed.wait_for(lambda: self._settled >= wanted, timeout)

    def close(self, timeout: float = 10.0) -> None:
        """
        Sends what waits, for `timeout` seconds at most; `on_error` gets what is left. `with` does it, too, and the end of the
        process, unless that is killed.
        """
        with self._changed:
            if self._is_closed:
                return
            self._is_closed = True
            self._changed.notify_all()
        self.flush(timeout)
        with self._changed:
            lost = [*self._sending, *self._waiting]
            self._sending = []
            self._waiting.clear()
            self._settle(lost)
        atexit.unregister(self.close)
        if lost:
            message = f"The tracker was closed before the service accepted {len(lost)} events."
            self._call(self._on_error, TallyhouseError(message), lost)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _run(self, http: httpx.Client) -> None:
        """Sends batches until the tracker is closed and has nothing left. The work of its thread."""
        with http:
            while self._take_batch():
                self._deliver(http)

    def _take_batch(self) -> bool:
        """Waits until events are due, and takes as many as a request may have. Returns False at the end."""
        with self._changed:
            while not self._is_due():
                if self._is_closed and not self._waiting:
                    return False
                self._changed.wait(self._due - time.monotonic() if self._waiting else None)
            size = 0
            while self._waiting and len(self._sending) < MAX_BATCH_EVENTS:
                size += len(self._waiting[0]) + 1
                if self._sending and size > MAX_BATCH_BYTES:
                    break
                self._sending.append(self._waiting.popleft())
            return True

    def _is_due(self) -> bool:
        count = len(self._waiting)
        is_wanted = self._is_closed or self._flushed > self._settled
        return count > 0 and (is_wanted or count >= MAX_BATCH_EVENTS or self._due <= time.monotonic())

    def _deliver(self, http: httpx.Client) -> None:
        """Sends a batch until all its events are stored or lost."""
        backoff, faults = 1.0, 0
        while batch := self._sending:
            error = self._send(http, batch)
            if error is None:
                continue
            backoff = min(2 * backoff, MAX_BACKOFF_SECONDS)
            faults += error.status == 500
            if not _may_help(error) or faults == MAX_FAULTS:
                self._take_out(batch, range(len(batch)), self._on_error, error)
                continue
            jittered = backoff * random.uniform(0.5, 1)
            seconds = jittered if error.retry_after is None else error.retry_after
            logger.warning("Sending %d events again in %.1f s. %s", len(batch), seconds, error)
            if self._pause(seconds):
                backoff = 1.0

    def _send(self, http: httpx.Client, batch: list[bytes]) -> TallyhouseError | None:
        """Sends a batch once. Returns the error if all its events are left; those that are invalid are not."""
        content = b"[" + b",".join(batch) + b"]"
        try:
            response = http.post(EVENTS, content=content, headers={"Content-Type": _wire.JSON})
        except Exception as cause:  # Whatever it is, it must not end the thread.
            error = describe_failure(cause)
            error.__cause__ = cause
            return error
        if response.is_success:
            try:
                accepted = cast("Accepted", _wire.read_json(response))
                if "accepted" not in accepted:
                    message = "The response does not say that the events are stored."
                    raise TallyhouseError(message, status=response.status_code)
            except TallyhouseError as foreign:
                return foreign
            callback = self._on_excluded if "excluded" in accepted else None
            self._take_out(batch, range(len(batch)), callback, accepted)
            return None
        error = describe_error(response)
        invalid = _find_invalid(error, len(batch))
        if not invalid:
            return error
        self._take_out(batch, invalid, self._on_error, _renumber(error, invalid))
        return None

    def _take_out(
        self,
        batch: list[bytes],
        indexes: Sequence[int],
        callback: Callable[[Any, list[Event]], None] | None,
        about: object,
    ) -> None:
        """Takes stored or lost events out of the batch, calls a callback about them, and counts them as settled."""
        with self._changed:
            if self._sending is not batch:
                return  # `close` has given up meanwhile, and said so.
            chosen = set(indexes)
            self._sending = [line for i, line in enumerate(batch) if i not in chosen]
        lines = [batch[index] for index in indexes]
        if callback is not None:
            self._call(callback, about, lines)
        with self._changed:
            self._settle(lines)

    def _settle(self, lines: list[bytes]) -> None:
        """Counts events as stored or lost. Needs the lock."""
        self._settled += len(lines)
        self._bytes -= sum(map(sys.getsizeof, lines))
        self._changed.notify_all()

    def _pause(self, seconds: float) -> bool:
        """Waits until events are sent again. Returns True, and at once, if the tracker is closed meanwhile: then time is short."""
        with self._changed:
            was_closed = self._is_closed
            return self._changed.wait_for(
                lambda: self._is_closed is not was_closed or not self._sending, seconds
            )

    def _call(
        self, callback: Callable[[Any, list[Event]], None], about: object, lines: list[bytes]
    ) -> None:
        """Calls a callback of the user. Its failure must not end the thread."""
        try:
            callback(about, [json.loads(line) for line in lines])
        except Exception:
            logger.exception("A callback of the tracker failed.")


def _start_over(tracker: Tracker | None) -> None:
    if tracker is not None:
        tracker._start_over()  # pyright: ignore[reportPrivateUsage]


def _encode(event: Event) -> bytes:
    """Writes an event as JSON, with an id and a time. Null and the empty text count as absent, as for the service."""
    fields: dict[str, object] = {**event}
    if not any(fields.get(name) for name in ("user_id", "ip", "user_agent")):
        raise ValueError(
            "The event needs user_id, or the ip and user_agent of the visitor: without them it would be that of this program."
        )
    if not fields.get("event_id"):
        fields["event_id"] = uuid.uuid4().hex
    if not fields.get("timestamp"):
        fields["timestamp"] = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    return json.dumps(fields, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _may_help(error: TallyhouseError) -> bool:
    """Returns whether the same events may be stored when they are sent again."""
    return error.status in UNAVAILABLE or error.status == 500 or isinstance(error.__cause__, LOST)


def _find_invalid(error: TallyhouseError, count: int) -> list[int]:
    """Lists the positions of the events that the service named as invalid. It stored none of the others either."""
    heads = {detail["field"].partition(".")[0] for detail in error.details}
    return [index for index in range(count) if str(index) in heads]


def _renumber(error: TallyhouseError, indexes: Sequence[int]) -> TallyhouseError:
    """Returns the error of a batch as that of some of its events."""
    places = {str(index): str(place) for place, index in enumerate(indexes)}
    details: list[FieldError] = []
    for detail in error.details:
        head, dot, rest = detail["field"].partition(".")
        details.append({"field": places.get(head, head) + dot + rest, "message": detail["message"]})
    first, more = details[0], len(details) - 1
    return TallyhouseError(
        f"{first['field']} {first['message']}{f' (and {more} more)' if more else ''}",
        status=error.status,
        code=error.code,
        details=details,
        request_id=error.request_id,
        docs=error.docs,
    )


def _log_error(error: TallyhouseError, events: list[Event]) -> None:
    logger.error("%d events are lost. %s", len(events), error)


def _log_excluded(response: Accepted, events: list[Event]) -> None:
    about = {name: response.get(name) for name in ("excluded", "warnings")}
    logger.warning("Some of %d events are stored, but never counted: %s", len(events), about)
