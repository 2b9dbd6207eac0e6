"""Which times explain how long a real drive takes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ftlab._command_line import printed, setting_words
from ftlab._document import Document
from ftlab._tables import data_frame
from ftlab._text import Setting

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["LatencyFit", "fit_latency"]

_Path = str | os.PathLike[str]


class LatencyFit(Document):
    """The drive that explains latencies, and how far it is off: what ``ftlab fit --latency --json`` prints.

    It is *fitted* to what was measured. Loads that were left out tell how far it can be trusted elsewhere.

    Parameters
    ----------
    document : mapping
        The document.
    """

    @property
    def timing(self) -> str:
        """The times, for the argument `timing` of :func:`run`."""
        return str(self["timing"])

    @property
    def is_explained(self) -> bool:
        """Whether every load is within the limits that the command names."""
        return bool(self["told"] == "explained")

    def to_arrow(self) -> pa.Table:
        """What was measured and simulated at each load.

        Returns
        -------
        pyarrow.Table
            Up to three rows for each load: ``measured``, ``simulated`` and, by a fit of the other loads,
            ``left out``. Columns ``off_`` are simulated over measured, less one.
        """
        import pyarrow as pa

        rows: list[dict[str, Any]] = []
        for load in self["loads"]:
            measured = load["measured"]
            name = measured["name"] or str(measured["asked_per_second"] or measured["writes_per_second"])
            parts = {"measured": (measured, {}), "simulated": (load["simulated"], load["off"])}
            if load["predicted"] is not None:
                parts["left out"] = (load["predicted"], load["predicted_off"])
            for what, (of, off) in parts.items():
                row = {"load": name, "what": what}
                row |= {key: of[key] for key in ("writes_per_second", "reads_per_second")}
                row |= {f"read_{key}": value for key, value in of["reads"].items()}
                row |= {f"write_{key}": value for key, value in of["writes"].items()}
                rows.append(row | {f"off_{key}": off.get(key) for key in load["off"]})
        return pa.Table.from_pylist(rows)

    def to_pandas(self) -> pd.DataFrame:
        """The table of :meth:`to_arrow` as a data frame."""
        return data_frame(self.to_arrow())

    def __repr__(self) -> str:
        """The verdict and the over-provisioning."""
        return f"<ftlab.LatencyFit: {self['told']}, over-provisioning {self['op_ratio']:.1%}>"


def fit_latency(
    files: _Path | Iterable[_Path],
    *,
    sequential: str | int | None = None,
    name: str | None = None,
    reads: int | None = None,
    depth: int | None = None,
    queues: int | None = None,
    random: int | None = None,
    over_provisioning: str | float | None = None,
    timing: str | None = None,
    gc: str | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> LatencyFit:
    """Find the times of a drive whose latencies under load were measured.

    As the command ``ftlab fit --latency`` does, which says what is in the files. It takes minutes.

    Parameters
    ----------
    files : path or iterable of paths
        Outputs of fio (``--output-format=json+``), or tables with a line for each load.
    sequential : str or int, optional
        Bytes a second of sequential writes, as the data sheet has them, such as ``"1500MB"``; needed unless
        `timing` is given.
    name : str, optional
        The drive, if a table has several.
    reads : int, optional
        Reads a second between the writes, of loads that do not say.
    depth : int, optional
        Requests under way where the drive does not keep up, of loads that do not say.
    queues : int, optional
        Queues of the host at such a load, which have equal shares of `depth`. One of them sends the reads,
        with as many writes, and its latencies were measured.
    random : int, optional
        Random writes of 4 KiB a second, as the data sheet has them.
    over_provisioning : str or float, optional
        Over-provisioning; found as well by default.
    timing : str, optional
        Only compares these times with what was measured, at this `over_provisioning`.
    gc : str, optional
        With `timing`, when garbage is collected.
    seed : int, default 1
        Seed of the workload.
    threads : int, optional
        Maximum number of threads; by default one per processor.

    Returns
    -------
    LatencyFit
        The times, and how far they are off at each load.

    Raises
    ------
    FtlabError
        See :mod:`ftlab.errors`.

    Examples
    --------
    >>> import ftlab
    >>> with open("loads.csv", "w") as file:
    ...     print("depth,reads_per_s,writes_per_s,read_p50_us", "1,9000,9000,70", sep=chr(10), file=file)
    >>> times = "tlc:unit=request,priority=read-first,write-buffer=1MiB"
    >>> fit = ftlab.fit_latency("loads.csv", timing=times, over_provisioning=0.15)
    >>> fit.to_arrow().num_rows
    2
    """
    settings: dict[str, Setting | None] = {"name": name, "reads": reads, "depth": depth, "queues": queues}
    settings |= {"sequential": sequential, "random": random, "over_provisioning": over_provisioning}
    settings |= {"timing": timing, "gc": gc, "seed": seed, "threads": threads}
    paths = [files] if isinstance(files, str | os.PathLike) else list(files)
    words = [word for path in paths for word in ("--latency", os.fspath(path))]
    return LatencyFit(json.loads(printed("fit", [*words, *setting_words(settings), "--json", "--quiet"])))
