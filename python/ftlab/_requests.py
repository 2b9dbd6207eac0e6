"""Requests of workloads as tables, and what is in a workload."""

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
    """Hand out the requests of a workload as Arrow tables, one after the other.

    Parameters
    ----------
    workload : str, path, Trace, array or table
        A generator, or anything else that :func:`ftlab.run` takes: traces of all formats come out in
        the same form.
    drive : Drive, str or int, optional
        The drive that a generator writes to, or its logical size.
    requests : int, optional
        How many; all by default. Most generators have no end.
    rows : int, default 65536
        Requests of a table, about.
    seed : int, default 1
        Same seed, same requests.

    Yields
    ------
    pyarrow.RecordBatch
        Columns ``t_us`` (microseconds, where there are times), ``op`` (0 write, 1 trim, 2 flush,
        3 read), ``lba`` and ``sectors`` (of 512 bytes), ``stream`` and ``volume`` (where there are any).

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
    """What is in a workload: the document that ``ftlab inspect --json`` prints.

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
    """Find out what is in a workload: operations, sizes, skew, write intervals, frozen pages, growth.

    Parameters
    ----------
    workload : str, path, Trace, array, table or iterator
        As of :func:`ftlab.run`.
    drive : Drive, str or int, optional
        The drive that shares are of, and that a generator writes to; of a trace, its own device, or up
        to its highest address by default.
    writes : int, optional
        Page writes at most; of a generator, which has no end, how many.
    window : str, default "10%"
        What tells hot pages from cold ones: a share of the drive, a size, or a number of pages.
    phase : str, optional
        From this named moment of a trace to the next.
    memory : str or int, default "4GiB"
        Memory for the pages that are written, 16 bytes each, at most.
    seed : int, default 1
        Seed of a generator.

    Returns
    -------
    Inspection
        What was found; docs/inspect.md says what each statistic means.

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
