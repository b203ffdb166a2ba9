"""Tables that fit a terminal: which columns stand beside each other, and how wide each is.

A table too wide for the terminal becomes several, one below the other. Each begins with the
columns that tell its rows apart. No word is broken unless it is wider than the terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

SHORT = 26
"""A cell up to this width stays on one line where a table is taken apart, else on two."""

LINES = 6
"""A longer cell takes so many lines before a table is taken apart."""

FRAME = 3
"""What a column takes beside its text: a blank on each side and a line."""


@dataclass(frozen=True)
class Column:
    """How wide a column's text is."""

    word: int
    """Its longest word, that of the heading included."""
    cell: int
    """Its longest cell, on one line."""
    head: int
    """Its heading, on one line."""

    @classmethod
    def of(cls, head: str, cells: Sequence[str]) -> Column:
        """Measure a column."""
        words = [cell_len(word) for text in (head, *cells) for word in text.split()]
        return cls(
            max(words, default=1),
            max((cell_len(cell) for cell in cells), default=0),
            cell_len(head),
        )

    @property
    def whole(self) -> int:
        """The width at which nothing is folded."""
        return max(self.word, self.cell, self.head)

    @property
    def snug(self) -> int:
        """The width below which its cells take too many lines."""
        return max(self.word, _share(self.head, 3), _share(self.short, 2), _share(self.cell, LINES))

    @property
    def short(self) -> int:
        """Its longest cell as far as that is short."""
        return min(self.cell, SHORT)


@dataclass(frozen=True)
class Part:
    """The columns of one printed table, by number, and how wide each is."""

    columns: tuple[int, ...]
    widths: tuple[int, ...]


def parts(heads: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> list[Part]:
    """Share the columns out over as many tables as a terminal of this width needs.

    >>> parts(("name", "note"), [("a", "one two three")], 80)
    [Part(columns=(0, 1), widths=(4, 13))]
    """
    columns = [Column.of(head, [row[i] for row in rows]) for i, head in enumerate(heads)]
    snug = [column.snug for column in columns]
    if _taken(snug) <= room:
        return [_part(range(len(columns)), snug, columns, room)]
    keys = _keys(rows, columns, room)
    # Where several columns tell rows apart, they are narrow, so that there is room for the others.
    wanted = [
        width if index < keys > 1 else max(width, column.short)
        for index, (width, column) in enumerate(zip(snug, columns, strict=True))
    ]
    # Of all widths that need no more tables the least: the last is not left with a column or two.
    tables = len(_groups(keys, wanted, room))
    by_room = (_groups(keys, wanted, less) for less in range(1, room + 1))
    groups = next(groups for groups in by_room if len(groups) == tables)
    return [_part(group, wanted, columns, room) for group in groups]


def _keys(rows: Sequence[Sequence[str]], columns: Sequence[Column], room: int) -> int:
    """How many columns, from the left, tell the rows apart; one if none do, or too wide ones."""
    for keys in range(1, len(columns)):
        if len({tuple(row[:keys]) for row in rows}) == len(rows):
            widest = max(max(column.word, column.short) for column in columns[keys:])
            narrow = [column.snug for column in columns[:keys]]
            return keys if _taken([*narrow, widest]) <= room else 1
    return 1


def _groups(keys: int, wanted: Sequence[int], room: int) -> list[list[int]]:
    """Columns that stand side by side, in their order; every group begins with the keys."""
    groups = [list(range(keys))]
    for column in range(keys, len(wanted)):
        full = _taken([wanted[one] for one in (*groups[-1], column)]) > room
        if full and len(groups[-1]) > keys:
            groups.append(list(range(keys)))
        groups[-1].append(column)
    return groups


def _part(
    group: Sequence[int], wanted: Sequence[int], columns: Sequence[Column], room: int
) -> Part:
    """Give columns the widths that they want, and the room that is left.

    Without enough room, the column with most to give gives way: down to its longest word, then
    below it. Room that is left goes to the column whose cells take the most lines.
    """
    widths = [wanted[one] for one in group]
    for least in ([columns[one].word for one in group], [1] * len(group)):
        while _taken(widths) > room and widths != least:
            slack = [width - low for width, low in zip(widths, least, strict=True)]
            widths[slack.index(max(slack))] -= 1
    for _ in range(room - _taken(widths)):
        folded = [columns[one].whole / width for one, width in zip(group, widths, strict=True)]
        if max(folded) <= 1:
            break
        widths[folded.index(max(folded))] += 1
    return Part(tuple(group), tuple(widths))


def _taken(widths: Sequence[int]) -> int:
    """How wide a table is whose texts are so wide."""
    return sum(widths) + FRAME * len(widths) + 1


def _share(width: int, lines: int) -> int:
    """The part of a text that stands on one of so many lines."""
    return -(-width // lines)
