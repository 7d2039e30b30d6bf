"""A misspelt query is found by pyright: each comment below would be an error of its own if its line had none."""
# pyright: strict, reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from tallyhouse import Client, ExportRequest, ManagementClient, QueryRequest, QueryResponse, Tracker

VALID: QueryRequest = {
    "date_range": ["2026-06-01", "2026-06-14"],
    "metrics": ["users", "bounce_rate"],
    "group_by": ["event:prop:plan"],
    "order_by": [["users", "desc"]],
    "filters": [
        {"type": "page", "path": {"operator": "startsWith", "value": "/blog"}},
        {"type": "group", "operator": "not", "filters": [{"type": "user", "anonymous": True}]},
    ],
}

without_period: QueryRequest = {"metrics": ["users"]}  # pyright: ignore[reportAssignmentType]
period: QueryRequest = {"date_range": "30day"}  # pyright: ignore[reportAssignmentType]
metric: QueryRequest = {"date_range": "all", "metrics": ["visitors"]}  # pyright: ignore[reportAssignmentType]
clause: QueryRequest = {"date_range": "all", "filters": [{"type": "page", "path": "/"}]}  # pyright: ignore[reportAssignmentType]
member: QueryRequest = {"date_range": "all", "groupby": ["country"]}  # pyright: ignore[reportAssignmentType]
field: ExportRequest = {"date_range": "all", "fields": ["ip"]}  # pyright: ignore[reportAssignmentType]


def read_table(client: Client) -> None:
    client.frame({"interval": "day", "date_range": "all"}, "retention")
    client.frame({"interval": "year", "date_range": "all"}, "retention")  # pyright: ignore[reportArgumentType]


def read_first(answer: QueryResponse) -> tuple[str, int, float | None]:
    """The types of an answer are known without a cast."""
    row = answer["data"][0]
    return row["group"]["country"], row["metrics"]["users"], row["metrics"]["bounce_rate"]


def read_unknown(answer: QueryResponse) -> None:
    answer["data"][0]["metrics"]["visitors"]  # pyright: ignore[reportGeneralTypeIssues]


def send(tracker: Tracker, ip: str, user_agent: str | None) -> None:
    tracker.track({"name": "signup", "user_id": "u42", "ip": ip, "properties": {"plan": "pro", "seats": 5}})
    tracker.track({"url": "https://shop.example/", "ip": ip, "user_agent": user_agent})
    tracker.track({"name": "signup"})  # pyright: ignore[reportCallIssue, reportArgumentType]
    tracker.track({"ip": ip})  # pyright: ignore[reportCallIssue, reportArgumentType]
    tracker.track({"user_id": "u42", "event": "signup"})  # pyright: ignore[reportCallIssue, reportArgumentType]


def manage(admin: ManagementClient) -> str:
    admin.create_project({"name": "Shop"})  # pyright: ignore[reportArgumentType]
    admin.update_project("shop", {"keepdays": 1})  # pyright: ignore[reportArgumentType]
    admin.get_usage(interval="week")  # pyright: ignore[reportArgumentType]
    return admin.issue_key("shop", {"scopes": ["read"]})["key"]["scopes"][0]


def test_requests_know_what_they_need() -> None:
    assert QueryRequest.__required_keys__ == {"date_range"}
