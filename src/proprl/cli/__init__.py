"""The command line: thin commands around the public face."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

INTERRUPTED = 130  # what shells expect of a program that Ctrl-C ended


def main() -> None:
    """Run the command line; every expected failure is one message and an exit code."""
    with _on_interrupt(_stop_at_once):
        _run()


@contextmanager
def interrupts_raised() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt: for work that has something to keep or to clear away.

    Everywhere else Ctrl-C ends the program at once. An exception there could come up inside a
    library that is just being loaded, and turn into something else.
    """
    with _on_interrupt(signal.default_int_handler):
        yield


@contextmanager
def _on_interrupt(handler: Callable[[int, FrameType | None], Any]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what a signal does
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _stop_at_once(*_: object) -> None:
    _stopped()
    sys.stderr.flush()
    os._exit(INTERRUPTED)


def _run() -> None:
    import warnings

    from proprl.cli.app import app
    from proprl.cli.console import report_failure, report_warning
    from proprl.errors import OutputError, ProprlError

    warnings.showwarning = report_warning  # type: ignore[assignment]
    try:
        app(prog_name="proprl")
    except SystemExit as end:
        if end.code == INTERRUPTED:
            _stopped()
        raise
    except ProprlError as error:
        report_failure(error, as_json="--json" in sys.argv)
        sys.exit(1)
    except BrokenPipeError:  # the reader of our output (head, less) has seen enough
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:  # a name too long, a full disk behind standard output
        what = OutputError(f"{error.filename or 'the output'}: {error.strerror or error}")
        report_failure(what, as_json="--json" in sys.argv)
        _forget_output()
        sys.exit(1)


def _stopped() -> int:
    print("Stopped.", file=sys.stderr)
    return INTERRUPTED


def _forget_output() -> None:
    """Keep the interpreter from failing again on what could not be written."""
    with suppress(OSError):  # where standard output is no file, there is nothing to forget
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
