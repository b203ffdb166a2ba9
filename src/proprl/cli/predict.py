"""`proprl evaluate` and `proprl predict`: questions to a trained model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proprl.cli.console import escape, print_json, print_reliability, print_table, say
from proprl.cli.options import Bundle, Data, Json

if TYPE_CHECKING:
    import polars as pl

    from proprl.data.lookup import NamedPairs
    from proprl.estimator import PrerequisiteModel

ROWS_PRINTED = 20


def evaluate(
    bundle: Bundle,
    data: Data,
    split: Annotated[
        str,
        typer.Option(
            help="auto: labels of DATA whose pairs were not learned from, in either order, or, "
            "where there are none, known labels, by scores that have not seen them (Sequitur) or "
            "those of the validation part; test, train, validation: a part of the split."
        ),
    ] = "auto",
    as_json: Json = False,
) -> None:
    """Score a model on labelled pairs that it has not learned from.

    Also shows whether its probabilities can be trusted: what it said of pairs, and what came true.

    Example: proprl evaluate campus.proprl campus
    """
    from proprl.data import load_course
    from proprl.errors import SplitError
    from proprl.estimator import load_model
    from proprl.evaluation.metrics import MEANING

    model, course = load_model(bundle), load_course(data)
    judged = model.judged(course, split)
    metrics, bins = judged.metrics(), judged.reliability()
    if not metrics["pairs"]:
        raise SplitError(f"{data} has no labelled pairs for the part {split!r}")
    changed = course.fingerprint != model.fitted_.course_fingerprint
    if as_json:
        print_json(
            {
                **metrics,
                "reliability": [vars(one) for one in bins],
                "split": judged.how,
                "says": judged.sentences(),
                "course_changed": changed,
                "missing_views": list(model.fitted_.report.missing_views),
                "notes": list(model.fitted_.notes),
            }
        )
        return
    if changed:
        say("[yellow]The course is not the one the model was trained on, or has changed since.[/]")
    _say_cautions(model)
    told = [(name, n, MEANING.get(name, "")) for name, n in metrics.items() if n is not None]
    print_table(f"{bundle} on {data}", ("metric", "value", ""), told)
    for sentence in judged.sentences():
        say(sentence)
    if bins:
        print_reliability(bins)


Source = Annotated[str | None, typer.Argument(help="A concept's name or id.")]
Pairs = Annotated[Path | None, typer.Option(help="A file with the columns source,target.")]
Every = Annotated[bool, typer.Option("--all", help="Score every ordered pair.")]
New = Annotated[
    str | None,
    typer.Option(
        help='A concept the model has not met, "Name" or "Name: description"; its pairs are '
        "scored in both orders."
    ),
]
Against = Annotated[
    list[str] | None,
    typer.Option(
        help="With --new: a known concept, several times for several, or all.", show_default="all"
    ),
]
Top = Annotated[int | None, typer.Option(help="Only the K most probable.", min=1)]
Out = Annotated[
    Path | None, typer.Option(help="Write .csv, .parquet or .jsonl instead of printing.")
]


def predict(
    bundle: Bundle,
    source: Source = None,
    target: Source = None,
    pairs: Pairs = None,
    every: Every = False,
    new: New = None,
    against: Against = None,
    top: Top = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Give the probability that SOURCE must be learned before TARGET.

    Example: proprl predict campus.proprl "Limits" "Derivatives"

    Example: proprl predict campus.proprl --all --top 100 --out edges.csv

    Example: proprl predict campus.proprl --new "Splines: piecewise polynomials" --against all
    """
    asked = [source is not None, pairs is not None, every, new is not None]
    if sum(asked) != 1 or (source is None) != (target is None):
        raise typer.BadParameter("give SOURCE and TARGET, or --pairs FILE, or --all, or --new TEXT")
    if source is not None and top is not None:
        raise typer.BadParameter("--top goes with --pairs, --all or --new")
    if against is not None and new is None:
        raise typer.BadParameter("--against goes with --new")
    from proprl.cli.progress_bar import ProgressBar
    from proprl.data.tables.csv_json_parquet import check_table_name, write_table
    from proprl.estimator import load_model

    if out is not None:
        check_table_name(out)
    model = load_model(bundle)
    if source is not None and target is not None and out is None:
        _predict_one(model, source, target, as_json)
        return
    if new is not None:
        table = _predict_new(model, new, against)
    elif every:
        table = model.predict_all(top=top, progress=ProgressBar())
    else:
        table = _predict_given(model, [(source, target)] if pairs is None else pairs)
        if top is not None:
            table = table.sort("probability", descending=True)
    shown = table if top is None else table.head(top)
    if out is not None:
        write_table(shown, out)
    if as_json or out is None:
        _show(shown, as_json)
    else:
        say(f"Wrote {len(shown)} pairs to [bold]{escape(str(out))}[/].")
    for_scripts = as_json or out is not None
    if new is not None:
        _say_if_unlikely(model, table, new, aside=for_scripts)
    _say_cautions(model, aside=for_scripts)


def _say_cautions(model: PrerequisiteModel, *, aside: bool = False) -> None:
    """Say what to know before trusting a model."""
    missing = [
        f"The model was trained without the {view} view: the course had none."
        for view in model.fitted_.report.missing_views
    ]
    for words in (*missing, *model.fitted_.notes):
        say(f"[yellow]{escape(words)}[/]", aside=aside)


def _predict_one(model: PrerequisiteModel, source: str, target: str, as_json: bool) -> None:
    from proprl.cli.verdict import verdict

    why = model.answer(source, target)
    told = verdict(model, why)
    believed = None if why.threshold is None else why.probability >= why.threshold
    if as_json:
        print_json(
            {
                "source": why.source_id,
                "target": why.target_id,
                "source_name": why.source,
                "target_name": why.target,
                "probability": why.probability,
                "reverse_probability": why.reverse_probability,
                "says": told.words,
                "from_labels": told.by_labels,
                "prerequisite": believed,
                "threshold": why.threshold,
                "label": why.label and why.label[0],
                "reverse_label": why.reverse_label and why.reverse_label[0],
                "notes": list(model.fitted_.notes),
                "missing_views": list(model.fitted_.report.missing_views),
            }
        )
        return
    say(f"[bold]{escape(told.words)}[/]")
    source, target = escape(why.source), escape(why.target)
    forward, reverse = f"{why.probability:.3f}", f"{why.reverse_probability:.3f}"
    alone = "" if told.by_labels is None else "With your labels the model says: "
    say(f"  {alone}{source} → {target}: {forward}    {target} → {source}: {reverse}")
    for first, then, label in ((source, target, why.label), (target, source, why.reverse_label)):
        if label is not None and (label[1] == "test" or first == target):
            said = "a prerequisite" if label[0] else "no prerequisite"
            apart = " It was kept apart as a test." if label[1] == "test" else ""
            say(f"  Your label: {first} is {said} of {then}.{apart}")
    _say_cautions(model)


def _predict_given(model: PrerequisiteModel, pairs: NamedPairs | Path) -> pl.DataFrame:
    """Score pairs, or those of a file, in the order given."""
    import polars as pl

    from proprl.data.lookup import pair_rows, pair_table, read_pairs

    ids, names = model.fitted_.concept_ids, model.fitted_.concept_names
    if isinstance(pairs, Path):
        table = read_pairs(pairs, ids, names)
    else:
        table = pair_table(pair_rows(pairs, ids, names), ids, names)
    return table.with_columns(probability=pl.Series(model.predict_proba(table)))


def _predict_new(model: PrerequisiteModel, new: str, against: list[str] | None) -> pl.DataFrame:
    from proprl.cli.progress_bar import ProgressBar
    from proprl.data.lookup import is_known

    name, _, description = new.partition(":")
    known = model.fitted_.concept_ids, model.fitted_.concept_names
    if against is not None and "all" in against and not is_known("all", *known):
        against = None
    return model.predict_new(name, description, against=against, progress=ProgressBar())


def _say_if_unlikely(
    model: PrerequisiteModel, table: pl.DataFrame, new: str, *, aside: bool
) -> None:
    """Say so where no scored concept is likely enough to come before the new one."""
    name = new.partition(":")[0].strip()
    before = table.filter(table["target_name"] == name)["probability"]
    if model.threshold_ is not None and not (before >= model.threshold_).any():
        nothing = "Nothing" if len(before) == len(model.fitted_.concept_ids) else "None of these"
        words = f"{nothing} is likely enough to be called a prerequisite of {name}."
        say(escape(words), aside=aside)


def _show(table: pl.DataFrame, as_json: bool) -> None:
    if as_json:
        print_json(table.to_dicts())
        return
    if "source_name" in table.columns:  # ids are for scripts
        table = table.select(source="source_name", target="target_name", probability="probability")
    print_table(None, table.columns, table.head(ROWS_PRINTED).rows())
    if len(table) > ROWS_PRINTED:
        say(f"... and {len(table) - ROWS_PRINTED} more; --out FILE writes them all")
