"""What was chosen is data; this validates it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from proprl.experiments.settings.tuned import TunedSetting, read_tuned, tuned_text


def test_a_choice_worse_than_the_published_setting_is_refused() -> None:
    with pytest.raises(ValidationError, match="worse on validation"):
        TunedSetting(
            changes={}, validation_auc=0.7, published_auc=0.8, trials=8, encoder="wordllama"
        )


def test_what_is_written_reads_back() -> None:
    chosen = TunedSetting(
        changes={"kernel": "rbf", "C": 1e-5, "trees": 50, "linear": True},
        validation_auc=0.9,
        published_auc=0.8,
        trials=8,
        encoder="wordllama",
    )
    tuned = {"svm": {"mooc": chosen, './a "course" of é': chosen}}
    assert read_tuned(tuned_text(tuned)) == tuned
    assert read_tuned(tuned_text({})) == {}
