"""One connection's view of everything that is stored; inside a transaction it is one act."""

from __future__ import annotations

from typing import Any

from psycopg import AsyncConnection

from harry_mcp.storage.crawls import Crawls
from harry_mcp.storage.documents import Documents
from harry_mcp.storage.keywords import KeywordIndex
from harry_mcp.storage.searches import Searches
from harry_mcp.storage.spaces import Spaces, StoredSpace
from harry_mcp.storage.vectors import Vectors


class UnitOfWork:
    """The aggregates over one connection."""

    def __init__(self, connection: AsyncConnection[Any], space: StoredSpace) -> None:
        self.keywords = KeywordIndex(connection, space.id)
        self.spaces = Spaces(connection)
        self.vectors = Vectors(connection, space)
        self.documents = Documents(connection, self.keywords, self.vectors)
        self.searches = Searches(connection)
        self.crawls = Crawls(connection)
