"""Requests of workloads as tables, and statistics of workloads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from ftlab import _core
from ftlab._document import Document
from ftlab._drive import Drive
from ftlab._tables import data_frame
from ftlab._text import texts
from ftlab._workload import core_workload

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["Inspection", "generate", "inspect"]

InspectionTable = Literal["skew", "intervals", "frozen", "footprint", "sizes", "heat_map"]
"""The tables of an inspection."""


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

    def to_arrow(self, name: InspectionTable = "skew") -> pa.Table:
        """A curve of the inspection as a table.

        Parameters
        ----------
        name : {"skew", "intervals", "frozen", "footprint", "sizes", "heat_map"}
            ``"skew"``: share of page writes by share of the pages written, the most-written first;
            ``"intervals"``: quantiles of the page writes between two of the same page; ``"frozen"``: pages
            that are not written again, over time; ``"footprint"``: pages written so far; ``"sizes"``: writes
            by size; ``"heat_map"``: a row for each cell of addresses and time that has page writes.

        Returns
        -------
        pyarrow.Table
            The table; docs/inspect.md explains the columns.
        """
        import pyarrow as pa

        if name not in _TABLES:
            raise KeyError(f"there is no table {name!r}; the tables are {', '.join(_TABLES)}")
        return pa.Table.from_pylist(_TABLES[name](self))

    def to_pandas(self, name: InspectionTable = "skew") -> pd.DataFrame:
        """A table as a pandas data frame."""
        return data_frame(self.to_arrow(name))

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


def _heat_map(found: Inspection) -> list[dict[str, int]]:
    cells = found["heat_map"]
    return [
        {
            "from_write": column * cells["column_writes"],
            "to_write": (column + 1) * cells["column_writes"],
            "from_page": row * cells["row_pages"],
            "to_page": (row + 1) * cells["row_pages"],
            "page_writes": writes,
        }
        for column, rows in enumerate(cells["columns"])
        for row, writes in enumerate(rows)
        if writes
    ]


_TABLES: dict[str, Callable[[Inspection], list[dict[str, Any]]]] = {
    "skew": lambda found: found["skew"]["curve"],
    "intervals": lambda found: found["intervals"]["quantiles"],
    "frozen": lambda found: found["frozen"],
    "footprint": lambda found: found["footprint"],
    "sizes": lambda found: found["write_sizes"]["buckets"],
    "heat_map": _heat_map,
}


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
