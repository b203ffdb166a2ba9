"""The command line: thin commands around the public face."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proprl.errors import ProprlError

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
    from proprl.errors import OutputError, ProprlError

    warnings.showwarning = _say_warning  # type: ignore[assignment]
    try:
        app(prog_name="proprl")
    except SystemExit as end:
        if end.code == INTERRUPTED:
            _stopped()
        raise
    except ProprlError as error:
        _say_failure(error)
        sys.exit(1)
    except BrokenPipeError:  # the reader of our output (head, less) has seen enough
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:  # a name too long, a full disk behind standard output
        _say_failure(OutputError(f"{error.filename or 'the output'}: {error.strerror or error}"))
        with suppress(OSError):  # else the interpreter fails again on what could not be written
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _say_failure(error: ProprlError) -> None:
    """Print an error on standard error: one shape for scripts, a message for people."""
    from proprl.cli.console import err, escape
    from proprl.errors import CourseError

    if "--json" not in sys.argv:
        err.print(f"[bold red]Error:[/] {escape(str(error))}", soft_wrap=True)
        return
    document: dict[str, Any] = {"type": type(error).__name__, "message": str(error)}
    if isinstance(error, CourseError):
        document["problems"] = [vars(problem) for problem in error.problems]
    err.print_json(data={"error": document})


def _say_warning(message: Warning | str, *_: object) -> None:
    """Print a Python warning as a line for people, without the place in the code."""
    from proprl.cli.console import err, escape

    err.print(f"[yellow]Warning:[/] {escape(str(message))}", soft_wrap=True)


def _stopped() -> None:
    print("Stopped.", file=sys.stderr)
