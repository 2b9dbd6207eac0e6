"""Workloads: traces, generators, arrays and tables."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ftlab import _core
from ftlab._text import texts
from ftlab.errors import ParameterError

__all__ = ["Trace", "core_workload"]


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace in a file, and how to read it.

    Where the defaults suffice, pass just the path.

    Parameters
    ----------
    path : str or path
        The file; plain or packed, such as with gzip.
    format : str, optional
        The format with its parameters, such as ``"msr"``; detected from the content if not given. See
        :func:`ftlab.formats`.
    map : str, optional
        Columns of a CSV file, such as ``"ts:us=5,op=2,off:bytes=3,len:bytes=4"``.
    volumes : sequence of str, optional
        The volumes to keep of a trace of several; all by default.
    side_by_side : str or int, optional
        Places volumes side by side, in pieces of this size in order of first use.
    compact : str or int, optional
        Removes addresses that are never written or read, in pieces of this size.
    skip_bad : str or float, default 0
        Share of the lines that may be invalid, such as ``"1%"``; they are counted and skipped.
    assume_write : bool, default False
        Treats every request of a format without operations as a write.

    Examples
    --------
    >>> import ftlab
    >>> trace = ftlab.Trace("alibaba.csv.gz", volumes=["17"], compact="4KiB")
    """

    path: str | os.PathLike[str]
    format: str | None = None
    map: str | None = None
    volumes: Sequence[str] = ()
    side_by_side: str | int | None = None
    compact: str | int | None = None
    skip_bad: str | float | None = None
    assume_write: bool = False


def core_workload(workload: object, page_size: str | int | None = None) -> _core.Workload:
    """`workload` in the form that the compiled part takes; page numbers refer to pages of that size."""
    if isinstance(workload, str):
        return _core.Workload.parse(workload)
    if isinstance(workload, os.PathLike):
        workload = Trace(workload)
    if isinstance(workload, Trace):
        return _trace(workload)
    name = f"the {type(workload).__name__}"
    size = str(page_size or "4KiB")
    if isinstance(workload, Iterator):
        return _core.Workload.stream(name, size, _batches(workload))
    return _core.Workload.table(name, size, _table(workload))


def _trace(trace: Trace) -> _core.Workload:
    settings = texts(
        {
            "format": trace.format,
            "map": trace.map,
            "side_by_side": trace.side_by_side,
            "compact": trace.compact,
            "skip_bad": trace.skip_bad,
            "assume_write": trace.assume_write,
        }
    )
    return _core.Workload.trace(os.fspath(trace.path), list(trace.volumes), settings)


def _table(rows: Any) -> Any:
    """An object with Arrow's stream interface, sharing memory where possible."""
    if _is_column(rows):
        return _page_numbers(np.asarray(rows))
    if hasattr(rows, "__arrow_c_stream__"):
        return rows
    if hasattr(rows, "__arrow_c_array__"):
        return pa.table(pa.record_batch(rows))
    if isinstance(rows, np.ndarray) and rows.dtype.names:
        return pa.table({name: rows[name] for name in rows.dtype.names})
    if isinstance(rows, np.ndarray | Sequence):
        return _page_numbers(np.asarray(rows))
    if isinstance(rows, Mapping):
        return pa.table(dict(rows))
    raise ParameterError(
        f"{type(rows).__name__} is not a workload; give a generator's name, a path, a Trace, an array of "
        "page numbers, an Arrow table, or an iterator of either"
    )


def _is_column(rows: Any) -> bool:
    """Whether this is one column: a Series of pandas or Polars, or an array of pyarrow."""
    has_columns = hasattr(rows, "columns") or hasattr(rows, "column_names")
    return hasattr(rows, "to_numpy") and not has_columns and not isinstance(rows, np.ndarray)


def _page_numbers(pages: np.ndarray[Any, Any]) -> pa.Table:
    if pages.ndim != 1 or pages.dtype.kind not in "iu":
        raise ParameterError(
            f"an array of {pages.ndim} dimensions and type {pages.dtype} is not a workload; give page "
            "numbers, a one-dimensional array of integers, or a structured array or dict with lba, sectors"
        )
    return pa.table({"lpn": pages})


def _batches(items: Iterator[object]) -> Iterator[pa.RecordBatch]:
    for item in items:
        yield from pa.table(_table(item)).to_batches()
