"""What goes to Qdrant and what comes back, in the words of its client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harry_mcp.errors import ProviderError, ProviderNotConfigured
from harry_mcp.ports import Narrowing, VectorPoint
from harry_mcp.providers.line import Failed
from harry_mcp.providers.wire import may_pass, seconds_to_wait, short

if TYPE_CHECKING:
    from qdrant_client.http import models
    from qdrant_client.http.exceptions import UnexpectedResponse

KEY = "HARRY_VECTORS__QDRANT_API_KEY"
# The payload that filters read, and how Qdrant indexes it.
INDEXED = {"topic": "keyword", "language": "keyword", "under": "keyword", "updated_at": "float"}
# Statuses of a request that is the caller's own fault: no sign that the service is down.
_BLAMELESS = (400, 409, 422)


def point_of(point: VectorPoint) -> models.PointStruct:
    from qdrant_client.http import models

    return models.PointStruct(
        id=point.chunk_id,
        vector=list(point.vector),
        payload={
            "topic": point.topic,
            "language": point.language,
            "under": list(point.under),
            "updated_at": point.updated_at,
        },
    )


def filter_of(narrowing: Narrowing) -> models.Filter | None:
    from qdrant_client.http import models

    words = {"topic": narrowing.topic, "language": narrowing.language, "under": narrowing.under}
    must: list[models.Condition] = [
        models.FieldCondition(key=field, match=models.MatchValue(value=word)) for field, word in words.items() if word
    ]
    if narrowing.since is not None:
        must.append(models.FieldCondition(key="updated_at", range=models.Range(gte=narrowing.since)))
    return models.Filter(must=must) if must else None


def ids_of(answer: models.QueryResponse) -> list[int]:
    """The chunks of an answer; a point that is none of ours has another kind of id."""
    return [point.id for point in answer.points if isinstance(point.id, int)]


def refused(error: UnexpectedResponse, collection: str) -> Failed:
    status = error.status_code or 0
    if status in (401, 403):
        return Failed(ProviderNotConfigured(f"Qdrant refuses {KEY} ({status}). Check the key."))
    if status == 404:
        return Failed(lost(collection), blameless=True)
    return Failed(
        ProviderError(f"Qdrant failed with status {status}: {short(error.content.decode(errors='replace'))}."),
        passing=may_pass(status),
        retry_after=seconds_to_wait(dict(error.headers)),
        blameless=status in _BLAMELESS,
    )


def lost(collection: str) -> ProviderError:
    return ProviderError(f"Qdrant has no collection {collection}. Run `harry vectors rebuild` to fill it anew.")
