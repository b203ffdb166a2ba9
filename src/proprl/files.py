"""Files: where they may be kept, and writing them so that nothing is ever half-written."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import platformdirs

from proprl.errors import OutputError


def cache_folder() -> Path:
    """Folder for everything that proprl may forget: ``PROPRL_CACHE`` or the user's cache folder."""
    chosen = os.environ.get("PROPRL_CACHE")
    return Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("proprl")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`; move it to `path` when the block ends well.

    Whoever reads `path` sees the old file or the new one, never a part. When the block fails
    (a full disk, a missing folder), the temporary file is removed, `path` stays as it was,
    and an `OutputError` says what happened.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def remove_leftovers(path: Path) -> None:
    """Remove what a process that was killed while it replaced `path` has left beside it."""
    for leftover in path.parent.glob(f".{path.name}.*.tmp"):
        leftover.unlink(missing_ok=True)


def write_bytes(path: Path, content: bytes) -> None:
    """Write `content` to `path`, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def write_text(path: Path, content: str) -> None:
    """Write `content` to `path` as UTF-8, whole or not at all."""
    write_bytes(path, content.encode())
