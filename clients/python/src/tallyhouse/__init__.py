"""A client of Tallyhouse: it asks for numbers, and sends events."""

from ._version import __version__
from .async_client import AsyncClient
from .client import Client
from .errors import NO_RESPONSE, TallyhouseError
from .models import AnalyticsQueryRequest as QueryRequest
from .models import AnalyticsQueryResponse as QueryResponse
from .models import (
    Accepted,
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
from .tracker import Event, QueueFullError, Tracker, UserEvent, VisitorEvent

__all__ = [
    "Accepted",
    "AsyncClient",
    "BatchRequest",
    "BatchResponse",
    "Client",
    "ErrorCode",
    "Event",
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
    "QueueFullError",
    "RetentionExplainResponse",
    "RetentionRequest",
    "RetentionResponse",
    "TableInfo",
    "TableOperation",
    "TableRequest",
    "TallyhouseError",
    "Tracker",
    "UserEvent",
    "ValuesRequest",
    "ValuesResponse",
    "VisitorEvent",
    "__version__",
]
