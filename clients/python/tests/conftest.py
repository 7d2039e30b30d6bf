"""
The service that the tests ask: that of TALLYHOUSE_URL and TALLYHOUSE_API_KEY. The public token TALLYHOUSE_TOKEN sends to another
project of it, and TALLYHOUSE_ADMIN_KEY manages it. Without them, the tests that need them are skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tallyhouse import Client


class Service(NamedTuple):
    url: str
    api_key: str


@pytest.fixture(scope="session")
def service() -> Service:
    url, api_key = os.environ.get("TALLYHOUSE_URL"), os.environ.get("TALLYHOUSE_API_KEY")
    if url is None or api_key is None:
        pytest.skip("no service: set TALLYHOUSE_URL and TALLYHOUSE_API_KEY")
    return Service(url, api_key)


@pytest.fixture(scope="session")
def managed() -> Service:
    url, admin_key = os.environ.get("TALLYHOUSE_URL"), os.environ.get("TALLYHOUSE_ADMIN_KEY")
    if url is None or admin_key is None:
        pytest.skip("no admin key: set TALLYHOUSE_URL and TALLYHOUSE_ADMIN_KEY")
    return Service(url, admin_key)


@pytest.fixture(scope="session")
def token() -> str:
    token = os.environ.get("TALLYHOUSE_TOKEN")
    if token is None:
        pytest.skip("no public token: set TALLYHOUSE_TOKEN")
    return token


@pytest.fixture
def client(service: Service) -> Iterator[Client]:
    with Client(*service) as client:
        yield client
