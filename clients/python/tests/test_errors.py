"""What becomes of requests that are refused, or get no answer."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import httpx
import pytest
from world import BY_PATH

from tallyhouse import Client, TallyhouseError

Answer = Callable[[httpx.Request], httpx.Response]


def connect(answer: Answer, retries: int = 3, max_wait_seconds: float = 60) -> Client:
    return Client(
        "http://stats.example",
        "th_secret",
        retries=retries,
        max_wait_seconds=max_wait_seconds,
        transport=httpx.MockTransport(answer),
    )


def refuse(statuses: list[int], retry_after: str | None = "0") -> tuple[Answer, list[bytes]]:
    """Answers with these statuses first, then properly; the bodies of all requests are in the list."""
    bodies: list[bytes] = []

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append(request.read())
        if len(bodies) > len(statuses):
            return httpx.Response(200, json={"data": []})
        error = {"error": {"code": "RATE_LIMIT_EXCEEDED", "message": "later"}}
        headers = {} if retry_after is None else {b"Retry-After": retry_after.encode("latin-1")}
        return httpx.Response(statuses[len(bodies) - 1], headers=headers, json=error)

    return answer, bodies


def test_the_same_request_is_sent_again() -> None:
    answer, bodies = refuse([429, 503, 429])
    assert connect(answer).query(BY_PATH) == {"data": []}
    assert (len(bodies), len(set(bodies))) == (4, 1)


@pytest.mark.parametrize(
    ("statuses", "retry_after", "retries", "requests"),
    [
        pytest.param([503] * 5, "0", 3, 4, id="three times at most"),
        pytest.param([429] * 3, "0", 1, 2, id="as often as wanted"),
        pytest.param([429], "0", 0, 1, id="never"),
        pytest.param([429] * 2, "61", 3, 1, id="not after a long wait"),
        pytest.param([500] * 2, "0", 3, 1, id="not after another error"),
    ],
)
def test_requests_are_sent_again(
    statuses: list[int], retry_after: str, retries: int, requests: int
) -> None:
    answer, bodies = refuse(statuses, retry_after)
    with pytest.raises(TallyhouseError) as refused:
        connect(answer, retries=retries).query(BY_PATH)
    assert (refused.value.status, refused.value.retry_after) == (statuses[0], int(retry_after))
    assert len(bodies) == requests


@pytest.mark.parametrize("retry_after", [None, "", "soon", "-1", "1.5", "²", "9999999999"])
def test_a_retry_after_that_is_no_number_is_one_second(
    monkeypatch: pytest.MonkeyPatch, retry_after: str | None
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    answer, _ = refuse([429], retry_after)
    connect(answer).query(BY_PATH)
    assert waits == [1]


@pytest.mark.parametrize(
    "body", [b"<html>", b"", b"[]", b'{"error": "no"}', b'{"error": {"message": "x"}}']
)
def test_an_error_that_is_not_of_the_service(body: bytes) -> None:
    with pytest.raises(TallyhouseError) as refused:
        connect(lambda _: httpx.Response(502, content=body)).project()
    error = refused.value
    assert (error.status, error.code, error.details) == (502, "NO_RESPONSE", [])
    assert error.message in ("Bad Gateway", "x")


def test_an_answer_that_is_no_json() -> None:
    with pytest.raises(TallyhouseError) as refused:
        connect(lambda _: httpx.Response(200, content=b"<html>")).project()
    assert refused.value.code == "NO_RESPONSE"


def test_a_service_that_is_not_reached() -> None:
    with Client("http://127.0.0.1:1", "th_secret") as client:
        with pytest.raises(TallyhouseError) as refused:
            client.project()
    assert (refused.value.status, refused.value.code) == (0, "NO_RESPONSE")
    assert isinstance(refused.value.__cause__, httpx.ConnectError)


def test_an_error_on_a_later_page_is_raised() -> None:
    pages = [httpx.Response(200, json=PAGE), httpx.Response(504, json=TIMEOUT)]
    rows = connect(lambda _: pages.pop(0)).rows(BY_PATH)
    assert next(rows) == PAGE["data"][0]
    with pytest.raises(TallyhouseError) as refused:
        next(rows)
    assert refused.value.code == "QUERY_TIMEOUT"


def test_errors_are_copied_whole_and_hide_the_key() -> None:
    error = TallyhouseError("no", status=400, code="X", details=[], request_id="r", retry_after=1)
    for same in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert vars(same) == vars(error)
    client = connect(lambda _: httpx.Response(400, json=TIMEOUT))
    with pytest.raises(TallyhouseError) as refused:
        client.project()
    assert "th_secret" not in repr(refused.value) + str(refused.value) + repr(client)


PERIOD = {"from": "2026-06-15T00:00:00Z", "to": "2026-06-15T12:00:00Z"}
PAGE = {
    "period": PERIOD,
    "pagination": {"limit": 1, "offset": 0, "returned": 1, "total": 2},
    "data": [{"group": {}, "metrics": {}}],
}
TIMEOUT = {"error": {"code": "QUERY_TIMEOUT", "message": "too long"}}
