"""Tables that do not arrive whole, and libraries that are not installed."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import get_type_hints

import pytest
from world import BY_PATH

from tallyhouse import Client, QueryRequest, TallyhouseError, frames, models, tables

FACTS = (
    "Tally-Period: 2026-06-15T00:00:00Z/2026-06-15T12:00:00Z\r\n"
    "Tally-Total: 2\r\nTally-Limit: all\r\nTally-Offset: 0\r\n"
)
CSV = "Content-Type: text/csv; charset=utf-8\r\n"


@contextmanager
def serve(response: str) -> Iterator[str]:
    """Answers one request with these bytes, then closes the connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        server.settimeout(10)

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(response.encode())

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            thread.join()


BROKEN = {
    "a stream": f"{CSV}Transfer-Encoding: chunked\r\n{FACTS}\r\nc\r\npage:path,us\r\n",
    "a length": f"{CSV}Content-Length: 100\r\n{FACTS}\r\npage:path,users\r\n",
    "neither": f"{CSV}Connection: close\r\n{FACTS}\r\npage:path,users\r\n",
    "another type": f"Content-Type: text/html\r\nContent-Length: 2\r\n{FACTS}\r\nab",
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_table_that_is_not_whole_is_an_error(broken: str, tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("before")
    for kind in ("download", "export", "frame"):
        if kind == "frame":
            pytest.importorskip("pandas")
        with serve(f"HTTP/1.1 200 OK\r\n{BROKEN[broken]}") as url, Client(url, "key") as client:
            with pytest.raises(TallyhouseError) as error:
                if kind == "download":
                    client.download(BY_PATH, file)
                elif kind == "export":
                    client.export({"date_range": "all"}, file)
                else:
                    client.frame(BY_PATH)
        assert error.value.code == "NO_RESPONSE"
    assert [one.name for one in tmp_path.iterdir()] == ["table.csv"]
    assert file.read_text() == "before"


@pytest.mark.parametrize(
    ("sent", "before"),
    [
        pytest.param('Transfer-Encoding: chunked\r\n{}\r\n3\r\n{{}}\n\r\n', 1, id="a stream"),
        pytest.param("Content-Length: 9\r\n{}\r\n{{}}\n", 1, id="a length"),
        pytest.param("Connection: close\r\n{}\r\n{{}}\n", 0, id="neither"),
        pytest.param("Content-Length: 5\r\n{}\r\n{{}}\n{{}}", 1, id="an end within a line"),
        pytest.param("Content-Length: 6\r\n{}\r\n{{}}\n<a>", 1, id="an end within something else"),
        pytest.param("Content-Length: 7\r\n{}\r\n{{}}\n<a>\n", 1, id="no JSON"),
        pytest.param("Content-Length: 3\r\n\r\n{{}}\n", 0, id="no period"),
    ],
)
def test_events_that_are_not_whole_are_an_error(sent: str, before: int) -> None:
    response = f"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n{sent.format(FACTS)}"
    with serve(response) as url, Client(url, "key") as client:
        events = client.events({"date_range": "all"})
        for _ in range(before):
            assert next(events) == {}
        with pytest.raises(TallyhouseError) as error:
            next(events)
        assert error.value.code == "NO_RESPONSE"


def test_a_table_without_an_end_that_is_whole(tmp_path: Path) -> None:
    chunked = f"{CSV}Transfer-Encoding: chunked\r\n{FACTS}\r\n3\r\na\r\n\r\n0\r\n\r\n"
    with serve(f"HTTP/1.1 200 OK\r\n{chunked}") as url, Client(url, "key") as client:
        info = client.download(BY_PATH, tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_bytes() == b"a\r\n"
    assert info == {
        "period": {"from": "2026-06-15T00:00:00Z", "to": "2026-06-15T12:00:00Z"},
        "total": 2,
        "limit": "all",
        "offset": 0,
    }


def test_the_format_is_that_of_the_suffix() -> None:
    assert tables.choose_format("a.CSV", None) == "csv"
    assert tables.choose_format(Path("a.csv"), "parquet") == "parquet"
    with pytest.raises(ValueError, match="csv, ndjson, arrow, parquet"):
        tables.choose_format("a.xlsx", None)


def test_the_counts_are_the_integers_of_the_contract() -> None:
    hints = get_type_hints(models.MetricValues)
    counts = {name for name, hint in hints.items() if hint in (int, int | None)}
    assert counts == frames.COUNTS


@pytest.mark.parametrize(("name", "extra"), [("pandas", "pandas"), ("pyarrow", "arrow")])
def test_a_library_that_is_not_installed_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with Client("http://127.0.0.1:1", "key") as client:
        ask = client.frame if name == "pandas" else client.arrow
        with pytest.raises(ImportError, match=rf"tallyhouse-client\[{extra}\]"):
            ask(BY_PATH)


def test_frames_of_values_that_look_like_others() -> None:
    pandas = pytest.importorskip("pandas")
    body: QueryRequest = {"date_range": "all", "group_by": ["country"], "then_by": ["os"]}
    info: tables.TableInfo = {
        "period": {"from": "2026-06-15T00:00:00Z", "to": "2026-06-15T12:00:00Z"},
        "total": 3,
        "limit": "all",
        "offset": 0,
    }
    content = (
        b"country,os,users,visits,bounce_rate\r\n"
        b'NA,"",9007199254740991,,0.1\r\n'
        b"1,nan,1,0,\r\n"
        b'"a\r\nb",null,0,7,33.33\r\n'
    )
    frame = frames.read_frame(content, "query", body, info)
    assert list(frame["country"]) == ["NA", "1", "a\r\nb"]
    assert list(frame["os"]) == ["", "nan", "null"]
    assert list(frame["users"]) == [9007199254740991, 1, 0]
    assert frame["visits"].tolist() == [pandas.NA, 0, 7]
    assert frame["bounce_rate"].tolist()[::2] == [0.1, 33.33]
