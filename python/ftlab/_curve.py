"""What over-provisioning brings: curves, from whole runs or from samples."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ftlab._command_line import printed, reading_words, setting_words
from ftlab._document import Document
from ftlab._drive import Drive
from ftlab._run import Fill
from ftlab._tables import data_frame
from ftlab._text import Setting
from ftlab._workload import Trace
from ftlab.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["Curves", "curve"]


class Curves(Document):
    """Write amplification over over-provisioning: the document that ``ftlab curve --json`` prints.

    Parameters
    ----------
    document : mapping
        The document.
    """

    @property
    def caveats(self) -> list[str]:
        """What to keep in mind."""
        return list(self["caveats"])

    @property
    def trust(self) -> str:
        """What it rests on, in one line; ``curves["trust"]`` has the parts."""
        return str(self["trust"]["line"])

    def to_arrow(self) -> pa.Table:
        """Every point, as a table.

        Returns
        -------
        pyarrow.Table
            A row per FTL and drive: over-provisioning, write amplification, and the ends of its interval,
            which are null without samples.
        """
        import pyarrow as pa

        return pa.Table.from_pylist(
            [_row(of["ftl"], point) for of in self["curves"] for point in of["points"]]
        )

    def to_pandas(self) -> pd.DataFrame:
        """The table of :meth:`to_arrow` as a data frame."""
        return data_frame(self.to_arrow())

    def __repr__(self) -> str:
        """The FTLs, and how many drives there are of each."""
        sizes = (f"{of['ftl']} on {len(of['points'])} drives" for of in self["curves"])
        return f"<ftlab.Curves: {', '.join(sizes)}>"


def _row(ftl: str, point: dict[str, Any]) -> dict[str, Any]:
    low, high = point["interval"] or (None, None)
    row = {"ftl": ftl, "op_ratio": point["op_ratio"], "blocks": point["blocks"], "waf": point["waf"]}
    ends = {"low": low, "high": high, "has_settled": point["has_settled"], "standing": point["standing"]}
    return row | ends | {"samples": len(point["seen"])}


def curve(
    workload: str | os.PathLike[str] | Trace,
    ftls: str | Iterable[str] = (),
    *,
    sample: str | None = None,
    draws: int | None = None,
    op: Sequence[str | float] = (),
    drive: Drive | str | int | None = None,
    fill: Fill = "sequential",
    writes: int | None = None,
    once: bool = False,
    seed: int = 1,
    ignore_trims: bool = False,
    wrap: bool = False,
    threads: int | None = None,
) -> Curves:
    """Find what over-provisioning brings, for several FTLs; in seconds with `sample`.

    As the command ``ftlab curve`` does. Runs last as those of :func:`advise`.

    Parameters
    ----------
    workload : str, path or Trace
        A generator or a trace.
    ftls : str or iterable of str, optional
        FTLs; by default those of :func:`advise`.
    sample : str, optional
        Runs one page in N and one in 4 N, and concludes on the whole, such as ``"1/32"``. At least 64 pages
        have to be left in a block.
    draws : int, optional
        Samples of each size; 2 by default.
    op : sequence of str or float, optional
        Over-provisioning in ascending order; by default twelve points from 4% to 60%.
    drive : Drive, str or int, optional
        The drive, without its over-provisioning, or its logical size.
    fill : {"sequential", "random", "twice", "none"}, default "sequential"
        How the drive is filled first.
    writes : int, optional
        Runs at most this many host page writes.
    once : bool, default False
        Runs a trace once, or 4 drive writes of a generator, steady or not.
    seed : int, default 1
        Seed of generator, random fill and samples.
    ignore_trims : bool, default False
        Whether trims do nothing.
    wrap : bool, default False
        Whether addresses beyond the drive are taken modulo its size.
    threads : int, optional
        Maximum number of threads; by default one per processor.

    Returns
    -------
    Curves
        A point for each FTL and drive; with `sample`, intervals that have the value of the whole with a
        probability of 90%.

    Raises
    ------
    FtlabError
        See :mod:`ftlab.errors`.

    Examples
    --------
    >>> import ftlab
    >>> drive = ftlab.Drive("32MiB", pages_per_block=32)
    >>> curves = ftlab.curve("hotcold", ["1r-greedy", "sepbit"], drive=drive, op=["15%", "28%"], once=True)
    >>> curves.to_arrow().num_rows
    4
    """
    if isinstance(workload, Trace):
        words = [os.fspath(workload.path), *reading_words(workload)]
    elif isinstance(workload, str | os.PathLike):
        words = [os.fspath(workload)]
    else:
        kind = type(workload).__name__
        raise ParameterError(f"the workload is a {kind}; give a generator or the path of a trace")
    settings: dict[str, Setting | None] = dict(Drive.of(drive).without_op())
    settings |= {"fill": fill, "writes": writes, "once": once, "seed": seed, "ignore_trims": ignore_trims}
    settings |= {"wrap": wrap, "threads": threads, "sample": sample, "draws": draws}
    settings |= {"op": ",".join(map(str, op)) or None}
    words += setting_words(settings)
    for ftl in [ftls] if isinstance(ftls, str) else ftls:
        words += ["--ftl", ftl]
    return Curves(json.loads(printed("curve", [*words, "--json", "--quiet"])))
