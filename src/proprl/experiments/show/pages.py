"""What the pages of the studies share: their texts, and how their files are called."""

from __future__ import annotations

from proprl.errors import ProprlError
from proprl.experiments.running.outcome import Wanted
from proprl.experiments.settings.load import packaged


def said(study: str, text: str = "how", **facts: object) -> str:
    """Give a text of a study's page with its facts filled in; `pages.toml` holds them.

    >>> said("ours", "papers", titles="ProPRL")
    '`table1` shows ProPRL with the settings of the papers instead.'
    """
    template: str = packaged("pages.toml")[study][text]
    return template.format(**facts)


def table_heads(study: str, table: str = "heads") -> list[str]:
    """Give the headings of one of a study's tables."""
    heads: list[str] = packaged("pages.toml")[study][table]
    return heads


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


def times_run(wanted: Wanted) -> str:
    """Say in words how often each method was run.

    >>> times_run(Wanted(repeats=1)), times_run(Wanted(protocol="leak-free"))
    ('1 seed', '5 folds')
    """
    word = "seed" if wanted.protocol == "published" else "fold"
    return f"{wanted.repeats} {word}{'' if wanted.repeats == 1 else 's'}"
