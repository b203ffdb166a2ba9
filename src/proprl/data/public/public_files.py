"""The published files of the public sets: where they lie, whether they are whole, fetching them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from proprl.data.public.catalogue import PublicFile, PublicSet, find_benchmark
from proprl.errors import OutputError, PublicDataError
from proprl.files import cache_folder

PUBLIC_HOST = "https://raw.githubusercontent.com"

_TIMEOUT = 30  # seconds without a byte


def data_root(root: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of the public data: `root`, else `PROPRL_DATA`, else one in the cache."""
    chosen = os.environ.get("PROPRL_DATA") if root is None else root
    return Path(chosen).expanduser() if chosen else cache_folder() / "public"


def missing_files(public: PublicSet, root: Path) -> list[PublicFile]:
    """Return the files of a set that are not there."""
    return [file for file in public.files if not (root / file.path).is_file()]


def check_files(public: PublicSet, root: Path) -> None:
    """Raise a `PublicDataError` with the remedy unless every file is there as published."""
    missing = missing_files(public, root)
    if missing:
        where = f"in {root}" if root.is_dir() else f"because there is no folder {root}"
        raise PublicDataError(
            f"the public set {public.name!r} is not complete {where}: {len(missing)} of "
            f"{len(public.files)} files are missing, the first is {missing[0].path}; run `proprl "
            f"course fetch {public.name}`, or set PROPRL_DATA to a folder that has the set"
        )
    for file in public.files:
        if not _is_as_published(root / file.path, file):
            raise PublicDataError(
                f"{root / file.path} is not the file that was published (its size or SHA-256 "
                f"differs from the one pinned for {file.repository}): restore it; "
                f"`proprl course fetch {public.name}` replaces what differs"
            )


def _is_as_published(path: Path, file: PublicFile) -> bool:
    try:
        if path.stat().st_size != file.size:
            return False
        return hashlib.sha256(path.read_bytes()).hexdigest() == file.sha256
    except OSError as error:
        raise PublicDataError(f"cannot read {path}: {error.strerror or error}") from error


def fetch_benchmark(
    name: str,
    root: str | os.PathLike[str] | None = None,
    *,
    base_url: str = PUBLIC_HOST,
    retries: int = 2,
    on_file: Callable[[str], None] | None = None,
) -> Path:
    """Download the files of a public set that are missing or differ; return the data folder.

    Every file is pinned to a commit and compared with its SHA-256 before it appears under its
    name. So an interrupted download leaves only whole files, and the next one goes on with the
    rest. A lost connection is an error at once. A file that is gone or differs becomes one after
    the others have come. `on_file` is told the path of each file that is there.
    """
    public = find_benchmark(name)
    folder = data_root(root)
    faults: list[str] = []
    for file in public.files:
        path = folder / file.path
        there = path.is_file() and _is_as_published(path, file)
        fault = None if there else _download(file, folder, base_url, retries)
        if fault is not None:
            faults.append(fault)
        elif on_file is not None:
            on_file(file.path)
    if faults:
        raise PublicDataError(
            f"{len(faults)} of {len(public.files)} files of {name!r} could not be fetched:\n  "
            + "\n  ".join(faults)
            + f"\nthe others are in {folder}; a newer proprl may know where these are"
        )
    return folder


def _download(file: PublicFile, folder: Path, base_url: str, retries: int) -> str | None:
    """Put one file into the folder; return what is wrong with it at its source, if anything."""
    import pooch
    from requests import HTTPError, RequestException

    pooch.get_logger().setLevel("WARNING")  # it tells of each file; `on_file` does that
    url = f"{base_url}/{quote(f'{file.repository}/{file.commit}/{file.source}')}"
    source = pooch.create(
        path=folder,
        base_url="",
        registry={file.path: f"sha256:{file.sha256}"},
        urls={file.path: url},
        retry_if_failed=retries,
    )
    try:
        source.fetch(file.path, downloader=pooch.HTTPDownloader(timeout=_TIMEOUT))
    except HTTPError as error:
        return f"{file.path}: {error}"
    except RequestException as error:
        raise PublicDataError(
            f"the connection failed at {url} ({error}); what is already in {folder} stays: "
            "run the command again to go on"
        ) from error
    except ValueError:  # pooch's word for another checksum
        return f"{file.path}: {url} no longer has the published content (its SHA-256 differs)"
    except OSError as error:
        raise OutputError(f"cannot write {folder / file.path}: {error}") from error
    return None
