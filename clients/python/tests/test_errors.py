"""What becomes of requests that are refused."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import httpx
import pytest
from world import BY_PATH

from tallyhouse import Client, TallyhouseError

Answer = Callable[[httpx.Request], httpx.Response]


def connect(answer: Answer) -> Client:
    return Client(
        "http://stats.example", "th_secret", retries=0, transport=httpx.MockTransport(answer)
    )


@pytest.mark.parametrize(
    "body", [b"<html>", b"", b"[]", b'{"error": "no"}', b'{"error": {"message": "x"}}']
)
def test_an_error_that_is_not_of_the_service(body: bytes) -> None:
    with pytest.raises(TallyhouseError) as refused:
        connect(lambda _: httpx.Response(502, content=body)).project()
    error = refused.value
    assert (error.status, error.code, error.details) == (502, "NO_RESPONSE", [])
    assert error.message in ("Bad Gateway", "x")


@pytest.mark.parametrize(
    ("kind", "body", "named"),
    [
        pytest.param("text/html", b"<html><h1>Sign in</h1>", "text/html, and begins with '<html>", id="a page"),
        pytest.param("application/json", b'{"data": [', "application/json, and begins with", id="a half"),
        pytest.param("application/json", b"[1]", "begins with '[1]'", id="no object"),
        pytest.param("application/json", b"\xff{", "begins with", id="no UTF-8"),
        pytest.param(None, b"", "of no type, and begins with ''", id="nothing"),
    ],
)
def test_a_response_that_is_not_of_the_service(kind: str | None, body: bytes, named: str) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    with pytest.raises(TallyhouseError) as refused:
        connect(lambda _: httpx.Response(200, headers=headers, content=body)).project()
    assert (refused.value.status, refused.value.code) == (200, "NO_RESPONSE")
    assert named in refused.value.message


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
