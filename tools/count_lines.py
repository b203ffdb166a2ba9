"""Count lines of code: without blanks, comments and docstrings.

    python tools/count_lines.py [FOLDER]      src is the default

Prints the lines of each folder, the files over 350 lines, the functions over 60 lines, the
parameter lists over 10, and which share of classes and functions has a docstring.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

FILE, FUNCTION, PARAMETERS = 350, 60, 10
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def code_lines(text: str) -> int:
    """Give how many lines hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, Definition | ast.Module) and ast.get_docstring(node) is not None:
            docstring = node.body[0]
            lines -= set(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
    return len(lines)


def definitions(text: str) -> Iterator[Definition]:
    """Give every class and function."""
    return (node for node in ast.walk(ast.parse(text)) if isinstance(node, Definition))


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Give how many parameters a function has; `self` and `cls` are none."""
    arguments = function.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


def main(folder: Path) -> None:
    by_folder: Counter[str] = Counter()
    documented = counted = 0
    long: list[str] = []
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        by_folder[str(path.parent.relative_to(folder))] += code_lines(text)
        if text.count("\n") > FILE:
            long.append(f"{path}: {text.count(chr(10))} lines")
        for one in definitions(text):
            counted += 1
            documented += ast.get_docstring(one) is not None
            if isinstance(one, ast.ClassDef):
                continue
            lines = (one.end_lineno or 0) - one.lineno + 1
            if lines > FUNCTION:
                long.append(f"{path}:{one.lineno}: {one.name} has {lines} lines")
            if parameters(one) > PARAMETERS:
                long.append(f"{path}:{one.lineno}: {one.name} has {parameters(one)} parameters")
    for name, lines in sorted(by_folder.items()):
        print(f"{lines:7,} {name}")
    print(f"{by_folder.total():7,} in all; {documented / counted:.1%} of definitions documented")
    print(*long, sep="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "src"))
