"""How many files one must read to follow a pair, and how often calls run against the layers.

    python tools/follow_pair.py                       this checkout
    python tools/follow_pair.py --src FOLDER          another: the folder that holds `proprl`

Sequitur is trained on `campus` (20 trees, wordllama), and then scores one pair. Python reports
every call meanwhile. For training, for scoring and for both together this prints:

- *files*: the files of proprl that were entered, that is, in which a function ran.
- *calls*: between two different files, to the same layer or a higher one than the caller's.
  Nothing forbids calls within a layer, but a reader has to jump for them too.

The layers are those of the first import contract of type `layers` in the checkout's
`pyproject.toml`. A layer may be a folder or a file. The caller is the nearest function of proprl
that waits for the call: what libraries do in between is skipped. So a function that is handed down
and called from below counts as a call upwards. Going on with a generator is no call.

Not counted, neither as files nor in calls: `errors`, `progress` and `arrays`, which everything
uses, and whatever runs while a module is imported. A file outside the layers, such as
`proprl/__init__.py`, counts as a file only.

The course is read before. Its texts are encoded anew: the cache is empty.
"""

from __future__ import annotations

import argparse
import inspect
import os
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

EVERYWHERE = ("errors", "progress", "arrays")
"""Layers that everything uses: to follow them is to follow everything."""

TREES, SEED, PAIR = 20, 42, ("Limits", "Derivatives")
SHOWN = 10
PAUSING = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def layer_heights(pyproject: str) -> dict[str, int]:
    """Give how high each layer stands; layers that share a line stand equally high.

    >>> layer_heights('''
    ... [[tool.importlinter.contracts]]
    ... type = "layers"
    ... layers = ["cli : __main__", "data"]
    ... ''')
    {'cli': 2, '__main__': 2, 'data': 1}
    """
    contracts = tomllib.loads(pyproject)["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if one["type"] == "layers")
    return {
        name.strip(" ()"): len(layers) - row
        for row, line in enumerate(layers)
        for name in line.replace("|", ":").split(":")
    }


@dataclass
class Follower:
    """Counts what is entered and called, while it is the profiler."""

    package: Path
    heights: Mapping[str, int]
    files: set[str] = field(default_factory=set)
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    """From one file to another of the same layer or a higher one."""
    importing: int = 0
    names: dict[str, str | None] = field(default_factory=dict)

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Take note of one event; Python calls this."""
        if event not in ("call", "return"):
            return
        code = frame.f_code
        if code.co_name == "<module>":
            self.importing += 1 if event == "call" else -1
        elif event == "call" and not self.importing and (called := self.file(code)):
            self.files.add(called)
            if not _goes_on(frame):
                self.count(self.caller(frame), called)

    def count(self, caller: str | None, called: str) -> None:
        """Count a call, if it goes to another file of the same layer or a higher one."""
        if caller is None or caller == called:
            return
        low, high = (self.heights.get(layer_of(file)) for file in (caller, called))
        if low is not None and high is not None and high >= low:
            self.calls[caller, called] += 1

    def caller(self, frame: FrameType) -> str | None:
        """Give the file of the nearest function of proprl that waits for this one."""
        waiting = frame.f_back
        while waiting is not None:
            if file := self.file(waiting.f_code):
                return file
            waiting = waiting.f_back
        return None

    def file(self, code: CodeType) -> str | None:
        """Give the file of proprl that the code stands in, unless that is not counted."""
        written = code.co_filename
        if written not in self.names:
            path = Path(written)
            inside = path.is_relative_to(self.package)
            name = path.relative_to(self.package).as_posix() if inside else None
            self.names[written] = None if name is None or layer_of(name) in EVERYWHERE else name
        return self.names[written]

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Follow what is done meanwhile."""
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(None)


def layer_of(file: str) -> str:
    """Give the layer of a file, by its path within proprl.

    >>> layer_of("models/sequitur.py"), layer_of("fitting.py")
    ('models', 'fitting')
    """
    return file.partition("/")[0].removesuffix(".py")


def _goes_on(frame: FrameType) -> bool:
    """Whether this is no call, but a generator that goes on after a pause."""
    # What a function begins with, and a generator goes on with, is the instruction RESUME; the two
    # lowest bits of its argument are 0 at the beginning only.
    code = frame.f_code
    return bool(code.co_flags & PAUSING) and code.co_code[frame.f_lasti + 1] & 3 != 0


def follow(src: Path) -> None:
    """Train and score, and print what that took."""
    sys.path.insert(0, str(src))
    import proprl

    package = Path(proprl.__file__).resolve().parent
    if package.parent != src:
        sys.exit(f"proprl came from {package.parent}, not from {src}")
    heights = layer_heights((src.parent / "pyproject.toml").read_text(encoding="utf-8"))
    course = proprl.load_course("campus")
    model = proprl.PrerequisiteModel(
        "sequitur", settings={"trees": TREES}, encoder="wordllama", seed=SEED
    )
    training, scoring = Follower(package, heights), Follower(package, heights)
    with training.watching():
        model.fit(course)
    with scoring.watching():
        model.predict_proba([PAIR])
    both = Follower(
        package, heights, training.files | scoring.files, training.calls + scoring.calls
    )
    for title, followed in (("training", training), ("scoring", scoring), ("both", both)):
        say(title, followed)
    print(f"\nMost of these calls, of {len(both.calls)} ways from file to file:")
    for (caller, called), count in both.calls.most_common(SHOWN):
        print(f"{count:6,}  {caller} → {called}")


def say(title: str, followed: Follower) -> None:
    """Print the figures of what was followed."""
    height = {file: followed.heights[layer_of(file)] for ends in followed.calls for file in ends}
    higher = sum(n for (low, high), n in followed.calls.items() if height[high] > height[low])
    print(
        f"{title:8} {len(followed.files):4} files {followed.calls.total():7,} calls to the same "
        f"layer or a higher one, {higher:,} of them to a higher one"
    )


def main(words: Sequence[str]) -> None:
    here = Path(__file__).resolve().parents[1] / "src"
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--src", type=Path, default=here, help="the folder that holds `proprl`")
    src = parser.parse_args(words).src.resolve()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["PROPRL_CACHE"] = cache
        follow(src)


if __name__ == "__main__":
    main(sys.argv[1:])
