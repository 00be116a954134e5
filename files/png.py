"""Write PNG files with embedded texts, and read these texts, without pygame.

Pictures of this program have large flat areas, for which unfiltered rows compress better than with any PNG filter.
This takes a third of the time of pygame's writer, which also cannot embed texts.
Pillow takes 1.8 to 1.9 times as long for the pictures in docs/shots, and its files are 7 to 25 % larger.
"""

import struct
import zlib
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
COMPRESSION_LEVEL = 6  # level of zlib compression of the picture, from 0 to 9
MAX_KEYWORD = 79  # maximum length in bytes of the keyword of an embedded text, by the PNG standard
_SOFTWARE_TEXT = {"Software": "Backmove"}
_MIN_COMPRESSED_TEXT = 1024  # number of characters above which an embedded text is compressed
_MAX_TEXT_BYTES = 1 << 25  # maximum number of bytes of all embedded texts of a file together; larger files are refused


def png_bytes(pixels: npt.NDArray[np.uint32], texts: Mapping[str, str] | None = None) -> bytes:
    """Return the bytes of a PNG file.

    Args:
        pixels: colours 0x00RRGGBB [height, width].
        texts: texts to embed, by keyword.

    Raises:
        ValueError: A keyword is not valid.
    """
    height, width = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # bit depth 8, colour type RGB, not interlaced
    chunks = [_png_chunk(b"IHDR", header)]
    chunks += [_png_text_chunk(keyword, text) for keyword, text in {**_SOFTWARE_TEXT, **(texts or {})}.items()]
    chunks += [
        _png_chunk(b"IDAT", zlib.compress(_unfiltered_rows(pixels), COMPRESSION_LEVEL)),
        _png_chunk(b"IEND", b""),
    ]
    return PNG_SIGNATURE + b"".join(chunks)


def _unfiltered_rows(pixels: npt.NDArray[np.uint32]) -> bytes:
    """Return the rows of a picture as PNG data: a byte 0 (filter "none"), then red, green and blue of each pixel."""
    height, width = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)
    parts = rows[:, 1:].reshape(height, width, 3) if width else rows[:, 1:]
    for channel, shift in enumerate((16, 8, 0)):
        parts[..., channel] = pixels >> shift
    return rows.tobytes()


def _png_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _png_text_chunk(keyword: str, text: str) -> bytes:
    """Return the PNG chunk of an embedded text: tEXt (zTXt if long) if the text is Latin-1, else iTXt.

    Line ends become LF.
    """
    name = keyword.encode("latin-1")
    if not 1 <= len(name) <= MAX_KEYWORD or not keyword.isprintable() or keyword != keyword.strip():
        raise ValueError(f"not a keyword of a PNG text: {keyword!r}")
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    is_long = len(text) > _MIN_COMPRESSED_TEXT
    try:
        plain = text.encode("latin-1")
    except UnicodeEncodeError:
        # fields: keyword, terminator, compression flag, compression method 0, no language, no translated keyword
        head = name + (b"\0\1\0\0\0" if is_long else b"\0\0\0\0\0")
        unicode = text.encode("utf-8")
        return _png_chunk(b"iTXt", head + (zlib.compress(unicode) if is_long else unicode))
    if is_long:
        return _png_chunk(b"zTXt", name + b"\0\0" + zlib.compress(plain))
    return _png_chunk(b"tEXt", name + b"\0" + plain)


def png_texts(data: bytes) -> dict[str, str]:
    """Return the texts embedded in a PNG file, by keyword; raise a ValueError if the file is damaged."""
    if not data.startswith(PNG_SIGNATURE):
        raise ValueError("not a PNG file")
    texts: dict[str, str] = {}
    room = _MAX_TEXT_BYTES
    for kind, body in _iter_chunks(data):
        if kind in (b"tEXt", b"zTXt", b"iTXt"):
            keyword, _, content = body.partition(b"\0")
            text = _decode_text(kind, content, room)
            room -= len(text)
            texts[keyword.decode("latin-1")] = text.decode("utf-8" if kind == b"iTXt" else "latin-1")
    return texts


def _iter_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield (kind, content) of every chunk of a PNG file; raise a ValueError if a chunk is damaged."""
    offset = len(PNG_SIGNATURE)
    while offset < len(data):
        if len(data) < offset + 12:
            raise ValueError("it ends too early")
        length, kind = struct.unpack(">I4s", data[offset : offset + 8])
        body = data[offset + 8 : offset + 8 + length]
        if len(data) < offset + 12 + length:
            raise ValueError("it ends too early")
        (check,) = struct.unpack(">I", data[offset + 8 + length : offset + 12 + length])
        if check != zlib.crc32(kind + body):
            raise ValueError(f"the checksum of a chunk {kind!r} is wrong")
        yield kind, body
        offset += 12 + length


def _decode_text(kind: bytes, content: bytes, max_bytes: int) -> bytes:
    """Return the decompressed text of a PNG chunk; raise a ValueError if it has more than `max_bytes` bytes.

    Args:
        kind: kind of the chunk: tEXt, zTXt or iTXt.
        content: content of the chunk after the keyword.
        max_bytes: maximum number of bytes of the text.
    """
    is_packed, packed = kind == b"zTXt", content[1:]
    if kind == b"iTXt":
        parts = content[2:].split(b"\0", 2)  # parts: language, translated keyword, text
        if len(content) < 2 or len(parts) < 3:
            raise ValueError("a text ends too early")
        is_packed, packed = content[0] != 0, parts[2]
    if is_packed:
        return _decompress_zlib_data(packed, max_bytes)
    text = content if kind == b"tEXt" else packed
    if len(text) > max_bytes:
        raise _text_too_long_error()
    return text


def _decompress_zlib_data(data: bytes, max_bytes: int) -> bytes:
    """Return decompressed zlib data; raise a ValueError if it has more than `max_bytes` bytes or is damaged."""
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(data, max_bytes + 1)
    except zlib.error as error:
        raise ValueError(f"a text cannot be unpacked: {error}") from None
    if len(text) > max_bytes:
        raise _text_too_long_error()
    return text


def _text_too_long_error() -> ValueError:
    return ValueError(f"its texts are longer than {_MAX_TEXT_BYTES:,} bytes together")
