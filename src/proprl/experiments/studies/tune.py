"""Settings chosen on validation, with the same small budget for every method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from proprl.errors import MissingExtraError, ProprlError
from proprl.experiments.running.plan import TABLE_1, Wanted
from proprl.experiments.running.run import Result, Run
from proprl.experiments.settings.load import packaged
from proprl.experiments.settings.methods import AS_PUBLISHED, title_of, untuned
from proprl.experiments.settings.tuned import TunedSetting, Value, tuned_settings, tuned_text
from proprl.experiments.show.pages import Do, Outcome, page, said
from proprl.experiments.show.tables import Table, csv_text, markdown_table
from proprl.features.encoders import resolve_encoder
from proprl.models.registry import method_settings

if TYPE_CHECKING:
    from optuna import Study
    from optuna.distributions import BaseDistribution

TRIALS = 6
"""Settings tried for a method on a course, the published one included."""
QUICK_TRIALS = 2
TUNING_SEED = 0
BLIND_TRIALS = 4
"""The first settings are drawn at random; the rest are drawn near those that did well."""
MOST_DRAWS = 50
"""After this many draws in a row without a new setting, all of them have been tried."""

CHOICE_HEADS = ("method", "set", "published setting", "chosen", "changes")


@dataclass
class Search:
    """The settings of one method on one course that were tried, the published one first."""

    method: str
    course: str
    encoder: str
    space: Mapping[str, BaseDistribution]
    study: Study
    tried: list[dict[str, Value]] = field(default_factory=list)
    aucs: list[float] = field(default_factory=list)
    """On validation, one for each of `tried`."""

    def __post_init__(self) -> None:
        self.untuned = untuned(self.method, self.course)
        settings = method_settings(self.method, **self.untuned)
        self.study.enqueue_trial({name: getattr(settings, name) for name in self.space})

    def ask(self) -> Run | None:
        """Give the run that judges a setting not tried yet; None where there is none left."""
        from optuna.trial import TrialState

        ranges = [name for name, place in self.space.items() if hasattr(place, "low")]
        for _ in range(MOST_DRAWS):
            self._asked = self.study.ask(dict(self.space))
            # Two digits of a range: more say nothing, and tables must be readable.
            self._values: dict[str, Value] = {
                name: float(f"{value:.2g}") if name in ranges else value
                for name, value in self._asked.params.items()
            }
            if self._values not in self.tried:
                changes = self.untuned | (self._values if self.tried else {})
                return Run(
                    self.method,
                    self.course,
                    seed=TUNING_SEED,
                    changes=changes,
                    encoder=self.encoder,
                    part="validation",
                )
            self.study.tell(self._asked, state=TrialState.FAIL)
        return None

    def tell(self, result: Result) -> None:
        """Learn from the result of the run that was asked for."""
        auc = result["metrics"]["auc"]
        if auc is None:
            raise ProprlError(
                f"nothing can be chosen on {self.course}: its validation pairs have one label "
                "only; add pairs of the other label to the validation part"
            )
        self.tried.append(self._values)
        self.aucs.append(float(auc))
        self.study.tell(self._asked, self.aucs[-1])

    @property
    def best(self) -> int:
        """The place of the setting with the highest validation AUC; the first of equals."""
        return self.aucs.index(max(self.aucs))

    def chosen(self) -> TunedSetting:
        """Give the choice as it is kept."""
        return TunedSetting(
            changes=self.tried[self.best] if self.best else {},
            validation_auc=round(self.aucs[self.best], 6),
            published_auc=round(self.aucs[0], 6),
            trials=len(self.tried),
            encoder=self.encoder,
        )


def tune(wanted: Wanted, do: Do) -> Outcome:
    """Choose each method's setting on the validation pairs of each course.

    Each round does one trial of every method and course. What is asked next then depends on
    results only, not on the order in which they come: a tuning that is interrupted asks the same
    when it goes on.
    """
    methods = _methods(wanted)
    encoder = resolve_encoder(wanted.encoder)
    searches = _searches(methods, wanted.courses, encoder)
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
    rows = []
    for search in searches:
        chosen = search.chosen()
        merged.setdefault(search.method, {})[search.course] = chosen
        aucs = chosen.published_auc, chosen.validation_auc
        changes = _shown(chosen.changes) or "none"
        rows.append([title_of(search.method), search.course, *aucs, changes])
    shown = [[f"{c:.3f}" if isinstance(c, float) else c for c in row] for row in rows]
    kept = [title_of(name) for name in methods if name in AS_PUBLISHED]
    how = [
        said("tune", seed=TUNING_SEED, trials=trials, encoder=encoder),
        said("tune", "kept", titles=" and ".join(kept)) if kept else "",
        said("tune", "copy"),
    ]
    table = markdown_table(CHOICE_HEADS, shown)
    texts = {
        "tuned.toml": tuned_text(merged),
        "tune.md": page("# Settings chosen on validation", *how, table),
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
    methods, spaces = wanted.methods or TABLE_1, packaged("search.toml")
    for method in methods:
        method_settings(method)  # an unknown one is an error that lists the known ones
        if method not in spaces:
            known = ", ".join(spaces)
            raise ProprlError(f"{method} has no settings that tune chooses; known: {known}")
    return methods


def _searches(methods: Sequence[str], courses: Sequence[str], encoder: str) -> list[Search]:
    try:
        import optuna
    except ImportError:
        raise MissingExtraError("tuning", "tune") from None
    from optuna.distributions import CategoricalDistribution, FloatDistribution

    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def study(space: Mapping[str, BaseDistribution]) -> Study:
        # Among choices only, TPE would come back to the best of them again and again.
        guided = any(isinstance(place, FloatDistribution) for place in space.values())
        sampler = (
            optuna.samplers.TPESampler(seed=TUNING_SEED, n_startup_trials=BLIND_TRIALS)
            if guided
            else optuna.samplers.RandomSampler(seed=TUNING_SEED)
        )
        return optuna.create_study(direction="maximize", sampler=sampler)

    spaces = {
        method: {
            name: FloatDistribution(**place) if "low" in place else CategoricalDistribution(**place)
            for name, place in packaged("search.toml")[method].items()
        }
        for method in methods
    }
    return [
        Search(method, course, encoder, spaces[method], study(spaces[method]))
        for course in courses
        for method in methods
    ]


def _shown(values: Mapping[str, Value]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def _csv(searches: Sequence[Search]) -> str:
    heads = ("method", "course", "trial", "settings", "validation_auc", "chosen")
    rows = [
        (s.method, s.course, number, _shown(values), s.aucs[number], int(number == s.best))
        for s in searches
        for number, values in enumerate(s.tried)
    ]
    return csv_text(heads, rows)
