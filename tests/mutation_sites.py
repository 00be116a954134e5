"""Where a random mutant can be put, and what it changes: sites with exact positions in the source.

Kinds, each one token or one statement:
  comparison   < and <=, > and >=, == and !=, `is` and `is not`, `in` and `not in` take each other's place
  off by one   an integer beside + or -, or the end of a range or a slice, is one more or one less
  negated      the condition of an `if`, a `while`, an `x if c else y` or a comprehension is negated
  dropped      a call, a change of an attribute or an item, a raise, continue, break or an early return is left out
  constant     another number of 0 or more, True and False

Not mutated, since a change there is equivalent by nature or cannot be seen by tests of behaviour:
  - everything outside functions: annotations, imports, field defaults and tables of texts
  - docstrings, annotations, decorators, default values, `assert`, `__repr__` and `__str__`
  - the texts of exceptions and messages: inside `raise X(...)` and f-strings
  - the -1 of `reshape(-1)`: numpy takes any negative number for the side that it finds out
  - lines with a comment `# no mutant: REASON`, for what changes only speed, such as the size of a cache
  - modules that only compile kernels and are not used where kernels run uncompiled, see NOT_MUTATED
"""

import ast
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDERS = ("sim", "files", "experiments", "agents", "ui/model")
NOT_MUTATED = frozenset(
    f"sim/jit/{name}.py"
    for name in ("decorators", "cache", "loading", "ready", "inner", "sources", "intrinsics", "table_indexing")
)
MARKER = "# no mutant:"

_SWAPPED: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: (r"<", "<="),
    ast.LtE: (r"<=", "<"),
    ast.Gt: (r">", ">="),
    ast.GtE: (r">=", ">"),
    ast.Eq: (r"==", "!="),
    ast.NotEq: (r"!=", "=="),
    ast.Is: (r"is", "is not"),
    ast.IsNot: (r"is\s+not", "is"),
    ast.In: (r"in", "not in"),
    ast.NotIn: (r"not\s+in", "in"),
}
_TEXTS = frozenset({"__repr__", "__str__"})


@dataclass(frozen=True, order=True)
class Site:
    """One possible change: the bytes of a file from `begin` to `end` become `new`."""

    path: str
    begin: int
    end: int
    new: str
    kind: str
    first_line: int
    last_line: int  # of the changed node, for the tests that execute it

    def apply(self, source: bytes) -> bytes:
        return source[: self.begin] + self.new.encode() + source[self.end :]


def all_sites(root: Path, within: str = "") -> Iterator[Site]:
    """Yield every site of the program, in the order of files and positions."""
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*.py")):
            path = file.relative_to(root).as_posix()
            if path not in NOT_MUTATED and path.startswith(within):
                yield from sites_of(path, file.read_bytes())


def sites_of(path: str, source: bytes) -> list[Site]:
    """Return the sites of one file in the order of their positions; a few may not be valid, see changes_program."""
    finder = _Finder(path, source)
    finder.visit(ast.parse(source))
    return sorted(set(finder.sites))


def changes_program(site: Site, source: bytes) -> bool:
    """Return whether a site leaves valid Python that differs from the original."""
    try:
        return ast.dump(ast.parse(site.apply(source))) != ast.dump(ast.parse(source))
    except SyntaxError:
        return False


def pick(root: Path, count: int, seed: int, within: str = "") -> list[Site]:
    """Return `count` different sites, the same for the same seed and program: each kind is as likely as the others.

    `within`: only in files whose paths begin so, such as ui/model/. There may be fewer sites than were asked for.
    """
    chance, kinds = random.Random(seed), dict[str, list[Site]]()
    for site in all_sites(root, within):
        kinds.setdefault(site.kind, []).append(site)
    picked = list[Site]()
    while len(picked) < count and kinds:
        kind = chance.choice(sorted(kinds))
        site = kinds[kind].pop(chance.randrange(len(kinds[kind])))
        if not kinds[kind]:
            del kinds[kind]
        if changes_program(site, (root / site.path).read_bytes()):
            picked.append(site)
    return picked


class _Finder(ast.NodeVisitor):
    def __init__(self, path: str, source: bytes) -> None:
        self.path, self.source = path, source
        self.lines = source.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        self.sites: list[Site] = []
        self.depth = 0  # of functions
        self.shifted: set[int] = set()  # ids of constants that are off-by-one sites already

    # --- positions ------------------------------------------------------------------------------------

    def _begin(self, node: ast.expr | ast.stmt) -> int:
        return self.starts[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def _add(self, kind: str, node: ast.expr | ast.stmt, begin: int, end: int, new: str) -> None:
        last = node.end_lineno or node.lineno
        if self.depth and not any(MARKER.encode() in line for line in self.lines[node.lineno - 1 : last]):
            self.sites.append(Site(self.path, begin, end, new, kind, node.lineno, last))

    def _replace(self, kind: str, node: ast.expr | ast.stmt, new: str) -> None:
        self._add(kind, node, self._begin(node), self._end(node), new)

    def _wrap(self, kind: str, node: ast.expr, before: str, after: str) -> None:
        text = self.source[self._begin(node) : self._end(node)].decode()
        self._replace(kind, node, f"{before}{text}{after}")

    # --- what is left out -----------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in _TEXTS:
            return
        self.depth += 1
        for statement in node.body:
            self.visit(statement)
        self.depth -= 1

    def visit_Assert(self, node: ast.Assert) -> None: ...

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None: ...

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._drop_change(node, [node.target])
        if node.value is not None:
            self.visit(node.value)

    # --- statements -----------------------------------------------------------------------------------

    def visit_Raise(self, node: ast.Raise) -> None:
        self._replace("dropped", node, "pass")

    def visit_Continue(self, node: ast.Continue) -> None:
        self._replace("dropped", node, "pass")

    def visit_Break(self, node: ast.Break) -> None:
        self._replace("dropped", node, "pass")

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is None:
            self._replace("dropped", node, "pass")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        if isinstance(node.value, ast.Call):
            self._replace("dropped", node, "pass")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._drop_change(node, node.targets)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._replace("dropped", node, "pass")
        self.generic_visit(node)

    def _drop_change(self, node: ast.stmt, targets: list[ast.expr]) -> None:
        if all(isinstance(target, ast.Attribute | ast.Subscript) for target in targets):
            self._replace("dropped", node, "pass")

    # --- conditions -----------------------------------------------------------------------------------

    def visit_If(self, node: ast.If) -> None:
        self._wrap("negated", node.test, "not (", ")")
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._wrap("negated", node.test, "not (", ")")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._wrap("negated", node.test, "not (", ")")
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._wrap("negated", test, "not (", ")")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            old, new = _SWAPPED[type(operator)]
            between, begin = self.source[self._end(left) : self._begin(right)], self._end(left)
            if found := re.search(old.encode(), between):
                self._add("comparison", node, begin + found.start(), begin + found.end(), new)
            left = right
        self.generic_visit(node)

    # --- numbers --------------------------------------------------------------------------------------

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.Add | ast.Sub):
            for side in (node.left, node.right):
                self._shift(side)
        self.generic_visit(node)

    def visit_Slice(self, node: ast.Slice) -> None:
        for bound in (node.lower, node.upper):
            if bound is not None:
                self._shift(bound, grows=True)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "reshape":
            self.visit(node.func)
            for argument in node.args:
                if not isinstance(argument, ast.UnaryOp):
                    self.visit(argument)
            return
        if isinstance(node.func, ast.Name) and node.func.id == "range":
            for argument in node.args[:2]:
                self._shift(argument, grows=True)
        self.generic_visit(node)

    def _shift(self, node: ast.expr, *, grows: bool = False) -> None:
        """One more or one less; `grows`: for an expression, too, which is known to be an integer."""
        if _is_integer(node):
            self.shifted.add(id(node))
            self._replace("off by one", node, str(node.value + 1))  # type: ignore[attr-defined]
            self._replace("off by one", node, str(node.value - 1))  # type: ignore[attr-defined]
        elif grows and not isinstance(node, ast.Constant | ast.Starred):
            self._wrap("off by one", node, "(", ") + 1")
            self._wrap("off by one", node, "(", ") - 1")

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._replace("constant", node, str(not node.value))
        elif isinstance(node.value, int | float) and id(node) not in self.shifted:
            self._replace("constant", node, repr(node.value + 1))


def _is_integer(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(node.value, bool)
