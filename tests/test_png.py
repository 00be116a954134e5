"""PNG files of strangers: their texts are read within limits, whatever the bytes are."""

import struct
import tracemalloc
import zlib
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from files.png import _MAX_TEXT_BYTES, PNG_SIGNATURE, png_bytes, png_texts


def make_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


@given(st.dictionaries(st.from_regex(r"[A-Za-z]{1,20}", fullmatch=True), st.text(max_size=3000), max_size=4))
def test_written_texts_are_read_back_unchanged(texts: dict[str, str]) -> None:
    read = png_texts(png_bytes(np.zeros((2, 2), np.uint32), texts))
    plain = {key: text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "") for key, text in texts.items()}
    assert {key: read[key] for key in texts} == plain


@pytest.mark.parametrize("kind", [b"tEXt", b"zTXt", b"iTXt"])
@given(data=st.binary(max_size=30))
def test_any_text_chunk_is_read_or_refused(kind: bytes, data: bytes) -> None:
    for content in (data, b"Scenario\0" + data, b"Scenario\0\1\0\0\0" + zlib.compress(data)):
        with suppress(ValueError):
            png_texts(PNG_SIGNATURE + make_chunk(kind, content))


@pytest.mark.parametrize("content", [b"Scenario", b"Scenario\0", b"Scenario\0\0", b"Scenario\0\0\0", b"S\0\0\0\0x"])
def test_truncated_text_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="a text ends too early"):
        png_texts(PNG_SIGNATURE + make_chunk(b"iTXt", content))


def test_compressed_texts_share_one_memory_limit() -> None:
    each = zlib.compress(bytes(_MAX_TEXT_BYTES // 4))
    file = PNG_SIGNATURE + b"".join(make_chunk(b"zTXt", b"key %d\0\0" % i + each) for i in range(40))
    assert len(file) < 1 << 20
    tracemalloc.start()
    with pytest.raises(ValueError, match="longer than"):
        png_texts(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * _MAX_TEXT_BYTES
    allowed = PNG_SIGNATURE + b"".join(make_chunk(b"zTXt", b"key %d\0\0" % i + each) for i in range(4))
    assert len(png_texts(allowed)) == 4
