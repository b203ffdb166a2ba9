"""Which runs an experiment consists of."""

from __future__ import annotations

import pytest

from proprl.errors import ProprlError
from proprl.experiments.running import plan as plans
from proprl.experiments.running.outcome import Wanted
from proprl.experiments.running.plan import ABLATIONS, experiment_settings, plan
from proprl.experiments.running.protocols import PROTOCOLS
from proprl.experiments.settings.published import SETS, published
from proprl.experiments.settings.tuned import TunedSetting
from proprl.experiments.studies.table1 import table1_methods
from proprl.models.registry import METHODS, method_settings


def test_every_setting_is_one_the_method_has() -> None:
    for name in METHODS:
        for course in SETS:
            for protocol in PROTOCOLS:
                preset, changes = experiment_settings().of(name, course, protocol)
                settings = method_settings(name, preset, **changes)
                assert isinstance(settings, METHODS[name].settings_type)


def test_every_published_row_has_a_method() -> None:
    assert set(published().table1) <= set(table1_methods())
    assert set(published().table2) == set(ABLATIONS) <= set(METHODS)
    assert table1_methods()[-1] == "proprl"


def test_an_ablation_has_its_models_settings() -> None:
    of = experiment_settings().of
    for ablation in ABLATIONS:
        for protocol in PROTOCOLS:
            assert of(ablation, "ucd", protocol) == of("proprl", "ucd", protocol)
        (run,) = plan([ablation], wanted(repeats=1), tuned=True)
        assert (run.preset, run.changes) == experiment_settings().tuned("proprl", "mooc")


def test_what_was_tuned_is_laid_over_what_was_published(monkeypatch: pytest.MonkeyPatch) -> None:
    def chosen(**changes: float) -> dict[str, TunedSetting]:
        setting = TunedSetting(
            changes=changes, validation_auc=0.9, published_auc=0.8, trials=8, encoder="wordllama"
        )
        return {"mooc": setting}

    tuned = {"svm": chosen(C=0.1), "dgcpl": chosen(kappa=0.5), "proprl": chosen(alpha=0.5)}
    monkeypatch.setattr(plans, "tuned_settings", lambda: tuned)
    settings = experiment_settings()
    assert settings.of("svm", "mooc", "published") == ("default", {"C": 0.1})
    assert settings.of("svm", "ucd", "published") == ("default", {})
    assert settings.untuned("svm", "mooc") == {}
    (run,) = plan(["svm"], wanted(repeats=1))
    assert run.changes == {"C": 0.1}
    # What is held against the papers' own rows, and the ablations, keeps the papers' settings.
    assert set(settings.as_published) <= set(METHODS)
    for method in ("dgcpl", *ABLATIONS):
        model = method.partition("-without-")[0]
        papers_own = ("paper", settings.untuned(model, "mooc"))
        assert settings.of(method, "mooc", "published") == papers_own
    preset, changes = settings.of("proprl", "mooc", "leak-free")
    assert (preset, changes["alpha"], changes["lam"]) == ("default", 0.5, 1e-3)


def wanted(protocol: str = "published", repeats: int = 3) -> Wanted:
    return Wanted(["mooc"], protocol=protocol, repeats=repeats, encoder="wordllama")


def test_published_varies_the_seed_and_leak_free_the_fold() -> None:
    published_runs = plan(["rf"], wanted())
    assert [(run.seed, run.fold) for run in published_runs] == [(0, 0), (1, 0), (2, 0)]
    folds = plan(["rf"], wanted("leak-free"))
    assert [(run.seed, run.fold) for run in folds] == [(0, 0), (0, 1), (0, 2)]


def test_a_reconstruction_is_called_one() -> None:
    assert "reconstruction" in experiment_settings().title("hgapnet")
    assert set(experiment_settings().titles) == set(METHODS)


def test_more_folds_than_there_are_and_unknown_protocols_are_refused() -> None:
    with pytest.raises(ProprlError, match="10 folds; asked for 11"):
        plan(["rf"], wanted("leak-free", 11))
    with pytest.raises(ProprlError, match="known: published, leak-free"):
        plan(["rf"], wanted("magic"))
