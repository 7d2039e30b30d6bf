"""Which pages a query has."""

from __future__ import annotations

from .models import AnalyticsQueryRequest, AnalyticsQueryResponse

MAX_LIMIT = 1_000
"""The largest page."""


def first_page(body: AnalyticsQueryRequest) -> AnalyticsQueryRequest:
    """Returns the query for the first page, which is as large as it may be unless the body says how large."""
    limit = body.get("limit", MAX_LIMIT)
    page = body.copy()
    page["limit"] = MAX_LIMIT if limit == "all" else limit
    return page


def next_page(
    asked: AnalyticsQueryRequest, page: AnalyticsQueryResponse
) -> AnalyticsQueryRequest | None:
    """
    Returns the query for the page after this one; None after the last. The period of the first page is that of all
    others: rows of a period that ends now would move from one page to the next meanwhile.
    """
    period, pagination = page["period"], page["pagination"]
    offset = pagination["offset"] + pagination["returned"]
    if pagination["returned"] == 0 or offset >= pagination["total"]:
        return None
    following = asked.copy()
    following["date_range"] = [period["from"], period["to"]]
    following["offset"] = offset
    return following
