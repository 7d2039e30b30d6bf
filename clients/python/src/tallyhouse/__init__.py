"""A client of the query API of Tallyhouse."""

from ._version import __version__
from .async_client import AsyncClient
from .client import Client
from .errors import NO_RESPONSE, TallyhouseError
from .models import AnalyticsQueryRequest as QueryRequest
from .models import AnalyticsQueryResponse as QueryResponse
from .models import (
    BatchRequest,
    BatchResponse,
    ErrorCode,
    ExplainResponse,
    ExportRequest,
    ExportedEvent,
    FieldError,
    FunnelExplainResponse,
    FunnelRequest,
    FunnelResponse,
    Metric,
    Project,
    QueryFilter,
    QueryRow,
    RetentionExplainResponse,
    RetentionRequest,
    RetentionResponse,
    ValuesRequest,
    ValuesResponse,
)
from .tables import ExportInfo, Format, TableInfo, TableOperation, TableRequest

__all__ = [
    "AsyncClient",
    "BatchRequest",
    "BatchResponse",
    "Client",
    "ErrorCode",
    "ExplainResponse",
    "ExportInfo",
    "ExportRequest",
    "ExportedEvent",
    "FieldError",
    "Format",
    "FunnelExplainResponse",
    "FunnelRequest",
    "FunnelResponse",
    "Metric",
    "NO_RESPONSE",
    "Project",
    "QueryFilter",
    "QueryRequest",
    "QueryResponse",
    "QueryRow",
    "RetentionExplainResponse",
    "RetentionRequest",
    "RetentionResponse",
    "TableInfo",
    "TableOperation",
    "TableRequest",
    "TallyhouseError",
    "ValuesRequest",
    "ValuesResponse",
    "__version__",
]
