"""How much memory the map of a drive needs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ftlab import _core
from ftlab._document import Document
from ftlab._drive import Drive
from ftlab._run import Fill
from ftlab._tables import data_frame
from ftlab._text import texts
from ftlab._workload import core_workload

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["MapAdvice", "mapping_cache"]


class MapAdvice(Document):
    """The answer, and what it rests on: the document that ``ftlab advise --mapping-cache --json`` prints.

    Parameters
    ----------
    document : mapping
        The document.
    """

    @property
    def answer(self) -> str:
        """The answer in words."""
        return str(self._document["answer"])

    @property
    def hits(self) -> dict[int, float]:
        """The share of look-ups that plain LRU finds, by bytes of memory."""
        return {point["cache_bytes"]: point["share"] for point in self._document["hits"]}

    def to_arrow(self) -> pa.Table:
        """What was simulated, as a table.

        Returns
        -------
        pyarrow.Table
            A row per FTL, kind of map and size of memory, with hits and write amplification.
        """
        import pyarrow as pa

        rows = [
            {"ftl": curve["ftl"], "map": curve["map"]} | point
            for curve in self["curves"]
            for point in curve["points"]
        ]
        return pa.Table.from_pylist(rows)

    def to_pandas(self) -> pd.DataFrame:
        """The table of :meth:`to_arrow` as a data frame."""
        return data_frame(self.to_arrow())

    def __repr__(self) -> str:
        """The answer."""
        return f"<ftlab.MapAdvice: {self.answer}>"


def mapping_cache(
    workload: object,
    ftls: str | Iterable[str] = ("1r-greedy", "2r++"),
    *,
    sizes: Sequence[str | int] = (),
    target_waf: float | None = None,
    drive: Drive | str | int | None = None,
    fill: Fill = "sequential",
    writes: int | None = None,
    once: bool = False,
    seed: int = 1,
    ignore_trims: bool = False,
    threads: int | None = None,
) -> MapAdvice:
    """Find how much memory the map of a drive needs, if the rest of it is on flash.

    The hits of plain LRU in memory of every size come from one pass, by stack distances. What FTLs amplify
    with ``dftl``, ``s-ftl`` and ``tpftl`` is simulated at some sizes. Ctrl-C stops it.

    Parameters
    ----------
    workload : str, path, Trace, array or table
        As for :func:`ftlab.run`; not an iterator, since it is read more than once.
    ftls : str or iterable of str, default ("1r-greedy", "2r++")
        FTLs.
    sizes : sequence of str or int, optional
        Memory for the map; by default all of it, a half, a quarter and so on.
    target_waf : float, optional
        The highest write amplification; by default 5% more than with the map in memory.
    drive : Drive, str or int, optional
        The drive, or its logical size.
    fill : {"sequential", "random", "twice", "none"}
        How the drive is filled first.
    writes : int, optional
        Runs at most this many host page writes.
    once : bool, default False
        Runs a trace once, or 4 drive writes of a generator, steady or not.
    seed : int, default 1
        Seed of generator and random fill.
    ignore_trims : bool, default False
        Ignores trims.
    threads : int, optional
        Maximum number of threads; by default one per processor.

    Returns
    -------
    MapAdvice
        The answer, the hits of every size, and what was simulated.

    Raises
    ------
    FtlabError
        See :mod:`ftlab.errors`.

    Examples
    --------
    >>> import ftlab
    >>> drive = ftlab.Drive("16MiB", op="20%", pages_per_block=32)
    >>> advice = ftlab.mapping_cache("hotcold", "1r-greedy", drive=drive, once=True)
    >>> advice.hits[32768]
    1.0
    """
    of = Drive.of(drive)
    names = [ftls] if isinstance(ftls, str) else [str(ftl) for ftl in ftls]
    settings = of._settings() | {
        "target_waf": target_waf,
        "fill": fill,
        "writes": writes,
        "once": once,
        "seed": seed,
        "ignore_trims": ignore_trims,
        "threads": threads,
    }
    source = core_workload(workload, of.page_size)
    found = _core.mapping_cache(source, names, [str(size) for size in sizes], texts(settings))
    return MapAdvice(json.loads(found))
