"""The traffic of the service in the tests: see test/integration/client/python.slow.test.ts of the project."""

from __future__ import annotations

from tallyhouse import ExportRequest, FunnelRequest, QueryRequest, TableOperation, TableRequest

DAY = ("2026-06-15", "2026-06-15")

NOTES = ["", " spaced ", "=1+1", "NA", "a,b", 'say "hi"', "line\nbreak", "\r", "null", "1.50", "ünï"]
"""The values of the property `note`, each of one event."""

BY_PATH: QueryRequest = {
    "date_range": "today",
    "metrics": ["users"],
    "group_by": ["page:path"],
}
PATHS = [f"/{i}" for i in range(7)]
"""The paths of the pageviews, each of one user, in order."""

BY_NOTE: QueryRequest = {
    "date_range": DAY,
    "metrics": ["events", "users", "bounce_rate"],
    "group_by": ["event:prop:note"],
    "compare": "previous_period",
    "include": {"totals": True},
}

FUNNEL: FunnelRequest = {
    "date_range": DAY,
    "steps": [
        {"filters": [{"type": "page", "path": {"operator": "startsWith", "value": "/"}}]},
        {"filters": [{"type": "event", "name": {"operator": "eq", "value": "noted"}}]},
    ],
}

EVENTS: ExportRequest = {"date_range": DAY, "fields": ["timestamp", "name", "user_id", "path", "properties"]}

TABLES: dict[TableOperation, TableRequest] = {
    "query": BY_NOTE,
    "values": {"field": "page:path", "date_range": DAY},
    "retention": {"interval": "day", "date_range": DAY, "intervals": 1},
    "funnel": FUNNEL,
}
