"""The files of the public repositories as tables.

Columns, directions and order are those of the files; nothing is repaired here. Files that are
pinned were checked before; the two that are not (BERT vectors, hypergraph) are checked here.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from proprl.arrays import FloatArray
from proprl.errors import PublicDataError

_PARTS = {"train": "train", "val": "validation", "test": "test"}  # the file's word → ours


def read_index(path: Path) -> list[str]:
    """Return the names of an index file (number, name; no header) in order."""
    return _headless(path, ("number", "name"))["name"].to_list()


def read_texts(path: Path) -> dict[str, str]:
    """Return the text of each resource, by the resource's public name."""
    return dict(_headless(path, ("name", "text")).iter_rows())


def read_topics(path: Path, separator: str) -> pl.DataFrame:
    """Return the topics in order: id (the number, as text) and name.

    A line may have more columns than the others, as a name with commas gives it: its second column
    is the name, as in every other line.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    cells = [line.split(separator) for line in lines if line.strip()]
    return pl.DataFrame(
        {
            "id": [row[0].strip() for row in cells],
            "name": [" ".join(row[1].split()) for row in cells],
        }
    )


def read_annotations(path: Path) -> pl.DataFrame:
    """Return the annotations in order: first, second (ids) and label (null where there is none)."""
    rows = _headless(path, ("first", "second", "label"))
    return rows.with_columns(pl.col("label").cast(pl.Int64))


def read_pairs(folder: Path) -> pl.DataFrame:
    """Return the published pairs in order: start, end, result (1: start before end), split."""
    parts = []
    for word, part in _PARTS.items():
        rows = _numbers(folder / f"{word}.csv", ("start", "end", "result"))
        parts.append(rows.with_columns(split=pl.lit(part)))
    return pl.concat(parts)


def read_clickstream(folder: Path) -> pl.DataFrame:
    """Return the clickstream: head, tail, readers, one row for each edge.

    The first edge of every public file stands in it twice, with two counts; the released loader
    adds them up, and so does this.
    """
    rows = _numbers(folder / "clickStreamLink_data_id.csv", ("head", "tail", "readers"))
    return rows.group_by("head", "tail", maintain_order=True).agg(pl.col("readers").sum())


def read_relation(folder: Path, relation: str) -> pl.DataFrame:
    """Return the rows of a GKROM relation that hold (result 1), each once: first, second."""
    files = [folder / f"{relation}_data_{word}.csv" for word in _PARTS]
    rows = pl.concat(_numbers(file, ("first", "second", "result")) for file in files)
    return rows.filter(pl.col("result") == 1).select("first", "second").unique(maintain_order=True)


def read_bert(path: Path, names: list[str]) -> FloatArray:
    """Return the BERT vectors (n × d), whose file must list the concepts in their order."""
    try:
        table = pl.read_csv(path, infer_schema=False)
        concepts, cells = table["concept"].to_list(), table["bert_embedding"].to_list()
        vectors = [np.array(cell.split(","), dtype=np.float32) for cell in cells]
        X = np.stack(vectors)
    except OSError as error:
        raise _not_there(path) from error
    except (pl.exceptions.PolarsError, ValueError, AttributeError) as error:
        raise PublicDataError(
            f"{path} must have the columns concept and bert_embedding, the latter with as many "
            f"numbers in every row, separated by commas: {error}"
        ) from error
    if concepts != names:
        raise PublicDataError(f"{path} must list the {len(names)} concepts of concepts_index.csv")
    return X


def read_hypergraph(path: Path, shape: tuple[int, int]) -> FloatArray:
    """Return the published incidence H (n × m), a CSV of 0 and 1 without a header."""
    try:
        H = pl.read_csv(path, has_header=False).to_numpy()
    except OSError as error:
        raise _not_there(path) from error
    except pl.exceptions.PolarsError as error:
        raise PublicDataError(f"{path} is not a matrix in CSV: {error}") from error
    if H.shape != shape or not np.isin(H, (0, 1)).all():
        raise PublicDataError(
            f"{path} must hold 0 and 1 in {shape[0]} rows (concepts) and {shape[1]} columns "
            f"(resources); it has shape {H.shape}"
        )
    return H


def _not_there(path: Path) -> PublicDataError:
    return PublicDataError(
        f"{path} is missing: it is no part of `proprl course fetch` because of its size; copy it "
        f"from data/{path.parent.name}/ of the public repository wisejw/DGCPL"
    )


def _headless(path: Path, columns: tuple[str, ...], *, skip: int = 0) -> pl.DataFrame:
    return pl.read_csv(
        path, has_header=False, skip_rows=skip, new_columns=columns, infer_schema=False
    )


def _numbers(path: Path, columns: tuple[str, ...]) -> pl.DataFrame:
    # Some counts are written as 37.0, so everything is read as a float first.
    return _headless(path, columns, skip=1).cast(pl.Float64).cast(pl.Int64)
