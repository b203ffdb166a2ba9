"""The command line: thin commands around the public face."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; every expected failure is one message and an exit code."""
    from proprl.cli.app import app
    from proprl.cli.console import report_failure
    from proprl.errors import ProprlError

    try:
        app()
    except ProprlError as error:
        report_failure(error, as_json="--json" in sys.argv)
        sys.exit(1)
    except BrokenPipeError:  # the reader of our output (head, less) has seen enough
        sys.stderr.close()
        sys.exit(1)
