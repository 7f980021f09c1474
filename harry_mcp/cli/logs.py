"""Logs: one JSON object a line, to stderr, for stdout belongs to the protocol."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from harry_mcp.server.request_ids import current_request


class JsonFormatter(logging.Formatter):
    """Time, level, logger and message, and the request it is about; the traceback of an error in its own field."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "time": datetime.fromtimestamp(record.created, tz=UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request := current_request():
            entry["request_id"] = request
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False)


def configure(level: str) -> None:
    """Send every logger to stderr. Called before the SDK configures logging, which then leaves it as it is."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)
