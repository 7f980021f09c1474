"""A knowledge base for the checks."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import AsyncConnection

from harry_mcp.app import App
from tests.stages.curate.knowledge import Knowledge


@pytest.fixture
def knowledge(app: App, connection: AsyncConnection[Any]) -> Knowledge:
    return Knowledge(app, connection)
