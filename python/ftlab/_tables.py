"""Results as tables, one row for each item that is counted or drawn."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ftlab import _core
from ftlab._lazy import needs
from ftlab._parts import NESTED

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TABLES", "TableName", "cell_bytes", "data_frame", "frames", "table"]

Document = Mapping[str, Any]
TableName = Literal[
    "runs",
    "series",
    "streams",
    "victims",
    "responses",
    "waits",
    "groups",
    "moves",
    "utilisation",
    "spread",
    "cells",
]
"""The tables of a result."""
Row = dict[str, Any]

FREE = 254
"""The region of cells whose blocks are all erased."""


def table(document: Document, name: str) -> pa.Table:
    """The table of that name; columns without any value have the type ``null``."""
    if name not in TABLES:
        raise KeyError(f"there is no table {name!r}; the tables are {', '.join(TABLES)}")
    rows = list(TABLES[name](document))
    columns = {key: None for row in rows for key in row}
    return pa.table({key: [row.get(key) for row in rows] for key in columns})


def data_frame(rows: pa.Table) -> pd.DataFrame:
    """The table as a data frame; ``ImportError`` with a remedy if pandas is missing."""
    try:
        frame: pd.DataFrame = rows.to_pandas()
    except ImportError as error:
        raise needs("a data frame", "pandas", "notebook", error) from None
    return frame


def _part(run: Document, path: Iterable[str]) -> Any:
    """What is at a path in a run; ``None`` if a part on the way is missing."""
    found: Any = run
    for key in path:
        found = None if found is None else found.get(key)
    return found


def _runs(document: Document) -> Iterator[Row]:
    columns = [(name, path.split(".")) for name, path in _core.run_columns()]
    for run in document["runs"]:
        row = {key: run[key] for key in run if key not in NESTED}
        for name, (*way, last) in columns:
            part = _part(run, way)
            if part is not None:
                row[name] = part[last]
        yield row


def _series(document: Document) -> Iterator[Row]:
    interval = document["config"]["interval_writes"]
    logical_pages = document["config"]["drive"]["logical_pages"]
    series = [(name, path.split(".")) for name, path in _core.series_columns()]
    for run in document["runs"]:
        columns = {name: _part(run, path) for name, path in series}
        for index in range(len(run["running_waf"])):
            writes = (index + 1) * interval
            row = {"ftl": run["ftl"], "host_writes": writes, "drive_writes": writes / logical_pages}
            yield row | {key: None if values is None else values[index] for key, values in columns.items()}


def _streams(document: Document) -> Iterator[Row]:
    for run in document["runs"]:
        for stream in run["streams"]:
            yield {"ftl": run["ftl"]} | stream


def _victims(document: Document) -> Iterator[Row]:
    for run in document["runs"]:
        bins = run["victim_valid_share"]["histogram"]
        for index, victims in enumerate(bins):
            yield {"ftl": run["ftl"], "valid_share": index / len(bins), "victims": victims}


def _responses(document: Document) -> Iterator[Row]:
    for run in document["runs"]:
        for nanoseconds, longer in (run["timing"] or {"response_ns": {"tail": []}})["response_ns"]["tail"]:
            yield {"ftl": run["ftl"], "response_ns": nanoseconds, "longer_share": longer}


def _waits(document: Document) -> Iterator[Row]:
    for run in document["runs"]:
        requests = (run["timing"] or {}).get("requests") or {"operations": {}}
        for operation, times in requests["operations"].items():
            for waits in times.get("waits") or []:
                yield {"ftl": run["ftl"], "operation": operation} | waits


def _groups(document: Document) -> Iterator[Row]:
    for run in document["runs"]:
        requests = (run["timing"] or {}).get("requests") or {"groups": []}
        for group in requests["groups"]:
            row = {key: value for key, value in group.items() if key != "response_ns"}
            times = group["response_ns"].items()
            row |= {f"response_{key}_ns": value for key, value in times if key != "tail"}
            yield {"ftl": run["ftl"]} | row


def _moves(document: Document) -> Iterator[Row]:
    for run in document["runs"]:
        moves = (run["observed"] or {}).get("moves", {})
        for kind in ("hot", "warm", "cold", "frozen", "undecided"):
            if kind in moves:
                pages = moves[kind]
                per_write = pages / run["host_writes"]
                yield {"ftl": run["ftl"], "kind": kind, "pages": pages, "per_host_write": per_write}


def frames(document: Document) -> Iterator[tuple[Document, Document, Row]]:
    """Every picture of the flash: its run, the picture, and the columns that identify it."""
    logical_pages = document["config"]["drive"]["logical_pages"]
    for run in document["runs"]:
        for frame in (run["observed"] or {}).get("frames", []):
            writes = frame["host_writes"]
            drive_writes = writes / logical_pages
            yield (
                run,
                frame,
                {"ftl": run["ftl"], "host_writes": writes, "drive_writes": drive_writes},
            )


def cell_bytes(text: str) -> npt.NDArray[np.uint8]:
    """The bytes of a base64 text."""
    return np.frombuffer(base64.b64decode(text), np.uint8)


def _utilisation(document: Document) -> Iterator[Row]:
    for run, frame, key in frames(document):
        for stream, bins in zip(run["streams"], frame["blocks_by_valid_share"], strict=True):
            for index, blocks in enumerate(bins):
                share = index / len(bins)
                named = {"stream": stream["name"], "cold": stream["cold"]}
                yield key | named | {"valid_share": share, "blocks": blocks}


def _spread(document: Document) -> Iterator[Row]:
    for _, frame, key in frames(document):
        for percentile, cold in enumerate(cell_bytes(frame["cold_percentiles"])):
            yield key | {"percentile": percentile, "cold_share": cold / 255}


def _cells(document: Document) -> Iterator[Row]:
    for run, frame, key in frames(document):
        names = [stream["name"] for stream in run["streams"]]
        columns = [cell_bytes(frame[name]) for name in ("region", "valid", "cold")]
        for cell, (region, valid, cold) in enumerate(zip(*columns, strict=True)):
            used = names[region] if region < FREE else "erased" if region == FREE else "retired"
            shares = {"valid_share": valid / 255, "cold_share": cold / 255}
            yield key | {"cell": cell, "stream": used} | shares


TABLES: dict[str, Callable[[Document], Iterable[Row]]] = {
    "runs": _runs,
    "series": _series,
    "streams": _streams,
    "victims": _victims,
    "responses": _responses,
    "waits": _waits,
    "groups": _groups,
    "moves": _moves,
    "utilisation": _utilisation,
    "spread": _spread,
    "cells": _cells,
}
"""The rows of each table."""
