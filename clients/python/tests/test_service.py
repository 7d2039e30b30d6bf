"""The client asks a service."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Service
from world import BY_NOTE, BY_PATH, DAY, EVENTS, FUNNEL, NOTES, PATHS, TABLES

from tallyhouse import Client, TallyhouseError, Tracker, UserEvent


def test_each_operation_is_answered(client: Client) -> None:
    queried = client.query({**BY_PATH, "limit": 1})
    assert queried["pagination"] == {"limit": 1, "offset": 0, "returned": 1, "total": 7}
    assert queried["data"] == [{"group": {"page:path": "/0"}, "metrics": {"users": 1}}]
    values = client.values({"field": "page:path", "date_range": DAY, "limit": 1})
    assert values["data"] == [{"value": "/0", "pageviews": 1, "events": 0}]
    batch = client.batch({"queries": [{"id": "a", "operation": "query", "body": BY_PATH}]})
    assert [(one["id"], one["status"]) for one in batch["results"]] == [("a", 200)]
    assert client.explain(BY_PATH)["shards"] == 1
    retained = client.retention({"interval": "day", "date_range": DAY})
    assert [cohort["size"] for cohort in retained["data"]] == [7]
    assert client.explain_retention({"interval": "day", "date_range": DAY})["shards"] == 1
    funnel = client.funnel(FUNNEL)
    assert [step["users"] for step in funnel["data"]] == [7, 1]
    assert client.explain_funnel(FUNNEL)["shards"] == 1
    assert client.project()["domain"] == "example.com"


def test_all_pages_have_the_period_of_the_first(client: Client) -> None:
    pages = list(client.pages({**BY_PATH, "limit": 3}))
    assert len({json.dumps(page["period"]) for page in pages}) == 1
    assert [page["pagination"]["returned"] for page in pages] == [3, 3, 1]
    paths = [row["group"]["page:path"] for page in pages for row in page["data"]]
    assert paths == PATHS


def test_the_rows_of_all_pages(client: Client) -> None:
    rows = client.rows({**BY_PATH, "limit": 2, "offset": 4})
    assert [row["group"]["page:path"] for row in rows] == PATHS[4:]
    assert len(list(client.rows({**BY_PATH, "limit": "all"}))) == 7
    assert list(client.rows({**BY_PATH, "offset": 9})) == []


def test_errors_are_raised(client: Client, service: Service) -> None:
    with pytest.raises(TallyhouseError) as invalid:
        client.query({"date_range": ["2026-01-02", "2026-01-01"]})
    error = invalid.value
    assert (error.status, error.code) == (400, "VALIDATION_ERROR")
    assert error.details == [{"field": "date_range", "message": "must not start after its end"}]
    assert error.request_id
    assert error.docs == "/docs/errors#validation_error"
    assert str(error) == f"VALIDATION_ERROR: {error.message}"
    with Client(service.url, "th_none") as stranger, pytest.raises(TallyhouseError) as refused:
        stranger.project()
    assert (refused.value.status, refused.value.code) == (401, "UNAUTHORIZED")
    with pytest.raises(TallyhouseError) as table:
        client.frame({"date_range": ["2026-01-02", "2026-01-01"]})
    assert table.value.code == "VALIDATION_ERROR"


def test_the_url_may_have_a_slash_at_its_end(service: Service) -> None:
    with Client(f"{service.url}/", service.api_key) as client:
        assert client.project()["domain"] == "example.com"


def flatten(row: Any) -> list[Any]:
    """Returns the cells of a row, in the order of the columns of a table."""
    compared = row["comparison"]
    parts = [row["group"], row["metrics"], compared["metrics"], compared["change"]]
    return [cell for part in parts for cell in part.values()]


def test_a_frame_has_the_rows_of_the_json(client: Client) -> None:
    pandas = pytest.importorskip("pandas")
    frame = client.frame(BY_NOTE)
    answer = client.query({**BY_NOTE, "limit": 1000})
    cells = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    assert cells == [flatten(row) for row in answer["data"]]
    assert sorted(frame["event:prop:note"]) == sorted(NOTES)
    assert [str(kind) for kind in frame.dtypes] == [
        "string",
        *["Int64", "Int64", "float64"],
        *["Int64", "Int64", "float64"],
        *["float64", "float64", "float64"],
    ]
    assert frame.attrs == {
        "period": answer["period"],
        "total": len(NOTES),
        "limit": "all",
        "offset": 0,
        "comparison": answer.get("comparison"),
        "totals": answer.get("totals"),
    }
    series = client.frame(
        {
            "date_range": DAY,
            "metrics": ["users", "visit_duration"],
            "group_by": ["interval:hour"],
            "time_zone": "Europe/Berlin",
            "limit": 3,
        }
    )
    first = pandas.Timestamp("2026-06-15T00:00:00", tz="Europe/Berlin")
    assert list(series["date"]) == [first + pandas.Timedelta(hours=i) for i in range(3)]
    assert str(series["date"].dt.tz) == "Europe/Berlin"
    assert list(series["users"]) == [0, 0, 0]
    assert series["visit_duration"].isna().all()
    nothing = client.frame({"date_range": ["2020-01-01", "2020-01-02"], "group_by": ["country"]})
    assert nothing.shape == (0, 4)


def test_frames_of_other_operations(client: Client) -> None:
    pandas = pytest.importorskip("pandas")
    period = {"from": "2026-06-15T00:00:00Z", "to": "2026-06-15T23:59:59Z"}
    values = client.frame(TABLES["values"], "values")
    assert [str(kind) for kind in values.dtypes] == ["string", "Int64", "Int64"]
    assert values.to_numpy().tolist() == [[path, 1, 0] for path in PATHS]
    assert values.attrs == {"period": period, "total": 7, "limit": 1000, "offset": 0}
    first = client.frame({"field": "page:path", "date_range": DAY, "limit": 2}, "values")
    assert (len(first), first.attrs["limit"]) == (2, 2)
    cohorts = client.frame(TABLES["retention"], "retention")
    assert list(cohorts.columns) == ["cohort", "size", "interval", "users"]
    assert [str(kind) for kind in cohorts.dtypes][1:] == ["Int64", "Int64", "Int64"]
    assert list(cohorts["cohort"]) == [pandas.Timestamp("2026-06-15", tz="UTC")] * 2
    assert cohorts["users"].tolist() == [7, pandas.NA]
    assert cohorts.attrs == {"period": period, "total": 2}
    steps = client.frame(TABLES["funnel"], "funnel")
    assert [str(kind) for kind in steps.dtypes] == ["Int64", "Int64", *["float64"] * 3]
    assert steps[["step", "users"]].to_numpy().tolist() == [[1, 7], [2, 1]]
    assert steps["median_seconds"].isna().tolist() == [True, False]


@pytest.mark.parametrize("operation", TABLES)
def test_downloads_of_each_operation(client: Client, tmp_path: Path, operation: Any) -> None:
    body: Any = TABLES[operation]
    lines = tmp_path / "table.ndjson"
    info = client.download(body, lines, operation=operation)
    rows = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == info["total"]
    asked = getattr(client, operation)(body)
    assert info["period"] == asked["period"]


def test_a_table_of_arrow_has_the_rows_of_the_json(client: Client) -> None:
    pytest.importorskip("pyarrow")
    table = client.arrow(BY_NOTE)
    answer = client.query({**BY_NOTE, "limit": 1000})
    assert [list(row.values()) for row in table.to_pylist()] == [
        flatten(row) for row in answer["data"]
    ]
    assert table.schema.metadata[b"tally.total"] == str(len(NOTES)).encode()


def test_downloads_are_the_answer(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "notes.csv"
    file.write_text("what was there before")
    info = client.download(BY_NOTE, file)
    assert (info["total"], info["limit"]) == (len(NOTES), "all")
    with file.open(newline="", encoding="utf-8") as lines:
        assert sorted(row["event:prop:note"] for row in csv.DictReader(lines)) == sorted(NOTES)
    lines = tmp_path / "notes.txt"
    client.download({**BY_NOTE, "limit": 2}, lines, format="ndjson")
    assert len(lines.read_text(encoding="utf-8").splitlines()) == 2
    client.download(BY_NOTE, str(tmp_path / "notes.parquet"))
    assert (tmp_path / "notes.parquet").read_bytes()[:4] == b"PAR1"
    client.download(BY_NOTE, tmp_path / "notes.arrow")
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        *["notes.arrow", "notes.csv", "notes.parquet", "notes.txt"]
    ]


def test_exports_are_the_events(client: Client, tmp_path: Path) -> None:
    events = list(client.events(EVENTS))
    assert [event.get("path") for event in events[:7]] == PATHS
    assert sorted(event.get("properties", {}).get("note", "") for event in events[7:]) == sorted(NOTES)
    file = tmp_path / "events.ndjson"
    file.write_text("what was there before")
    period = {"from": "2026-06-15T00:00:00Z", "to": "2026-06-15T23:59:59Z"}
    assert client.export(EVENTS, file) == {"period": period}
    assert [json.loads(line) for line in file.read_bytes().splitlines()] == events
    client.export({**EVENTS, "limit": 2}, tmp_path / "events", format="csv")
    with (tmp_path / "events").open(newline="", encoding="utf-8") as lines:
        assert [row["path"] for row in csv.DictReader(lines)] == PATHS[:2]
    client.export(EVENTS, str(tmp_path / "events.parquet"))
    assert (tmp_path / "events.parquet").read_bytes()[:4] == b"PAR1"
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        *["events", "events.ndjson", "events.parquet"]
    ]


def test_tracked_events_are_taken_or_told(service: Service, token: str) -> None:
    at = "2026-06-15T11:00:00Z"
    told: list[Any] = []
    with Tracker(
        service.url,
        token,
        on_error=lambda error, events: told.append((error.status, error.message, events)),
        on_excluded=lambda response, events: told.append((response, len(events))),
    ) as tracker:
        for i in range(1_500):
            tracker.track({"name": "paid", "user_id": f"u{i}", "timestamp": at})
        assert tracker.flush()
        assert told == []
        invalid: UserEvent = {"user_id": "u", "timestamp": at, "url": "nowhere", "event_id": "e"}
        tracker.track({"name": "paid", "user_id": "u0", "timestamp": at})
        tracker.track(invalid)
        tracker.track({"name": "paid", "ip": "203.0.113.7", "user_agent": "curl/8.5.0", "timestamp": at})
        assert tracker.flush()
    assert told == [
        (400, "0.url must be an absolute URL, such as https://example.com/path", [invalid]),
        ({"accepted": 2, "excluded": {"bots": 1}}, 2),
    ]


def test_whoever_stops_reading_can_export_again(client: Client) -> None:
    for _ in range(3):
        events = client.events(EVENTS)
        next(events)
        events.close()
    assert len(list(client.events(EVENTS))) == 18
