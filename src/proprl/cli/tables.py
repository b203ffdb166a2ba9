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
    def comfortable(self) -> int:
        """The width at which it reads well."""
        return max(self.snug, self.short)

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
    everything = range(len(columns))
    if _taken([column.snug for column in columns]) <= room:
        return [_part(everything, [column.snug for column in columns], columns, room)]
    keys = _keys(rows, columns, room)
    # Where several columns tell rows apart, they are narrow, so that there is room for the others.
    wanted = [
        column.snug if index < keys > 1 else column.comfortable
        for index, column in enumerate(columns)
    ]
    groups = _groups(keys, wanted, room)
    narrowest = next(less for less in range(1, room + 1) if _fits(keys, wanted, less, groups))
    return [_fitted(group, wanted, columns, room) for group in _groups(keys, wanted, narrowest)]


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


def _fits(keys: int, wanted: Sequence[int], room: int, groups: list[list[int]]) -> bool:
    """Whether less room needs no more tables: then the last is not left with a column or two."""
    return len(_groups(keys, wanted, room)) == len(groups)


def _fitted(
    group: Sequence[int], wanted: Sequence[int], columns: Sequence[Column], room: int
) -> Part:
    """The widths of columns that may not fit as they would like to: the widest gives way."""
    widths = [wanted[one] for one in group]
    least = [columns[one].word for one in group]
    for least_of in (least, [1] * len(group)):
        while _taken(widths) > room and widths != least_of:
            slack = [width - low for width, low in zip(widths, least_of, strict=True)]
            widths[slack.index(max(slack))] -= 1
    return _part(group, widths, columns, room)


def _part(group: Sequence[int], widths: list[int], columns: Sequence[Column], room: int) -> Part:
    """Give what room is left to the column whose cells take the most lines, again and again."""
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
