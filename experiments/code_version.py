"""Digest of the program code on which the results of experiments depend.

Results are stored with this digest and computed again when it changes. It is taken from the syntax trees of the sources
without comments, docstrings, positions and names of local variables, so that describing the code better or renaming a
local variable keeps stored results valid. Names of parameters count: callers may use them as keywords.
"""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import blake2b

from sim.system.program import PROGRAM_FOLDER

VERSION_LENGTH = 16  # number of hexadecimal digits of code_version()
_IGNORED_PACKAGES = ("time",)  # packages of sim/ that cannot affect the result of a run
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
# syntax nodes that store the name they bind as a plain string, not as an ast.Name
_NameBinder = ast.ExceptHandler | ast.MatchAs | ast.MatchStar | ast.MatchMapping
_IGNORED_FIELDS = frozenset({"ctx", "kind", "type_comment", "type_ignores"})


@cache
def code_version() -> str:
    """Return a digest of all source files that can affect the results of runs, as hexadecimal digits."""
    digest = blake2b(digest_size=VERSION_LENGTH // 2)
    for folder in ("sim", "agents"):
        for source in sorted((PROGRAM_FOLDER / folder).rglob("*.py")):
            parts = source.relative_to(PROGRAM_FOLDER).parts
            if len(parts) < 2 or parts[1] not in _IGNORED_PACKAGES:
                text = canonical_source(source.read_text(encoding="utf-8"))
                digest.update("/".join(parts).encode() + b"\0" + text.encode())
    return digest.hexdigest()


def canonical_source(source: str) -> str:
    """Return the syntax tree of `source` as text, without everything that cannot affect results.

    Comments, docstrings and positions are left out, and local variables are replaced by numbers in the order in which
    they are bound. Empty fields are left out as well, because later versions of Python add fields; the text therefore
    does not depend on the version of Python.
    """
    return "".join(_canonical_tokens(ast.parse(source), {}, 0))


def _canonical_tokens(node: object, names: Mapping[str, str], depth: int) -> Iterator[str]:
    """Yield the canonical text of a syntax node in pieces.

    Args:
        node: A syntax node, a list of nodes, or a plain value.
        names: Name of each local variable that is visible at the node -> its replacement in the canonical text.
        depth: The number of scopes with local variables that surround the node.
    """
    if isinstance(node, list):
        yield "["
        for child in node:
            if not _is_docstring(child):
                yield from _canonical_tokens(child, names, depth)
        yield "]"
    elif isinstance(node, ast.Name):
        yield names.get(node.id, f"'{node.id}'")
    elif isinstance(node, ast.Nonlocal):
        yield f"Nonlocal({[names.get(name, name) for name in node.names]})"
    elif isinstance(node, ast.AST):
        yield from _node_tokens(node, names, depth)
    else:
        yield repr(node)


def _node_tokens(node: ast.AST, names: Mapping[str, str], depth: int) -> Iterator[str]:
    inner, inner_depth = names, depth
    if isinstance(node, _Function | _Comprehension):
        inner, inner_depth = {**names, **_local_replacements(node, depth)}, depth + 1
    elif isinstance(node, ast.ClassDef):
        attributes = _bound_names(node.body)
        inner = {name: new for name, new in names.items() if name not in attributes}
    outer = _outer_scope_fields(node)
    yield f"{type(node).__name__}("
    for field, value in ast.iter_fields(node):
        if field in _IGNORED_FIELDS or value is None or value == []:
            continue
        yield f"{field}="
        if field in ("name", "rest") and isinstance(
            node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar | ast.MatchMapping
        ):
            yield names.get(value, repr(value))
        elif field == "generators":
            yield from _generator_tokens(value, names, inner, depth)
        elif field in outer:
            yield from _canonical_tokens(value, names, depth)
        else:
            yield from _canonical_tokens(value, inner, inner_depth)
    yield ")"


def _outer_scope_fields(node: ast.AST) -> tuple[str, ...]:
    """Return the fields of a syntax node, such as decorators, that Python evaluates outside the scope of the node."""
    if isinstance(node, ast.ClassDef):
        return ("bases", "keywords", "decorator_list")
    return ("args", "decorator_list", "returns") if isinstance(node, _Function) else ()


def _generator_tokens(
    generators: list[ast.comprehension], outer: Mapping[str, str], inner: Mapping[str, str], depth: int
) -> Iterator[str]:
    """Yield the canonical text of the loops of a comprehension.

    Python evaluates the iterable of the first loop in the surrounding scope.
    """
    for index, loop in enumerate(generators):
        is_outside = index == 0
        yield from _canonical_tokens(loop.target, inner, depth + 1)
        yield from _canonical_tokens(loop.iter, outer if is_outside else inner, depth + (not is_outside))
        yield from _canonical_tokens(loop.ifs, inner, depth + 1)
        yield repr(loop.is_async)


def _is_docstring(node: object) -> bool:
    """Return whether a statement consists only of a string, as the docstring of a function or constant does."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _local_replacements(scope: ast.AST, depth: int) -> dict[str, str]:
    """Return the mapping from local names of a scope to canonical names; parameters keep their names."""
    if isinstance(scope, _Comprehension):
        bound = [name for loop in scope.generators for name in _bound_names([loop.target])]
        return _numbered_name_replacements(bound, depth)
    assert isinstance(scope, _Function)
    parameters = [argument.arg for argument in ast.walk(scope.args) if isinstance(argument, ast.arg)]
    body = scope.body if isinstance(scope.body, list) else [scope.body]
    shared = {
        name for node in _nodes_of_scope(body) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names
    }
    own = [name for name in _bound_names(body) if name not in shared and name not in parameters]
    return _numbered_name_replacements(own, depth) | {name: f"'{name}'" for name in parameters}


def _numbered_name_replacements(names: list[str], depth: int) -> dict[str, str]:
    return {name: f"${depth}.{index}" for index, name in enumerate(dict.fromkeys(names))}


def _bound_names(body: list[ast.stmt] | list[ast.expr]) -> list[str]:
    """Return the names that assignments, loops, handlers and patterns bind in one scope, in the order of binding."""
    found = []
    for node in _nodes_of_scope(body):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.append(node.id)
        elif isinstance(node, _NameBinder):
            name = node.rest if isinstance(node, ast.MatchMapping) else node.name
            found += [name] if name is not None else []
    return found


def _nodes_of_scope(body: list[ast.stmt] | list[ast.expr]) -> Iterator[ast.AST]:
    """Yield the nodes that belong to one scope, in order, without the nodes of inner scopes."""
    waiting: list[ast.AST] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, _Comprehension):  # `:=` inside a comprehension binds a name of the surrounding function
            waiting += [child.target for child in ast.walk(node) if isinstance(child, ast.NamedExpr)]
        elif not isinstance(node, _Function | ast.ClassDef):
            waiting += reversed(list(ast.iter_child_nodes(node)))
