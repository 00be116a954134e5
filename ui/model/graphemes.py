"""Grapheme clusters: the characters as a reader sees them, such as a letter with its accents or an emoji.

A text is never cut inside a cluster. The rules are those of Unicode Standard Annex 29, without the rules for prepended
marks and for conjuncts of Indian scripts, whose parts can also be edited one by one.
"""

import unicodedata
from bisect import bisect_left, bisect_right
from functools import lru_cache

_ZERO_WIDTH_JOINER = "\u200d"
_MARK_CATEGORIES = ("Mn", "Me", "Mc")

# Characters that extend a cluster although Unicode does not classify them as marks: zero-width joiners, vowel signs of
# Thai and Lao, voicing marks of halfwidth katakana.
_EXTENDING_CHARS = frozenset("\u200c\u200d\u0e33\u0eb3\uff9e\uff9f")

# Pairs of kinds that belong to the same syllable: L leading consonant, V vowel, T trailing consonant, LV and LVT whole
# syllables without and with a trailing consonant.
_HANGUL_PAIRS = frozenset(
    (left, right)
    for left, rights in (("L", "L V LV LVT"), ("LV", "V T"), ("V", "V T"), ("LVT", "T"), ("T", "T"))
    for right in rights.split()
)
_HANGUL_RANGES = (
    ("\u1100", "\u115f", "L"),
    ("\ua960", "\ua97c", "L"),
    ("\u1160", "\u11a7", "V"),
    ("\ud7b0", "\ud7c6", "V"),
    ("\u11a8", "\u11ff", "T"),
    ("\ud7cb", "\ud7fb", "T"),
)
_FIRST_SYLLABLE, _LAST_SYLLABLE = "\uac00", "\ud7a3"
_TRAILING_COUNT = 28  # number of syllables with the same beginning; the first of them has no trailing consonant


@lru_cache(maxsize=64)
def cluster_boundaries(text: str) -> tuple[int, ...]:
    """Return the indices at which a text may be cut, in ascending order, from 0 to the length of the text."""
    if text.isascii():
        return tuple(range(len(text) + 1))
    inner = (index for index in range(1, len(text)) if _is_boundary(text, index))
    return (0, *inner, len(text)) if text else (0,)


def boundary_at_or_after(text: str, index: int) -> int:
    """Return the first boundary at or after an index; the index is first clamped to the text."""
    boundaries = cluster_boundaries(text)
    return boundaries[bisect_left(boundaries, min(max(index, 0), len(text)))]


def boundary_at_or_before(text: str, index: int) -> int:
    """Return the last boundary at or before an index; the index is first clamped to the text."""
    boundaries = cluster_boundaries(text)
    return boundaries[bisect_right(boundaries, min(max(index, 0), len(text))) - 1]


def _is_boundary(text: str, index: int) -> bool:
    """Return whether a text may be cut before the character at an index from 1 to its length - 1."""
    before, after = text[index - 1], text[index]
    if _extends_cluster(after):
        return False
    if _is_regional_indicator(after):
        return _regional_indicators_before(text, index) % 2 == 0  # two of them are a flag
    if before == _ZERO_WIDTH_JOINER and unicodedata.category(after).startswith("S"):
        return False  # parts of an emoji such as a family
    return (_hangul_kind(before), _hangul_kind(after)) not in _HANGUL_PAIRS


def _extends_cluster(char: str) -> bool:
    is_mark = unicodedata.category(char) in _MARK_CATEGORIES
    is_emoji_modifier = "\U0001f3fb" <= char <= "\U0001f3ff"
    is_tag = "\U000e0020" <= char <= "\U000e007f"
    return is_mark or is_emoji_modifier or is_tag or char in _EXTENDING_CHARS


def _is_regional_indicator(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _regional_indicators_before(text: str, index: int) -> int:
    """Return the number of consecutive regional indicators that end before an index."""
    first = index
    while first > 0 and _is_regional_indicator(text[first - 1]):
        first -= 1
    return index - first


def _hangul_kind(char: str) -> str:
    """Return the kind of a Korean character as in _HANGUL_PAIRS, or "" for other characters."""
    if _FIRST_SYLLABLE <= char <= _LAST_SYLLABLE:
        return "LVT" if (ord(char) - ord(_FIRST_SYLLABLE)) % _TRAILING_COUNT else "LV"
    return next((kind for first, last, kind in _HANGUL_RANGES if first <= char <= last), "")
