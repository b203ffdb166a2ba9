"""The commit that results come from."""

from __future__ import annotations

import subprocess
from pathlib import Path

from proprl import __version__


def commit() -> str:
    """Give the commit that this code is at, and whether it was changed since; else the version."""
    git = ("git", "-C", str(Path(__file__).parents[2]))
    try:
        head, changed = (
            subprocess.run([*git, *words], capture_output=True, text=True, check=True).stdout
            for words in (("rev-parse", "--short=10", "HEAD"), ("status", "--porcelain", "--", "."))
        )
    except (OSError, subprocess.CalledProcessError):
        return f"version {__version__}"
    return head.strip() + (" with changes" if changed.strip() else "")
