"""What the studies share: which method they take, and how their files are called."""

from __future__ import annotations

from proprl.errors import ProprlError
from proprl.experiments.running.outcome import Wanted


def file_stem(name: str, wanted: Wanted) -> str:
    """Give the beginning of an experiment's file names; protocols do not overwrite each other.

    >>> file_stem("table3", Wanted()), file_stem("table3", Wanted(protocol="leak-free"))
    ('table3', 'table3-leak-free')
    """
    return name if wanted.protocol == "published" else f"{name}-{wanted.protocol}"


def one_method(experiment: str, wanted: Wanted, default: str) -> str:
    """Give the one method that was asked for, or the default."""
    methods = wanted.methods or [default]
    if len(methods) > 1:
        raise ProprlError(
            f"{experiment} is about one method; asked for {', '.join(methods)}: give one --method"
        )
    return methods[0]


def times_run(repeats: int, protocol: str) -> str:
    """Say in words how often each method was run.

    >>> times_run(1, "published"), times_run(5, "leak-free")
    ('1 seed', '5 folds')
    """
    word = "seed" if protocol == "published" else "fold"
    return f"{repeats} {word}{'' if repeats == 1 else 's'}"
