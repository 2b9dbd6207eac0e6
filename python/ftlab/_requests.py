"""Requests of workloads as tables, and statistics of workloads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from ftlab import _core
from ftlab._document import Document
from ftlab._drive import Drive
from ftlab._text import texts
from ftlab._workload import core_workload

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Inspection", "generate", "inspect"]


def generate(
    workload: object,
    *,
    drive: Drive | str | int | None = None,
    requests: int | None = None,
    rows: int = 65_536,
    seed: int = 1,
) -> Iterator[pa.RecordBatch]:
    """Yield the requests of a workload as Arrow tables, one after the other.

    Parameters
    ----------
    workload : str, path, Trace, array or table
        A generator, or anything else that :func:`ftlab.run` accepts: traces of all formats yield the
        same columns.
    drive : Drive, str or int, optional
        The drive that a generator writes to, or its logical size.
    requests : int, optional
        Number of requests; all by default. Most generators have no end.
    rows : int, default 65536
        Approximate number of requests per table.
    seed : int, default 1
        Same seed, same requests.

    Yields
    ------
    pyarrow.RecordBatch
        Columns ``t_us`` (microseconds, if there are times), ``op`` (0 write, 1 trim, 2 flush, 3 read),
        ``lba`` and ``sectors`` (of 512 bytes), ``stream`` and ``volume`` (if there are any).

    Examples
    --------
    >>> import ftlab
    >>> first = next(ftlab.generate("uniform", drive="1GiB", requests=1000))
    >>> first.num_rows, first.column_names
    (1000, ['op', 'lba', 'sectors'])
    """
    drive = Drive.of(drive)
    settings = texts(drive._settings() | {"seed": seed})
    source = core_workload(workload, drive.page_size)
    return _core.RequestTables(source, settings, requests, rows)


class Inspection(Document):
    """Statistics of a workload: the document that ``ftlab inspect --json`` prints.

    Parameters
    ----------
    document : mapping
        The document; its structure is that of ``inspection.schema.json``.
    """

    def __repr__(self) -> str:
        """The workload and its writes."""
        return f"<ftlab.Inspection of {self['workload']}: {self['page_writes']:,} page writes>"

    def _repr_html_(self) -> str:
        """The numbers, for notebooks."""
        numbers = {key: value for key, value in self.items() if isinstance(value, int | float | str)}
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(key.replace('_', ' '))}</th>"
            f"<td>{escape(f'{value:,}' if isinstance(value, int) else str(value))}</td></tr>"
            for key, value in numbers.items()
        )
        return f"<table>{rows}</table>"


def inspect(
    workload: object,
    *,
    drive: Drive | str | int | None = None,
    writes: int | None = None,
    window: str = "10%",
    phase: str | None = None,
    memory: str | int = "4GiB",
    seed: int = 1,
) -> Inspection:
    """Analyse a workload: operations, sizes, skew, write intervals, frozen pages, growth.

    Parameters
    ----------
    workload : str, path, Trace, array, table or iterator
        As for :func:`ftlab.run`.
    drive : Drive, str or int, optional
        The drive that shares refer to, and that a generator writes to; for a trace, by default its own
        device, or up to its highest address.
    writes : int, optional
        Maximum number of page writes; required for generators without an end.
    window : str, default "10%"
        The log window that separates hot pages from cold ones: a share of the drive, a size, or a
        number of pages.
    phase : str, optional
        Restricts the analysis to this named phase of a trace.
    memory : str or int, default "4GiB"
        Maximum memory for the pages written, 16 bytes each.
    seed : int, default 1
        Seed of a generator.

    Returns
    -------
    Inspection
        The statistics; docs/inspect.md explains each of them.

    Examples
    --------
    >>> import ftlab
    >>> found = ftlab.inspect("zipf:theta=0.9", drive="1GiB", writes=1_000_000)
    >>> found["page_writes"], round(found["skew"]["top_20_percent"], 2)
    (1000000, 0.77)
    """
    drive = Drive.of(drive)
    settings = drive._settings() | {
        "writes": writes,
        "window": window,
        "phase": phase,
        "memory": memory,
        "seed": seed,
    }
    found = _core.inspect(core_workload(workload, drive.page_size), texts(settings))
    return Inspection(json.loads(found))
