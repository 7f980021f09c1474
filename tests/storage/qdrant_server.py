"""A Qdrant server on this machine: the REST calls that harry makes, answered by the client's own in-memory mode."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from qdrant_client import QdrantClient
from qdrant_client.http import models

from tests.providers.vendor import Answer, Asked, Vendor, vendor

Fault = Callable[[Asked], Answer | None]


class QdrantServer:
    """What it holds, and what it does instead of answering: ``fault`` gives an answer, or None to go on."""

    def __init__(self) -> None:
        self.client = QdrantClient(":memory:")
        self.fault: Fault | None = None
        self.vendor = Vendor(self.answer)

    @property
    def url(self) -> str:
        return self.vendor.url

    def answer(self, asked: Asked, _number: int) -> Answer:
        if self.fault is not None and (instead := self.fault(asked)) is not None:
            return instead
        name, *rest = urlsplit(asked.path).path.removeprefix("/collections/").split("/")
        try:
            return Answer({"result": self._do(asked, name, "/".join(rest)), "status": "ok", "time": 0.0})
        except ValueError as error:
            return Answer({"status": {"error": str(error)}, "time": 0.0}, status=404)

    def _do(self, asked: Asked, name: str, what: str) -> Any:
        body: Any = asked.body or {}
        match asked.method, what:
            case "PUT", "":
                return self.client.create_collection(name, models.VectorParams(**body["vectors"]))
            case "DELETE", "":
                return self.client.delete_collection(name)
            case "GET", "exists":
                return {"exists": self.client.collection_exists(name)}
            case "PUT", "index":
                return {"operation_id": 1, "status": "completed"}
            case "POST", "points/count":
                return {"count": self.client.count(name).count}
            case "PUT", "points":
                self.client.upsert(name, [models.PointStruct(**point) for point in body["points"]])
                return {"operation_id": 1, "status": "completed"}
            case "POST", "points/delete":
                self.client.delete(name, models.PointIdsList(points=body["points"]))
                return {"operation_id": 1, "status": "completed"}
            case "POST", "points/query/batch":
                return [self._query(name, search) for search in body["searches"]]
            case _:
                raise AssertionError((asked.method, asked.path))

    def _query(self, name: str, search: dict[str, Any]) -> dict[str, Any]:
        found = self.client.query_points(
            name,
            query=search["query"]["nearest"],
            query_filter=models.Filter(**search["filter"]) if search.get("filter") else None,
            limit=search["limit"],
        )
        return {"points": [{"id": point.id, "version": 1, "score": point.score} for point in found.points]}

    def points(self) -> dict[str, set[int]]:
        """The chunks in each collection."""
        names = [each.name for each in self.client.get_collections().collections]
        return {name: {int(point.id) for point in self.client.scroll(name, limit=100_000)[0]} for name in names}


@asynccontextmanager
async def qdrant_server() -> AsyncGenerator[QdrantServer, None]:
    running = QdrantServer()
    async with vendor(running.answer) as served:
        running.vendor = served
        yield running
    running.client.close()
