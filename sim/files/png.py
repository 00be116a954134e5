"""PNG files from pixels, with texts in them. No pygame here.

Our pictures have large flat areas, for which plain rows compress better than any of the PNG filters, and a third of
the time of pygame's writer is enough; and pygame writes no texts.
"""

import struct
import zlib
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

SIGNATURE = b"\x89PNG\r\n\x1a\n"
LEVEL = 6
LONGEST_KEYWORD = 79
_SOFTWARE = {"Software": "Backmove"}
_LONG = 1024  # characters; longer texts are compressed
_MOST_TEXT = 1 << 25  # bytes of all texts of a file


def png_bytes(pixels: npt.NDArray[np.uint32], texts: Mapping[str, str] | None = None) -> bytes:
    """The file for pixels 0x00RRGGBB [height, width]."""
    height, width = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # 8 bits, red green blue, not interlaced
    chunks = [_chunk(b"IHDR", header)]
    chunks += [_text_chunk(keyword, text) for keyword, text in {**_SOFTWARE, **(texts or {})}.items()]
    chunks += [_chunk(b"IDAT", zlib.compress(_rows(pixels), LEVEL)), _chunk(b"IEND", b"")]
    return SIGNATURE + b"".join(chunks)


def _rows(pixels: npt.NDArray[np.uint32]) -> bytes:
    """The rows of the picture, each after a 0: no filter."""
    height, width = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)
    parts = rows[:, 1:].reshape(height, width, 3) if width else rows[:, 1:]
    for place, shift in enumerate((16, 8, 0)):
        parts[..., place] = pixels >> shift
    return rows.tobytes()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _text_chunk(keyword: str, text: str) -> bytes:
    """The text as tEXt where Latin-1 can hold it, else as iTXt; line ends are plain line feeds in both."""
    name = keyword.encode("latin-1")
    if not 1 <= len(name) <= LONGEST_KEYWORD or not keyword.isprintable() or keyword != keyword.strip():
        raise ValueError(f"not a keyword of a PNG text: {keyword!r}")
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    is_long = len(text) > _LONG
    try:
        plain = text.encode("latin-1")
    except UnicodeEncodeError:
        # keyword, end, whether compressed, method 0, no language, no translated keyword
        head = name + (b"\0\1\0\0\0" if is_long else b"\0\0\0\0\0")
        unicode = text.encode("utf-8")
        return _chunk(b"iTXt", head + (zlib.compress(unicode) if is_long else unicode))
    if is_long:
        return _chunk(b"zTXt", name + b"\0\0" + zlib.compress(plain))
    return _chunk(b"tEXt", name + b"\0" + plain)


def png_texts(data: bytes) -> dict[str, str]:
    """The texts in a PNG file; a ValueError where a chunk is not what it should be."""
    if not data.startswith(SIGNATURE):
        raise ValueError("not a PNG file")
    texts: dict[str, str] = {}
    room = _MOST_TEXT
    for kind, body in _chunks(data):
        if kind in (b"tEXt", b"zTXt", b"iTXt"):
            keyword, _, rest = body.partition(b"\0")
            text = _text_of(kind, rest, room)
            room -= len(text)
            texts[keyword.decode("latin-1")] = text.decode("utf-8" if kind == b"iTXt" else "latin-1")
    return texts


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Kind and content of every chunk."""
    place = len(SIGNATURE)
    while place < len(data):
        if len(data) < place + 12:
            raise ValueError("it ends too early")
        length, kind = struct.unpack(">I4s", data[place : place + 8])
        body = data[place + 8 : place + 8 + length]
        if len(data) < place + 12 + length:
            raise ValueError("it ends too early")
        (check,) = struct.unpack(">I", data[place + 8 + length : place + 12 + length])
        if check != zlib.crc32(kind + body):
            raise ValueError(f"the checksum of a chunk {kind!r} is wrong")
        yield kind, body
        place += 12 + length


def _text_of(kind: bytes, rest: bytes, most: int) -> bytes:
    """What follows the keyword of a text, unpacked, of at most so many bytes."""
    is_packed, packed = kind == b"zTXt", rest[1:]
    if kind == b"iTXt":
        parts = rest[2:].split(b"\0", 2)  # language, translated keyword, text
        if len(rest) < 2 or len(parts) < 3:
            raise ValueError("a text ends too early")
        is_packed, packed = rest[0] != 0, parts[2]
    if is_packed:
        return _unpacked(packed, most)
    text = rest if kind == b"tEXt" else packed
    if len(text) > most:
        raise _too_long()
    return text


def _unpacked(data: bytes, most: int) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(data, most + 1)
    except zlib.error as error:
        raise ValueError(f"a text cannot be unpacked: {error}") from None
    if len(text) > most:
        raise _too_long()
    return text


def _too_long() -> ValueError:
    return ValueError(f"its texts are longer than {_MOST_TEXT:,} bytes together")
