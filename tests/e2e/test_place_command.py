"""`proprl place` as a learner and as a script use it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from terminal import Terminal

LABELS = ("--threshold", 1)  # a map of labels: what a small model learned does not matter here


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_asks_takes_back_and_tells(
    proprl_: Terminal, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed(monkeypatch, "u", "what?", "y", "u", "Y", "n", "q")
    said = proprl_("place", bundle, *LABELS)
    assert said.count("1. Can you do Concept") == 4
    assert "There is no answer to undo." in said
    assert "Answer y, n, u or q." in said
    assert "After 2 questions" in said
    for heading in ("Learned last: ", "Ready for now: ", "Least sure: "):
        assert heading in said


def test_scripts_get_json_alone_and_the_end_of_input_quits(
    proprl_: Terminal, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed(monkeypatch, "y")
    told = json.loads(proprl_("place", bundle, *LABELS, "--json"))
    assert "Can you do" in proprl_.error
    assert told["asked"] == 1
    assert told["ask_next"] is not None
    assert told["answers"][0]["concept"] in told["known"]
    assert not set(told["known"]) & set(told["ready_for"])
    assert set(told["learned_last"]) <= set(told["known"])


def test_answers_from_a_table_are_the_same_as_typed_ones(
    proprl_: Terminal, bundle: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    typed(monkeypatch, "y", "n")
    told = json.loads(proprl_("place", bundle, *LABELS, "--json"))
    rows = [f"{a['concept']},{'y' if a['knows'] else 'n'}" for a in told["answers"]]
    (tmp_path / "a.csv").write_text("\n".join(["concept,answer", *rows]))
    again = proprl_("place", bundle, *LABELS, "--json", "--answers", "a.csv")
    assert json.loads(again) == told


def test_ctrl_c_quits_and_what_was_said_counts(
    proprl_: Terminal, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(io.StringIO):
        def readline(self, *_: object) -> str:
            line = super().readline()
            if not line:
                raise KeyboardInterrupt
            return line

    monkeypatch.setattr("sys.stdin", Interrupted("y\n"))
    assert "After 1 question:" in proprl_("place", bundle, *LABELS)


def test_help_shows_an_example(proprl_: Terminal) -> None:
    assert "Example: proprl place campus" in proprl_("place", "--help")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--at-most", 0), 1, "it must be 1 or more"),
        (("--target", "Concept 999"), 1, "there is no concept 'Concept 999'"),
        (("--slip", 0.7), 1, "less than half of the answers"),
        (("--slip", -1), 2, "--slip"),
        (("--answers", "none.csv"), 1, "cannot be read"),
    ],
)
def test_bad_input_is_one_clear_message(
    proprl_: Terminal, bundle: Path, words: tuple[object, ...], code: int, message: str
) -> None:
    proprl_("place", bundle, *LABELS, *words, expect=code)
    assert message in proprl_.error
