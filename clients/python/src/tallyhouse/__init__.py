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
    ExportedEvent,
    ExportRequest,
    FieldError,
    Filter,
    FunnelExplainResponse,
    FunnelRequest,
    FunnelResponse,
    Metric,
    Project,
    RetentionExplainResponse,
    RetentionRequest,
    RetentionResponse,
    QueryRow,
    ValuesRequest,
    ValuesResponse,
)
from .tables import ExportInfo, Format, TableInfo, TableOperation, TableRequest

__all__ = [
    "NO_RESPONSE",
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
    "Filter",
    "Format",
    "FunnelExplainResponse",
    "FunnelRequest",
    "FunnelResponse",
    "Metric",
    "Project",
    "QueryRequest",
    "QueryResponse",
    "RetentionExplainResponse",
    "RetentionRequest",
    "RetentionResponse",
    "QueryRow",
    "TableInfo",
    "TableOperation",
    "TableRequest",
    "TallyhouseError",
    "ValuesRequest",
    "ValuesResponse",
    "__version__",
]
