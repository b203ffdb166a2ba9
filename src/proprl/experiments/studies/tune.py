"""Settings chosen on validation, with the same small budget for every method."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from proprl.errors import MissingExtraError, ProprlError
from proprl.experiments.running.outcome import Do, Outcome, Table, Wanted
from proprl.experiments.running.plan import experiment_settings, title_of
from proprl.experiments.running.run import Run
from proprl.experiments.settings.search import Range, Space, Value, search_spaces
from proprl.experiments.settings.tuned import TunedSetting, tuned_settings, tuned_text
from proprl.experiments.show.grouping import Result
from proprl.experiments.show.pages import said
from proprl.experiments.show.tables import csv_text, markdown_table
from proprl.experiments.studies.table1 import table1_methods
from proprl.features.encoders import resolve_encoder
from proprl.models.registry import method_settings

if TYPE_CHECKING:
    from optuna import Study

TRIALS = 6
"""Settings tried for a method on a course, the published one included."""
QUICK_TRIALS = 2
TUNING_SEED = 0
BLIND_TRIALS = 4
"""So many settings are drawn at random first; the rest are drawn near what did well."""
MOST_DRAWS = 50
"""A space counts as exhausted when so many draws in a row give nothing new."""

CHOICE_HEADS = ("method", "set", "published setting", "chosen", "changes")


@dataclass(frozen=True)
class Trial:
    """One setting of a method on a course, and how well it did on validation."""

    values: Mapping[str, Value]
    auc: float


@dataclass
class Search:
    """The settings of one method on one course that were tried, the published one first."""

    method: str
    course: str
    encoder: str
    space: Space
    study: Study
    trials: list[Trial] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.untuned = experiment_settings().untuned(self.method, self.course)
        settings = method_settings(self.method, **self.untuned)
        self.study.enqueue_trial({name: getattr(settings, name) for name in self.space})

    def ask(self) -> Run | None:
        """Give the run that judges a setting not tried yet; None where there is none left."""
        from optuna.trial import TrialState

        tried = [trial.values for trial in self.trials]
        for _ in range(MOST_DRAWS):
            self._asked = self.study.ask()
            self._values = {
                name: place.draw(self._asked, name) for name, place in self.space.items()
            }
            if self._values not in tried:
                return self._run(self._values if self.trials else {})
            self.study.tell(self._asked, state=TrialState.FAIL)
        return None

    def tell(self, result: Result) -> None:
        """Note what the run that was asked for came to."""
        if result["metrics"]["auc"] is None:
            raise ProprlError(
                f"nothing can be chosen on {self.course}: its validation pairs have one label "
                "only; add pairs of the other label to the validation part"
            )
        self.trials.append(Trial(self._values, float(result["metrics"]["auc"])))
        self.study.tell(self._asked, self.trials[-1].auc)

    @property
    def best(self) -> Trial:
        """The trial with the highest validation AUC; of equals the first, as `max` gives it."""
        return max(self.trials, key=lambda trial: trial.auc)

    def chosen(self) -> TunedSetting:
        """Give the choice as it is kept."""
        published = self.trials[0]
        return TunedSetting(
            changes={} if self.best is published else dict(self.best.values),
            validation_auc=round(self.best.auc, 6),
            published_auc=round(published.auc, 6),
            trials=len(self.trials),
            encoder=self.encoder,
        )

    def _run(self, changes: Mapping[str, Value]) -> Run:
        return Run(
            self.method,
            self.course,
            seed=TUNING_SEED,
            changes={**self.untuned, **changes},
            encoder=self.encoder,
            part="validation",
        )


def tune(wanted: Wanted, do: Do) -> Outcome:
    """Choose each method's setting on the validation pairs of each course.

    One trial of every method and course is done at a time, so that what is asked next depends
    on results only, never on the order in which they come: an interrupted tuning asks the same.
    """
    methods = _methods(wanted)
    searches = _searches(methods, wanted)
    trials = QUICK_TRIALS if wanted.repeats == 1 else TRIALS
    results: list[Result] = []
    for _ in range(trials):
        asked = [(search, run) for search in searches if (run := search.ask()) is not None]
        if not asked:  # every space is exhausted
            break
        found = do([run for _, run in asked])
        for (search, _), result in zip(asked, found, strict=True):
            search.tell(result)
        results += found
    merged = {method: dict(courses) for method, courses in tuned_settings().items()}
    for search in searches:
        merged.setdefault(search.method, {})[search.course] = search.chosen()
    rows = [_row(search) for search in searches]
    shown = [[f"{c:.3f}" if isinstance(c, float) else c for c in row] for row in rows]
    page = ["# Settings chosen on validation", *_how(methods, trials, wanted)]
    texts = {
        "tuned.toml": tuned_text(merged),
        "tune.md": "\n\n".join([*page, markdown_table(CHOICE_HEADS, shown)]),
        "tune.csv": _csv(searches),
    }
    return Outcome(results, [Table("Validation AUC", CHOICE_HEADS, rows)], texts)


def _methods(wanted: Wanted) -> Sequence[str]:
    """Give the methods to tune; wrong ones are found before anything runs."""
    if wanted.protocol != "published":
        raise ProprlError(
            f"settings are chosen on the validation rows of the protocol published, not of "
            f"{wanted.protocol}; leave --protocol out"
        )
    methods = wanted.methods or table1_methods()
    for method in methods:
        method_settings(method)  # an unknown one is an error that lists the known ones
        if method not in search_spaces():
            known = ", ".join(search_spaces())
            raise ProprlError(f"{method} has no settings that tune chooses; known: {known}")
    return methods


def _searches(methods: Sequence[str], wanted: Wanted) -> list[Search]:
    try:
        import optuna
    except ImportError:
        raise MissingExtraError("tuning", "tune") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def study(space: Space) -> Study:
        # Among choices only, TPE would come back to the best of them again and again.
        guided = any(isinstance(place, Range) for place in space.values())
        sampler = (
            optuna.samplers.TPESampler(seed=TUNING_SEED, n_startup_trials=BLIND_TRIALS)
            if guided
            else optuna.samplers.RandomSampler(seed=TUNING_SEED)
        )
        return optuna.create_study(direction="maximize", sampler=sampler)

    encoder = resolve_encoder(wanted.encoder)
    return [
        Search(method, course, encoder, space, study(space))
        for course in wanted.courses
        for method in methods
        if (space := search_spaces()[method])
    ]


def _row(search: Search) -> list[object]:
    chosen = search.chosen()
    changes = _shown(chosen.changes) or "none"
    aucs = chosen.published_auc, chosen.validation_auc
    return [title_of(search.method), search.course, *aucs, changes]


def _shown(values: Mapping[str, Value]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def _how(methods: Sequence[str], trials: int, wanted: Wanted) -> Iterator[str]:
    encoder = resolve_encoder(wanted.encoder)
    yield said("tune", seed=TUNING_SEED, trials=trials, encoder=encoder)
    as_published = experiment_settings().as_published
    if kept := [title_of(name) for name in methods if name in as_published]:
        yield said("tune", "kept", titles=" and ".join(kept))
    if empty := [title_of(name) for name in methods if not search_spaces()[name]]:
        yield said("tune", "empty", titles=", ".join(empty))
    yield said("tune", "copy")


def _csv(searches: Sequence[Search]) -> str:
    heads = ("method", "course", "trial", "settings", "validation_auc", "chosen")
    rows = (
        (search.method, search.course, number, _shown(one.values), one.auc, int(one is search.best))
        for search in searches
        for number, one in enumerate(search.trials)
    )
    return csv_text(heads, rows)
