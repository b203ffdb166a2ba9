"""Keeps what libraries print of themselves off the screen, and the user's settings as they were."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def root_logger_untouched() -> Iterator[None]:
    """Undo what an import does to the user's logging: wordllama configures the root logger."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Show no progress bar, warning or log line of transformers and sentence-transformers.

    Both have settings for the whole process. They are as they were afterwards, errors or not.
    """
    from huggingface_hub.utils import are_progress_bars_disabled
    from transformers.utils import logging as transformers_logging

    verbosity = transformers_logging.get_verbosity()
    bars, downloads = (
        transformers_logging.is_progress_bar_enabled(),
        not are_progress_bars_disabled(),
    )
    sentences = logging.getLogger("sentence_transformers")
    level = sentences.level
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transformers_logging.set_verbosity_error()
        transformers_logging.disable_progress_bar()
        sentences.setLevel(logging.ERROR)
        try:
            yield
        finally:
            sentences.setLevel(level)
            transformers_logging.set_verbosity(verbosity)
            _show_bars(bars, downloads)


def _show_bars(loading: bool, downloading: bool) -> None:
    """Set both kinds of bars; transformers switches those of downloads along with its own."""
    from huggingface_hub.utils import disable_progress_bars, enable_progress_bars
    from transformers.utils import logging as transformers_logging

    if loading:
        transformers_logging.enable_progress_bar()
    if downloading:
        enable_progress_bars()
    elif loading:
        disable_progress_bars()
