"""One connection's view of everything that is stored; inside a transaction it is one act."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from psycopg import AsyncConnection

from harry_mcp.storage.audit import AuditLog
from harry_mcp.storage.calibrations import Calibrations
from harry_mcp.storage.catalogue import Catalogue
from harry_mcp.storage.changes import Changes
from harry_mcp.storage.corrections import Corrections
from harry_mcp.storage.crawls import Crawls
from harry_mcp.storage.curation import CurationLog
from harry_mcp.storage.digests import Digests
from harry_mcp.storage.documents import Documents
from harry_mcp.storage.eval_runs import EvalRuns
from harry_mcp.storage.feedback import FeedbackLog
from harry_mcp.storage.gaps import Gaps
from harry_mcp.storage.ingestions import Ingestions
from harry_mcp.storage.job_runs import JobRuns
from harry_mcp.storage.keywords import KeywordIndex
from harry_mcp.storage.memories import Memories
from harry_mcp.storage.outbox import Outbox
from harry_mcp.storage.queue import ReviewQueue
from harry_mcp.storage.reviews import Reviews
from harry_mcp.storage.searches import Searches
from harry_mcp.storage.shared_marks import SharedMarks
from harry_mcp.storage.signals import Signals
from harry_mcp.storage.source_checks import SourceChecks
from harry_mcp.storage.spaces import Spaces, StoredSpace
from harry_mcp.storage.transfer import Transfer
from harry_mcp.storage.vectors import Vectors
from harry_mcp.storage.verified import Verified
from harry_mcp.storage.versions import Versions
from harry_mcp.storage.web import WebSearches


class UnitOfWork:
    """The aggregates over one connection."""

    def __init__(self, connection: AsyncConnection[Any], space: StoredSpace) -> None:
        self._connection = connection
        self.keywords = KeywordIndex(connection, space.id)
        self.spaces = Spaces(connection)
        self.vectors = Vectors(connection, space)
        self.outbox = Outbox(connection)
        self.documents = Documents(connection, self.keywords, self.vectors)
        self.searches = Searches(connection)
        self.gaps = Gaps(connection)
        self.web = WebSearches(connection)
        self.crawls = Crawls(connection)
        self.catalogue = Catalogue(connection)
        self.ingestions = Ingestions(connection)
        self.calibrations = Calibrations(connection)
        self.eval_runs = EvalRuns(connection)
        self.memories = Memories(connection, space)
        self.verified = Verified(connection, space)
        self.feedback = FeedbackLog(connection)
        self.curation = CurationLog(connection)
        self.corrections = Corrections(connection)
        self.signals = Signals(connection, space)
        self.source_checks = SourceChecks(connection)
        self.audit = AuditLog(connection)
        self.job_runs = JobRuns(connection)
        self.digests = Digests(connection)
        self.reviews = Reviews(connection)
        self.queue = ReviewQueue(connection)
        self.versions = Versions(connection, space)
        self.shared_marks = SharedMarks(connection)
        self.transfer = Transfer(connection, self.keywords, space)
        self.changes = Changes(connection)

    @asynccontextmanager
    async def together(self) -> AsyncGenerator[None, None]:
        """All that is written meanwhile happens or none of it does, also on a view that is no transaction."""
        async with self._connection.transaction():
            yield
