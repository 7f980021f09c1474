"""Content encodings undone in small pieces: a few KB of a hostile answer unpack to more than memory holds."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

from harry_mcp.errors import SourceError

ACCEPTED = "gzip, deflate"
_PIECE = 64 * 1024  # bytes that are unpacked at a time
_GZIP = 31
_RAW = -15
_GZIP_NAMES = frozenset({"gzip", "x-gzip"})
_MOST_LAYERS = 2  # servers pack once, and twice when they are set up badly


class TooMuch(SourceError):
    """More came out than is wanted."""


class Unpacker:
    """Undoes the encodings of one answer. A name that is no encoding ("utf-8", "none") is passed over.

    ``most`` bounds the bytes that come out of every layer, those inside included.
    """

    def __init__(self, encodings: str, most: int) -> None:
        names = [name.strip().lower() for name in encodings.split(",")]
        known = [name for name in names if name in _GZIP_NAMES or name == "deflate"]
        self._layers = [_Layer(most, gzip=name in _GZIP_NAMES) for name in reversed(known)]

    def add(self, packed: bytes) -> Iterator[bytes]:
        """What comes out of some more bytes.

        Raises:
            TooMuch: more than is wanted.
            SourceError: they are not packed as they say.
        """
        if len(self._layers) > _MOST_LAYERS:
            raise SourceError(f"it is packed {len(self._layers)} times over")
        yield from _through(packed, self._layers)

    def end(self) -> None:
        """Raises SourceError when a layer was not at its end."""
        if any(layer.open for layer in self._layers):
            raise SourceError("its packed body ends too early")


def _through(packed: bytes, layers: Sequence[_Layer]) -> Iterator[bytes]:
    if not layers:
        yield packed
        return
    for piece in layers[0].unpack(packed):
        yield from _through(piece, layers[1:])


class _Layer:
    """One encoding. Gzip may be several files one after the other; "deflate" is zlib's or, by mistake, bare."""

    def __init__(self, most: int, *, gzip: bool) -> None:
        self._most = most
        self._gzip = gzip
        self._size = 0
        self._unpacker = zlib.decompressobj(_GZIP) if gzip else None
        self.open = False

    def unpack(self, packed: bytes) -> Iterator[bytes]:
        while packed:
            if self._unpacker is None:
                # The method of zlib (RFC 1950, 2.2), which no bare stream begins with
                self._unpacker = zlib.decompressobj(zlib.MAX_WBITS if packed[0] & 15 == 8 else _RAW)
            self.open = True
            try:
                piece = self._unpacker.decompress(packed, _PIECE)
            except zlib.error as error:
                raise SourceError("its packed body is broken") from error
            self._size += len(piece)
            if self._size > self._most:
                raise TooMuch
            if piece:
                yield piece
            packed = self._unpacker.unconsumed_tail
            if self._unpacker.eof:
                self.open = False
                packed = self._unpacker.unused_data if self._gzip else b""
                self._unpacker = zlib.decompressobj(_GZIP)
