"""FTLs over a workload."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ftlab import _core
from ftlab._drive import Drive
from ftlab._policy import Policy
from ftlab._progress import Progress, reporter
from ftlab._result import Result
from ftlab._text import texts
from ftlab._workload import core_workload

__all__ = ["run"]


def run(
    workload: object,
    ftls: str | Policy | Iterable[str | Policy],
    *,
    drive: Drive | str | int | None = None,
    fill: str = "none",
    writes: int | None = None,
    drive_writes: float | None = None,
    warmup_writes: int = 0,
    interval: int | None = None,
    seed: int = 1,
    timing: str | None = None,
    faults: str | None = None,
    endurance: int | None = None,
    streams: str | None = None,
    wrap: bool = False,
    ignore_trims: bool = False,
    observe: bool = False,
    threads: int | None = None,
    progress: Progress = None,
) -> Result:
    """Run FTLs over a workload, and compare how they amplify its writes.

    The workload is read once; while the next batch is decoded, all FTLs apply the present one, each
    on a thread of its own, without the interpreter's lock. Ctrl-C stops it.

    Parameters
    ----------
    workload : str, path, Trace, array, table or iterator
        A generator such as ``"zipf:theta=0.9"`` (:func:`ftlab.generators` has them all), or a trace.
        A text that names an existing file, or has a path separator, is a trace. An array of whole
        numbers is page numbers, each written once. A table is anything with Arrow's interface
        (pyarrow, Polars, pandas, DuckDB) or a dict of columns, and has the column ``lpn`` (page
        numbers) and perhaps ``pages``, or ``lba`` and ``sectors`` of 512 bytes; and perhaps ``op``
        (``"write"``, ``"trim"``, ``"flush"``, ``"read"``, or 0 to 3), ``t_us`` and ``stream``. Neither
        is copied. An iterator of either is read once, as it goes, and needs the size of the drive.
    ftls : str, Policy or iterable of them
        FTLs with their parameters, such as ``"2r++"`` and ``"2r-fifo:blk-util=0.4"``
        (:func:`ftlab.ftls` has them all), or policies of your own.
    drive : Drive, str or int, optional
        The drive, or its logical size.
    fill : {"none", "sequential", "random"}
        How the drive is filled first, executed and not counted: every page is written once.
    writes : int, optional
        Host page writes that are counted at most; all of a trace, 4 drive writes of a generator if
        neither this nor `drive_writes` is given.
    drive_writes : float, optional
        The same as a multiple of the logical size.
    warmup_writes : int, default 0
        Host page writes that are executed and not counted, behind the fill.
    interval : int, optional
        Host page writes of an interval of the running write amplification; a quarter of the drive
        by default.
    seed : int, default 1
        Seed of generator and random fill: same seed, same result.
    timing : str, optional
        Simulates time on flash as fast as this, such as ``"slc:channels=4,luns=2"``
        (:func:`ftlab.timings`).
    faults : str, optional
        Lets flash fail, such as ``"program=1e-5,erase=1e-4,bad=20,seed=1"``.
    endurance : int, optional
        Program/erase cycles that a block endures: adds terabytes written and drive writes per day.
    streams : str, optional
        Names the streams of requests by where they begin: ``"1MiB..2MiB=1,4GiB..8GiB=2"``.
    wrap : bool, default False
        Takes addresses beyond the drive modulo its size, instead of raising.
    ignore_trims : bool, default False
        Lets trims do nothing.
    observe : bool, default False
        Watches pages and blocks, for plots of the flash and of what is moved; counts are the same,
        and it takes two to three times as long.
    threads : int, optional
        Threads at most; as many as there are processors by default. Results do not depend on it.
    progress : bool or callable, optional
        Whether to show a bar, by default on terminals and in notebooks; or a function that is called
        with a :class:`Status` several times a second.

    Returns
    -------
    Result
        What each FTL did.

    Raises
    ------
    FtlabError
        See :mod:`ftlab.errors`.

    Examples
    --------
    >>> import ftlab
    >>> result = ftlab.run("zipf:theta=0.9", ["1r-greedy", "2r++"], drive="1GiB", fill="random")
    >>> {ftl: round(waf, 1) for ftl, waf in result.waf.items()}
    {'1r-greedy': 8.5, '2r++': 5.2}

    Pages of your own, from NumPy:

    >>> import numpy as np
    >>> pages = np.random.default_rng(1).integers(0, 100_000, 1_000_000)
    >>> ftlab.run(pages, "2r++", drive=ftlab.Drive(pages_per_block=128)).runs[0]["host_writes"]
    1000000
    """
    every = [ftls] if isinstance(ftls, str | Policy) else list(ftls)
    policies = [(ftl.name, ftl) for ftl in every if isinstance(ftl, Policy)]
    names = [ftl.name if isinstance(ftl, Policy) else str(ftl) for ftl in every]
    drive = Drive.of(drive)
    settings = drive._settings() | {
        "fill": fill,
        "writes": writes,
        "drive_writes": drive_writes,
        "warmup_writes": warmup_writes,
        "interval": interval,
        "seed": seed,
        "timing": timing,
        "faults": faults,
        "endurance": endurance,
        "streams": streams,
        "wrap": wrap,
        "ignore_trims": ignore_trims,
        "observe": observe,
        "threads": threads,
    }
    with reporter(progress, names) as tell:
        source = core_workload(workload, drive.page_size)
        document = _core.run(source, names, policies, texts(settings), tell)
    return Result(json.loads(document))
