"""Which FTL, and how much over-provisioning."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from ftlab import _core
from ftlab._document import Document
from ftlab._drive import Drive
from ftlab._progress import CountProgress, count_reporter
from ftlab._run import Fill
from ftlab._tables import data_frame
from ftlab._text import texts
from ftlab._workload import core_workload

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["Advice", "advise"]


class Advice(Document):
    """The answer, and what it rests on: the document that ``ftlab advise --json`` prints.

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
    def caveats(self) -> list[str]:
        """What to keep in mind."""
        return list(self._document["caveats"])

    @property
    def trust(self) -> str:
        """What the answer rests on, in one line; ``advice["trust"]`` has the parts."""
        return str(self._document["trust"]["line"])

    @property
    def needs(self) -> dict[str, float | None]:
        """Over-provisioning that each FTL needs for the target, the cheapest first; ``None`` if none does."""
        curves: list[dict[str, Any]] = self._document["curves"]
        return {curve["ftl"]: curve["needs"] and curve["needs"]["op_ratio"] for curve in curves}

    def to_arrow(self) -> pa.Table:
        """Every drive that was tried, as a table.

        Returns
        -------
        pyarrow.Table
            A row per FTL and drive, with over-provisioning, write amplification and verdict.
        """
        import pyarrow as pa

        rows = [{"ftl": curve["ftl"]} | point for curve in self["curves"] for point in curve["points"]]
        return pa.Table.from_pylist(rows)

    def to_pandas(self) -> pd.DataFrame:
        """The table of :meth:`to_arrow` as a data frame."""
        return data_frame(self.to_arrow())

    def __repr__(self) -> str:
        """What is needed, by FTL."""
        known = [f"{ftl} {op:.1%}" for ftl, op in self.needs.items() if op is not None]
        return f"<ftlab.Advice: {', '.join(known) or 'no FTL meets the target'}>"

    def _repr_html_(self) -> str:
        """The answer and what to keep in mind, for notebooks."""
        notes = "".join(f"<li>{escape(caveat)}</li>" for caveat in self.caveats)
        return f"<p>{escape(self.answer)}</p><p>{escape(self.trust)}</p><ul>{notes}</ul>"


def advise(
    workload: object,
    *,
    target_waf: float | None = None,
    tbw: float | None = None,
    dwpd: float | None = None,
    endurance: int | None = None,
    slo: str | None = None,
    load: float | None = None,
    timing: str = "femu",
    ftls: str | Iterable[str] = (),
    op: Sequence[str | float] = (),
    drive: Drive | str | int | None = None,
    real_drive: str | None = None,
    fill: Fill = "sequential",
    writes: int | None = None,
    once: bool = False,
    seed: int = 1,
    ignore_trims: bool = False,
    daily_writes: str | int | None = None,
    years: float = 5,
    price: float | None = None,
    carbon: float | None = None,
    threads: int | None = None,
    progress: CountProgress = None,
) -> Advice:
    """Find which FTL reaches a target on a workload, and with how much over-provisioning.

    A trace is weighed first. It is repeated until write amplification is steady, as :func:`run` does with
    ``until="steady"``; one of more than 18 drive writes runs twice and counts the second time. One that
    rewrites nothing, or has fewer than 1,000 write requests, raises :class:`ftlab.errors.ParameterError` with
    what to record. Ctrl-C stops it.

    Parameters
    ----------
    workload : str, path, Trace, array or table
        As for :func:`ftlab.run`; not an iterator, since it is read many times.
    target_waf : float, optional
        The highest write amplification.
    tbw : float, optional
        The minimum of terabytes (10^12 bytes) that the host can write; needs `endurance`.
    dwpd : float, optional
        What the drive must survive, in drive writes per day over five years.
    endurance : int, optional
        Program/erase cycles that a block endures.
    slo : str, optional
        The longest response time of a percentile of the requests, such as ``"read-p99.9=1ms"``; needs `load`.
    load : float, optional
        Requests a second that come, at random.
    timing : str, default "femu"
        The flash for `slo`.
    ftls : str or iterable of str, optional
        FTLs to choose from; by default ``1r-greedy``, ``2r-fifo``, ``2r++``, ``dac-cb``, ``sepbit``,
        ``midas`` and ``hazard``, or with `real_drive` those that drives have, and what better ones would
        bring.
    op : sequence of str or float, optional
        Points of the curve: over-provisioning in ascending order; by default 4% to 60%.
    drive : Drive, str or int, optional
        The drive, without its over-provisioning, or its logical size.
    real_drive : str, optional
        Answers for a drive that can be bought, from a model of its shape: its capacity and, if they are
        known, its over-provisioning and the unit that it collects at once, such as ``"7.68TB, 7%"``.
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
    daily_writes : str or int, optional
        Bytes that the host writes a day: adds the drive that uses the least flash over the years, each
        replaced when it is worn out; needs `endurance`.
    years : float, default 5
        Years of service.
    price : float, optional
        Price of a gigabyte (10^9 bytes) of flash, in any currency.
    carbon : float, optional
        Kilograms of CO2 equivalent to make a gigabyte of flash; 0.16 by default (Tannu and Nair, The Dirty
        Secret of SSDs, 2023).
    threads : int, optional
        Maximum number of threads; by default one per processor.
    progress : bool or callable, optional
        Whether to count runs on a bar, by default on terminals and in notebooks; or a function that is called
        with the number of runs done and ``None``.

    Returns
    -------
    Advice
        The answer, its range, and what to keep in mind.

    Raises
    ------
    FtlabError
        See :mod:`ftlab.errors`.

    Examples
    --------
    >>> import ftlab
    >>> drive = ftlab.Drive("32MiB", pages_per_block=32)
    >>> advice = ftlab.advise("hotcold", target_waf=1.8, drive=drive, ftls=["1r-greedy", "sepbit"])
    >>> next(iter(advice.needs))
    'sepbit'
    >>> real = ftlab.advise("hotcold", real_drive="960GB, 7%", ftls="1r-greedy", writes=600_000)
    >>> real["drive"]["units"]
    2048
    """
    of = Drive.of(drive)
    names = [ftls] if isinstance(ftls, str) else [str(ftl) for ftl in ftls]
    settings = of.without_op() | {
        "target_waf": target_waf,
        "tbw": tbw,
        "dwpd": dwpd,
        "endurance": endurance,
        "slo": slo,
        "load": load,
        "slo_timing": timing if slo is not None else None,
        "fill": fill,
        "writes": writes,
        "once": once,
        "seed": seed,
        "ignore_trims": ignore_trims,
        "daily_writes": daily_writes,
        "years": years,
        "price": price,
        "carbon": carbon,
        "threads": threads,
        "real_drive": real_drive,
    }
    source = core_workload(workload, of.page_size)
    with count_reporter(progress) as tell:
        found = _core.advise(source, names, [str(share) for share in op], texts(settings), tell)
    return Advice(json.loads(found))
