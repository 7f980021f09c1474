"""The post office of a test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.jobs.post_office import PostOffice, post_office


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[PostOffice]:
    async with post_office(tmp_path) as opened:
        yield opened
