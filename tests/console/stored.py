"""What is stored behind a page that a test drives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psycopg import connect


@dataclass(frozen=True, slots=True)
class Stored:
    """The address of a server, and its database as it is."""

    base: str
    url: str

    def one(self, statement: str, *parameters: object) -> Any:
        return self._rows(statement, *parameters)[0][0]

    def status(self, title: str) -> str:
        return self.one("SELECT status FROM documents WHERE title = %s AND source LIKE 'http%%'", title)

    def statuses(self, like: str) -> list[str]:
        return [status for (status,) in self._rows("SELECT status FROM documents WHERE title LIKE %s", like)]

    def text(self, title: str) -> str:
        return self.one("SELECT content FROM documents WHERE title = %s", title)

    def archive(self, title: str) -> None:
        """What another curator did meanwhile."""
        self._rows("UPDATE documents SET status = 'archived' WHERE title = %s RETURNING id", title)

    def restore(self, title: str) -> None:
        self._rows("UPDATE documents SET status = 'flagged' WHERE title = %s RETURNING id", title)

    def _rows(self, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        with connect(self.url, autocommit=True, options="-c search_path=harry,public") as connection:
            return connection.execute(statement.encode(), parameters).fetchall()
