"""Numbers with nouns in the singular or plural, for messages."""


def count_with_noun(count: int, noun: str) -> str:
    """Return a number with its noun, such as "1 cell" or "2,000 cells"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
