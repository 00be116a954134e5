"""Numbers with their nouns, wherever somebody reads them."""


def counted(count: int, noun: str) -> str:
    """So many of something: "1 cell", "2,000 cells"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
