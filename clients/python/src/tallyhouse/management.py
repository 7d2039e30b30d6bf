"""The client of management."""

from __future__ import annotations

import time
from typing import Literal

from . import _operations, _wire
from ._management import ManagementOperations
from .models import ManagedProject, Operation


class ManagementClient(ManagementOperations):
    """
    Manages projects: their keys, users and notes, and what they used. All methods raise `TallyhouseError` if there is no answer.

    :param url: The URL of the service, such as `https://stats.example`, or that of its port for management.
    :param api_key: The admin key, `tallyadmin_…`. It belongs on servers only.
    :param timeout: The seconds to wait for a connection, and for each further part of a response.
    :param retries: How often a request is sent again at most; 0 for never. After some failures it is less, see the README.
    :param max_wait_seconds: The seconds that all waits of a request take at most. Instead of a wait beyond, the error is raised.
    :param transport: Sends the requests; that of httpx if left out.
    """

    def get_tagged_project(self, project_id: str) -> tuple[ManagedProject, str]:
        """A project and its entity tag: give it as `if_match` with a change, which then fails if somebody else was first."""
        path = f"/v1/projects/{_wire.quote(project_id)}"
        with self._send(path, None, _wire.JSON) as response:
            return _wire.read_json(response), response.headers["ETag"]

    def wait_for_operation(
        self, operation_id: str, *, max_wait_seconds: float = _operations.MAX_WAIT_SECONDS
    ) -> Operation:
        """
        Asks for an operation until it is `done` or `failed`, first often, then every 5 seconds. Raises `TimeoutError` if it takes
        longer.
        """
        pauses = _operations.list_pauses(max_wait_seconds)
        while True:
            operation = self.get_operation(operation_id)
            if operation["state"] in ("done", "failed"):
                return operation
            time.sleep(_operations.next_pause(pauses, operation, max_wait_seconds))

    def usage_csv(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        interval: Literal["day", "month"] | None = None,
        project: str | None = None,
        org: str | None = None,
        limit: int | None = None,
    ) -> str:
        """GET /v1/usage as CSV: all pages as one text, with one header. `limit` is the number of projects of a page."""
        query = {
            "from": from_,
            "to": to,
            "interval": interval,
            "project": project,
            "org": org,
            "limit": limit,
        }
        csv = _operations.Csv()
        while not csv.is_complete:
            options = _wire.Options("GET", query={**query, "cursor": csv.cursor})
            with self._send(_wire.USAGE, None, _wire.CSV, options) as response:
                csv.add(response.read(), response.headers)
        return csv.text
