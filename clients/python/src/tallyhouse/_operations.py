"""What both clients of management share: how long they wait for an operation, and how pages of CSV become one text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import httpx

from .errors import TallyhouseError
from .models import Operation

MAX_WAIT_SECONDS: Final = 600.0
"""The seconds that an operation may take."""

MAX_PAUSE_SECONDS: Final = 5.0


def list_pauses(max_wait_seconds: float) -> Iterator[float]:
    """Yields the seconds to wait before an operation is asked for again: 0.25, 0.5, 1, …, at most 5."""
    pause, waited = 0.25, 0.0
    while waited + pause <= max_wait_seconds:
        yield pause
        waited += pause
        pause = min(2 * pause, MAX_PAUSE_SECONDS)


def next_pause(pauses: Iterator[float], operation: Operation, max_wait_seconds: float) -> float:
    """Returns the next pause. Raises `TimeoutError` after the last one."""
    pause = next(pauses, None)
    if pause is None:
        where = f"{operation['id']} is {operation['state']}"
        raise TimeoutError(f"The operation {where} after {max_wait_seconds:g} seconds.")
    return pause


class Csv:
    """The pages of a table as one text."""

    def __init__(self) -> None:
        self.cursor: str | None = None
        """That of the next page; None before the first and after the last."""

        self.is_complete = False
        self._lines: list[str] = []

    def add(self, content: bytes, headers: httpx.Headers) -> None:
        """Adds a page. A proxy may have sent something else."""
        if not headers.get("Content-Type", "").startswith("text/csv"):
            raise TallyhouseError("The response is not CSV.")
        header, *rows = [line for line in content.decode().split("\r\n") if line != ""]
        self._lines += rows if self._lines else [header, *rows]
        self.cursor = headers.get("Tally-Next-Cursor")
        self.is_complete = self.cursor is None

    @property
    def text(self) -> str:
        return "".join(f"{line}\r\n" for line in self._lines)
