"""With which settings a method runs, and what it is called."""

from __future__ import annotations

import pytest

from proprl.experiments.running.plan import ABLATIONS, TABLE_1
from proprl.experiments.running.protocols import PROTOCOLS
from proprl.experiments.settings import methods
from proprl.experiments.settings.load import packaged
from proprl.experiments.settings.methods import AS_PUBLISHED, settings_of, title_of, untuned
from proprl.experiments.settings.published import SETS
from proprl.experiments.settings.tuned import TunedSetting
from proprl.models.registry import METHODS, method_settings


def test_every_setting_is_one_the_method_has() -> None:
    for name in METHODS:
        for course in SETS:
            for protocol in PROTOCOLS:
                preset, changes = settings_of(name, course, protocol)
                settings = method_settings(name, preset, **changes)
                assert isinstance(settings, METHODS[name].settings_type)


def test_every_published_row_has_a_method() -> None:
    paper = packaged("published.toml")
    assert set(paper["table1"]) <= set(TABLE_1)
    assert set(paper["table2"]) == set(ABLATIONS) <= set(METHODS)
    assert TABLE_1[-1] == "proprl"


@pytest.mark.parametrize("tuned", [False, True])
def test_an_ablation_has_its_models_settings(tuned: bool) -> None:
    for ablation in ABLATIONS:
        for protocol in PROTOCOLS:
            whole = settings_of("proprl", "ucd", protocol, tuned=tuned)
            assert settings_of(ablation, "ucd", protocol, tuned=tuned) == whole


def test_what_was_tuned_is_laid_over_what_was_published(monkeypatch: pytest.MonkeyPatch) -> None:
    def chosen(**changes: float) -> dict[str, TunedSetting]:
        setting = TunedSetting(
            changes=changes, validation_auc=0.9, published_auc=0.8, trials=8, encoder="wordllama"
        )
        return {"mooc": setting}

    tuned = {"svm": chosen(C=0.1), "dgcpl": chosen(kappa=0.5), "proprl": chosen(alpha=0.5)}
    monkeypatch.setattr(methods, "tuned_settings", lambda: tuned)
    assert settings_of("svm", "mooc", "published") == ("default", {"C": 0.1})
    assert settings_of("svm", "ucd", "published") == ("default", {})
    assert untuned("svm", "mooc") == {}
    # What is held against the papers' own rows, and the ablations, keeps the papers' settings.
    assert set(AS_PUBLISHED) <= set(METHODS)
    for method in ("dgcpl", *ABLATIONS):
        model = method.partition("-without-")[0]
        papers_own = ("paper", untuned(model, "mooc"))
        assert settings_of(method, "mooc", "published") == papers_own
    preset, changes = settings_of("proprl", "mooc", "published", tuned=True)
    assert (preset, changes["alpha"]) == ("default", 0.5)
    preset, changes = settings_of("proprl", "mooc", "leak-free")
    assert (preset, changes["alpha"], changes["lam"]) == ("default", 0.5, 1e-3)


def test_every_method_has_a_title_and_a_reconstruction_is_called_one() -> None:
    assert "reconstruction" in title_of("hgapnet")
    rules = {"degrees", "reachability"}
    assert set(packaged("methods.toml")["titles"]) == {*METHODS, *rules}
