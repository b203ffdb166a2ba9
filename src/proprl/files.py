"""Writing files so that nothing is ever half-written."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from proprl.errors import OutputError


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
        if temporary.exists():
            temporary.unlink()


def write_bytes(path: Path, content: bytes) -> None:
    """Write `content` to `path`, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def write_text(path: Path, content: str) -> None:
    """Write `content` to `path` as UTF-8, whole or not at all."""
    write_bytes(path, content.encode())
