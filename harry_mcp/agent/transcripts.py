"""The file that keeps a conversation."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from harry_mcp.errors import InputError


class TranscriptFile:
    """Written again after each turn, in one step: a reader finds the old one or the new one, whole."""

    def __init__(self, path: Path) -> None:
        """Nothing is written yet, but it is tried out.

        Raises:
            InputError: a file cannot be written there.
        """
        self._shown = path
        # A link is followed, or the step would replace it.
        self._path = path.resolve()
        self._beside = self._path.with_name(f".{self._path.name}.{os.getpid()}.part")
        if self._path.is_dir():
            raise InputError(f"The transcript cannot be written: {path} is a folder. Name a file in it.")
        if self._path.exists() and not self._path.is_file():
            raise InputError(f"The transcript cannot be written: {path} is no file. Name another one.")
        if not self._path.parent.is_dir():
            raise InputError(f"The transcript cannot be written: there is no folder {path.parent}. Make it first.")
        try:
            self._beside.touch()
            self._beside.unlink()
        except OSError as error:
            raise self._fault(error) from error

    def write(self, transcript: dict[str, Any]) -> None:
        """Write all of it.

        Raises:
            InputError: that failed; what was written before is still there.
        """
        try:
            self._beside.write_text(json.dumps(transcript, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
            self._beside.replace(self._path)
        except OSError as error:
            self._clear()
            raise self._fault(error) from error

    def _clear(self) -> None:
        try:
            self._beside.unlink(missing_ok=True)
        except OSError:
            return  # where nothing can be written, nothing was

    def _fault(self, error: OSError) -> InputError:
        why = (error.strerror or type(error).__name__).lower()
        return InputError(f"The transcript cannot be written to {self._shown}: {why}. Name another file.")
