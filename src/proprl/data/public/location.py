"""Where the public data lies, and whether it is all there and unchanged."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from proprl.data.public.pinned import PublicFile, PublicSet
from proprl.errors import PublicDataError
from proprl.files import cache_folder


def data_root(root: str | os.PathLike[str] | None = None) -> Path:
    """Folder of the public data: `root`, else `PROPRL_DATA`, else a folder of the user's cache."""
    chosen = os.environ.get("PROPRL_DATA") if root is None else root
    return Path(chosen).expanduser() if chosen else cache_folder() / "public"


def missing_files(public: PublicSet, root: Path) -> list[PublicFile]:
    """Return the files of a set that are not there."""
    return [file for file in public.files if not (root / file.path).is_file()]


def check_files(public: PublicSet, root: Path) -> None:
    """Raise a `PublicDataError` with the remedy unless every file is there as published."""
    remedy = (
        f"run `proprl course fetch {public.name}`, or set PROPRL_DATA to a folder that has the set"
    )
    missing = missing_files(public, root)
    if missing:
        where = f"in {root}" if root.is_dir() else f"because there is no folder {root}"
        raise PublicDataError(
            f"the public set {public.name!r} is not complete {where}: {len(missing)} of "
            f"{len(public.files)} files are missing, the first is {missing[0].path}; {remedy}"
        )
    for file in public.files:
        if not is_as_published(root / file.path, file):
            raise PublicDataError(
                f"{root / file.path} is not the file that was published (its size or SHA-256 "
                f"differs from the one pinned for {file.repository}): restore it; "
                f"`proprl course fetch {public.name}` replaces what differs"
            )


def is_as_published(path: Path, file: PublicFile) -> bool:
    """Say whether the file at `path` has the pinned content."""
    try:
        if path.stat().st_size != file.size:
            return False
        return hashlib.sha256(path.read_bytes()).hexdigest() == file.sha256
    except OSError as error:
        raise PublicDataError(f"cannot read {path}: {error.strerror or error}") from error
