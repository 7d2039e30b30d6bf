"""Which queries of a batch are sent again: each has a status of its own, as it would have alone."""

from __future__ import annotations

from ._wire import Failure, Retries
from .models import BatchRequest, BatchResponse, BatchResult


def plan_retry(response: BatchResponse, retries: Retries) -> tuple[set[str], float | None]:
    """Returns the ids of the queries to send again, and the seconds to wait before, as `seconds_to_wait` of `Retries` does."""
    failures = {result["id"]: _describe(result) for result in response["results"]}
    again = {id for id, failure in failures.items() if retries.may_help(failure)}
    return again, retries.seconds_to_wait(*(failures[id] for id in again))


def _describe(result: BatchResult) -> Failure:
    return Failure(result["status"], result.get("retry_after"))


def select_queries(body: BatchRequest, ids: set[str]) -> BatchRequest:
    """Returns a batch of some queries of another."""
    batch = body.copy()
    batch["queries"] = [query for query in body["queries"] if query["id"] in ids]
    return batch


def replace_results(response: BatchResponse, later: BatchResponse) -> BatchResponse:
    """Returns the results of a batch, with those that came later in their places."""
    results = {result["id"]: result for result in later["results"]}
    return {"results": [results.get(result["id"], result) for result in response["results"]]}
