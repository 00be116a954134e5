"""Comments, docstrings and texts on screen use the words of the field: a count of words that readers stumbled over."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import ROOT

FOLDERS = ("sim", "agents", "cli", "ui", "benchmarks", "tools")
PRIVATE = re.compile(
    r"\b(told|tells?|whoever|nobody|somebody|stands|stood|lies|anew|beside|so many|lets? go|goes on|go on|those that|"
    r"those of|that of|as it was|what is there|by hand|all the same|gives? way|ha(?:s|ve) come)\b",
    re.IGNORECASE,
)
MAX_PER_10_000 = 30  # networkx, napari and textual have 2 to 5
OPENINGS = re.compile(r"(What|Whether|Those|That|Of|The same|It|Who)\b")
MAX_ODD_OPENINGS = 0.02  # share of docstrings
STEERING = re.compile(r"#\s*(noqa|type:|fmt:|---|!)")
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def parsed_files(folder: str) -> Iterator[tuple[Path, ast.Module, str]]:
    for path in sorted((ROOT / folder).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        yield path, ast.parse(source), source


def docstrings(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and (text := ast.get_docstring(node)):
            yield text


def comments(source: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not STEERING.match(token.string):
            yield token.string


def sentences(tree: ast.Module) -> Iterator[str]:
    """Yield the strings of a program that may be sentences, docstrings included: those with a space between words."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search(r"[a-z] [a-z]", node.value):
            yield node.value


def private_word_rate(texts: list[str]) -> tuple[float, list[str]]:
    """Return the number of private words in 10,000 words, and these words with their surroundings."""
    words = sum(len(re.findall(r"[A-Za-z']+", text)) for text in texts)
    found = [text[max(0, m.start() - 30) : m.end() + 30] for text in texts for m in PRIVATE.finditer(text)]
    return 10_000 * len(found) / max(1, words), found


@pytest.mark.parametrize("folder", FOLDERS)
def test_prose_has_few_private_words(folder: str) -> None:
    texts = [text for _, tree, source in parsed_files(folder) for text in (*sentences(tree), *comments(source))]
    share, found = private_word_rate(texts)
    assert share < MAX_PER_10_000, f"{share:.0f} in 10,000: {found}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_start_with_a_verb_or_a_noun(folder: str) -> None:
    texts = [text for _, tree, _ in parsed_files(folder) for text in docstrings(tree)]
    odd = [text[:60] for text in texts if OPENINGS.match(text)]
    assert len(odd) < MAX_ODD_OPENINGS * len(texts), odd


def test_private_word_rate_counts_private_words() -> None:
    share, found = private_word_rate(["The owner is told of it.", "# whoever stands beside it", "A cell that is free."])
    assert share == 10_000 * 4 / 15 and len(found) == 4


def test_class_names_are_unique_in_the_program() -> None:
    files = dict[str, list[str]]()
    for folder in FOLDERS:
        for path, tree, _ in parsed_files(folder):
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    files.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert not {name: found for name, found in files.items() if len(found) > 1}
