"""Getting a public set from the public repositories."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from proprl.data.public.catalogue import find_benchmark
from proprl.data.public.location import data_root, is_as_published
from proprl.data.public.pinned import PublicFile
from proprl.errors import OutputError, PublicDataError

PUBLIC_HOST = "https://raw.githubusercontent.com"

_TIMEOUT = 30  # seconds without a byte

OnFile = Callable[[str, int, int], None]
"""Told after each file: its path, how many files are there now, how many there will be."""


def fetch_benchmark(
    name: str,
    root: str | os.PathLike[str] | None = None,
    *,
    base_url: str = PUBLIC_HOST,
    retries: int = 2,
    on_file: OnFile | None = None,
) -> Path:
    """Download the files of a public set that are missing or differ; return the data folder.

    Every file is pinned to a commit and compared with its SHA-256 before it appears under its
    name, so an interrupted download leaves whole files only and goes on with the missing ones.
    Lost connections raise at once; a file that is gone or differs lets the others come first.
    """
    public = find_benchmark(name)
    folder = data_root(root)
    faults: list[str] = []
    done = 0
    for file in public.files:
        path = folder / file.path
        there = path.is_file() and is_as_published(path, file)
        fault = None if there else _download(file, folder, base_url, retries)
        if fault is not None:
            faults.append(fault)
            continue
        done += 1
        if on_file is not None:
            on_file(file.path, done, len(public.files))
    if faults:
        raise PublicDataError(
            f"{len(faults)} of {len(public.files)} files of {name!r} could not be had:\n  "
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
